//! Work per change, counted and not timed: what one cluster's account answers is no reason to judge another cluster.

use super::super::names::INSTANCE_TYPE;
use super::super::touched;
use super::*;
use trueup_core::world::{Change, ChangeSet, ClusterSource, CollectionId, Link, MemberRule, Provider, Standing, What};

/// So many clusters with machines, each with a live account of its own.
fn fleet(clusters: usize) -> World {
    let mut given = empty().without_account();
    for name in (0..clusters).map(|number| format!("c{number}")) {
        given.fleet.add_cluster(&name);
        given = given.object_in(&name, machine_set("workers", "m6i.8xlarge"));
        let (account, used_from) = (String::new(), MemberRule::default());
        let member = format!("aws:{name}");
        given.fleet.add(&member, ClusterSource::Cloud { provider: Provider::Aws, account, used_from });
        given.fleet.member(&member).link = Link::Live { since: now() };
    }
    let mut world = World::default();
    given.fill(&mut world);
    world
}

#[test]
fn one_change_of_an_account_touches_its_own_cluster_in_every_fleet() {
    let account = || ClusterName::new("aws:c3");
    let types = CollectionId::namespaced(&account(), INSTANCE_TYPE, "us-east-1");
    let cases: [(&str, Change, &[&str]); 4] = [
        ("its types", Change::Collection { id: types, what: What::Everything, values: Vec::new() }, &["c3"]),
        ("the account", Change::Cluster(account()), &["aws:c3", "c3"]),
        ("its link", Change::Link { cluster: account(), standing: Standing::Changed }, &[]),
        ("a cluster that is gone", Change::Cluster(ClusterName::new("gone")), &["gone"]),
    ];
    for clusters in [10, 100, 1_000] {
        let world = fleet(clusters);
        for (case, change, expected) in &cases {
            let changes: ChangeSet = [change.clone()].into_iter().collect();
            let touched = touched::find(&changes, world.view(now())).clusters;
            let names: Vec<&str> = touched.iter().map(ClusterName::as_str).collect();
            assert_eq!(names, *expected, "case: {case}, {clusters} clusters");
        }
    }
}
