//! Rule 6: what is a candidate, and what stands between it and being called an orphan.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::{Value, json};

use super::*;

const OIDC: &str = "hypershift.openshift.io/oidc-provider-managed";
const MANAGED: &str = "hypershift.openshift.io/managed";

#[test]
fn only_marked_secrets_are_candidates() {
    let three = "orphan-certain → delete selected no-referrer proofs=3";
    let cases = [
        ("no label", given().has(secret("s")), "foreign"),
        ("oidc label", given().has(secret("s").oidc()), CERTAIN),
        ("both labels", given().has(secret("s").oidc().managed()), three),
        ("managed", given().has(secret("s").managed()), PROBABLE),
        ("managed, no type", given().has(secret("s").managed().set("type", Value::Null)), PROBABLE),
        ("managed, empty type", given().has(secret("s").managed().set("type", json!(""))), PROBABLE),
        ("managed, other type", given().has(secret("s").managed().set("type", json!("kubernetes.io/tls"))), "foreign"),
        ("managed, owner", given().has(secret("s").managed().owned()), "foreign"),
        (
            "managed, null owners",
            given().has(secret("s").managed().set("metadata.ownerReferences", Value::Null)),
            PROBABLE,
        ),
        ("managed, more keys", given().has(secret("s").managed().key("x", "y")), "foreign"),
        ("managed, other key", given().has(secret("s").managed().without_keys().key("client-secret", "y")), "foreign"),
        (
            "managed, the other kind's key",
            given().has(secret("s").managed().without_keys().key("ca-bundle.crt", "y")),
            "foreign",
        ),
        ("managed, no keys", given().has(secret("s").managed().without_keys()), "foreign"),
        ("managed, empty value", given().has(secret("s").managed().key("clientSecret", "")), PROBABLE),
        ("managed says false", given().has(secret("s").label(MANAGED, "false")), "foreign"),
        ("managed says True", given().has(secret("s").label(MANAGED, "True")), "foreign"),
        ("opted out", given().has(secret("s").label(OIDC, "false")), "foreign"),
        ("opted out, managed", given().has(secret("s").managed().label(OIDC, "false")), "foreign"),
        ("opted out by an empty value, managed", given().has(secret("s").managed().label(OIDC, "")), "foreign"),
        ("opted out by True, managed", given().has(secret("s").managed().label(OIDC, "True")), "foreign"),
        ("the mark as an annotation", given().has(secret("s").annotated(OIDC, "true")), "foreign"),
    ];
    each("Secret/s", cases);
}

#[test]
fn only_marked_config_maps_are_candidates() {
    let binary = json!({ "b": "AAAA" });
    let cases = [
        ("no label", given().has(config_map("c")), "foreign"),
        ("oidc label", given().has(config_map("c").oidc()), CERTAIN),
        ("managed", given().has(config_map("c").managed()), PROBABLE),
        ("managed, more keys", given().has(config_map("c").managed().key("x", "y")), "foreign"),
        ("managed, a binary key", given().has(config_map("c").managed().set("binaryData", binary)), "foreign"),
        ("managed, null binary data", given().has(config_map("c").managed().set("binaryData", Value::Null)), PROBABLE),
        ("managed, owner", given().has(config_map("c").managed().owned()), "foreign"),
        (
            "managed, the other kind's key",
            given().has(config_map("c").managed().without_keys().key("clientSecret", "y")),
            "foreign",
        ),
        ("opted out, managed", given().has(config_map("c").managed().label(OIDC, "no")), "foreign"),
    ];
    each("ConfigMap/c", cases);
}

#[test]
fn a_pattern_marks_a_foreign_object_to_look_at_and_no_more() {
    let given = || given().name_pattern("ext-auth-*").name_pattern("other");
    let cases = [
        ("foreign", given().has(secret("ext-auth-x")), "foreign name-pattern"),
        ("opted out", given().has(secret("ext-auth-x").label(OIDC, "false")), "foreign name-pattern"),
        ("orphan", given().has(secret("ext-auth-x").oidc()), CERTAIN),
        (
            "referenced",
            given()
                .authentication(oidc("", &[("c", "ext-auth-x")]))
                .source(secret("ext-auth-x"))
                .has(secret("ext-auth-x")),
            "referenced",
        ),
    ];
    each("Secret/ext-auth-x", cases);
    assert_eq!(given().has(secret("my-ext-auth-x")).about("Secret/my-ext-auth-x"), "foreign", "over the whole name");
}

