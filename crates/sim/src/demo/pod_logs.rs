//! Pods of operators and what they print, for those who ask why a finding is there.
//!
//! Invariants: a log holds no secret; it says what the operator of this cluster did, before the scenario begins.
//! Elsewhere: serving it (`api`), what the operators do (`operators`, `standalone`).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::guest::{Guest, put};
use super::objects::{self, COPIES};
use super::provider::{CopyKind, references};
use crate::SimCluster;

/// The end of a pod's name, as a ReplicaSet gives it.
const SUFFIX: &str = "7d4f9c6b58-x2k4q";
/// The pod of the annotator of machine sets, which the scenario of AWS seeds.
const ANNOTATOR_POD: (&str, &str) = ("openshift-machine-api", "capa-annotator-5d9c7");
/// Operators of a standalone cluster: Deployment, and the resource of their conditions.
const STANDALONE: [(&str, &str); 3] = [
    ("authentication-operator", "Authentication"),
    ("kube-apiserver-operator", "KubeAPIServer"),
    ("console-operator", "Console"),
];

/// When a scenario's objects were created, and when it begins.
type Times = (Timestamp, Timestamp);

/// The HyperShift operator of a management cluster.
pub fn of_management(sim: &SimCluster, times: Times) {
    seed(sim, times, ("hypershift", "operator"), &reconciled("hostedcluster", "HostedCluster", &[]));
}

/// The config operator of a guest, beside its control plane: it copies what the control plane names.
pub fn of_guest(guest: &Guest, times: Times) {
    let namespace = guest.control_plane_namespace();
    let plane = guest.control_plane().get().unwrap_or_default();
    let named = references(&plane["spec"]["configuration"]["authentication"]);
    let is_there = |kind: CopyKind, name: &str| guest.outside(kind, &namespace, name).get().is_some();
    let lines: Vec<String> = named
        .iter()
        .map(|(kind, name)| match is_there(*kind, name) {
            true => format!(r#"level=info msg="reconciled copy" resource={}/{COPIES}/{name}"#, kind.as_str()),
            false => format!(r#"level=error msg="failed to get source" resource={}/{namespace}/{name}"#, kind.as_str()),
        })
        .collect();
    let lines = reconciled("resources", "Authentication/cluster", &lines);
    seed(&guest.management, times, (&namespace, "hosted-cluster-config-operator"), &lines);
}

/// The operators of a standalone cluster, with what they report as degraded, and its annotator.
pub fn of_standalone(sim: &SimCluster, times: Times) {
    for (deployment, resource) in STANDALONE {
        let found = sim.object("operator.openshift.io/v1", resource, "cluster").unwrap_or_default();
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let degraded = conditions.iter().filter(|one| is_true_of(one, "Degraded")).map(|one| {
            let message = one["message"].as_str().unwrap_or_default();
            format!(
                r#"level=error msg="degraded" condition={} error={message:?}"#,
                one["type"].as_str().unwrap_or_default()
            )
        });
        let lines = reconciled(deployment, &format!("{resource}/cluster"), &degraded.collect::<Vec<_>>());
        seed(sim, times, (&format!("openshift-{deployment}"), deployment), &lines);
    }
    let (namespace, pod) = ANNOTATOR_POD;
    if let Ok(found) = sim.object("v1", "Pod", &format!("{namespace}/{pod}")) {
        print(sim, times.1, ANNOTATOR_POD, &annotated(&found));
    }
}

fn is_true_of(condition: &Value, suffix: &str) -> bool {
    condition["status"] == "True" && condition["type"].as_str().is_some_and(|kind| kind.ends_with(suffix))
}

/// What the annotator printed: half a pair of variables gives it no credentials.
fn annotated(pod: &Value) -> Vec<String> {
    let variables = pod.pointer("/spec/containers/0/env").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_set = |name: &str| variables.iter().any(|one| one["name"] == name);
    let failures = match (is_set("AWS_ROLE_ARN"), is_set("AWS_WEB_IDENTITY_TOKEN_FILE")) {
        (true, true) | (false, false) => Vec::new(),
        (true, false) | (false, true) => {
            vec![
                r#"level=error msg="cannot describe instance types" error="no credentials in the default chain""#
                    .to_owned(),
            ]
        }
    };
    reconciled("machineset", "MachineSet", &failures)
}

/// One reconciliation, with these lines inside it.
fn reconciled(controller: &str, resource: &str, lines: &[String]) -> Vec<String> {
    let line = |message: &str| format!(r#"level=info controller={controller} msg="{message}" resource={resource}"#);
    [vec![line("starting reconciliation")], lines.to_vec(), vec![line("finished reconciliation")]].concat()
}

/// Seeds the pod of an operator with its log.
fn seed(sim: &SimCluster, (since, now): Times, (namespace, deployment): (&str, &str), lines: &[String]) {
    if sim.object("v1", "Namespace", namespace).is_err() {
        put(sim, since, objects::namespace(namespace));
    }
    let pod = format!("{deployment}-{SUFFIX}");
    let metadata = json!({ "namespace": namespace, "name": pod, "labels": { "app": deployment } });
    let spec = json!({ "containers": [{ "name": deployment, "image": "operator:1" }] });
    let status = json!({ "phase": "Running" });
    put(sim, since, json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status }));
    print(sim, now, (namespace, &pod), lines);
}

/// Sets what a pod printed: a line a second, ten minutes before.
fn print(sim: &SimCluster, now: Timestamp, (namespace, pod): (&str, &str), lines: &[String]) {
    let first = now.saturating_sub(SignedDuration::from_mins(10)).unwrap_or(now);
    let line = |(second, text): (i64, &String)| {
        let at = first.saturating_add(SignedDuration::from_secs(second)).unwrap_or(first);
        format!("{} {text}\n", at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    };
    let text: String = (0..).zip(lines).map(line).collect();
    sim.with(|server, _| server.set_pod_log(namespace, pod, &text));
}
