//! The integrated OAuth server of a standalone cluster: its objects, and the part of the authentication operator that
//! removes them once OIDC is available and creates them again on a revert.
//!
//! Invariants: nothing is removed before every node runs with OIDC alone; a created operand is ready one step later.
//! Facts: `docs/facts/external-oidc.md` sections 3.2 and 3.5.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::guest::{Edited, ObjectHandle, put};
use super::super::objects::field_mut;
use super::objects::MANAGED;
use crate::SimCluster;

pub const WEBHOOK: &str = "webhook-authentication-integrated-oauth";
pub const METADATA: &str = "oauth-openshift";
const OAUTH: &str = "openshift-authentication";
const OAUTH_API: &str = "openshift-oauth-apiserver";
const RBAC: &str = "rbac.authorization.k8s.io/v1";
const TRUST: &str = "system:openshift:oauth-servercert-trust";
const TOKENS: &str = "system:openshift:useroauthaccesstoken-manager";

/// API version, kind, namespace (empty for none) and name of an object.
type PartName = (&'static str, &'static str, &'static str, &'static str);

const PARTS: [PartName; 24] = [
    ("route.openshift.io/v1", "Route", OAUTH, "oauth-openshift"),
    ("apps/v1", "Deployment", OAUTH, "oauth-openshift"),
    ("v1", "Service", OAUTH, "oauth-openshift"),
    ("v1", "ServiceAccount", OAUTH, "oauth-openshift"),
    ("v1", "ConfigMap", OAUTH, "v4-0-config-system-cliconfig"),
    ("v1", "ConfigMap", OAUTH, "v4-0-config-system-metadata"),
    ("v1", "ConfigMap", OAUTH, "v4-0-config-system-service-ca"),
    ("v1", "ConfigMap", OAUTH, "v4-0-config-system-trusted-ca-bundle"),
    ("v1", "Secret", OAUTH, "v4-0-config-system-ocp-branding-template"),
    ("v1", "Secret", OAUTH, "v4-0-config-system-session"),
    (RBAC, "ClusterRoleBinding", "", "system:openshift:openshift-authentication"),
    ("v1", "ConfigMap", MANAGED, METADATA),
    ("v1", "ConfigMap", MANAGED, "oauth-serving-cert"),
    (RBAC, "Role", MANAGED, TRUST),
    (RBAC, "RoleBinding", MANAGED, TRUST),
    ("apiregistration.k8s.io/v1", "APIService", "", "v1.oauth.openshift.io"),
    ("apiregistration.k8s.io/v1", "APIService", "", "v1.user.openshift.io"),
    ("apps/v1", "Deployment", OAUTH_API, "apiserver"),
    ("v1", "Service", OAUTH_API, "api"),
    ("v1", "ServiceAccount", OAUTH_API, "oauth-apiserver-sa"),
    (RBAC, "ClusterRoleBinding", "", "system:openshift:oauth-apiserver"),
    (RBAC, "ClusterRoleBinding", "", TOKENS),
    (RBAC, "ClusterRole", "", TOKENS),
    ("v1", "Secret", "openshift-config", WEBHOOK),
];

/// Whether an operand has begun to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Starting,
    Ready,
}

/// All objects of the integrated OAuth server, without a status.
pub fn oauth_server() -> Vec<Value> {
    PARTS.into_iter().map(object).collect()
}

fn object((api_version, kind, namespace, name): PartName) -> Value {
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } });
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// What an operand's status says; nothing for a kind without one.
fn status(kind: &str, health: Health) -> Option<Value> {
    let word = if health == Health::Ready { "True" } else { "False" };
    match (kind, health) {
        ("Deployment", Health::Starting) => Some(json!({ "observedGeneration": 1, "replicas": 3 })),
        ("Deployment", Health::Ready) => {
            Some(json!({ "observedGeneration": 1, "replicas": 3, "availableReplicas": 3 }))
        }
        ("Route", _) => {
            let admitted = json!([{ "type": "Admitted", "status": word }]);
            Some(json!({ "ingress": [{ "routerName": "default", "conditions": admitted }] }))
        }
        ("APIService", _) => Some(json!({ "conditions": [{ "type": "Available", "status": word }] })),
        _ => None,
    }
}

/// An object with its status.
pub fn with_health(mut object: Value, health: Health) -> Value {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    if kind == "Deployment" {
        object["spec"] = json!({ "replicas": 3 });
    }
    if let Some(status) = status(&kind, health) {
        object["status"] = status;
    }
    object
}

fn handle<'s>(sim: &'s SimCluster, (api_version, kind, namespace, name): PartName) -> ObjectHandle<'s> {
    let key = if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") };
    ObjectHandle::new(sim, api_version, kind, key)
}

/// When a part is removed: the ways in first, then the servers, then the rest.
fn turn((_, kind, ..): &PartName) -> usize {
    match *kind {
        "Route" | "APIService" => 0,
        "Deployment" => 1,
        _ => 2,
    }
}

/// Removes the parts whose turn it is.
pub fn remove(sim: &SimCluster) {
    let present: Vec<PartName> = PARTS.into_iter().filter(|part| handle(sim, *part).get().is_some()).collect();
    let Some(next) = present.iter().map(turn).min() else { return };
    present.iter().filter(|part| turn(part) == next).for_each(|part| handle(sim, *part).remove());
}

/// Creates what is missing, and lets what was created before become ready. Returns whether all of it was there.
pub fn create(sim: &SimCluster, at: Timestamp) -> bool {
    let mut was_complete = true;
    for part in PARTS {
        let place = handle(sim, part);
        let ready = status(part.1, Health::Ready);
        let edited = place.edit(at, |found| {
            if let Some(ready) = ready {
                *field_mut(found, &["status"]) = ready;
            }
        });
        if edited == Edited::Absent {
            was_complete = false;
            put(sim, at, with_health(object(part), Health::Starting));
        }
    }
    was_complete
}
