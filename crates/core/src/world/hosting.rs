//! Who hosts whom, as an index: the guests of a cluster are found without visiting the fleet.
//!
//! Invariants: holds exactly the `hosted_by` of the clusters of the world.

use std::collections::BTreeSet;

use super::cluster::{Cluster, HostedBy};
use super::groups::Groups;
use super::ids::{ClusterName, Namespace, ObjectName};

/// Guests by their HostedCluster.
#[derive(Debug, Default)]
pub(super) struct Hosting {
    /// Sorted by management cluster first.
    guests: Groups<HostedBy, ClusterName>,
    unhosted: BTreeSet<ClusterName>,
}

impl Hosting {
    pub fn insert(&mut self, cluster: &Cluster) {
        match &cluster.hosted_by {
            Some(by) => self.guests.insert(by.clone(), cluster.name.clone()),
            None => drop(self.unhosted.insert(cluster.name.clone())),
        }
    }

    pub fn remove(&mut self, cluster: &Cluster) {
        match &cluster.hosted_by {
            Some(by) => self.guests.remove(by, &cluster.name),
            None => drop(self.unhosted.remove(&cluster.name)),
        }
    }

    pub fn guests_of<'h>(&'h self, host: &ClusterName) -> impl Iterator<Item = &'h ClusterName> + use<'h> {
        let host = host.clone();
        let first = HostedBy { cluster: host.clone(), namespace: Namespace::new(""), name: ObjectName::new("") };
        self.guests.from_key(first).take_while(move |(by, _)| by.cluster == host).map(|(_, guest)| guest)
    }

    pub fn guests_at<'h>(&'h self, hosted_by: &HostedBy) -> impl Iterator<Item = &'h ClusterName> + use<'h> {
        self.guests.of(hosted_by)
    }

    pub fn unhosted(&self) -> impl Iterator<Item = &ClusterName> {
        self.unhosted.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{ClusterIdentity, ClusterSource, Gap, GapCause, Link, RiskClass, Served, World};

    fn cluster(name: &str, by: Option<(&str, &str)>) -> Cluster {
        let hosted_by = by.map(|(cluster, name)| HostedBy {
            cluster: ClusterName::new(cluster),
            namespace: Namespace::new("clusters"),
            name: ObjectName::new(name),
        });
        Cluster {
            name: ClusterName::new(name),
            class: RiskClass::Dev,
            source: ClusterSource::Snapshot,
            hosted_by,
            link: Link::Recorded,
            identity: ClusterIdentity::default(),
            served: Served::Unknown(Gap::new(GapCause::NotObserved, "not asked")),
        }
    }

    #[test]
    fn the_guests_of_a_cluster_follow_every_change() {
        let mut world = World::default();
        let guests = |world: &World, host: &str| {
            let view = world.view(jiff::Timestamp::UNIX_EPOCH);
            let names: Vec<String> = view.guests_of(&ClusterName::new(host)).map(ToString::to_string).collect();
            names.join(" ")
        };
        for (name, by) in [("m", None), ("m2", None), ("b", Some(("m", "b"))), ("a", Some(("m", "a")))] {
            world.put_cluster(cluster(name, by));
        }
        assert_eq!((guests(&world, "m").as_str(), guests(&world, "m2").as_str()), ("a b", ""));
        world.put_cluster(cluster("a", Some(("m2", "a"))));
        assert_eq!((guests(&world, "m").as_str(), guests(&world, "m2").as_str()), ("b", "a"));
        world.put_cluster(cluster("b", None));
        world.remove_cluster(&ClusterName::new("a"));
        assert_eq!((guests(&world, "m").as_str(), guests(&world, "m2").as_str()), ("", ""));
        let view = world.view(jiff::Timestamp::UNIX_EPOCH);
        let unhosted: Vec<&str> = view.unhosted().map(|cluster| cluster.name.as_str()).collect();
        assert_eq!(unhosted, ["b", "m", "m2"]);
    }
}
