//! Clusters that were written down: the objects of a folder answer interests the way a server would.
//!
//! Invariants: the same decoding as for live clusters, so a folder and a server give the same facts.
//! Elsewhere: reading files (`fleet::snapshot`), what a recording claims to hold (`fleet::recording`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::digest::Digester;
pub use super::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject};
use super::{DataSort, Reader};
use crate::world::{
    ChangeSet, ClusterName, CollectionId, Delta, Gap, GapCause, Interest, Interner, RawObject, ResourceVersion, Scope,
    World,
};

/// Feeds the world with the clusters' answers to these interests, and says what changed.
pub fn fill(
    world: &mut World,
    clusters: &BTreeMap<ClusterName, RecordedCluster>,
    interests: &[Interest],
    digester: &Digester,
    now: Timestamp,
) -> ChangeSet {
    let mut changes = ChangeSet::default();
    for interest in interests {
        world.open(interest);
        if let Some(cluster) = clusters.get(&interest.id.cluster) {
            let (_, changed) = world.apply(&interest.id, interest.fact, answer(cluster, interest, digester, now));
            changes.extend(changed);
        }
    }
    changes
}

/// Answers one interest from what was written down.
fn answer(cluster: &RecordedCluster, interest: &Interest, digester: &Digester, now: Timestamp) -> Delta {
    let id = &interest.id;
    let mut facts = interest.fact.new_batch();
    let mut pool = Interner::default();
    let mut gap = cluster.gap(id);
    let api_version = id.resource.api_version();
    let reader = Reader {
        digester,
        sort: DataSort::of(id.resource.group, id.resource.kind),
        digested: interest.fact.digested_keys(),
        reduced: interest.fact.reduced_keys(),
        api_version: &api_version,
        kind: id.resource.kind,
    };
    for object in cluster.of_kind(id.resource.group, id.resource.kind).iter().filter(|object| in_scope(id, object)) {
        let read = reader.object(&object.json).map(|raw| placed(id, raw)).map_err(|error| error.to_string());
        let kept =
            read.and_then(|raw| keep(id, &raw, |raw| facts.push(raw, &mut pool)).map_err(|misfit| misfit.to_string()));
        if let Err(message) = kept {
            let message = format!("{} {}/{} cannot be read: {message}", object.kind, object.namespace, object.name);
            gap.get_or_insert(Gap::new(GapCause::Unreadable, message));
        }
    }
    match gap {
        // A recording has no list version of its own: the moment it claims to show stands for it.
        None => Delta::Listed { facts, version: ResourceVersion::Text("".into()), at: now, gap: None },
        Some(gap) => Delta::Seen { facts, gap },
    }
}

fn in_scope(id: &CollectionId, object: &RecordedObject) -> bool {
    match &id.scope {
        Scope::All => true,
        Scope::Namespace(namespace) => object.namespace == namespace.as_str(),
        Scope::Object { namespace, name } => {
            object.name == name.as_str() && object.namespace == namespace.as_ref().map_or("", |text| text.as_str())
        }
    }
}

/// An object of a kind without namespaces is found by its name alone, whatever a file says about a namespace.
fn placed<'a>(id: &CollectionId, mut raw: RawObject<'a>) -> RawObject<'a> {
    if !id.resource.namespaced {
        raw.meta.namespace = Cow::Borrowed("");
    }
    raw
}

/// Hands an object on unless the interest's selector leaves it out.
fn keep<E>(
    id: &CollectionId,
    raw: &RawObject<'_>,
    push: impl FnOnce(&RawObject<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if id.selector.matches(raw) { push(raw) } else { Ok(()) }
}
