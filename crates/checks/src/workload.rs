//! The Deployment whose log explains a finding.

use trueup_core::world::ClusterName;

/// A Deployment of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    pub cluster: ClusterName,
    pub namespace: String,
    pub deployment: String,
}

impl Workload {
    pub fn new(cluster: &ClusterName, namespace: &str, deployment: &str) -> Self {
        Self { cluster: cluster.clone(), namespace: namespace.to_owned(), deployment: deployment.to_owned() }
    }
}
