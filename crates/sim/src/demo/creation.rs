//! A workload cluster while it is being created: the steps of CAPT to its first kubeconfig, one after another.
//!
//! ```text
//! WorkspaceTemplateApply ──► Workspace ──► <name>-outputs-kubeconfig ──► <name>-kubeconfig
//! applied at the start       tick 90       tick 150                      tick 180, and the cluster is up
//! ```
//!
//! Elsewhere: renewal and copying afterwards (`workload`).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::eks::{self, Access};
use super::guest::put;
use super::kinds::{CAPT, CAPT_INFRASTRUCTURE, CLUSTER_API, TERRAFORM};
use super::objects;
use super::seeded_rng::SeededRng;
use crate::SimCluster;

/// Name of the cluster.
pub const NAME: &str = "eks-studio";

/// The Terraform run ends.
const READY_TICK: u64 = 90;
/// Its outputs are written.
pub const OUTPUTS_TICK: u64 = 150;
/// The controller copies them, and the cluster is up.
pub const COPIED_TICK: u64 = 180;

/// Age of the cluster when the scenario starts.
const CLUSTER_AGE: SignedDuration = SignedDuration::from_mins(12);
/// Age of the request for its kubeconfig.
const APPLY_AGE: SignedDuration = SignedDuration::from_mins(3);

/// Seeds the cluster as far as it is when the scenario starts: Terraform runs.
pub fn seed(sim: &SimCluster, access: &Access, start: Timestamp) {
    let ago = |age: SignedDuration| start.checked_sub(age).unwrap_or(start);
    for mut object in eks::cluster_objects(access).into_iter().take(2) {
        object["spec"]["controlPlaneEndpoint"] = Value::Null;
        let phase = if object["kind"] == "Cluster" { "Provisioning" } else { "Creating" };
        object["status"] = json!({ "phase": phase });
        put(sim, ago(CLUSTER_AGE), object);
    }
    let conditions = json!([
        { "type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": objects::api_time(ago(APPLY_AGE)) },
        { "type": "Ready", "status": "False", "reason": "Creating", "message": "terraform apply is running", "lastTransitionTime": objects::api_time(ago(APPLY_AGE)) },
    ]);
    put(sim, ago(APPLY_AGE), workspace(&conditions));
    let apply = json!({
        "apiVersion": CAPT_INFRASTRUCTURE, "kind": "WorkspaceTemplateApply",
        "metadata": { "namespace": access.namespace, "name": format!("{NAME}-kubeconfig-apply") },
        "spec": { "templateRef": { "name": "eks-kubeconfig-template" } },
        "status": { "applied": true, "workspaceName": workspace_name(), "conditions": [
            { "type": "Synced", "status": "True", "reason": "Applied", "lastTransitionTime": objects::api_time(ago(APPLY_AGE)) },
        ] },
    });
    put(sim, ago(APPLY_AGE), apply);
}

/// What its controllers do at a tick.
pub fn step(sim: &SimCluster, access: &Access, rng: &mut SeededRng, tick: u64) {
    let now = sim.now();
    match tick {
        READY_TICK => {
            let ready = |object: &mut Value| {
                for condition in object["status"]["conditions"].as_array_mut().into_iter().flatten() {
                    condition["status"] = "True".into();
                }
            };
            sim.with(|server, _| server.edit(now, TERRAFORM, "Workspace", &workspace_name(), ready))
                .expect("the Workspace was seeded");
        }
        OUTPUTS_TICK => put(sim, now, eks::source(access, &access.kubeconfig(rng, now))),
        COPIED_TICK => finish(sim, access, now),
        _ => {}
    }
}

/// The controller copies the kubeconfig; the cluster has an endpoint and is up.
fn finish(sim: &SimCluster, access: &Access, now: Timestamp) {
    let mut objects = eks::cluster_objects(access).into_iter();
    for (api_version, kind) in [(CLUSTER_API, "Cluster"), (CAPT, "CAPTControlPlane")] {
        let wanted = objects.next().unwrap_or_default();
        let up = |object: &mut Value| {
            object["spec"] = wanted["spec"].clone();
            object["status"] = wanted["status"].clone();
        };
        let key = format!("{}/{NAME}", access.namespace);
        sim.with(|server, _| server.edit(now, api_version, kind, &key, up)).expect("both objects were seeded");
    }
    objects.for_each(|object| put(sim, now, object));
    let source = eks::handle(sim, &eks::source(access, "")).get();
    let Some(value) = source.map(|source| source["data"]["kubeconfig"].clone()) else { return };
    let mut target = eks::target(access, &eks::plane_uid(sim, access), "");
    target["data"]["value"] = value;
    put(sim, now, target);
}

fn workspace_name() -> String {
    format!("{NAME}-kubeconfig-apply-workspace")
}

fn workspace(conditions: &Value) -> Value {
    json!({
        "apiVersion": TERRAFORM, "kind": "Workspace", "metadata": { "name": workspace_name() },
        "spec": { "forProvider": { "source": "Inline" } }, "status": { "conditions": conditions },
    })
}
