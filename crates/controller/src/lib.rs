//! The in-cluster front end.
//!
//! - [`api`]: the objects people and the controller meet at: Proposals and Approvals.
//!
//! Invariants: everything that is decided about a fleet is decided by `operate`, as for the other front ends.

pub mod api;
