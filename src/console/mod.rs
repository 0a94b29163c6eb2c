//! The terminal console.
//!
//! ```text
//!  keys, mouse, updates, answers ─► update(&mut Model, Event) ─► Effects ─► run: tasks, terminal
//!                                            │
//!                                          Model ─► view(&Model, &Appearance, Rect, &mut Buffer) ─► HitMap
//! ```
//!
//! - `model`: all state. `update`: the effect of an event on it. `view`: draws the screen from it. Pure.
//! - [`keymap`]: key bindings. [`filter`]: the filter language. [`table`]: long lists. Pure.
//! - [`theme`]: roles, styles and glyphs. Pure.
//! - [`recording`]: sessions as lines, and replaying them. Pure.
//! - [`capture`]: the screen as text and SVG. Pure.
//! - [`terminal`]: terminal modes and output. `run`: the event loop. IO.
//!
//! Invariants:
//! - `update` and `view` do no IO and read no clock; effects are data;
//! - cursors and marks are identities, never indices;
//! - no check is known by name: everything about a check is in its description.
//!
//! Elsewhere: executing tasks ([`task::ConsoleServices`] is implemented by `cli`).

pub mod capture;
pub mod effect;
pub mod event;
pub mod filter;
pub mod hits;
pub mod keymap;
pub mod kind;
mod layout;
pub mod model;
pub mod recording;
mod reply_sender;
pub mod run;
pub mod settings;
pub mod table;
pub mod task;
pub mod terminal;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod update;
pub mod view;

pub use reply_sender::ReplySender;
