//! Files for people and spreadsheets: the escaping that the commands and the console share.
//!
//! Invariants: what is returned is [`Printable`](trueup_core::engine::text::Printable); a cell cannot end its row, start
//! markup or be computed.

pub mod csv;
pub mod markdown;
