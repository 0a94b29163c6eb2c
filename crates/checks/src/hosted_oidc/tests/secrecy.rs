//! A canary in every secret value, and in every place that quotes values: it must come out nowhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::Copies;
use super::super::context::{copies_id, sources_id};
use super::super::facts::{Copy, SourceContent, SourceMark};
use super::super::names::CopyKind;
use super::*;
use trueup_core::world::{ClusterName, CollectionId};

const CANARY: &str = "CANARY-b7f1";

fn hidden(name: &str, value: &str) -> Thing {
    let value = format!("{CANARY}{value}");
    secret(name).key("clientSecret", &value).annotated(
        "kubectl.kubernetes.io/last-applied-configuration",
        &json!({ "data": { "clientSecret": value } }).to_string(),
    )
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
fn the_canary_would_be_found() {
    let tells = std::panic::catch_unwind(|| assert_silent("x", &format!("a {CANARY} b")));
    assert!(tells.is_err());
}
