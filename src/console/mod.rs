//! The console: the screen people came for.
//!
//! A pure core, `update` and `view`, and one loop around it that owns the terminal.

pub mod effect;
pub mod event;
pub mod task;
mod teller;

pub use teller::Teller;
