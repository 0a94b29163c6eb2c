//! The console: the screen people came for.
//!
//! ```text
//!  keys, mouse, updates, answers ─► update(&mut Model, Event) ─► Effects ─► run: tasks, terminal
//!                                            │
//!                                          Model ─► view(&Model, &Look, Rect, &mut Buffer) ─► HitMap
//! ```
//!
//! - `model`: all that is known. `update`: what an event does to it. `view`: the screen, drawn from it. Pure.
//! - [`keymap`]: which key does what, where. [`filter`]: the filter language. [`table`]: long lists. Pure.
//! - [`theme`]: what a text means, and how that looks: roles, styles, signs. Pure.
//! - [`capture`]: a painted screen as text and as a picture. Pure.
//! - [`terminal`]: the hold on the terminal, and the bytes that go there. `run`: the one loop. IO.
//!
//! Invariants:
//! - `update` and `view` do no IO and read no clock; what is wanted done is data;
//! - cursors and marks are identities, never places;
//! - no check is known by name: all there is to say of one is in its description.
//!
//! Elsewhere: doing what is wanted (whoever opens the console implements [`task::ConsoleServices`]).

pub mod capture;
pub mod effect;
pub mod event;
pub mod filter;
pub mod hits;
pub mod keymap;
mod layout;
pub mod model;
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
