//! Long lists: which rows are shown in which order, where the cursor is, and the few that are drawn.
//!
//! Invariants:
//! - cursor, marks and scrolling are held by identity: rows that come, go and change places never move them to another;
//! - only rows in the window are built;
//! - whatever a cell says, nothing in it steers the terminal, hides or reorders.
//!
//! Elsewhere: what a row is, and its colours: both come in with the row (`console::view`).

mod age;
mod draw;
mod layout;
mod list;
mod order;
mod text;

pub use age::{age, next_change};
pub use draw::{Cell, Cut, Look, RowLook, TableHits, TableRow, TableView, Tone, draw};
pub use layout::{Align, Column, Placed, layout};
pub use list::{Applied, CursorFate, ListState, Rows};
pub use order::{Direction, Membership, Order};
pub use text::{Glyphs, cut_middle, display_width, fit};
