//! Terminal modes, input and output.
//!
//! Invariants:
//! - one owner: only the holder of the [`Screen`] writes;
//! - every mode that was set is undone, in reverse, however the program ends or suspends;
//! - a frame is one `write` of one buffer inside synchronized output, and an equal frame is none;
//! - cells cannot contain sequences: control characters are replaced.
//!
//! Elsewhere: drawing (`view`), timing (`run`).

mod background;
mod color;
pub mod decode;
mod dialect;
mod glyph;
mod guard;
mod input;
mod line;
mod panic;
mod release;
mod screen;
mod scroll;
mod sequences;
mod sgr;
mod signals;
mod sink;
mod writer;

pub use background::{BACKGROUND_QUERY, BackgroundAnswer, Shade, parse_background, read_background};
pub use color::{ColorChoice, ColorDepth, color_depth, rgb_of_256};
pub use dialect::Dialect;
pub use glyph::shown;
pub use guard::{Guard, MODES, Mode};
pub use input::Input;
pub use panic::install_panic_hook;
pub use release::{Stop, hand_over, rest};
pub use screen::Screen;
pub use sequences::{CopyTooLong, alert, copy, progress_title, title};
pub use sgr::Pen;
pub use signals::{Asked, Signals};
pub use sink::{RawMode, Sink, Tty};
pub use writer::{Cursor, Writer};

#[cfg(test)]
mod testing;
#[cfg(test)]
pub use writer::{Ambiguous, StrictTerminal};
