//! Renders a buffer as text, with or without colours, and as SVG: for files, bug reports and the README.
//!
//! Invariants: the same buffer gives the same file, byte for byte, on any machine.

mod ansi;
mod svg;
mod text;

pub use ansi::ansi;
pub use svg::{Palette, svg};
pub use text::text;
