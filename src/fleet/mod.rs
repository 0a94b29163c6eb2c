//! The fleet: how to reach each cluster.

pub mod identity;
pub mod recording;
pub mod snapshot;
pub(crate) mod text;
