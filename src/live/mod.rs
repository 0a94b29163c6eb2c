//! The loop that joins the rooms: it keeps clusters connected, interests observed, the world fed and judgements
//! current.

mod discover;
mod judge;
mod recorded;

pub use discover::{Guest, HostedClusterLink};
pub use judge::{FindingChange, Held, Judgements};
pub use recorded::recorded;
