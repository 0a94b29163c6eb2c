//! The in-cluster front end.
//!
//! - [`api`]: the objects people and the controller meet at: Proposals and Approvals.
//! - [`settings`]: what `[controller]` decides.
//! - [`shard`], [`lease`], [`balance`], [`fence`]: which replica acts for which cluster, and until when. [`moment`] is
//!   their clock.
//!
//! Invariants: everything that is decided about a fleet is decided by `operate`, as for the other front ends.

pub mod api;
pub mod balance;
pub mod fence;
pub mod lease;
pub mod moment;
pub mod settings;
pub mod shard;
