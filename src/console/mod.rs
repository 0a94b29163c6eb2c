//! The console: the screen people came for.
//!
//! A pure core, `update` and `view`, and one loop around it that owns the terminal.

pub mod filter;
pub mod keymap;
pub mod table;
