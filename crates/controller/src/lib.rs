//! The in-cluster front end.
//!
//! - [`api`]: the objects people and the controller meet at: Proposals and Approvals. [`hub`]: both for clients.
//! - [`settings`]: what `[controller]` decides.
//! - [`shard`], [`lease`], [`balance`], [`fence`]: which replica acts for which cluster, and until when. [`moment`] is
//!   their clock.
//! - [`slice`](mod@slice), [`reconcile`], [`approval`], [`auto`], [`phase`], [`status`]: what is proposed, approved and
//!   superseded. [`recorded`] is a Proposal as they see it.
//! - `lease_task`, [`held`], [`clocks`], [`kube_api`], [`mirror`]: the API of the cluster the controller runs in.
//! - [`run`]: the loop. [`metrics`] and [`serve`]: what it tells.
//!
//! Invariants: everything that is decided about a fleet is decided by `operate`, as for the other front ends; all but the
//! last two lines is pure.

pub mod api;
pub mod approval;
pub mod auto;
pub mod balance;
pub mod clocks;
pub mod fence;
pub mod held;
pub mod hub;
pub mod kube_api;
pub mod lease;
mod lease_task;
pub mod metrics;
pub mod mirror;
pub mod moment;
pub mod phase;
pub mod reconcile;
pub mod recorded;
pub mod run;
pub mod serve;
pub mod settings;
pub mod shard;
pub mod slice;
pub mod status;
#[cfg(test)]
mod testing;
