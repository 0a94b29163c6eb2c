//! Rule by rule: when OIDC is available (facts 3.1), and what the rollout is called.

use serde_json::json;

use super::*;

const ROLLOUT: &str = "KubeAPIServer/_/cluster";
/// A part that goes when OIDC is available.
const PART: &str = "Service/openshift-authentication/oauth-openshift";

fn with_part(given: Given) -> Given {
    given.object("v1", "Service", Some("openshift-authentication"), "oauth-openshift", json!({}))
}

/// Both answers at once: the rollout's verdict, and the one for a part that is there.
fn both<const N: usize>(cases: [(&str, Given, &str, &str); N]) {
    for (case, given, rollout, part) in cases {
        let judged = with_part(given).judged();
        assert_eq!(judged.about(ROLLOUT), rollout, "case: {case}");
        let answer = judged.about(PART);
        assert_eq!(answer.split(' ').next(), Some(part), "case: {case}: {answer}");
    }
}

/// The webhook and the file at once.
fn both_at_once() -> serde_json::Value {
    let mut config = on_oidc();
    config["apiServerArguments"]["authentication-token-webhook-config-file"] = json!(["/x"]);
    config
}

fn argument(value: serde_json::Value) -> serde_json::Value {
    let mut config = on_oidc();
    config["apiServerArguments"]["authentication-config"] = value;
    config
}

#[test]
fn rule_1_what_is_not_read_completely_is_an_error() {
    both([
        ("the Authentication", given().incomplete("config.openshift.io/v1/authentications"), "unknown", "unknown"),
        ("the operator", given().incomplete("operator.openshift.io/v1/kubeapiservers"), "unknown", "unknown"),
        ("its revisions", given().incomplete("v1/configmaps@openshift-kube-apiserver"), "unknown", "unknown"),
        ("feature gates", given().incomplete("config.openshift.io/v1/featuregates"), "unknown", "unknown"),
        ("ConfigMaps elsewhere", given().incomplete("v1/configmaps@openshift-console"), "available", "leftover"),
    ]);
}

#[test]
fn rule_2_another_type_is_a_no_whatever_runs() {
    let none = |given: Given| given.spec(json!({ "type": "None" }));
    both([
        ("OAuth, and OAuth runs", integrated(), "not-available", "match"),
        ("no type", integrated().spec(json!({})), "not-available", "match"),
        ("OAuth, and OIDC runs", given().spec(json!({ "type": "" })), "not-available still-on-oidc", "match"),
        ("None, and OIDC runs", none(given()), "not-available still-on-oidc", "match"),
        ("no node at all", integrated().nodes(&[]), "not-available", "match"),
        ("no operator", integrated().without("KubeAPIServer", "cluster"), "not-available", "match"),
        ("no Authentication", given().without("Authentication", "cluster"), "unknown", "unknown"),
    ]);
}

#[test]
fn a_type_other_than_oidc_is_fine_unless_a_revision_that_runs_still_carries_it() {
    let states = [
        ("none carries it", integrated(), "match"),
        ("one does", integrated().nodes(&[(7, 0), (6, 7)]).revision(6), "blocked"),
        ("one on its way does", integrated().nodes(&[(7, 6), (7, 0)]).revision(6), "match"),
        ("it has the file and does not use it", integrated().revision(7).revision_config(7, &on_oauth()), "match"),
        ("it has both", integrated().revision(7).revision_config(7, &both_at_once()), "blocked"),
    ];
    for (case, given, state) in states {
        assert_eq!(given.judged().find(ROLLOUT).unwrap().judgement.state.as_str(), state, "case: {case}");
    }
}

#[test]
fn rule_3_with_external_claims_the_oauth_api_servers_own_file_decides() {
    let gated = || given().claims_gate();
    let named = "auth-config";
    let space = "openshift-oauth-apiserver";
    both([
        ("no file", gated(), "not-available", "match"),
        ("a file", gated().file(space, named, "{}"), "available", "leftover"),
        ("no key in it", gated().config_map(space, named, json!({ "x": "" })), "unknown", "unknown"),
        (
            "not read completely",
            gated().file(space, named, "{}").incomplete("v1/configmaps@openshift-oauth-apiserver"),
            "unknown",
            "unknown",
        ),
        (
            "kube-apiserver's operator does not count",
            gated().file(space, named, "{}").without("KubeAPIServer", "cluster"),
            "available",
            "leftover",
        ),
        (
            "the type comes first",
            gated().file(space, named, "{}").spec(json!({})),
            "not-available still-on-oidc",
            "match",
        ),
    ]);
}

#[test]
fn rule_4_a_node_without_a_revision_is_an_error() {
    both([
        ("no operator", given().without("KubeAPIServer", "cluster"), "unknown", "unknown"),
        ("no node", given().nodes(&[]), "unknown", "unknown"),
        ("a new node", given().nodes(&[(7, 0), (0, 7)]), "unknown", "unknown"),
        ("a new node beside an old revision", given().nodes(&[(6, 7), (0, 7)]), "unknown", "unknown"),
        ("a negative revision", given().nodes(&[(-1, 0)]), "unknown", "unknown"),
        ("one node", given().nodes(&[(7, 0)]), "available", "leftover"),
    ]);
}

