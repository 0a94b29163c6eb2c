//! Clusters that are being created: what they wait for, and when waiting ends.

use serde_json::{Value, json};

use super::*;

fn at(minutes_ago: i64) -> Value {
    json!(minutes(-minutes_ago).to_string())
}

/// `team-a/demo`, created ten minutes ago, with neither source nor Secret.
fn born() -> Given {
    born_in("cluster.x-k8s.io/v1beta1")
}

fn born_in(api_version: &str) -> Given {
    let mut cluster = capi_cluster("team-a", "demo");
    cluster["apiVersion"] = json!(api_version);
    cluster["metadata"]["creationTimestamp"] = at(10);
    cluster["status"] = json!({ "phase": "Provisioning" });
    let mut plane = plane("team-a", "demo");
    plane["metadata"]["creationTimestamp"] = at(10);
    plane["status"] = json!({ "phase": "Creating" });
    empty().object(cluster).object(plane).has(connection("team-a", "demo"))
}

fn of_cluster(field: &str, value: Value) -> Given {
    born().set("Cluster", "demo", field, value)
}

fn of_plane(field: &str, value: Value) -> Given {
    born().set("CAPTControlPlane", "demo", field, value)
}

const WAITING: &str = "waiting stage-control-plane";
const MISSING: &str = "missing source-missing";

#[test]
fn a_cluster_waits_while_it_is_being_created_and_nothing_says_that_it_is_up() {
    let condition = |status: &str| json!([{ "type": "ControlPlaneInitialized", "status": status }]);
    let silent = |field: &str, value: Value| of_plane("status", json!({})).set("Cluster", "demo", field, value);
    each(
        DEMO,
        [
            ("both are being created", born(), WAITING),
            ("phase Pending", of_cluster("status.phase", json!("Pending")), WAITING),
            ("the Cluster alone says so", of_plane("status", json!({})), WAITING),
            ("the control plane alone says so", of_cluster("status", json!({})), WAITING),
            ("neither says so", silent("status", json!({})), MISSING),
            ("phase Provisioned", of_cluster("status.phase", json!("Provisioned")), MISSING),
            ("a condition", of_cluster("status.conditions", condition("True")), MISSING),
            ("a condition that is not True", of_cluster("status.conditions", condition("False")), WAITING),
            ("a condition of v1beta2 in v1beta1", of_cluster("status.v1beta2.conditions", condition("True")), MISSING),
            (
                "a condition of v1beta1 in v1beta2",
                of_cluster("status.deprecated.v1beta1.conditions", condition("True")),
                MISSING,
            ),
            ("v1beta2", of_cluster("status.initialization.controlPlaneInitialized", json!(true)), MISSING),
            ("v1beta1", of_cluster("status.controlPlaneReady", json!(true)), MISSING),
            ("the control plane is ready", of_plane("status.ready", json!(true)), MISSING),
            ("the control plane is initialized", of_plane("status.initialized", json!(true)), MISSING),
            ("the control plane failed", of_plane("status.phase", json!("Failed")), MISSING),
            ("the control plane has a failureReason", of_plane("status.failureReason", json!("X")), MISSING),
            ("the Cluster has a failureReason", of_cluster("status.failureReason", json!("X")), MISSING),
            ("the Cluster is being deleted", of_cluster("metadata.deletionTimestamp", at(1)), MISSING),
            ("the control plane is being deleted", of_plane("metadata.deletionTimestamp", at(1)), MISSING),
            ("a target without a source", born().target(&config()), "waiting stage-control-plane"),
            (
                "an invalid source ranks higher",
                born().has(source("demo", &config()).key("kubeconfig", "]")),
                "source-invalid stage-control-plane unparseable waiting",
            ),
            ("Cluster API v1beta2", born_in("cluster.x-k8s.io/v1beta2"), WAITING),
        ],
    );
}

