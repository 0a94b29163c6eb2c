//! What a repair says it would do, and what stands in its way.

use serde_json::json;

use super::*;

fn behind() -> Given {
    given().target(&config().signed(minutes(-9)))
}

fn gates(given: &Given) -> Vec<String> {
    let judged = given.judged();
    let answer = judged.find(DEMO).unwrap();
    answer.explanation.remedy.iter().map(|draft| Given::describe(answer, draft)).collect()
}

#[test]
fn each_gate_stands_in_the_way() {
    let paused = json!({ "cluster.x-k8s.io/paused": "" });
    let deleting = json!("2026-11-16T09:00:00Z");
    let cases = [
        ("nothing", behind(), "update selected stale"),
        ("immutable", behind().of_target("immutable", json!(true)), "update selected stale blocked:immutable"),
        ("another type", behind().of_target("type", json!("Opaque")), "update selected stale blocked:type"),
        (
            "another controller",
            behind().has(target("team-a", "demo", &config().signed(minutes(-9))).owned(
                "example.org/v1",
                "Copier",
                "c",
                "u",
            )),
            "update selected stale blocked:ownership",
        ),
        ("paused", behind().set("Cluster", "demo", "spec.paused", json!(true)), "update selected stale blocked:paused"),
        (
            "paused by annotation",
            behind().set("CAPTControlPlane", "demo", "metadata.annotations", paused),
            "update selected stale blocked:paused",
        ),
        (
            "the Cluster is being deleted",
            behind().set("Cluster", "demo", "metadata.deletionTimestamp", deleting.clone()),
            "update selected stale blocked:deleting",
        ),
        (
            "the Secret is being deleted",
            behind().of_target("metadata.deletionTimestamp", deleting.clone()),
            "update selected stale blocked:deleting",
        ),
        (
            "a new one for a cluster that goes",
            given().without("Secret", "demo-kubeconfig").set(
                "CAPTControlPlane",
                "demo",
                "metadata.deletionTimestamp",
                deleting,
            ),
            "create selected missing blocked:deleting",
        ),
        (
            "a label, paused",
            given().of_target("metadata.labels", json!({})).set("Cluster", "demo", "spec.paused", json!(true)),
            "label selected not-labelled blocked:paused",
        ),
    ];
    for (case, given, expected) in cases {
        assert_eq!(gates(&given), [expected], "case: {case}");
    }
}

#[test]
fn an_update_takes_the_label_along_where_it_may_write() {
    let unlabelled = behind().of_target("metadata.labels", json!({ "mine": "kept" }));
    assert_eq!(gates(&unlabelled), ["update selected stale"]);
    let immutable = unlabelled.clone().of_target("immutable", json!(true));
    assert_eq!(gates(&immutable), ["update selected stale blocked:immutable", "label selected not-labelled"]);
    let judged = unlabelled.judged();
    let change = judged.find(DEMO).unwrap().explanation.remedy[0].change.to_json();
    assert_eq!(change["labels"], json!({ "cluster.x-k8s.io/cluster-name": "demo" }));
}

#[test]
fn a_label_is_repaired_whatever_the_verdict() {
    let expired = given().both(&config().signed(minutes(-60))).of_target("metadata.labels", json!({}));
    assert_eq!(expired.about(DEMO), "expired contract label → label selected not-labelled");
}

#[test]
fn an_update_names_its_source_by_uid_and_version_and_says_lengths_kinds_and_times() {
    let target = target("team-a", "demo", &config().signed(minutes(-9)))
        .key("relative", &config().user(json!({ "tokenFile": "./token-file" })).text())
        .key("token-file", &eks(minutes(-9)));
    let judged = given().has(target).judged();
    let draft = &judged.find(DEMO).unwrap().explanation.remedy[0];
    let source = draft.source.as_ref().unwrap();
    assert_eq!(
        (source.uid.to_string(), source.version.to_string()),
        ("uid-default-demo-outputs-kubeconfig".to_owned(), "100".to_owned())
    );
    assert_eq!(
        draft.change.to_json(),
        json!({ "copy": {
            "source": {
                "cluster": "mgmt", "apiVersion": "v1", "kind": "Secret",
                "namespace": "default", "name": "demo-outputs-kubeconfig"
            },
            "keys": { "value": "kubeconfig" },
            "remove": ["relative", "token-file"]
        } })
    );
    let lines: Vec<&str> = draft.diff.lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(
        lines[1].starts_with("-   value: <") && lines[1].ends_with("EKS token, until at most 2026-11-16T10:06:00Z>"),
        "{lines:?}"
    );
    assert!(
        lines[2].starts_with("+   value: <") && lines[2].ends_with("EKS token, until at most 2026-11-16T10:14:00Z>"),
        "{lines:?}"
    );
    assert!(lines[3].starts_with("-   relative: <") && lines[4].starts_with("-   token-file: <"), "{lines:?}");
}

#[test]
fn a_new_secret_is_what_the_contract_asks_for() {
    let judged = given().without("Secret", "demo-kubeconfig").judged();
    let draft = &judged.find(DEMO).unwrap().explanation.remedy[0];
    let change = draft.change.to_json();
    assert_eq!(
        (&change["type"], &change["labels"], &change["owner"]),
        (
            &json!("cluster.x-k8s.io/secret"),
            &json!({ "cluster.x-k8s.io/cluster-name": "demo" }),
            &json!({
                "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "demo",
                "uid": "plane-team-a-demo", "controller": true
            })
        )
    );
    assert_eq!((draft.target.uid.clone(), draft.target.version.clone()), (None, None));
    let ownerless = given().without("Secret", "demo-kubeconfig").without("CAPTControlPlane", "demo");
    assert_eq!(ownerless.about(DEMO), "missing behind-source", "nobody would own it");
}
