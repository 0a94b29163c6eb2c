//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything. A
//! change is seen after it happened, so where it may have moved a guest from one home to another, both are touched.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{CheckContext, possible_homes};
use super::facts::HostedCluster;
use super::hosted_cluster::{self, hosted_by};
use super::names::{CONSOLE_NAMESPACE, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER, INFRASTRUCTURE};
use super::subjects::{guests, hosted_cluster_subject, possible_source_subject, subject};
use crate::Touched;
use trueup_core::engine::SubjectId;
use trueup_core::world::{
    Change, ChangeSet, Cluster, ClusterName, CollectionId, HostedBy, Key, Namespace, Scope, View, What,
};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    for change in changes.iter() {
        match change {
            Change::Collection { id, what: What::Keys(keys) } if is_copies(id) => {
                touch_copies(id, keys, view, &mut touched.subjects)
            }
            Change::Collection { id, what: What::Keys(keys) } if HOSTED_CLUSTER.is(&id.resource) => {
                touch_hosted_clusters(id, keys, view, &mut touched);
                touch_topology_guests(&id.cluster, view, &mut touched.clusters);
            }
            Change::Collection { id, what: What::Keys(keys) } if CONTROL_PLANE.is(&id.resource) => {
                touch_control_planes(id, keys, view, &mut touched);
            }
            Change::Collection { id, .. } if HOSTED_CLUSTER.is(&id.resource) => {
                touch_neighbours(&id.cluster, view, &mut touched.clusters);
                touch_topology_guests(&id.cluster, view, &mut touched.clusters);
            }
            Change::Collection { id, .. } if id.resource == INFRASTRUCTURE => {
                touch_neighbours(&id.cluster, view, &mut touched.clusters);
                touch_managers(view, &mut touched.clusters);
            }
            Change::Collection { id, .. } if is_of_hosted_clusters(id, view) => {
                touch_referring(id, view, &mut touched.subjects);
            }
            Change::Collection { id, .. } => touch_neighbours(&id.cluster, view, &mut touched.clusters),
            Change::Cluster(name) => {
                touch_neighbours(name, view, &mut touched.clusters);
                if view.cluster(name).is_none() {
                    touch_topology_guests(name, view, &mut touched.clusters);
                    touch_managers(view, &mut touched.clusters);
                }
            }
        }
    }
    touched
}

/// A copy touches itself and what it leaves elsewhere when it is an orphan.
fn touch_copies(id: &CollectionId, keys: &[Key], view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let Some(kind) = CopyKind::of(id.resource.kind) else { return };
    let context = CheckContext::of(view, &id.cluster);
    for name in keys.iter().map(|key| key.name.as_str()) {
        subjects.insert(subject(&id.cluster, kind, COPIES_NAMESPACE, name));
        subjects.extend(kind.is_mirrored().then(|| subject(&id.cluster, kind, CONSOLE_NAMESPACE, name)));
        subjects.extend(context.as_ref().and_then(|context| possible_source_subject(context, kind, name)));
    }
}

/// Whether a collection is only read for the references of HostedClusters.
fn is_of_hosted_clusters(id: &CollectionId, view: View<'_>) -> bool {
    let Some(namespace) = id.namespace().filter(|_| CopyKind::of(id.resource.kind).is_some()) else { return false };
    let is_home = |by: &HostedBy| by.namespace == *namespace;
    let is_source = |context: CheckContext<'_>| {
        context.source_namespace().is_some_and(|(cluster, held)| *cluster == id.cluster && held == namespace.as_str())
    };
    hosted_cluster::all(view, &id.cluster).iter().any(is_home)
        && CheckContext::of(view, &id.cluster).is_none()
        && !guests(view).any(is_source)
}

/// The HostedClusters whose references are looked for in this namespace.
fn touch_referring(id: &CollectionId, view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let all = hosted_cluster::all(view, &id.cluster);
    let there = all.iter().filter(|by| id.namespace() == Some(&by.namespace));
    subjects.extend(there.map(hosted_cluster_subject));
}