#[test]
fn waiting_ends_with_the_timeout() {
    let overdue = "missing overdue source-missing";
    let young = |cluster: i64, plane: i64| {
        of_cluster("metadata.creationTimestamp", at(cluster)).set(
            "CAPTControlPlane",
            "demo",
            "metadata.creationTimestamp",
            at(plane),
        )
    };
    let timeouts = json!({ "timeouts": { "controlPlaneTimeout": 60 } });
    let mut plain = plain_cluster("team-a", "demo", "10.0.0.1", 6443);
    plain["status"] = json!({ "phase": "Provisioning" });
    let plain = |minutes_ago: i64| {
        empty().object(plain.clone()).set("Cluster", "demo", "metadata.creationTimestamp", at(minutes_ago))
    };
    each(
        DEMO,
        [
            ("45 minutes", young(45, 45), WAITING),
            ("46 minutes", young(46, 46), overdue),
            ("the younger counts", young(300, 10), WAITING),
            ("the younger counts, either way", young(10, 300), WAITING),
            (
                "CAPT's own timeouts",
                young(75, 75).set("CAPTControlPlane", "demo", "spec.controlPlaneConfig", timeouts.clone()),
                WAITING,
            ),
            (
                "beyond CAPT's own timeouts",
                young(76, 76).set("CAPTControlPlane", "demo", "spec.controlPlaneConfig", timeouts),
                overdue,
            ),
            ("the config is longer", young(80, 80).creation_timeout(80), WAITING),
            ("the config is shorter", young(10, 10).creation_timeout(9), overdue),
            (
                "no time of creation",
                young(0, 0).set("Cluster", "demo", "metadata.creationTimestamp", json!(null)).set(
                    "CAPTControlPlane",
                    "demo",
                    "metadata.creationTimestamp",
                    json!(null),
                ),
                WAITING,
            ),
            ("without CAPT, 45 minutes", plain(45), WAITING),
            ("without CAPT, 46 minutes", plain(46), "missing overdue"),
        ],
    );
    let mut follow = Follow::new(&born());
    follow.step(&born());
    follow.wake(minutes(35), &born());
    let late = minutes(36);
    follow.wake(late, &born().at(late));
    assert!(follow.held().values().all(|held| held.verdict == "missing" && held.codes.contains(&"overdue")));
}

fn apply(status: Value) -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "namespace": "team-a", "name": "demo-kubeconfig-apply", "creationTimestamp": at(8) },
        "spec": {}, "status": status
    })
}

fn workspace(ready: &str, synced: &str) -> Value {
    let conditions = json!([
        { "type": "Ready", "status": ready, "reason": "Creating", "message": "" },
        { "type": "Synced", "status": synced, "reason": "ReconcileError", "message": "cannot apply" },
        { "type": "Other", "status": "False", "message": "unrelated" }
    ]);
    json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
        "metadata": { "name": "demo-kubeconfig", "creationTimestamp": at(7) },
        "spec": {}, "status": { "conditions": conditions }
    })
}

/// Everything up to a ready Workspace.
fn provisioned(given: Given) -> Given {
    given
        .object(apply(json!({ "applied": true, "workspaceName": "demo-kubeconfig" })))
        .object(workspace("True", "True"))
}

fn made(config: &Config, minutes_ago: i64) -> Secret {
    source("demo", config).set("metadata.creationTimestamp", at(minutes_ago))
}

#[test]
fn the_first_stage_that_is_not_done_is_named() {
    let applied = || born().object(apply(json!({ "applied": true, "workspaceName": "demo-kubeconfig" })));
    let expired = config().signed(minutes(-60));
    each(
        DEMO,
        [
            ("nothing yet", born(), WAITING),
            ("not applied", born().object(apply(json!({}))), "waiting stage-apply"),
            (
                "applied, without a Workspace's name",
                born().object(apply(json!({ "applied": true }))),
                "waiting stage-workspace",
            ),
            ("no Workspace", applied(), "waiting stage-workspace"),
            ("a Workspace that is not ready", applied().object(workspace("False", "True")), "waiting stage-workspace"),
            ("a Workspace that is not synced", applied().object(workspace("True", "False")), "waiting stage-workspace"),
            ("no source", provisioned(born()), "waiting stage-outputs"),
            (
                "a source without its key",
                provisioned(born()).has(made(&config(), 1).set("data", json!({}))),
                "source-invalid key stage-outputs waiting",
            ),
            ("an expired source", provisioned(born()).has(made(&expired, 1)), "waiting stage-outputs"),
            ("a new source", provisioned(born()).has(made(&config(), 1)), "waiting stage-copy"),
            (
                "a source that should have been copied",
                provisioned(born()).has(made(&config(), 2)),
                "missing behind-source stage-copy → create selected missing",
            ),
        ],
    );
}

