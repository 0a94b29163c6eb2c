//! From where accounts are used: which clusters are asked about owners, and which may point into an account.
//!
//! Invariants: an account that names no cluster is used from every cluster.

use super::names::POWERVS_CLUSTER;
use trueup_core::engine::Glob;
use trueup_core::world::{Cluster, ClusterSource, Provider, Served, View};

/// The clusters an account is used from, as its member of the fleet says; nothing for what is not an account.
pub fn used_from(member: &Cluster) -> Option<Vec<Glob>> {
    match &member.source {
        ClusterSource::Cloud { provider: Provider::Ibm, used_from, .. } => {
            Some(used_from.iter().filter_map(|pattern| Glob::parse(pattern).ok()).collect())
        }
        ClusterSource::Cloud { provider: Provider::Aws, .. }
        | ClusterSource::Kubeconfig { .. }
        | ClusterSource::Hosted { .. }
        | ClusterSource::Snapshot
        | ClusterSource::Local => None,
    }
}

/// Whether a cluster is among those an account is used from.
pub fn may_use(used_from: &[Glob], cluster: &Cluster) -> bool {
    used_from.is_empty() || used_from.iter().any(|pattern| pattern.matches(cluster.name.as_str()))
}

/// Who may own something in the accounts that are watched.
#[derive(Debug, Default)]
pub struct Users(Vec<Vec<Glob>>);

impl Users {
    pub fn of(view: View<'_>) -> Self {
        Self(view.clusters().filter_map(used_from).collect())
    }

    /// Whether a cluster is asked for IBMPowerVSClusters. Where an account is watched, every cluster is that may have some and
    /// may use it: an owner that was not looked for must not count as gone.
    pub fn asks(&self, cluster: &Cluster) -> bool {
        let is_user = self.0.iter().any(|used_from| may_use(used_from, cluster));
        match &cluster.served {
            Served::Complete(_) => serves(cluster) && (is_user || self.0.is_empty()),
            Served::Recorded(_) => !cluster.source.is_account() && (is_user || (self.0.is_empty() && serves(cluster))),
            Served::Unknown(_) => !cluster.source.is_account() && is_user,
        }
    }
}

/// Whether a cluster says that it has IBMPowerVSClusters.
pub fn serves(cluster: &Cluster) -> bool {
    let is_said = match &cluster.served {
        Served::Complete(_) | Served::Recorded(_) => !cluster.served.lacks(&POWERVS_CLUSTER),
        Served::Unknown(_) => false,
    };
    is_said && !cluster.source.is_account()
}
