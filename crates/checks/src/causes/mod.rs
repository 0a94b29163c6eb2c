//! What findings follow from: edits that were seen in this session, and groups of findings with one cause.
//!
//! Invariants: pure; the work is that of the findings of one check, never of the fleet.
//!
//! Elsewhere: what a check knows of a cause (`outline`), how edits are seen (`trueup_core::world`).

mod edits;
mod groups;

pub use edits::Edits;
pub use groups::{CauseGroup, GroupWords, cause_groups, severity};
