//! Objects of the demo, in the form their controllers write them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::certificate::Client;
use super::kinds::{CONFIG, HYPERSHIFT};
use super::provider::CopyKind;

/// On every object the hosted cluster config operator writes in a guest.
pub const MANAGED_LABEL: &str = "hypershift.openshift.io/managed";
/// Marks a copy made for an OIDC provider.
pub const OIDC_LABEL: &str = "hypershift.openshift.io/oidc-provider-managed";
/// `<namespace>/<name>` of the HostedCluster an object belongs to.
pub const CLUSTER_ANNOTATION: &str = "hypershift.openshift.io/cluster";
pub const REFERENCED_ANNOTATION: &str = "referenced-resource.hypershift.openshift.io/";
pub const RESTORED_ANNOTATION: &str = "hypershift.openshift.io/restored-from-backup";
pub const FINALIZER: &str = "hypershift.openshift.io/finalizer";

/// The namespace of HostedClusters and their sources.
pub const CLUSTERS: &str = "clusters";
pub const COPIES: &str = "openshift-config";
pub const CONSOLE: &str = "openshift-console";

/// A time as the API writes it.
pub fn api_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub fn namespace(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })
}

/// A ConfigMap or Secret with one key.
pub fn one_key(kind: CopyKind, namespace: &str, name: &str, key: &str, value: &str) -> Value {
    let mut object = json!({
        "apiVersion": "v1",
        "kind": kind.as_str(),
        "metadata": { "namespace": namespace, "name": name },
    });
    match kind {
        CopyKind::ConfigMap => object["data"] = json!({ key: value }),
        CopyKind::Secret => {
            object["type"] = "Opaque".into();
            object["data"] = json!({ key: STANDARD.encode(value) });
        }
    }
    object
}

/// Returns the one key HyperShift copies; empty when it is absent.
pub fn copied_value(kind: CopyKind, object: &Value) -> Value {
    object.pointer(&format!("/data/{}", kind.key())).cloned().unwrap_or_else(|| "".into())
}

/// Adds labels to an object.
pub fn labelled(mut object: Value, labels: &[&str]) -> Value {
    for label in labels {
        *field_mut(&mut object, &["metadata", "labels", label]) = "true".into();
    }
    object
}

/// Marks an object as being deleted and held by a finalizer.
pub fn mark_deleted(object: &mut Value, at: Timestamp, finalizer: &str) {
    object["metadata"]["deletionTimestamp"] = api_time(at).into();
    object["metadata"]["deletionGracePeriodSeconds"] = 0.into();
    object["metadata"]["finalizers"] = json!([finalizer]);
}

/// A config singleton.
pub fn config(kind: &str, spec: Value) -> Value {
    json!({ "apiVersion": CONFIG, "kind": kind, "metadata": { "name": "cluster" }, "spec": spec })
}

pub fn infrastructure(infra_id: &str, topology: &str, server: &str) -> Value {
    let mut object = config("Infrastructure", json!({ "platformSpec": { "type": "AWS" } }));
    object["status"] = json!({
        "infrastructureName": infra_id,
        "controlPlaneTopology": topology,
        "infrastructureTopology": "HighlyAvailable",
        "apiServerURL": server,
        "platform": "AWS",
    });
    object
}

pub fn hosted_cluster(name: &str, infra_id: &str, since: &str) -> Value {
    let kubeconfig = format!("{name}-admin-kubeconfig");
    json!({
        "apiVersion": HYPERSHIFT,
        "kind": "HostedCluster",
        "metadata": { "namespace": CLUSTERS, "name": name, "finalizers": [FINALIZER] },
        "spec": {
            "infraID": infra_id,
            "platform": { "type": "AWS", "aws": { "region": "eu-central-1" } },
            "release": { "image": "quay.io/openshift-release-dev/ocp-release:4.20.3-multi" },
            "configuration": {},
        },
        "status": {
            "kubeconfig": { "name": kubeconfig },
            "conditions": [
                condition("Available", "True", "AsExpected", "The hosted control plane is available", since),
                condition("KubeAPIServerAvailable", "True", "AsExpected", "", since),
                condition("ReconciliationActive", "True", "AsExpected", "Reconciliation active on resource", since),
            ],
        },
    })
}

pub fn control_plane(name: &str, namespace: &str, infra_id: &str) -> Value {
    json!({
        "apiVersion": HYPERSHIFT,
        "kind": "HostedControlPlane",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "annotations": { CLUSTER_ANNOTATION: format!("{CLUSTERS}/{name}") },
            "finalizers": [FINALIZER],
        },
        "spec": {
            "infraID": infra_id,
            "issuerURL": format!("https://oidc.{name}.example"),
            "platform": { "type": "AWS" },
            "releaseImage": "quay.io/openshift-release-dev/ocp-release:4.20.3-multi",
            "configuration": {},
        },
        "status": { "ready": true, "kubeConfig": { "name": "admin-kubeconfig", "key": "kubeconfig" } },
    })
}

/// A condition of a HyperShift object.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str, since: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since })
}

/// The field at this path, for writing. What is no object on the way is replaced by one: users may store any shape with
/// kubectl, and the operators of the demo go on.
pub fn field_mut<'v>(object: &'v mut Value, path: &[&str]) -> &'v mut Value {
    let mut at = object;
    for name in path {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[*name];
    }
    at
}

/// Sets a condition unless it is set already.
pub fn set_condition(object: &mut Value, wanted: Value) {
    let conditions = field_mut(object, &["status", "conditions"]);
    let mut all = conditions.as_array().cloned().unwrap_or_default();
    let without_time = |condition: &Value| {
        let mut fields = condition.as_object().cloned().unwrap_or_default();
        fields.remove("lastTransitionTime");
        fields
    };
    match all.iter_mut().find(|held| held["type"] == wanted["type"]) {
        Some(held) if without_time(held) == without_time(&wanted) => {}
        Some(held) => *held = wanted,
        None => all.push(wanted),
    }
    *conditions = all.into();
}

/// The kubeconfig HyperShift keeps for a guest's admin.
pub fn admin_kubeconfig(server: &str, authority: &str, admin: &Client) -> String {
    let Client { certificate, key } = admin;
    let (authority, certificate, key) =
        (STANDARD.encode(authority), STANDARD.encode(certificate), STANDARD.encode(key));
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: admin\nclusters:\n- name: cluster\n  cluster:\n    server: \
         {server}\n    certificate-authority-data: {authority}\ncontexts:\n- name: admin\n  context:\n    cluster: \
         cluster\n    user: admin\nusers:\n- name: admin\n  user:\n    client-certificate-data: {certificate}\n    \
         client-key-data: {key}\n"
    )
}

/// Returns a kubeconfig with another server address and without a CA.
pub fn moved(kubeconfig: &str, server: &str) -> String {
    let line = |line: &str| match line.trim_start().split_once(": ") {
        Some(("server", _)) => format!("    server: {server}\n"),
        Some(("certificate-authority-data", _)) => String::new(),
        Some(_) | None => format!("{line}\n"),
    };
    kubeconfig.lines().map(line).collect()
}