#[test]
fn nothing_is_done_to_a_cluster_that_is_gone_or_going_paused_or_restored() {
    let s = || given().has(secret("s").oidc());
    let restored = "hypershift.openshift.io/restored-from-backup";
    let on = |kind: &str, field: &str, value: Value| s().set("mgmt", kind, field, value);
    let (cluster, plane) = ("HostedCluster", "HostedControlPlane");
    let gone = json!("2026-11-16T09:00:00Z");
    let cases = [
        ("HostedCluster gone, control plane there", s().without("mgmt", cluster), "moot gone"),
        ("both gone", s().without("mgmt", cluster).without("mgmt", plane), "moot gone"),
        ("HostedCluster deleting", on(cluster, "metadata.deletionTimestamp", gone.clone()), "moot deleting"),
        ("control plane deleting", on(plane, "metadata.deletionTimestamp", gone.clone()), "moot deleting"),
        ("HostedCluster paused", on(cluster, "spec.pausedUntil", json!("true")), "moot paused"),
        ("control plane paused", on(plane, "spec.pausedUntil", json!("true")), "moot paused"),
        ("HostedCluster restored", s().annotate("mgmt", cluster, restored, "true"), "moot restored"),
        ("control plane restored", s().annotate("mgmt", plane, restored, ""), "moot restored"),
        ("restored says false", s().annotate("mgmt", cluster, restored, "false"), CERTAIN),
        (
            "all at once",
            s().without("mgmt", cluster)
                .set("mgmt", plane, "metadata.deletionTimestamp", gone)
                .set("mgmt", plane, "spec.pausedUntil", json!("true"))
                .annotate("mgmt", plane, restored, "yes"),
            "moot deleting gone paused restored",
        ),
        ("foreign stays foreign", given().has(secret("s")).without("mgmt", cluster), "foreign"),
    ];
    each("Secret/s", cases);
}

#[test]
fn a_pause_is_read_as_the_operator_reads_it() {
    let future = "2026-12-01T00:00:00Z";
    let cases = [
        (json!("true"), "moot paused", None),
        (json!("True"), "moot paused", None),
        (json!("TRUE"), "moot paused", None),
        (json!("t"), "moot paused", None),
        (json!("T"), "moot paused", None),
        (json!("1"), "moot paused", None),
        (json!(true), "moot paused", None),
        (json!(future), "moot paused", Some(future)),
        (json!("2026-11-16T12:00:00+01:00"), "moot paused", Some("2026-11-16T11:00:00Z")),
        (json!("2026-11-16T10:00:00Z"), CERTAIN, None),
        (json!("2026-11-16T10:30:00+01:00"), CERTAIN, None),
        (json!("2020-01-01T00:00:00Z"), CERTAIN, None),
        (json!("false"), CERTAIN, None),
        (json!("False"), CERTAIN, None),
        (json!(false), CERTAIN, None),
        (json!("0"), CERTAIN, None),
        (json!("2026-12-01"), CERTAIN, None),
        (json!("2026-12-01T00:00:00"), CERTAIN, None),
        (json!("yes"), CERTAIN, None),
        (json!("tomorrow"), CERTAIN, None),
        (json!(""), CERTAIN, None),
        (Value::Null, CERTAIN, None),
    ];
    for (paused, expected, until) in cases {
        for kind in ["HostedCluster", "HostedControlPlane"] {
            let judged = given().set("mgmt", kind, "spec.pausedUntil", paused.clone()).has(secret("s").oidc()).judged();
            assert_eq!(judged.about("Secret/s"), expected, "{kind} {paused}");
            let ends = judged.find("Secret/s").unwrap().judgement.until.map(|end| end.to_string());
            assert_eq!(ends.as_deref(), until, "{kind} {paused}");
        }
    }
}

#[test]
fn the_earlier_of_two_pauses_is_when_to_look_again() {
    let given = given()
        .set("mgmt", "HostedCluster", "spec.pausedUntil", json!("2026-12-02T00:00:00Z"))
        .set("mgmt", "HostedControlPlane", "spec.pausedUntil", json!("2026-12-01T00:00:00Z"))
        .has(secret("s").oidc());
    let until = given.judged().find("Secret/s").unwrap().judgement.until.unwrap();
    assert_eq!(until.to_string(), "2026-12-01T00:00:00Z");
}

