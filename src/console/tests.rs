//! The console as a whole: events in, screens and wishes out.

mod actions;
pub mod fixtures;
mod invariants;
mod mouse;
mod screens;
