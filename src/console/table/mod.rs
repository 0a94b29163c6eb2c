//! Long lists: which rows are shown in which order, where the cursor is, and the few that are drawn.
//!
//! Always true:
//! - cursor, marks and scrolling are held by identity: rows that come, go and change places never move them to another;
//! - only rows in the window are built;
//! - whatever a cell says, nothing in it steers the terminal, hides or reorders.
//!
//! Not here: what a row is, and its colours: both come in with the row (`console::view`).

mod list;
mod order;

pub use list::{Applied, CursorFate, ListState, Rows};
pub use order::{Direction, Membership, Order};
