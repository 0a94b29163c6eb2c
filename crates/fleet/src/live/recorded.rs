//! Folders: the same judgements as live, without a loop.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use trueup_checks::Check;
use trueup_checks::judgements::Judgements;
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{RecordedCluster, fill};
use trueup_core::world::{Change, ChangeSet, Cluster, ClusterName, CollectionId, Interest, World};

/// How often interests may lead to further interests. Each round answers a level of references; the deepest chain is
/// a management cluster, its HostedClusters, their namespaces and the Secrets named there.
const ROUNDS_MAX: usize = 8;

/// Judges recorded clusters as they were at `now`.
pub fn recorded(
    domains: &[Box<dyn Check>],
    clusters: Vec<Cluster>,
    recordings: &BTreeMap<ClusterName, RecordedCluster>,
    digester: &Digester,
    now: Timestamp,
) -> (World, Judgements) {
    let mut world = World::default();
    let mut changes = ChangeSet::default();
    for cluster in clusters {
        changes.push(Change::Cluster(cluster.name.clone()));
        world.put_cluster(cluster);
    }
    let mut asked: BTreeSet<(CollectionId, TypeId)> = BTreeSet::new();
    for _ in 0..ROUNDS_MAX {
        let view = world.view(now);
        let mut interests: Vec<Interest> = domains.iter().flat_map(|domain| domain.interests(view)).collect();
        interests.retain(|interest| asked.insert((interest.id.clone(), interest.fact.type_id())));
        if interests.is_empty() {
            break;
        }
        fill(&mut world, recordings, &interests, digester, now);
    }
    let mut judgements = Judgements::default();
    judgements.follow(domains, world.view(now), &everything(changes, &asked));
    (world, judgements)
}

fn everything(mut changes: ChangeSet, asked: &BTreeSet<(CollectionId, TypeId)>) -> ChangeSet {
    for (id, _) in asked {
        changes.push(Change::Collection {
            id: id.clone(),
            what: trueup_core::world::What::Everything,
            values: Vec::new(),
        });
    }
    changes
}
