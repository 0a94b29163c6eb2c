//! A target beside its source: which of the two is the better one, and which source may be used at all.

use serde_json::json;

use super::*;

const UPDATE: &str = "→ update selected stale";

#[test]
fn a_target_is_behind_when_its_source_is_good_other_and_fresher() {
    let pair = |source: i64, target: i64| {
        given().source(&config().signed(minutes(source))).target(&config().signed(minutes(target)))
    };
    each(
        DEMO,
        [
            ("the same bytes", given(), "fresh"),
            ("a newer source", pair(-1, -4), &format!("behind-source {UPDATE}")),
            ("a newer source, a target about to end", pair(-1, -11), &format!("behind-source expiring {UPDATE}")),
            ("a newer source, a target that ended", pair(-1, -16), &format!("expired behind-source {UPDATE}")),
            ("a stalled target", pair(-1, -13), &format!("refresh-stalled behind-source expiring {UPDATE}")),
            ("an older source", pair(-4, -1), "fresh"),
            ("both ended", pair(-16, -40), "expired"),
            ("a source that ended", pair(-40, -1), "fresh"),
            ("a source of the future", pair(30, -4), "fresh"),
        ],
    );
}

#[test]
fn the_summary_names_the_stage_that_is_stuck() {
    let pair = |source: i64, target: i64| {
        given().source(&config().signed(minutes(source))).target(&config().signed(minutes(target)))
    };
    let cases = [
        ("the provider", pair(-20, -20), "look at the provider"),
        ("the copier", pair(-1, -20), "look at the controller that copies it"),
        (
            "no source",
            given().without("Secret", "demo-outputs-kubeconfig"),
            "default/demo-outputs-kubeconfig does not exist",
        ),
    ];
    for (case, given, expected) in cases {
        let summary = given.judged().find(DEMO).unwrap().explanation.summary.clone();
        assert!(summary.contains(expected), "case: {case}: {summary}");
    }
}

#[test]
fn a_target_nobody_can_use_takes_any_good_source() {
    let target = |config: &Config| given().target(config);
    let moved = config().server("https://x.gr7.us-west-2.eks.amazonaws.com").signed(minutes(0));
    each(
        DEMO,
        [
            ("it leads elsewhere", target(&moved), &format!("endpoint-drift behind-source {UPDATE}")),
            (
                "another authority",
                target(&config().signed(minutes(0)).authorities(&["x"])),
                &format!("ca-drift behind-source {UPDATE}"),
            ),
            ("nobody can read it", given().has(target_of("]")), &format!("unreadable behind-source {UPDATE}")),
            (
                "it would run a command",
                target(&config().user(json!({ "exec": { "command": "x" } }))),
                &format!("exec-refused behind-source {UPDATE}"),
            ),
            (
                "not there",
                given().without("Secret", "demo-kubeconfig"),
                "missing behind-source → create selected missing",
            ),
        ],
    );
}

fn target_of(value: &str) -> Secret {
    target("team-a", "demo", &config()).key("value", value)
}

#[test]
fn a_source_that_is_missing_or_broken_never_touches_the_target() {
    let broken = |secret: Secret| given().has(secret);
    let source = || source("demo", &config());
    each(
        DEMO,
        [
            ("no source", given().without("Secret", "demo-outputs-kubeconfig"), "source-missing"),
            ("no key", broken(source().set("data", json!({}))), "source-invalid key"),
            ("an empty key", broken(source().key("kubeconfig", "")), "source-invalid key"),
            ("no kubeconfig", broken(source().key("kubeconfig", "]")), "source-invalid unparseable"),
            (
                "in base64 once more",
                broken(source().key("kubeconfig", &packed(&config()))),
                "source-invalid unparseable",
            ),
            ("a malformed token", given().source(&config().token("k8s-aws-v1.x")), "source-invalid unparseable"),
            ("exec", given().source(&config().user(json!({ "exec": { "command": "x" } }))), "source-invalid exec"),
            (
                "another server",
                given().source(&config().server("https://nobody.example")),
                "source-invalid source-drift",
            ),
            ("another authority", given().source(&config().authorities(&["nobody"])), "source-invalid source-drift"),
            (
                "no source and no target",
                given().without("Secret", "demo-outputs-kubeconfig").without("Secret", "demo-kubeconfig"),
                "missing source-missing",
            ),
        ],
    );
}

fn packed(config: &Config) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, config.text())
}

/// CAPT keeps every source in one namespace: two clusters of one name share one, and each gets whichever was written.
#[test]
fn a_source_of_another_cluster_of_the_fleet_is_never_copied() {
    let theirs = config().server("https://ELSEWHERE.gr7.us-west-2.eks.amazonaws.com").authorities(&["elsewhere"]);
    let elsewhere = json!({ "host": "elsewhere.gr7.us-west-2.eks.amazonaws.com", "port": 443 });
    let mut other = capi_cluster("team-b", "demo");
    other["spec"]["controlPlaneEndpoint"] = elsewhere.clone();
    let mut other_plane = plane("team-b", "demo");
    other_plane["spec"]["controlPlaneEndpoint"] = elsewhere;
    let shared = given()
        .object(other)
        .object(other_plane)
        .has(target("team-b", "demo", &theirs))
        .source(&theirs.clone().signed(minutes(0)));
    assert_eq!(shared.about(DEMO), "wrong-cluster");
    assert_eq!(shared.about("team-b/demo-kubeconfig"), format!("behind-source {UPDATE}"));
    let summary = shared.judged().find(DEMO).unwrap().explanation.summary.clone();
    assert!(summary.contains("team-b/demo in mgmt") && summary.contains("not copied"), "{summary}");

    let vouched = given()
        .object(plain_cluster("team-c", "other", "10.0.0.1", 6443))
        .has(secret("team-c", "other-ca").key("tls.crt", &authority("other")))
        .source(&config().authorities(&["other"]));
    assert_eq!(vouched.about(DEMO), "wrong-cluster", "by its authority alone");

    let unplaced = empty()
        .object(plane("team-a", "demo"))
        .set("CAPTControlPlane", "demo", "spec", json!({}))
        .object(plain_cluster("team-c", "other", "10.0.0.1", 6443))
        .source(&config().server("https://10.0.0.1:6443"));
    assert_eq!(unplaced.about(DEMO), "missing wrong-cluster", "a cluster that has no place yet");
}

#[test]
fn clusters_of_another_cluster_are_of_the_fleet_too() {
    let mut far = plain_cluster("team-x", "far", "10.0.0.1", 6443);
    far["metadata"]["uid"] = json!("far");
    let given = given().cluster("mgmt-2").object_in("mgmt-2", far).source(&config().server("https://10.0.0.1:6443"));
    assert_eq!(given.about(DEMO), "wrong-cluster");
}

#[test]
fn a_cluster_somebody_else_runs_has_no_source() {
    let config = config().server("https://10.0.0.1:6443").certificate(days(-1), days(300));
    let given = empty()
        .object(plain_cluster("team-b", "demo", "10.0.0.1", 6443))
        .has(unowned_target("team-b", "demo", &config))
        .source(&super::config().signed(minutes(0)));
    assert_eq!(given.about("team-b/demo-kubeconfig"), "fresh");
}
