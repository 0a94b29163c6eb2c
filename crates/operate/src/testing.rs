//! Builders for tests.

use crate::fleet::Made;
use trueup_checks::judgements::Judgements;
use trueup_core::decode::Digester;
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, RiskClass, Served, World};
use trueup_fleet::live::Live;

/// A snapshot of one cluster without objects.
pub fn snapshot_of(name: &str) -> Made {
    let mut world = World::default();
    world.put_cluster(Cluster {
        name: ClusterName::new(name),
        class: RiskClass::Prod,
        source: ClusterSource::Snapshot,
        hosted_by: None,
        link: Link::Recorded,
        identity: ClusterIdentity::default(),
        served: Served::Recorded(Default::default()),
    });
    let now = "2026-11-16T10:00:00Z".parse().unwrap();
    let live = Live::from_snapshot(Vec::new(), world, Judgements::default(), now, Digester::new(&[0; 32]));
    Made { live, recording: None, keeps: Box::new(()) }
}
