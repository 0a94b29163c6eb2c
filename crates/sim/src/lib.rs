//! Simulated APIs: Kubernetes behind the real client, AWS and IBM Cloud; faults on demand.
//!
//! Invariants:
//! - the core ([`api`]) is synchronous and pure: state, request and time in, response out;
//! - the adapters here only send requests and the time to it;
//! - status codes, reasons and messages are those of kube-apiserver 1.36.
//!
//! Elsewhere: reading the API (`trueup_fleet::observe`).

#[macro_use]
mod tower_service;

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
    Request, ResourceKind, Rule, SeedError, Server, Status, Verb, WatchId, WatchPoll,
};
pub use body::SimBody;
pub use cluster::{SimCluster, SimOptions};
pub use listen::{Listening, LocalServer, listen, listen_with_tokens};
pub use service::{ConnectionReset, SimService, respond};
