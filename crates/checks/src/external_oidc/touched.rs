//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything.
//!
//! A cluster has a few dozen subjects, and nearly every one of them depends on the Authentication, the revisions that
//! run and each other's presence: a change to anything this check reads touches all of its cluster.

use super::context::CheckContext;
use super::names::{
    API_SERVICE, AUTHENTICATION, AUTHENTICATION_OPERATOR, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CLUSTER_VERSION,
    CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_OPERATOR, CUSTOM_RESOURCE_DEFINITION, FEATURE_GATE, INFRASTRUCTURE,
    KAS_NAMESPACE, KUBE_API_SERVER, MANAGED_NAMESPACE, NAMESPACE, OAUTH_API_NAMESPACE, OAUTH_NAMESPACE,
    ROLE_BINDING_RESTRICTION,
};
use crate::Touched;
use trueup_core::world::{Change, ChangeSet, CollectionId, Resource, View};

/// Decide whether there is anything to judge at all.
const DECIDING: [Resource; 3] = [INFRASTRUCTURE, AUTHENTICATION, KUBE_API_SERVER];

/// Kinds without namespaces, or read in all of them.
const WHOLE: [Resource; 10] = [
    FEATURE_GATE,
    CLUSTER_VERSION,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    API_SERVICE,
    CUSTOM_RESOURCE_DEFINITION,
    ROLE_BINDING_RESTRICTION,
    NAMESPACE,
    AUTHENTICATION_OPERATOR,
    CONSOLE_OPERATOR,
];

const NAMESPACES: [&str; 6] =
    [CONFIG_NAMESPACE, MANAGED_NAMESPACE, KAS_NAMESPACE, CONSOLE_NAMESPACE, OAUTH_NAMESPACE, OAUTH_API_NAMESPACE];

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    for change in changes.iter() {
        let cluster = change.cluster();
        if touched.clusters.contains(cluster) {
            continue;
        }
        let touches = match change {
            Change::Cluster(_) => true,
            Change::Link { .. } => false,
            Change::Collection { id, .. } if DECIDING.contains(&id.resource) => true,
            Change::Collection { id, .. } => is_read(id) && CheckContext::of(view, cluster).is_some(),
        };
        if touches {
            touched.clusters.insert(cluster.clone());
        }
    }
    touched
}

fn is_read(id: &CollectionId) -> bool {
    let inside = id.namespace().is_some_and(|namespace| NAMESPACES.contains(&namespace.as_str()));
    inside || WHOLE.contains(&id.resource)
}
