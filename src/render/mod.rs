//! Files for people, spreadsheets and other programs: the escaping that the commands and the console share.
//!
//! Invariants: what is returned is [`Printable`](trueup_core::engine::text::Printable) or escaped like it; a cell cannot end
//! its row, start markup or be computed.

pub mod csv;
pub mod html;
pub mod markdown;
pub mod xml;
pub mod yaml;
