//! The executor on simulated clusters.
