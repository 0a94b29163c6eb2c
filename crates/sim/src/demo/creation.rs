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
use super::guest::{ObjectHandle, put};
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
    let since = objects::api_time(ago(APPLY_AGE));
    let conditions = json!([
        objects::condition("Synced", "True", "ReconcileSuccess", "", &since),
        objects::condition("Ready", "False", "Creating", "terraform apply is running", &since),
    ]);
    put(sim, ago(APPLY_AGE), workspace(&conditions));
    let apply = json!({
        "apiVersion": CAPT_INFRASTRUCTURE, "kind": "WorkspaceTemplateApply",
        "metadata": { "namespace": access.namespace, "name": format!("{NAME}-kubeconfig-apply") },
        "spec": { "templateRef": { "name": "eks-kubeconfig-template" } },
        "status": { "applied": true, "workspaceName": workspace_name(), "conditions": [
            objects::condition("Synced", "True", "Applied", "", &since),
        ] },
    });
    put(sim, ago(APPLY_AGE), apply);
}

/// What its controllers do at a tick.
pub fn step(sim: &SimCluster, access: &Access, rng: &mut SeededRng, tick: u64) {
    let now = sim.now();
    match tick {
        READY_TICK => {
            let ready = objects::condition("Ready", "True", "Available", "", &objects::api_time(now));
            ObjectHandle::of(sim, (TERRAFORM, "Workspace"), workspace_name())
                .edit(now, |object| objects::set_condition(object, ready));
        }
        OUTPUTS_TICK => put(sim, now, eks::source(access, &access.kubeconfig(rng, now))),
        COPIED_TICK => finish(sim, access, now),
        _ => {}
    }
}

/// The controller copies the kubeconfig; the cluster has an endpoint and is up. What users deleted stays deleted.
fn finish(sim: &SimCluster, access: &Access, now: Timestamp) {
    let mut objects = eks::cluster_objects(access).into_iter();
    for (api_version, kind) in [(CLUSTER_API, "Cluster"), (CAPT, "CAPTControlPlane")] {
        let wanted = objects.next().unwrap_or_default();
        let up = |object: &mut Value| {
            for field in ["spec", "status"] {
                *objects::field_mut(object, &[field]) = wanted[field].clone();
            }
        };
        ObjectHandle::of(sim, (api_version, kind), format!("{}/{NAME}", access.namespace)).edit(now, up);
    }
    objects.for_each(|object| put(sim, now, object));
    let source = eks::handle(sim, &eks::source(access, "")).get();
    let Some(value) = source.map(|source| source["data"]["kubeconfig"].clone()) else { return };
    let plane = ObjectHandle::of(sim, (CAPT, "CAPTControlPlane"), format!("{}/{NAME}", access.namespace)).get();
    let Some(uid) = plane.as_ref().and_then(|plane| plane["metadata"]["uid"].as_str()) else { return };
    let mut target = eks::target(access, uid, "");
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
