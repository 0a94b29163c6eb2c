//! Snapshot folders: clusters, cloud accounts and a clock, read from files instead of servers.
//!
//! ```text
//! DIR/fleet.yaml               optional: the clock, risk classes, who hosts whom, what is missing
//! DIR/clusters/<name>/**       objects, lists, several documents a file
//! DIR/clouds/{ibm,aws}/*.yaml  cloud accounts
//! ```
//!
//! Always true:
//! - the same files give the same snapshot, whatever order they were read in;
//! - a file nobody could read makes its whole cluster incomplete, because nobody knows what it held;
//! - no content of a file is in a [`Problem`]: places, names of objects and our own words alone.
//!
//! Not here: answering questions from what was read (`observe::recorded`), judging it.

mod account;
mod assemble;
mod cloud_resource;
mod file;
mod fleet_file;
mod head;
mod instance_type;
mod layout;
mod load;
mod odd;
mod problem;
mod scalar;
mod sheet;
#[cfg(test)]
mod tests;
mod walk;
mod yaml;

use std::collections::BTreeSet;

use jiff::Timestamp;

use trueup_core::decode::recording::RecordedCluster;
use trueup_core::world::{ClusterIdentity, ClusterName, ClusterSource, HostedBy, RiskClass};

pub use load::{LoadError, load};
pub use problem::Problem;

/// All a folder says.
pub struct Snapshot {
    /// The clock judgements use. Without one: the wall clock.
    pub now: Option<Timestamp>,
    /// Clusters sorted by name, then cloud accounts sorted by provider and alias.
    pub clusters: Vec<SnapshotCluster>,
    /// What could not be read, sorted by place.
    pub problems: Vec<Problem>,
}

/// A cluster or an account of the folder.
pub struct SnapshotCluster {
    pub name: ClusterName,
    pub source: ClusterSource,
    /// What the fleet file says; the config or the default decides otherwise.
    pub class: Option<RiskClass>,
    pub hosted_by: Option<HostedBy>,
    /// The API groups that apply to it.
    pub served: BTreeSet<String>,
    pub recorded: RecordedCluster,
    pub identity: ClusterIdentity,
}
