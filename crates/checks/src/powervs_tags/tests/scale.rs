//! Work per change, counted and not timed: a cluster that owns nothing in an account is no reason to judge one that does.

use super::super::touched;
use super::*;
use trueup_core::world::{Change, ChangeSet, ClusterName, ClusterSource, Standing};

/// An account that is used from one cluster with an owner, and so many clusters beside it.
fn fleet(others: usize) -> World {
    let mut given = older().used_from("main", "mgmt");
    for other in 0..others {
        given.fleet.add(&format!("c{other}"), ClusterSource::Kubeconfig { context: format!("c{other}") });
    }
    let mut world = World::default();
    given.fill(&mut world);
    world
}

#[test]
fn one_change_touches_the_same_owners_in_every_fleet() {
    let (other, owner) = (|| ClusterName::new("c3"), || ClusterName::new("mgmt"));
    let link = |cluster, standing| Change::Link { cluster, standing };
    let cases: [(&str, Change, &[&str]); 5] = [
        ("a link elsewhere", link(other(), Standing::Changed), &[]),
        ("another cluster", Change::Cluster(other()), &["c3"]),
        ("a link that says nothing new", link(owner(), Standing::Same), &[]),
        ("a link", link(owner(), Standing::Changed), &["ibm:main", "mgmt"]),
        ("a cluster that the account is used from", Change::Cluster(owner()), &["ibm:main", "mgmt"]),
    ];
    for (case, change, expected) in cases {
        for others in [10, 100, 1_000] {
            let changes: ChangeSet = [change.clone()].into_iter().collect();
            let touched = touched::find(&changes, fleet(others).view(now()));
            let clusters: Vec<&str> = touched.clusters.iter().map(ClusterName::as_str).collect();
            assert_eq!(clusters, expected, "case: {case}, {others} others");
        }
    }
}
