//! Key bindings: one table from which help, hints, the palette and the docs derive.
//!
//! Invariants:
//! - a key has at most one meaning in a scope, and no binding hides a longer one of its scope;
//! - where text is typed, no binding uses a printable character;
//! - an invalid line of the user's file is skipped and reported with its line; the rest applies.
//!
//! Elsewhere: reading the user's file (`cli`), executing actions (`console::update`).

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
