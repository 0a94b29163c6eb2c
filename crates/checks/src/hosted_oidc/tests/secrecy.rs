//! A canary in every secret value, and in every place that quotes values: it must come out nowhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::Copies;
use super::super::context::{copies_id, sources_id};
use super::super::facts::{Copy, SourceContent, SourceMark};
use super::super::names::{
    CLUSTER_ANNOTATION, CopyKind, HOSTED_CLUSTER_SOURCED_ANNOTATION, MANAGED_LABEL, OIDC_LABEL,
    REFERENCED_ANNOTATION_PREFIX,
};
use super::*;
use trueup_core::redact::is_shown_on_secrets;
use trueup_core::world::{ClusterName, CollectionId};

const CANARY: &str = "CANARY-b7f1";

fn hidden(name: &str, value: &str) -> Thing {
    let value = format!("{CANARY}{value}");
    let applied = json!({ "data": { "clientSecret": value } }).to_string();
    secret(name)
        .key("clientSecret", &value)
        .label("team", CANARY)
        .annotated("kubectl.kubernetes.io/last-applied-configuration", &applied)
        .annotated("openshift.io/token-secret.value", CANARY)
        .annotated("kapp.k14s.io/original", &applied)
        .annotated("objectset.rio.cattle.io/applied", CANARY)
}

fn world() -> Given {
    given()
        .authentication(oidc("", &[("a", "same"), ("b", "stale"), ("c", "missing"), ("d", "unlabelled"), ("e", "odd")]))
        .source(hidden("same", ""))
        .source(hidden("stale", "new"))
        .source(hidden("missing", ""))
        .source(hidden("unlabelled", ""))
        .source(hidden("odd", "").set("data", json!({ "clientSecret": { CANARY: CANARY } })))
        .source(hidden("orphan", ""))
        .has(hidden("same", "").oidc())
        .has(hidden("stale", "old"))
        .has(hidden("unlabelled", "").managed())
        .has(hidden("orphan", "").oidc().key(CANARY_KEY, CANARY))
        .has(hidden("plain", "").set("stringData", json!({ "other": CANARY })))
        .has(hidden("unknown-field", "").set("surprise", json!(CANARY)))
}

const CANARY_KEY: &str = "another-key";

fn assert_silent(what: &str, text: &str) {
    let encoded = STANDARD.encode(CANARY);
    let quoted = [CANARY, &encoded[..encoded.len() - 2]];
    assert!(quoted.iter().all(|bad| !text.contains(bad)), "{what} tells a secret: {text}");
}

#[test]
fn no_finding_and_no_draft_tells_a_secret() {
    for copies in [Copies::Observe, Copies::Manage] {
        let mut given = world();
        given.settings.copies = copies;
        let judged = given.judged();
        assert!(judged.answers.len() > 6);
        for (id, answer) in &judged.answers {
            assert_silent(id, &format!("{answer} {:?} {:?}", answer.judgement, answer.explanation));
            let trees: Value = json!([answer.explanation.expected, answer.explanation.actual]);
            assert_silent(id, &trees.to_string());
        }
    }
}

/// The diff of a delete lists the labels: those the check knows with their values, others with their lengths.
#[test]
fn a_delete_shows_only_listed_labels_of_a_secret() {
    let given = given().has(secret("orphan").key("clientSecret", "x").oidc().managed().label("team", CANARY));
    let judged = given.judged();
    let explanation = &judged.answers["hosted-oidc/guest-a/Secret/openshift-config/orphan"].explanation;
    let diff = &explanation.remedy[0].diff;
    for expected in ["hypershift.openshift.io/managed: \"true\"", "team: \"<11 bytes>\""] {
        assert!(diff.contains(expected), "{diff}");
    }
    assert_eq!(explanation.actual["labels"]["team"], "<11 bytes>");
    assert_eq!(explanation.actual["labels"]["hypershift.openshift.io/managed"], "true");
}

#[test]
fn no_fact_and_no_gap_tells_a_secret() {
    let given = world().has(hidden("broken", "").set("data", json!(CANARY)));
    let held = given.world();
    let view = held.view(now());
    let (guest, mgmt) = (ClusterName::new("guest-a"), ClusterName::new("mgmt"));
    let copies = view.read::<Copy>(&copies_id(&guest, CopyKind::Secret));
    assert!(copies.iter().count() >= 6);
    for (key, fact) in copies.iter() {
        assert_silent(&key.to_string(), &format!("{fact:?}"));
    }
    let gap = copies.gap().unwrap();
    assert_silent("gap", &format!("{gap} {gap:?}"));
    let marks = view.read::<SourceMark>(&sources_id(&mgmt, CopyKind::Secret, "clusters-guest-a"));
    for (key, mark) in marks.iter() {
        assert_silent(&key.to_string(), &format!("{mark:?}"));
    }
    let id = CollectionId::object(&mgmt, CopyKind::Secret.resource(), Some("clusters-guest-a"), "same");
    let content = view.read::<SourceContent>(&id);
    assert_eq!(content.iter().count(), 1);
    assert_silent("content", &format!("{:?}", content.iter().next().unwrap()));
    for (id, answer) in &given.judged().answers {
        assert_silent(id, &format!("{:?}", answer.explanation));
    }
}

#[test]
fn the_marks_this_check_reads_are_shown_on_secrets() {
    let referenced = format!("{REFERENCED_ANNOTATION_PREFIX}guest-a");
    let read = [OIDC_LABEL, MANAGED_LABEL, CLUSTER_ANNOTATION, HOSTED_CLUSTER_SOURCED_ANNOTATION, &referenced];
    for key in read {
        assert!(is_shown_on_secrets(key), "{key}");
    }
}

#[test]
fn the_canary_would_be_found() {
    let tells = std::panic::catch_unwind(|| assert_silent("x", &format!("a {CANARY} b")));
    assert!(tells.is_err());
}