#[test]
fn a_running_cluster_names_its_stage_only_where_capt_has_begun() {
    let ended = |given: Given| given.both(&config().signed(minutes(-16)));
    let late = |given: Given| given.both(&config().signed(minutes(-13)));
    each(
        DEMO,
        [
            ("expired, no apply", ended(given()), "expired"),
            ("expired", ended(provisioned(given())), "expired stage-outputs"),
            (
                "expired, a Workspace in trouble",
                ended(provisioned(given())).object(workspace("True", "False")),
                "expired stage-workspace",
            ),
            ("stalled", late(provisioned(given())), "refresh-stalled expiring"),
            (
                "stalled, a Workspace in trouble",
                late(provisioned(given())).object(workspace("True", "False")),
                "refresh-stalled expiring stage-workspace",
            ),
            (
                "no Secret",
                provisioned(given()).without("Secret", "demo-kubeconfig"),
                "missing behind-source stage-copy → create selected missing",
            ),
            (
                "no source",
                provisioned(given()).without("Secret", "demo-outputs-kubeconfig"),
                "source-missing stage-outputs",
            ),
            ("fresh", provisioned(given()), "fresh"),
        ],
    );
}

#[test]
fn a_kind_that_is_not_served_or_not_readable_names_no_stage() {
    let applies = "infrastructure.cluster.x-k8s.io/v1beta1/workspacetemplateapplies";
    let workspaces = "tf.upbound.io/v1beta1/workspaces";
    let unserved = |kinds: &[(&str, &str)]| {
        let mut given = provisioned(born());
        let base =
            [("", "secrets"), ("cluster.x-k8s.io", "clusters"), ("controlplane.cluster.x-k8s.io", "captcontrolplanes")];
        given.fleet.member("mgmt").serve(&[&base[..], kinds].concat());
        given
    };
    each(
        DEMO,
        [
            ("applies that are not readable", born().incomplete(applies), "waiting"),
            (
                "Workspaces that are not readable",
                provisioned(born()).without("Workspace", "demo-kubeconfig").incomplete(workspaces),
                "waiting",
            ),
            ("applies that are not served", unserved(&[]), "waiting"),
            (
                "Workspaces that are not served",
                unserved(&[("infrastructure.cluster.x-k8s.io", "workspacetemplateapplies")]),
                "waiting",
            ),
        ],
    );
}

#[test]
fn evidence_has_one_line_per_stage_with_age_and_condition() {
    let given = born()
        .object(apply(json!({ "applied": true, "workspaceName": "demo-kubeconfig" })))
        .object(workspace("False", "False"))
        .set("CAPTControlPlane", "demo", "status.secretsReady", json!(true));
    let judged = given.judged();
    let explanation = &judged.find(DEMO).unwrap().explanation;
    let lines: Vec<String> = explanation
        .evidence
        .iter()
        .filter(|line| line.message.starts_with("stage "))
        .map(|line| format!("{} | {}", line.object, line.message))
        .collect();
    assert_eq!(
        lines,
        [
            "mgmt CAPTControlPlane team-a/demo | stage control plane: done, 10m old",
            "mgmt WorkspaceTemplateApply team-a/demo-kubeconfig-apply | stage apply: done, 8m old",
            "mgmt Workspace demo-kubeconfig | stage workspace: not done, 7m old; Ready=False Creating: ; \
             Synced=False ReconcileError: cannot apply",
            "mgmt Secret default/demo-outputs-kubeconfig | stage outputs: not done; no condition says why",
            "mgmt Secret team-a/demo-kubeconfig | stage copy: not known",
        ]
    );
    let summary = &explanation.summary;
    assert!(summary.contains("Workspace is not ready") && summary.contains("wait until"), "{summary}");
}

#[test]
fn a_change_of_a_stage_is_followed() {
    let mut follow = Follow::new(&born());
    let steps = [
        born(),
        born().object(apply(json!({}))),
        born()
            .object(apply(json!({ "applied": true, "workspaceName": "demo-kubeconfig" })))
            .object(workspace("False", "True")),
        provisioned(born()),
        provisioned(born()).has(made(&config(), 1)),
    ];
    let codes: Vec<String> = steps
        .iter()
        .map(|given| {
            follow.step(given);
            follow.held().values().flat_map(|held| held.codes.clone()).collect()
        })
        .collect();
    assert_eq!(codes, ["stage-control-plane", "stage-apply", "stage-workspace", "stage-outputs", "stage-copy"]);
}
