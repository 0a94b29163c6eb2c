//! From where accounts are used: which clusters are asked about owners, and which may point into an account.
//!
//! Invariants: an account that names no cluster is used from every cluster of the run; two contexts of one cluster are one
//! place, and are read once.

use std::collections::BTreeMap;

use super::facts::PowerVsCluster;
use super::names::POWERVS_CLUSTER;
use trueup_core::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, Gap, MemberRule, MemberSet, Provider, Served, View,
};

/// The clusters an account is used from, as its member of the fleet says; nothing for what is not an account.
pub fn used_from(member: &Cluster) -> Option<&MemberRule> {
    match &member.source {
        ClusterSource::Cloud { provider: Provider::Ibm, used_from, .. } => Some(used_from),
        ClusterSource::Cloud { provider: Provider::Aws, .. }
        | ClusterSource::Kubeconfig { .. }
        | ClusterSource::Hosted { .. }
        | ClusterSource::Snapshot
        | ClusterSource::Local => None,
    }
}

/// The management clusters of an account, as far as their IBMPowerVSClusters were read.
pub fn members(rule: &MemberRule, view: View<'_>) -> MemberSet {
    rule.resolve(view, |cluster| gap(cluster, view))
}

/// Why the IBMPowerVSClusters of a cluster are not known. A kind that complete discovery does not serve has no objects.
fn gap(cluster: &Cluster, view: View<'_>) -> Option<Gap> {
    match &cluster.served {
        Served::Complete(kinds) if !kinds.has(&POWERVS_CLUSTER.in_cluster(cluster)) => None,
        Served::Complete(_) | Served::Recorded(_) | Served::Unknown(_) => {
            view.read::<PowerVsCluster>(&POWERVS_CLUSTER.collection(cluster)).gap()
        }
    }
}

/// Who may own something in the accounts that are watched.
#[derive(Debug, Default)]
pub struct Users<'a>(Vec<&'a MemberRule>);

impl<'a> Users<'a> {
    pub fn of(view: View<'a>) -> Self {
        Self(view.accounts(Provider::Ibm).filter_map(used_from).collect())
    }

    /// Whether a cluster belongs to those that an account is used from.
    pub fn covers(&self, cluster: &Cluster) -> bool {
        self.0.iter().any(|used_from| used_from.covers(cluster))
    }

    /// Whether a cluster is asked for IBMPowerVSClusters. Where an account is watched, every cluster is that may have some and
    /// may use it: an owner that was not looked for must not count as gone.
    pub fn asks(&self, cluster: &Cluster) -> bool {
        let is_user = self.covers(cluster);
        match &cluster.served {
            Served::Complete(_) => serves(cluster) && (is_user || self.0.is_empty()),
            Served::Recorded(_) => !cluster.source.is_account() && (is_user || (self.0.is_empty() && serves(cluster))),
            Served::Unknown(_) => !cluster.source.is_account() && is_user,
        }
    }

    /// The clusters that are asked, each once: of several contexts of one cluster the first whose list is complete.
    pub fn asked(&self, view: View<'a>) -> Vec<&'a Cluster> {
        let all: Vec<&Cluster> = view.clusters().filter(|cluster| self.asks(cluster)).collect();
        let mut chosen: BTreeMap<ClusterIdentity, &ClusterName> = BTreeMap::new();
        for is_read in [true, false] {
            for cluster in all.iter().filter(|cluster| gap(cluster, view).is_none() == is_read) {
                let identity = ClusterIdentity::of(cluster);
                if identity.is_known() {
                    chosen.entry(identity).or_insert(&cluster.name);
                }
            }
        }
        let is_chosen = |cluster: &&Cluster| {
            let identity = ClusterIdentity::of(cluster);
            chosen.get(&identity).is_none_or(|name| **name == cluster.name)
        };
        all.into_iter().filter(is_chosen).collect()
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