/// A HostedCluster touches itself and the guests that say it is theirs.
fn touch_hosted_clusters(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched) {
    let own = keys.iter().filter_map(|key| hosted_by(&id.cluster, key));
    touched.subjects.extend(own.map(|by| hosted_cluster_subject(&by)));
    for guest in view.clusters() {
        let Some(by) = guest.hosted_by.as_ref().filter(|by| by.cluster == id.cluster) else { continue };
        let is_its = |key: &Key| key.name == by.name && key.namespace.as_ref() == Some(&by.namespace);
        if keys.iter().any(is_its) {
            touched.clusters.insert(guest.name.clone());
            touch_leftovers(&guest.name, view, &mut touched.subjects);
        }
    }
}

/// A control plane in its usual place touches its guest. Anything else may have moved a guest from one namespace to
/// another, and touches the whole neighbourhood.
fn touch_control_planes(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched) {
    // Several guests of one control plane: one that is known under two names.
    let mut usual: BTreeMap<Key, Vec<CheckContext<'_>>> = BTreeMap::new();
    for context in guests(view).filter(|context| context.home.as_ref().is_ok_and(|by| by.cluster == id.cluster)) {
        if let Some(key) = context.settled_control_plane() {
            usual.entry(key).or_default().push(context);
        }
    }
    for key in keys {
        match usual.get(key) {
            Some(contexts) => {
                for context in contexts {
                    touched.clusters.insert(context.guest.name.clone());
                    touch_leftovers(&context.guest.name, view, &mut touched.subjects);
                    touched.subjects.extend(context.home.as_ref().ok().map(hosted_cluster_subject));
                }
            }
            None => touch_neighbours(&id.cluster, view, &mut touched.clusters),
        }
    }
}

/// What a guest's copies may have left in the control plane's namespace.
fn touch_leftovers(guest: &ClusterName, view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let Some(context) = CheckContext::of(view, guest) else { return };
    for kind in CopyKind::ALL {
        let copies = context.copies(kind).iter().map(|(key, _)| key.name.as_str());
        let sources = context.sources(kind).into_iter().flat_map(|reading| reading.iter());
        // Whether the name is in a spec may have been decided by the old one.
        let marked = sources.filter(|(_, mark)| mark.is_platforms()).map(|(key, _)| key.name.as_str());
        subjects.extend(copies.chain(marked).filter_map(|name| possible_source_subject(&context, kind, name)));
    }
}

/// A change in a cluster touches itself, the guests it hosts and the cluster that hosts it.
fn touch_neighbours(changed: &ClusterName, view: View<'_>, clusters: &mut BTreeSet<ClusterName>) {
    clusters.insert(changed.clone());
    for context in guests(view) {
        match &context.home {
            Ok(by) if &by.cluster == changed => drop(clusters.insert(context.guest.name.clone())),
            Ok(by) if &context.guest.name == changed => drop(clusters.insert(by.cluster.clone())),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Guests whose home is found by infraID may have found, lost or changed it, whichever cluster the change was in.
fn touch_topology_guests(changed: &ClusterName, view: View<'_>, clusters: &mut BTreeSet<ClusterName>) {
    for context in guests(view).filter(|context| context.guest.hosted_by.is_none()) {
        clusters.insert(changed.clone());
        clusters.insert(context.guest.name.clone());
        clusters.extend(possible_homes(view, context.guest).into_iter().map(|by| by.cluster));
    }
}

/// Every cluster that hosts guests: where leftovers of a former guest would be.
fn touch_managers(view: View<'_>, clusters: &mut BTreeSet<ClusterName>) {
    let hosts =
        |cluster: &&Cluster| view.read::<HostedCluster>(&HOSTED_CLUSTER.collection(cluster)).iter().next().is_some();
    clusters.extend(view.clusters().filter(hosts).map(|cluster| cluster.name.clone()));
}

fn is_copies(id: &CollectionId) -> bool {
    id.scope == Scope::Namespace(Namespace::new(COPIES_NAMESPACE)) && CopyKind::of(id.resource.kind).is_some()
}
