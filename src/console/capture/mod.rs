//! A painted screen as text, with colours or without, and as a picture: for files, bug reports and the README.
//!
//! Invariants: the same screen makes the same file, byte for byte, on any machine.

mod ansi;
mod svg;
mod text;

pub use ansi::ansi;
pub use svg::{Palette, svg};
pub use text::text;
