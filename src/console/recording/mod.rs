//! Session recordings: every input of the console, one JSON line each, and replaying them.
//!
//! Invariants:
//! - a recording holds what the model is sent and nothing else: objects that were looked at, masked; no value of a Secret, no
//!   text typed into a query, no revealed value ([`redact`]);
//! - replaying the inputs gives the recorded frames ([`Player`]); each frame's digest is recorded beside them;
//! - lines are only appended, so that a recording that was cut off is one up to its last whole line.
//!
//! Elsewhere: the file (`cli`), snapshots of objects (`--from`).

mod digest;
mod line;
mod player;
mod reader;
mod recorder;
mod redact;
#[cfg(test)]
mod tests;

pub use digest::Digest;
pub use line::{FORMAT, FrameMark, Header, Line, Opened, ThemeLine};
pub use player::{FrameCheck, Player};
pub use reader::{Read, ReadError, Reader};
pub use recorder::{Piece, Recorder, RecordingSink};
