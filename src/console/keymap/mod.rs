//! Which key does what, where: one table, from which help, hints, the palette and the docs derive.
//!
//! Invariants:
//! - a key means at most one thing in a scope, and no binding hides a longer one of its scope;
//! - where text is typed, no binding takes a letter away from it;
//! - a user's line that can't be meant is skipped and reported with its place; the rest of the file counts.
//!
//! Elsewhere: reading the user's file, and what an action does (`console::update`).

mod action;
mod bindings;
mod read;
mod scope;
mod stroke;
#[cfg(test)]
mod tests;

pub use action::{Action, Group};
pub use bindings::{KeyRow, Keymap, Resolution};
pub use read::{DEFAULT_KEYS, KeymapProblem};
pub use scope::Scope;
pub use stroke::{BadStroke, Stroke};
