//! The loop that joins the rooms (until the observe branch is merged).
mod judge;
mod recorded;
pub use judge::{FindingChange, Held, Judgements};
pub use recorded::recorded;
