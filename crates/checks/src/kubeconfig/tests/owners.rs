//! Owner references that are missing or dead, and control planes of another name than their Cluster.

use serde_json::{Value, json};

use super::*;

const CAPT: &str = "controlplane.cluster.x-k8s.io/v1beta1";

fn owned_by(owners: Value) -> Given {
    given().of_target("metadata.ownerReferences", owners)
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    let api_version = if kind == "Cluster" { "cluster.x-k8s.io/v1beta1" } else { CAPT };
    json!({ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid })
}

fn with(mut owner: Value, field: &str, value: Value) -> Value {
    owner[field] = value;
    owner
}

#[test]
fn a_dead_or_missing_owner_is_repaired_and_another_controller_is_not() {
    let dead = owner("CAPTControlPlane", "demo", "old");
    let other =
        json!({ "apiVersion": "example.org/v1", "kind": "Copier", "name": "c", "uid": "u", "controller": true });
    let plain = || {
        let config = config().server("https://10.0.0.1:6443");
        empty().object(plain_cluster("team-a", "demo", "10.0.0.1", 6443)).has(unowned_target("team-a", "demo", &config))
    };
    each(
        DEMO,
        [
            ("its control plane", given(), "fresh"),
            ("no owner", owned_by(json!([])), "contract owner-missing → patch selected missing"),
            ("a dead owner", owned_by(json!([dead])), "contract owner → patch selected differs"),
            ("another controller", owned_by(json!([other])), "contract owner"),
            ("another controller and a dead owner", owned_by(json!([other, dead])), "contract owner"),
            ("no control plane of CAPT, no owner", plain(), "fresh"),
            (
                "no control plane of CAPT, a dead Cluster",
                plain().of_target("metadata.ownerReferences", json!([owner("Cluster", "demo", "old")])),
                "contract owner → patch selected differs",
            ),
            (
                "a dead owner, where the list is not complete",
                owned_by(json!([owner("CAPTControlPlane", "gone", "old")]))
                    .incomplete("controlplane.cluster.x-k8s.io/v1beta1/captcontrolplanes"),
                "unknown",
            ),
            (
                "no owner, expired",
                owned_by(json!([])).source(&config().signed(minutes(0))),
                "contract behind-source owner-missing → update selected stale; patch selected missing",
            ),
            (
                "no owner, paused",
                owned_by(json!([])).set("Cluster", "demo", "spec.paused", json!(true)),
                "contract owner-missing → patch selected missing blocked:paused",
            ),
            (
                "no owner, another type",
                owned_by(json!([])).of_target("type", json!("Opaque")),
                "contract owner-missing type → patch selected missing blocked:type",
            ),
            (
                "no owner, being deleted",
                owned_by(json!([])).of_target("metadata.deletionTimestamp", json!("2026-11-16T09:00:00Z")),
                "contract owner-missing → patch selected missing blocked:deleting",
            ),
        ],
    );
}

#[test]
fn a_repair_removes_the_dead_sets_one_controller_and_keeps_the_rest() {
    let plane = with(owner("CAPTControlPlane", "demo", "plane-team-a-demo"), "controller", json!(true));
    let bare = owner("CAPTControlPlane", "demo", "plane-team-a-demo");
    let dead = owner("CAPTControlPlane", "demo", "old");
    let mine = json!({
        "apiVersion": "example.org/v1", "kind": "Team", "name": "t", "uid": "t", "controller": false,
        "blockOwnerDeletion": true
    });
    let cases = [
        ("none", json!([]), json!([plane])),
        ("a dead one alone", json!([dead]), json!([plane])),
        ("a dead one beside a user's own", json!([mine, dead]), json!([mine, plane])),
        ("the control plane, not as the controller", json!([dead, bare]), json!([plane])),
        ("the controller is there", json!([dead, plane]), json!([plane])),
    ];
    for (case, held, expected) in cases {
        let judged = owned_by(held).judged();
        let answer = judged.find(DEMO).unwrap();
        let draft = &answer.explanation.remedy[0];
        assert_eq!(
            draft.change.to_json(),
            json!({ "patch": { "metadata": { "ownerReferences": expected } } }),
            "case: {case}"
        );
        let stake = trueup_core::engine::tier(draft, trueup_core::world::RiskClass::Dev);
        assert_eq!(stake, trueup_core::engine::Tier::T3, "case: {case}");
        assert!(draft.judged.is_some() && draft.target.version.is_none(), "case: {case}: bound by what was judged");
    }
}

/// A Cluster whose control plane has a name of its own.
fn renamed() -> Given {
    let mut cluster = capi_cluster("team-a", "demo");
    cluster["spec"]["controlPlaneRef"]["name"] = json!("demo-cp");
    cluster["spec"]["controlPlaneEndpoint"] = json!(null);
    empty().object(cluster).object(plane("team-a", "demo-cp"))
}

#[test]
fn a_control_plane_of_another_name_belongs_to_its_cluster() {
    let owned = || {
        let mut plane = plane("team-a", "demo-cp");
        plane["metadata"]["ownerReferences"] = json!([owner("Cluster", "demo", "cluster-team-a-demo")]);
        let mut cluster = capi_cluster("team-a", "demo");
        cluster["spec"] = json!({});
        empty().object(cluster).object(plane)
    };
    let moved = config().server("https://demo-cp.gr7.us-west-2.eks.amazonaws.com");
    each(
        DEMO,
        [
            ("by controlPlaneRef", renamed(), "missing plane-name source-missing"),
            ("by owner reference", owned(), "missing plane-name source-missing"),
            (
                "its endpoint counts",
                renamed().has(target("team-a", "demo", &config())),
                "endpoint-drift contract owner plane-name source-missing → patch selected differs",
            ),
            (
                "at its endpoint",
                renamed().has(unowned_target("team-a", "demo", &moved)),
                "contract owner-missing plane-name source-missing → patch selected missing",
            ),
            ("equal names", given(), "fresh"),
        ],
    );
    for (case, given) in [("by controlPlaneRef", renamed()), ("by owner reference", owned())] {
        assert_eq!(given.about("team-a/demo-cp-kubeconfig"), "no subject", "case: {case}");
        assert_eq!(given.judged().answers.len(), 1, "case: {case}");
    }
    let alone = empty().object(plane("team-a", "demo-cp"));
    assert_eq!(alone.about("team-a/demo-cp-kubeconfig"), "missing source-missing", "a control plane without a Cluster");
}
