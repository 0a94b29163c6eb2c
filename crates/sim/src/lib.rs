//! A Kubernetes API in memory, behind the real client; faults on demand.
//!
//! Always true:
//! - the core ([`api`]) is synchronous and pure: state, request and time in, answer out;
//! - the adapters here only carry requests to it and time along with them;
//! - codes, reasons and sentences are those of kube-apiserver 1.36.
//!
//! Not here: the demo's story (`demo`), who reads the API (`observe`).

pub mod api;
pub mod aws;
mod body;
mod cluster;
pub mod demo;
pub mod ibm;
mod listen;
mod service;

#[cfg(test)]
mod tests;

pub use api::{
    Access, Answer, Fault, FaultAction, Faults, GroupFault, GroupResource, Identity, Logged, Matcher, Rbac, Reply,
    Request, ResourceKind, Rule, Server, Status, StoryError, Verb, WatchId, WatchPoll,
};
pub use body::SimBody;
pub use cluster::{SimCluster, SimOptions};
pub use listen::{Listening, listen, listen_with_tokens};
pub use service::{SimLost, SimService, respond};
