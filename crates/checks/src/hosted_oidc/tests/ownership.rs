//! Proofs of ownership, counted, and what blocks a delete although the object is marked.

use serde_json::json;

use super::*;

const BY_CLUSTER: &str = "hypershift.openshift.io/cluster";
const REFERENCED_BY: &str = "referenced-resource.hypershift.openshift.io/guest-a";

fn source_with(copy: Thing, annotation: &str) -> Given {
    given().has(copy).source(secret("s").annotated(annotation, "x"))
}

#[test]
fn each_mark_counts_once() {
    let certain = |rest: &str| format!("orphan-certain → delete selected no-referrer {rest}");
    let probable = |rest: &str| format!("orphan-probable → delete offered no-referrer {rest}");
    let tls = json!("kubernetes.io/tls");
    let cases = [
        ("label, other type", given().has(secret("s").oidc().set("type", tls.clone())), certain("proofs=1")),
        ("label, no keys", given().has(secret("s").oidc().without_keys()), certain("proofs=1")),
        ("label, fingerprint", given().has(secret("s").oidc()), certain("proofs=2")),
        (
            "both labels, other type",
            given().has(secret("s").oidc().managed().set("type", tls.clone())),
            certain("proofs=2"),
        ),
        ("both labels, fingerprint", given().has(secret("s").oidc().managed()), certain("proofs=3")),
        ("managed, fingerprint", given().has(secret("s").managed()), probable("proofs=2")),
        ("source without marks", given().has(secret("s").managed()).source(secret("s")), probable("proofs=2")),
        ("source of the HostedCluster", source_with(secret("s").managed(), BY_CLUSTER), probable("proofs=3")),
        ("referenced source", source_with(secret("s").managed(), REFERENCED_BY), probable("proofs=3")),
        ("everything", source_with(secret("s").managed().oidc(), REFERENCED_BY), certain("proofs=4")),
        (
            "two marks on the source are one proof",
            given()
                .has(secret("s").oidc())
                .source(secret("s").annotated(BY_CLUSTER, "x").annotated(REFERENCED_BY, "true")),
            certain("proofs=3"),
        ),
        (
            "the mark as a label is none",
            given().has(secret("s").oidc()).source(secret("s").label(BY_CLUSTER, "x")),
            certain("proofs=2"),
        ),
        (
            "the source of another name",
            given().has(secret("s").oidc()).source(secret("t").annotated(BY_CLUSTER, "x")),
            certain("proofs=2"),
        ),
        (
            "the source of the other kind",
            given().has(secret("s").oidc()).source(config_map("s").annotated(BY_CLUSTER, "x")),
            certain("proofs=2"),
        ),
        (
            "label alone and a marked source",
            source_with(secret("s").oidc().set("type", tls), BY_CLUSTER),
            certain("proofs=2"),
        ),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.about("Secret/s"), expected, "case: {case}");
    }
}

#[test]
fn content_hypershift_did_not_write_blocks_the_delete() {
    let blocked = "orphan-certain → delete selected no-referrer proofs=1 blocked:ownership";
    let binary = json!({ "b": "AAAA" });
    let cases = [
        ("another key", given().has(secret("s").oidc().key("x", "y")), blocked),
        ("another key alone", given().has(secret("s").oidc().without_keys().key("x", "y")), blocked),
        ("an owner", given().has(secret("s").oidc().owned()), blocked),
        ("both", given().has(secret("s").oidc().owned().key("x", "y")), blocked),
        (
            "managed too",
            given().has(secret("s").oidc().managed().owned()),
            "orphan-certain → delete selected no-referrer proofs=2 blocked:ownership",
        ),
    ];
    each("Secret/s", cases);
    let binary_key = given().has(config_map("c").oidc().set("binaryData", binary));
    assert_eq!(binary_key.about("ConfigMap/c"), blocked);
}

#[test]
fn proofs_are_counted_for_subjects_that_are_no_orphans_too() {
    let judged = given().has(secret("pull-secret").managed()).has(secret("mine").key("x", "y")).judged();
    assert_eq!(judged.find("Secret/pull-secret").unwrap().judgement.ownership_proofs, 2);
    assert_eq!(judged.find("Secret/mine").unwrap().judgement.ownership_proofs, 0);
}

#[test]
fn a_delete_is_bound_to_what_was_seen_and_rests_on_everything_that_could_refer() {
    let judged = given().has(config_map("c").oidc()).judged();
    let draft = &judged.find("ConfigMap/c").unwrap().explanation.remedy[0];
    assert_eq!(draft.target.uid.as_ref().unwrap().to_string(), "uid-c");
    assert_eq!(draft.target.version.as_ref().unwrap().to_string(), "100");
    let mut rests_on: Vec<String> =
        draft.rests_on.iter().map(|id| format!("{} {}", id.cluster, id.resource.plural)).collect();
    rests_on.sort();
    let expected = [
        "guest-a apiservers",
        "guest-a authentications",
        "guest-a configmaps",
        "guest-a images",
        "guest-a oauths",
        "guest-a proxies",
        "mgmt hostedclusters",
        "mgmt hostedcontrolplanes",
    ];
    assert_eq!(rests_on, expected);
}

#[test]
fn a_mark_of_another_tool_adds_a_code_and_changes_nothing_else() {
    let plain = given().has(secret("s").oidc());
    let marked = given().has(secret("s").oidc().label("argocd.argoproj.io/instance", "shop"));
    assert_eq!(plain.about("Secret/s"), "orphan-certain → delete selected no-referrer proofs=2");
    assert_eq!(marked.about("Secret/s"), "orphan-certain managed-elsewhere → delete selected no-referrer proofs=2");
    let judged = marked.judged();
    let answer = judged.find("Secret/s").unwrap();
    let evidence = answer.explanation.evidence.last().unwrap();
    assert_eq!(evidence.message, "Argo CD (application shop) manages it; change it in the source of application shop");
    assert_eq!(evidence.field, "metadata.labels[argocd.argoproj.io/instance]");
    let marks = answer.explanation.remedy.iter().map(|draft| draft.managed_by.is_some());
    assert_eq!(marks.collect::<Vec<_>>(), [true], "the gate reads it from the draft");
}
