//! The fleet: connections to clusters and cloud accounts, and the loop that keeps what is known of them current.
//!
//! - [`budgets`]: how much a cluster may make this program read and keep.
//! - [`connect`]: kubeconfig contexts, exec plugins, HyperShift guests, discovery, identity.
//! - [`observe`]: list and watch, decoded into facts.
//! - [`clouds`]: cloud accounts, read like clusters; one folder per provider.
//! - [`kube_cluster`]: the one place that writes to a cluster.
//! - [`snapshot`]: folders of recorded objects.
//! - [`live`]: the loop that connects, observes and keeps judgements current.

pub mod budgets;
pub mod clouds;
pub mod connect;
pub mod kube_cluster;
pub mod live;
pub mod observe;
pub mod snapshot;