#[test]
fn a_client_in_use_that_the_control_plane_no_longer_lists_keeps_the_orphan() {
    let listing =
        || given().authentication(oidc("", &[("console", "new")])).source(secret("new")).has(secret("s").oidc());
    let pending = "pending client-still-current";
    let entry = |client: Value| json!([{ "componentNamespace": "openshift-console", "componentName": "console", "currentOIDCClients": [client] }]);
    let idp = "https://idp.example";
    let type_gone = |given: Given| {
        let mut block = oidc("", &[("console", "new")]);
        block["type"] = json!("IntegratedOAuth");
        given
            .plane_authentication(block.clone())
            .cluster_authentication(block)
            .guest_authentication(json!({ "type": "IntegratedOAuth" }))
    };
    let two = json!([uses("console", &["console-id"]), uses("cli", &["cli-id"])]);
    let cases = [
        ("listed and the same", listing().clients_in_use(json!([uses("console", &["console-id"])])), CERTAIN),
        ("component no longer listed", listing().clients_in_use(json!([uses("cli", &["cli-id"])])), pending),
        ("one of two no longer listed", listing().clients_in_use(two), pending),
        ("another client id", listing().clients_in_use(json!([uses("console", &["old-id"])])), pending),
        (
            "the listed and another",
            listing().clients_in_use(json!([uses("console", &["console-id", "old-id"])])),
            pending,
        ),
        (
            "another issuer",
            listing().clients_in_use(entry(json!({ "issuerURL": "https://old.example", "clientID": "console-id" }))),
            pending,
        ),
        (
            "provider renamed",
            listing().clients_in_use(entry(
                json!({ "oidcProviderName": "old", "issuerURL": idp, "clientID": "console-id" }),
            )),
            CERTAIN,
        ),
        ("no client id", listing().clients_in_use(entry(json!({}))), pending),
        ("a null client", listing().clients_in_use(entry(Value::Null)), pending),
        (
            "same name, other namespace",
            listing().clients_in_use(json!([{ "componentNamespace": "x", "componentName": "console",
                "currentOIDCClients": [{ "issuerURL": idp, "clientID": "console-id" }] }])),
            pending,
        ),
        ("component unlisted, nothing current", listing().clients_in_use(json!([uses("cli", &[])])), CERTAIN),
        (
            "component unlisted, null",
            listing().clients_in_use(json!([{ "componentName": "cli", "currentOIDCClients": null }])),
            CERTAIN,
        ),
        ("no entries", listing().clients_in_use(json!([])), CERTAIN),
        ("null entries", listing().clients_in_use(Value::Null), CERTAIN),
        ("no status", listing(), CERTAIN),
        (
            "type no longer OIDC",
            type_gone(listing()).clients_in_use(json!([uses("console", &["console-id"])])),
            pending,
        ),
        (
            "type no longer OIDC, nothing current",
            type_gone(listing()).clients_in_use(json!([uses("console", &[])])),
            CERTAIN,
        ),
        (
            "no provider",
            given().has(secret("s").oidc()).clients_in_use(json!([uses("console", &["console-id"])])),
            pending,
        ),
        ("foreign stays foreign", given().has(secret("s")).clients_in_use(json!([uses("console", &["x"])])), "foreign"),
    ];
    each("Secret/s", cases);
}

#[test]
fn a_component_listed_by_two_providers_may_use_either_client() {
    let second = json!({
        "name": "second", "issuer": { "issuerURL": "https://second.example" },
        "oidcClients": [{ "componentNamespace": "openshift-console", "componentName": "console", "clientID": "second-id" }]
    });
    let mut both = oidc("", &[("console", "")]);
    both["oidcProviders"].as_array_mut().unwrap().push(second);
    let using = |client: Value| {
        let entry = json!([{ "componentNamespace": "openshift-console", "componentName": "console", "currentOIDCClients": [client] }]);
        given().authentication(both.clone()).has(secret("s").oidc()).clients_in_use(entry)
    };
    let cases = [
        ("the first", using(json!({ "issuerURL": "https://idp.example", "clientID": "console-id" })), CERTAIN),
        ("the second", using(json!({ "issuerURL": "https://second.example", "clientID": "second-id" })), CERTAIN),
        (
            "a mixture",
            using(json!({ "issuerURL": "https://idp.example", "clientID": "second-id" })),
            "pending client-still-current",
        ),
    ];
    each("Secret/s", cases);
}

#[test]
fn what_is_not_known_comes_before_moot_and_moot_before_a_client_in_use() {
    let busy = given().has(secret("s").oidc()).clients_in_use(json!([uses("cli", &["x"])]));
    let paused = busy.clone().set("mgmt", "HostedControlPlane", "spec.pausedUntil", json!("true"));
    let unknown = paused.clone().incomplete("guest-a", "config.openshift.io/v1/oauths");
    let cases = [
        ("busy", busy, "pending client-still-current"),
        ("paused", paused, "moot paused"),
        ("unknown", unknown, INCOMPLETE),
    ];
    each("Secret/s", cases);
}
