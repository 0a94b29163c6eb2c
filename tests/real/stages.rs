//! A cluster of CAPT from its creation to its first kubeconfig, on a real API server: the stage that is awaited is read
//! from objects of the upstream kinds.

use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::desk::Desk;
use super::fleet::{furnish_management, inline_kubeconfig};
use super::renewal::{Workload, merge, plan};
use crate::support::canaries::Canaries;
use crate::support::crds::install_crds_in;
use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

const APPLIES: &str = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/team-new/workspacetemplateapplies";
const WORKSPACES: &str = "/apis/tf.upbound.io/v1beta1/workspaces";
const APPLY: &str = "studio-kubeconfig-apply";
const WORKSPACE: &str = "studio-kubeconfig";

async fn post(at: &Connection, path: &str, object: Value) {
    let answer = at.send(&Request::post(path, object)).await.unwrap();
    assert_eq!(answer.status, 201, "{path}: {}", answer.body);
}

async fn set_status(at: &Connection, path: &str, status: Value) {
    merge(at, &format!("{path}/status"), json!({ "status": status })).await;
}

/// Conditions as Crossplane writes them.
fn conditions(ready: &str, reason: &str) -> Value {
    let at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!([
        { "type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": at },
        { "type": "Ready", "status": ready, "reason": reason, "lastTransitionTime": at },
    ])
}

async fn begin(at: &Connection, workload: &Workload) {
    workload.make(at).await;
    let phases = [
        ("/apis/cluster.x-k8s.io/v1beta1/namespaces/team-new/clusters/studio", "Provisioning"),
        ("/apis/controlplane.cluster.x-k8s.io/v1beta1/namespaces/team-new/captcontrolplanes/studio", "Creating"),
    ];
    for (path, phase) in phases {
        set_status(at, path, json!({ "phase": phase })).await;
    }
}

/// Verdict and codes, and the evidence about one stage.
fn judged(desk: &Desk, workload: &Workload, stage: &str) -> (String, String) {
    let (_, finding, _) = plan(desk, workload);
    let line = finding.evidence.iter().find(|line| line.message.starts_with(&format!("stage {stage}:")));
    let message = line.map(|line| line.message.clone()).unwrap_or_default();
    ([&[finding.verdict.clone()][..], &finding.codes].concat().join(" "), message)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_is_followed_through_the_stages_of_capt() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else {
        return;
    };
    let at = server.connect(User::Admin);
    furnish_management(&at, &server).await;
    install_crds_in(&at, "tests/real/crds/cluster-api").await;
    install_crds_in(&at, "tests/real/crds/capt").await;
    let desk = Desk::with(&inline_kubeconfig(&server, "mgmt", "admin"));
    let workload = Workload::new("team-new", "studio");
    begin(&at, &workload).await;
    assert_eq!(judged(&desk, &workload, "control plane").0, "waiting stage-control-plane");

    let metadata = json!({ "namespace": "team-new", "name": APPLY });
    let api = "infrastructure.cluster.x-k8s.io/v1beta1";
    let apply = json!({ "apiVersion": api, "kind": "WorkspaceTemplateApply", "metadata": metadata,
        "spec": { "templateRef": { "name": "eks-kubeconfig-template" } } });
    post(&at, APPLIES, apply).await;
    let (verdict, apply) = judged(&desk, &workload, "apply");
    assert_eq!(verdict, "waiting stage-apply");
    assert!(apply.starts_with("stage apply: not done, ") && apply.contains(" old"), "{apply}");

    let applied = json!({ "applied": true, "workspaceName": WORKSPACE });
    set_status(&at, &format!("{APPLIES}/{APPLY}"), applied).await;
    assert_eq!(judged(&desk, &workload, "workspace").0, "waiting stage-workspace", "it is not there yet");
    let workspace = json!({ "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": WORKSPACE },
        "spec": { "forProvider": { "source": "Inline", "module": "output \"kubeconfig\" {}" } } });
    post(&at, WORKSPACES, workspace).await;
    let place = format!("{WORKSPACES}/{WORKSPACE}");
    set_status(&at, &place, json!({ "conditions": conditions("False", "Creating") })).await;
    let (verdict, workspace) = judged(&desk, &workload, "workspace");
    assert_eq!(verdict, "waiting stage-workspace");
    assert!(workspace.contains("Creating"), "the condition says why: {workspace}");

    set_status(&at, &place, json!({ "conditions": conditions("True", "Available") })).await;
    assert_eq!(judged(&desk, &workload, "outputs").0, "waiting stage-outputs");

    let text = workload.kubeconfig(SignedDuration::from_secs(20), &mut Canaries::default());
    workload.make_source(&at, &text).await;
    let (verdict, copy) = judged(&desk, &workload, "copy");
    assert_eq!(verdict, "waiting stage-copy");
    assert!(copy.starts_with("stage copy: not done"), "{copy}");

    workload.make_target(&at, &text).await;
    assert_eq!(judged(&desk, &workload, "copy").0, "fresh");
    let deleted = at.send(&Request::new(Method::DELETE, workload.target_path())).await.unwrap();
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    assert_eq!(judged(&desk, &workload, "copy").0, "waiting stage-copy", "what is deleted is copied again");
}
