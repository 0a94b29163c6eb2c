//! The connections of the fleet, counted as they change.
//!
//! Invariants: every cluster and account is counted once, guests included; local kubeconfig files are not a cluster. Those
//! that are not live are known by name, so that no screen has to visit the fleet.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use trueup_core::engine::{LinkState, ListsRead};
use trueup_core::world::{Cluster, ClusterName, ClusterSource};

/// Whether clusters in this state are named rather than counted.
fn is_named(state: LinkState) -> bool {
    match state {
        LinkState::Down | LinkState::Retrying | LinkState::Partial | LinkState::Connecting => true,
        LinkState::Idle | LinkState::Recorded | LinkState::Live => false,
    }
}

/// Connections by kind.
#[derive(Debug, Clone, Default)]
pub struct Links {
    kinds: BTreeMap<ClusterName, (LinkState, Timestamp)>,
    counts: [usize; LinkState::ALL.len()],
    named: BTreeSet<(LinkState, ClusterName)>,
}

impl Links {
    /// Takes in the link of a cluster, or that the cluster is gone.
    pub fn put(&mut self, name: &ClusterName, cluster: Option<&Cluster>, lists: ListsRead, now: Timestamp) {
        let counted = cluster.filter(|cluster| cluster.source != ClusterSource::Local);
        let kind = counted.map(|cluster| LinkState::of(&cluster.link, lists));
        let before = self.kinds.get(name).copied();
        if before.map(|(kind, _)| kind) == kind {
            return;
        }
        if let Some((before, _)) = before {
            self.kinds.remove(name);
            self.counts[before as usize] -= 1;
            self.named.remove(&(before, name.clone()));
        }
        if let Some(kind) = kind {
            self.kinds.insert(name.clone(), (kind, now));
            self.counts[kind as usize] += 1;
            if is_named(kind) {
                self.named.insert((kind, name.clone()));
            }
        }
    }

    /// Number of clusters and accounts.
    pub fn total(&self) -> usize {
        self.kinds.len()
    }

    pub fn count(&self, kind: LinkState) -> usize {
        self.counts[kind as usize]
    }

    /// Clusters that are neither live nor idle, the worst link first.
    pub fn named(&self) -> impl ExactSizeIterator<Item = &(LinkState, ClusterName)> {
        self.named.iter()
    }

    /// Since when a cluster's link is of its kind.
    pub fn since(&self, name: &ClusterName) -> Option<Timestamp> {
        self.kinds.get(name).map(|(_, since)| *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::testing::{after, now};
    use crate::console::tests::fixtures;

    #[test]
    fn a_cluster_is_counted_once_by_its_last_link() {
        let mut links = Links::default();
        for cluster in fixtures::clusters().into_values().flatten() {
            links.put(&cluster.name, Some(&cluster), ListsRead::All, now());
        }
        let counts = |links: &Links| LinkState::ALL.map(|kind| links.count(kind));
        assert_eq!((links.total(), counts(&links)), (9, [2, 1, 0, 2, 1, 1, 2]));
        let name = ClusterName::new("mgmt-eu");
        let live = fixtures::clusters().remove(&name).unwrap().unwrap();
        links.put(&name, Some(&live), ListsRead::Some, after(9));
        links.put(&name, Some(&live), ListsRead::Some, after(12));
        assert_eq!((links.total(), counts(&links)), (9, [2, 1, 1, 2, 1, 1, 1]));
        assert_eq!(links.since(&name), Some(after(9)), "from the change");
        assert!(links.named().any(|one| *one == (LinkState::Partial, name.clone())));
        links.put(&name, None, ListsRead::All, after(20));
        assert_eq!((links.total(), counts(&links)), (8, [2, 1, 0, 2, 1, 1, 1]));
        let local = Cluster { source: ClusterSource::Local, ..live };
        links.put(&name, Some(&local), ListsRead::All, after(21));
        assert_eq!(links.total(), 8, "local kubeconfig files are not a cluster");
    }
}
