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

mod assemble;
mod file;
mod fleet_file;
mod head;
mod layout;
mod load;
mod problem;
mod scalar;
mod sheet;
#[cfg(test)]
mod tests;
mod walk;
mod yaml;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::fleet::recording::RecordedCluster;
use crate::world::{ClusterIdentity, ClusterName, HostedBy, RiskClass};

pub use load::{LoadError, load};
pub use problem::Problem;

/// All a folder says.
pub struct Snapshot {
    /// The clock judgements use. Without one: the wall clock.
    pub now: Option<Timestamp>,
    /// Sorted by name.
    pub clusters: Vec<SnapshotCluster>,
    /// What the annotating controller's pod would see.
    pub environment: BTreeMap<String, String>,
    /// Sorted by provider and alias.
    pub clouds: Vec<CloudFile>,
    /// What could not be read, sorted by place.
    pub problems: Vec<Problem>,
}

/// A cluster of the folder.
pub struct SnapshotCluster {
    pub name: ClusterName,
    /// What the fleet file says; the config or the default decides otherwise.
    pub class: Option<RiskClass>,
    pub hosted_by: Option<HostedBy>,
    pub recorded: RecordedCluster,
    pub identity: ClusterIdentity,
}

/// A cloud account as it was written down; the domain that knows the provider reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudFile {
    pub provider: String,
    /// The file's name without its ending.
    pub alias: String,
    /// As it is named in problems.
    pub file: String,
    pub content: serde_json::Value,
}
