//! Snapshots: clusters, cloud accounts and a clock, read from a folder or an archive.
//!
//! ```text
//! DIR/fleet.yaml               optional: clock, risk classes, hosting clusters, missing parts
//! DIR/clusters/<name>/**       objects, lists, several documents a file
//! DIR/clouds/{ibm,aws}/*.yaml  cloud accounts
//! ```
//!
//! Invariants:
//! - the same files give the same snapshot, whatever order they were read in;
//! - an unreadable file makes its whole cluster incomplete, because its content is unknown;
//! - only regular files inside the folder are read, within limits: it may be untrusted;
//! - a [`Problem`] never contains file content: only paths, object names and our own text.
//!
//! Elsewhere: reading objects by interest (`trueup_core::decode`), judging (`trueup_checks`).

mod account;
mod archive;
mod assemble;
mod cloud_resource;
mod document;
mod entry_fault;
mod file;
mod fleet_file;
mod instance_type;
mod layout;
mod limits;
mod load;
mod problem;
mod scalar;
mod source;
#[cfg(test)]
mod tests;
mod unpack;
mod walk;
mod yaml;
mod yaml_tree;

use std::collections::BTreeSet;

use jiff::Timestamp;

use trueup_core::decode::recording::RecordedCluster;
use trueup_core::world::{ClusterIdentity, ClusterName, ClusterSource, HostedBy, RiskClass};

pub use load::{LoadError, load};
pub use problem::Problem;

/// Content of a snapshot folder.
pub struct Snapshot {
    /// The clock for judgements. Without one: the wall clock.
    pub now: Option<Timestamp>,
    /// Clusters sorted by name, then cloud accounts sorted by provider and alias.
    pub clusters: Vec<SnapshotCluster>,
    /// Problems, sorted by path.
    pub problems: Vec<Problem>,
}

/// A cluster or an account of the folder.
pub struct SnapshotCluster {
    pub name: ClusterName,
    pub source: ClusterSource,
    /// Class from the fleet file; otherwise the config or the default decides.
    pub class: Option<RiskClass>,
    pub hosted_by: Option<HostedBy>,
    /// API groups that the cluster serves.
    pub served: BTreeSet<String>,
    pub recorded: RecordedCluster,
    pub identity: ClusterIdentity,
}
