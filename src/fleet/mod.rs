//! The fleet: how to reach each cluster.

pub mod recording;
