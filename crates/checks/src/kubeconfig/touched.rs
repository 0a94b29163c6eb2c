//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything.

use std::collections::BTreeSet;

use super::context::{CheckContext, is_own};
use super::facts::Apply;
use super::names::{
    APPLY, CAPT_PLANE, CLUSTER, CONTEXT, HOSTED_CLUSTER, SECRET, SOURCE_NAMESPACE, WORKSPACE, cluster_of_apply,
    cluster_of_source, is_anchor, target_name,
};
use super::subjects::{subject, with_owners};
use crate::Touched;
use trueup_core::engine::SubjectId;
use trueup_core::world::{Change, ChangeSet, ClusterName, CollectionId, Key, View, What};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    let mut whole = Whole::default();
    for change in changes.iter() {
        match change {
            Change::Collection { id, what: What::Keys(keys), .. }
                if id.resource == SECRET && id.selector.fields.is_empty() =>
            {
                touch_secrets(id, keys, view, &mut touched, &mut whole);
            }
            Change::Collection { id, .. } if id.resource == SECRET || HOSTED_CLUSTER.is(&id.resource) => {
                touched.clusters.insert(id.cluster.clone());
                // A list that changed as a whole may have changed where a cluster is.
                whole.sourced |= id.resource == SECRET;
            }
            Change::Collection { id, .. } if CLUSTER.is(&id.resource) || CAPT_PLANE.is(&id.resource) => {
                touched.clusters.insert(id.cluster.clone());
                whole.sourced = true;
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
                whole = Whole { sourced: true, own: true };
            }
        }
    }
    if whole.sourced {
        // Sources are looked for in the whole fleet: what has some is judged again when any cluster's endpoint changes.
        touched.clusters.extend(with_owners(view));
    }
    if whole.own {
        // Whether its server lets a context in is part of what is said of it.
        touched.clusters.extend(view.clusters().filter(|cluster| is_own(cluster)).map(|own| own.name.clone()));
    }
    touched
}

/// What takes a look at the whole fleet: once for all changes.
#[derive(Default)]
struct Whole {
    /// Clusters whose kubeconfigs have sources.
    sourced: bool,
    /// The user's own kubeconfig files.
    own: bool,
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

/// A kubeconfig touches itself, a source what is copied from it, and what says where a cluster is, everything that is
/// compared with it.
fn touch_secrets(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched, whole: &mut Whole) {
    for key in keys {
        let Some(namespace) = &key.namespace else { continue };
        let name = key.name.as_str();
        touched.subjects.insert(subject(&id.cluster, namespace, name));
        if is_anchor(name) {
            touched.clusters.insert(id.cluster.clone());
            whole.sourced = true;
        }
        let source = cluster_of_source(name).filter(|_| namespace.as_str() == SOURCE_NAMESPACE);
        if let Some(cluster) = source {
            touch_copies(&id.cluster, cluster, view, &mut touched.subjects);
        }
    }
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
