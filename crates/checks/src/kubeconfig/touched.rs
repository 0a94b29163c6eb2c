//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything. Of other clusters only
//! sources that lead to the one that changed are touched, found by server and authorities.

use std::collections::BTreeSet;

use super::context::CheckContext;
use super::facts::{Anchor, Apply, CapiCluster, CaptPlane, Holder, OwnContext};
use super::names::{
    APPLY, CAPT_PLANE, CLUSTER, CONTEXT, HOSTED_CLUSTER, SECRET, SOURCE_NAMESPACE, WORKSPACE, cluster_of_apply,
    cluster_of_source, is_anchor, target_name,
};
use super::subjects::{own_subject, subject};
use crate::Touched;
use trueup_core::engine::SubjectId;
use trueup_core::world::{Change, ChangeSet, ClusterName, CollectionId, Key, View, What};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    let mut addresses = ChangedAddresses::default();
    for change in changes.iter() {
        match change {
            Change::Collection { id, what: What::Keys(keys), values }
                if id.resource == SECRET && id.selector.fields.is_empty() =>
            {
                if touch_secrets(id, keys, view, &mut touched) == Says::Address {
                    addresses.of(&id.cluster, values);
                }
            }
            Change::Collection { id, values, .. } if id.resource == SECRET => {
                touched.clusters.insert(id.cluster.clone());
                // A list that changed as a whole may have changed where a cluster is.
                addresses.of(&id.cluster, values);
            }
            Change::Collection { id, .. } if HOSTED_CLUSTER.is(&id.resource) => {
                touched.clusters.insert(id.cluster.clone());
            }
            Change::Collection { id, values, .. } if CLUSTER.is(&id.resource) || CAPT_PLANE.is(&id.resource) => {
                touched.clusters.insert(id.cluster.clone());
                addresses.of(&id.cluster, values);
            }
            Change::Collection { id, what: What::Keys(keys), .. } if APPLY.is(&id.resource) => {
                touch_applies(id, keys.iter(), &mut touched.subjects);
            }
            Change::Collection { id, what: What::Keys(keys), .. } if id.resource == WORKSPACE => {
                touch_workspaces(id, keys, view, &mut touched.subjects);
            }
            Change::Collection { id, .. } if APPLY.is(&id.resource) || id.resource == WORKSPACE => {
                touched.clusters.insert(id.cluster.clone());
            }
            Change::Collection { id, .. } if id.resource == CONTEXT => {
                touched.clusters.insert(id.cluster.clone());
            }
            Change::Collection { .. } => {}
            Change::Cluster(name) => {
                touched.clusters.insert(name.clone());
                addresses.of(name, &[]);
                touch_own(name, view, &mut touched.subjects);
            }
            Change::Link { cluster, .. } => touch_own(cluster, view, &mut touched.subjects),
        }
    }
    addresses.touch(view, &mut touched);
    touched
}

/// What the change of a Secret may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// The endpoint or the CA of a cluster.
    Address,
    Nothing,
}

/// Endpoints and CAs of clusters that may have changed. Every source that leads to one of them, or led to it, is judged
/// again.
#[derive(Default)]
struct ChangedAddresses {
    clusters: BTreeSet<ClusterName>,
    /// What their objects named before or name now.
    values: BTreeSet<Box<str>>,
}

impl ChangedAddresses {
    fn of(&mut self, cluster: &ClusterName, values: &[Box<str>]) {
        self.clusters.insert(cluster.clone());
        self.values.extend(values.iter().cloned());
    }

    /// Sources of clusters that were touched as a whole are touched already.
    fn touch(mut self, view: View<'_>, touched: &mut Touched) {
        for cluster in &self.clusters {
            self.values.extend(view.index_values::<CapiCluster>(cluster));
            self.values.extend(view.index_values::<CaptPlane>(cluster));
            self.values.extend(view.index_values::<Anchor>(cluster));
        }
        let mut sources: BTreeSet<(&ClusterName, &str)> = BTreeSet::new();
        for (id, key, _) in self.values.iter().flat_map(|value| view.indexed::<Holder>(value)) {
            if !touched.clusters.contains(&id.cluster) {
                sources.extend(source_of(key).map(|cluster| (&id.cluster, cluster)));
            }
        }
        for (context, cluster) in sources {
            touch_copies(context, cluster, view, &mut touched.subjects);
        }
    }
}

/// The contexts of the user's own files that have this cluster's name: whether its server lets a context in is part of what
/// is said of it.
fn touch_own(cluster: &ClusterName, view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let files = view.filled::<OwnContext>().map(|(id, _)| &id.cluster);
    subjects.extend(files.map(|files| own_subject(files, cluster.as_str())));
}

/// The cluster that a Secret would be CAPT's source for.
fn source_of(key: &Key) -> Option<&str> {
    let is_there = key.namespace.as_ref().is_some_and(|namespace| namespace.as_str() == SOURCE_NAMESPACE);
    cluster_of_source(key.name.as_str()).filter(|_| is_there)
}

/// A WorkspaceTemplateApply is a stage of one kubeconfig.
fn touch_applies<'k>(id: &CollectionId, keys: impl Iterator<Item = &'k Key>, subjects: &mut BTreeSet<SubjectId>) {
    for key in keys {
        let Some(namespace) = &key.namespace else { continue };
        let target = cluster_of_apply(key.name.as_str()).map(target_name);
        subjects.extend(target.map(|target| subject(&id.cluster, namespace, &target)));
    }
}

/// A Workspace touches what the WorkspaceTemplateApply that made it does.
fn touch_workspaces(id: &CollectionId, keys: &[Key], view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let applies = view.read::<Apply>(&APPLY.collection_at(&id.cluster, view));
    let names: BTreeSet<&str> = keys.iter().map(|key| key.name.as_str()).collect();
    let made = applies.iter().filter(|(_, apply)| names.contains(&*apply.workspace)).map(|(key, _)| key);
    touch_applies(id, made, subjects);
}

/// A kubeconfig touches itself, a source what is copied from it, and what says where a cluster is, its whole cluster.
fn touch_secrets(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched) -> Says {
    let mut says = Says::Nothing;
    for key in keys {
        let Some(namespace) = &key.namespace else { continue };
        let name = key.name.as_str();
        touched.subjects.insert(subject(&id.cluster, namespace, name));
        if is_anchor(name) {
            touched.clusters.insert(id.cluster.clone());
            says = Says::Address;
        }
        if let Some(cluster) = source_of(key) {
            touch_copies(&id.cluster, cluster, view, &mut touched.subjects);
        }
    }
    says
}

/// Every target that may be copied from the source of this name.
fn touch_copies(context: &ClusterName, cluster: &str, view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let Some(context) = CheckContext::of(view, context) else { return };
    let typed = context.typed();
    let target = target_name(cluster);
    let owners = context.clusters.iter().map(|(key, _)| key).chain(context.planes.iter().map(|(key, _)| key));
    let owners = owners.filter(|key| key.name.as_str() == cluster);
    let others = typed.iter().map(|(key, _)| key).filter(|key| key.name.as_str() == target);
    for key in owners.chain(others) {
        let Some(namespace) = &key.namespace else { continue };
        subjects.insert(subject(&context.cluster.name, namespace, &target));
    }
}
