//! The console as a whole: events in, screens and wishes out.

mod checks;
mod deeds;
pub mod given;
mod laws;
mod pointing;
mod screens;