#[test]
fn rule_5_every_revision_that_runs_must_be_on_oidc_alone() {
    let without_argument = |config: serde_json::Value| given().revision_config(7, &config);
    let mut metadata = on_oidc();
    metadata["authConfig"]["oauthMetadataFile"] = json!("/x");
    let mut no_metadata = on_oidc();
    no_metadata["authConfig"] = json!({});
    let one_behind = || given().nodes(&[(7, 0), (6, 7), (7, 0)]).revision_config(6, &on_oauth());
    both([
        ("one behind", one_behind(), "rolling-out", "match"),
        (
            "all behind, none on its way",
            given().nodes(&[(6, 0)]).revision_config(6, &on_oauth()),
            "not-available",
            "match",
        ),
        (
            "all behind, one on its way",
            given().nodes(&[(6, 7), (6, 0)]).revision_config(6, &on_oauth()),
            "rolling-out",
            "match",
        ),
        (
            "on its way without the file",
            given().nodes(&[(5, 6)]).revision_config(5, &on_oauth()),
            "not-available",
            "match",
        ),
        ("no config of the revision", given().without_in("openshift-kube-apiserver", "config-7"), "unknown", "unknown"),
        (
            "no file of the revision",
            given().without_in("openshift-kube-apiserver", "auth-config-7"),
            "not-available",
            "match",
        ),
        ("webhook and file", given().revision_config(7, &both_at_once()), "rolling-out", "match"),
        ("no argument", without_argument(argument(json!(null))), "rolling-out", "match"),
        ("another path", without_argument(argument(json!(["/elsewhere"]))), "rolling-out", "match"),
        ("two paths", without_argument(argument(json!(["/elsewhere", "/x"]))), "rolling-out", "match"),
        ("metadata served", given().revision_config(7, &metadata), "rolling-out", "match"),
        ("metadata not mentioned", given().revision_config(7, &no_metadata), "rolling-out", "match"),
        (
            "no config.yaml",
            given().config_map("openshift-kube-apiserver", "config-7", json!({})),
            "rolling-out",
            "match",
        ),
        (
            "a no beside an error",
            one_behind().without_in("openshift-kube-apiserver", "config-7"),
            "rolling-out",
            "match",
        ),
    ]);
}

#[test]
fn a_config_that_is_no_json_is_searched_as_the_operator_searches_it() {
    let path = "/etc/kubernetes/static-pod-resources/configmaps/auth-config/auth-config.json";
    let text =
        |text: String| given().config_map("openshift-kube-apiserver", "config-7", json!({ "config.yaml": text }));
    let right = format!("\"oauthMetadataFile\":\"\" \"authentication-config\":[\"{path}\"]");
    both([
        ("everything in it", text(right.clone()), "available", "leftover"),
        (
            "and the webhook",
            text(format!("{right} \"authentication-token-webhook-config-file\":[\"x\"]")),
            "rolling-out",
            "match",
        ),
        ("nothing", text(String::new()), "rolling-out", "match"),
    ]);
}

#[test]
fn rule_6_another_rollout_on_oidc_stays_available_throughout() {
    let next = || given().revision(8);
    each(
        ROLLOUT,
        [
            ("not begun", next().nodes(&[(7, 8), (7, 0), (7, 0)]), "available"),
            ("half-way", next().nodes(&[(8, 0), (7, 8), (7, 0)]), "available"),
            ("through", next().nodes(&[(8, 0), (8, 0), (8, 0)]), "available"),
        ],
    );
}

#[test]
fn without_the_gates_object_the_release_decides_which_architecture_it_is() {
    let listed = |version: &str| {
        let gate = |name: &str| json!({ "name": name });
        let gates = json!({ "status": { "featureGates": [
            { "version": "4.20.3", "enabled": [gate("ExternalOIDC")] },
            { "version": "4.9.9", "enabled": [gate("ExternalOIDCExternalClaimsSourcing")] },
            { "version": "4.21.0", "enabled": [gate("ExternalOIDCExternalClaimsSourcing")] },
        ] } });
        given().object("config.openshift.io/v1", "FeatureGate", None, "cluster", gates).set(
            "ClusterVersion",
            "status.desired.version",
            json!(version),
        )
    };
    each(
        ROLLOUT,
        [
            ("no object", given(), "available"),
            ("this release's entry", listed("4.20.3"), "available"),
            ("another release's entry", listed("4.21.0"), "not-available"),
            ("a release without an entry: the newest", listed("4.22.0"), "not-available"),
            ("neither object", given().without("ClusterVersion", "version"), "available"),
            (
                "the release is not known",
                given().incomplete("config.openshift.io/v1/clusterversions").without("ClusterVersion", "version"),
                "unknown",
            ),
        ],
    );
}

#[test]
fn a_recording_that_proves_nothing_by_silence_knows_no_availability() {
    assert_eq!(given().seen_only().about(ROLLOUT), "unknown");
    assert_eq!(nothing().judged().answers.len(), 0, "nobody says that there is an OAuth server at all");
}
