//! Long lists: order, cursor and drawing.
//!
//! Invariants:
//! - cursor, marks and scrolling are kept by identity: changes of other rows never move them to another row;
//! - only rows in the window are built;
//! - control characters, hidden and reordering characters in cells are escaped.
//!
//! Elsewhere: content and style of rows (`console::view`).

mod age;
mod draw;
mod layout;
mod list;
mod names;
mod order;
mod text;

pub use age::{age, list_age, next_change, next_list_change};
pub use draw::{
    Cell, Cut, GUTTER, Highlights, RowStyle, TableHits, TableRow, TableStyle, TableView, Tone, draw, draw_highlighted,
};
pub use layout::{Align, Column, Placed, layout};
pub use list::{Applied, CursorFate, ListState, Rows};
pub use names::shorten;
pub use order::{Direction, Membership, Order};
pub use text::{Glyphs, cut_middle, display_width, fit};
