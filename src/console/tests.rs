//! The console as a whole: events in, screens and effects out.

mod actions;
mod bytes;
mod checks;
mod detail;
pub mod fixtures;
mod hints;
mod invariants;
mod journeys;
mod key_names;
mod lists;
mod mouse;
mod outgoing_text;
mod plans;
mod runs;
mod screens;
mod screens_activity;
mod timeline;
mod tour;
