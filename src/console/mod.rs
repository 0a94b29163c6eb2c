//! The console: the screen people came for.
//!
//! ```text
//!  keys, mouse, updates, answers ─► update(&mut Model, Event) ─► Effects ─► run: tasks, terminal
//!                                            │
//!                                          Model ─► view(&Model, &Look, Rect, &mut Buffer) ─► HitMap
//! ```
//!
//! Always true:
//! - `update` and `view` are pure: no IO, no clock; what is wanted done is data;
//! - cursors and marks are identities, never places;
//! - no check is known by name: all there is to say of one is in its introduction.
//!
//! Not here: doing what is wanted (whoever opens the console implements [`task::Backstage`]).

pub mod effect;
pub mod event;
pub mod keymap;
mod layout;
pub mod task;
mod teller;

pub use teller::Teller;
