//! The fleet: connections to clusters and cloud accounts, and the loop that keeps what is known of them current.
//!
//! - [`connect`]: kubeconfig contexts, exec plugins, HyperShift guests, discovery, identity.
//! - [`observe`]: list and watch, decoded into facts.
//! - [`aws`], [`ibm`]: thin clients of the cloud APIs. [`account`]: a cloud account read like a cluster.
//! - [`kube_cluster`]: the one place that writes to a cluster.
//! - [`snapshot`]: folders of recorded objects.
//! - [`live`]: the loop that connects, observes and keeps judgements current.

pub mod account;
pub mod aws;
pub mod connect;
pub mod ibm;
pub mod kube_cluster;
pub mod live;
pub mod observe;
pub mod snapshot;
