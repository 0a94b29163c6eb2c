//! The live loop: it keeps clusters connected, interests observed, the world fed and judgements
//! current.
//!
//! [`Live`] is the loop itself: `step` by step, until settled ([`Live::wait_settled`]) for the headless commands, or for
//! ever ([`Live::run`]) for the console. [`recorded`] gives the same for folders, without a loop.
//!
//! Elsewhere: what is right (`checks`), and doing anything about it (`engine`).

mod asked;
mod attempt;
mod cluster_session;
mod connection_budget;
mod discover;
mod follow;
mod guest_names;
mod guests;
mod intake;
mod interest_table;
mod links;
mod lists;
mod pacing;
mod recorded;
mod session;
mod sessions;
mod shared_kinds;
#[cfg(test)]
mod tests;
mod update;
mod work;

pub use cluster_session::Member;
pub use discover::{ClusterAccount, Guest, HostedClusterLink};
pub use lists::UnreadLists;
pub use recorded::recorded;
pub use session::{GuestResolver, LIVE_MAX, Live, LiveSetup, Settled};
pub use update::{AskAfter, Command, Question, Update};
