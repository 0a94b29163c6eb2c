//! The console's copies, and the clients in use.

use serde_json::{Value, json};

use super::*;

const CA: &str = "ConfigMap/openshift-console/idp-ca";
const SECRET: &str = "Secret/openshift-console/console-oauth-config";
const CLIENT: &str = "Authentication/_/openshift-console/console";

/// A provider with a CA and a console client.
fn provider() -> Value {
    let mut spec = oidc();
    spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "idp-ca" });
    spec["oidcProviders"][0]["oidcClients"] = json!([{
        "componentNamespace": "openshift-console", "componentName": "console",
        "clientID": "web", "clientSecret": { "name": "web-secret" }
    }]);
    spec
}

fn with_sources() -> Given {
    given().spec(provider()).config_map("openshift-config", "idp-ca", json!({ "ca-bundle.crt": "PEM" })).secret(
        "openshift-config",
        "web-secret",
        json!({ "clientSecret": "s3cret" }),
    )
}

fn bundle(given: Given, name: &str, text: &str) -> Given {
    given.config_map("openshift-console", name, json!({ "ca-bundle.crt": text }))
}

fn owned(given: Given, name: &str) -> Given {
    let owner = json!([{ "apiVersion": "operator.openshift.io/v1", "kind": "Console", "name": "cluster", "uid": "c" }]);
    let body = json!({ "metadata": { "ownerReferences": owner }, "data": { "ca-bundle.crt": "PEM" } });
    given.object("v1", "ConfigMap", Some("openshift-console"), name, body)
}

#[test]
fn the_copy_of_the_ca_is_compared_with_its_source() {
    let missing = "missing → apply selected missing blocked:operator-owned";
    let drift = "drift → apply selected differs blocked:operator-owned";
    let source_gone = "leftover → delete selected source-removed blocked:operator-owned";
    let without_source = || with_sources().without_in("openshift-config", "idp-ca");
    each(
        CA,
        [
            ("the same", bundle(with_sources(), "idp-ca", "PEM"), "match"),
            ("absent", with_sources(), missing),
            ("another text", bundle(with_sources(), "idp-ca", "OLD"), drift),
            ("no key", with_sources().config_map("openshift-console", "idp-ca", json!({})), drift),
            ("source without the key", with_sources().config_map("openshift-config", "idp-ca", json!({})), "match"),
            ("source gone, copy there", owned(without_source(), "idp-ca"), source_gone),
            ("source gone, nobody's copy there", bundle(without_source(), "idp-ca", "X"), source_gone),
            ("source gone, no copy", without_source(), "match"),
            ("source not known", without_source().incomplete("v1/configmaps@openshift-config"), "unknown"),
            ("copy not known", with_sources().incomplete("v1/configmaps@openshift-console"), "unknown"),
            ("no CA named", given(), "no subject"),
            ("another type", with_sources().set("Authentication", "spec.type", json!("None")), "no subject"),
            (
                "another type, still named",
                bundle(without_source(), "idp-ca", "X").set("Authentication", "spec.type", json!("")),
                "leftover → delete selected no-referrer blocked:operator-owned",
            ),
        ],
    );
}

#[test]
fn a_copy_that_nothing_asks_for_any_more_is_a_leftover() {
    let leftover = "leftover → delete selected no-referrer blocked:operator-owned";
    let old = "ConfigMap/openshift-console/old-ca";
    each(
        old,
        [
            ("renamed", owned(with_sources(), "old-ca"), leftover),
            ("reverted", owned(integrated(), "old-ca"), leftover),
            (
                "without an owner, its source still there",
                bundle(
                    integrated().config_map("openshift-config", "old-ca", json!({ "ca-bundle.crt": "X" })),
                    "old-ca",
                    "X",
                ),
                leftover,
            ),
            ("nobody's mark on it", bundle(integrated(), "old-ca", "X"), "no subject"),
            (
                "more in it",
                owned(integrated(), "old-ca").config_map(
                    "openshift-console",
                    "old-ca",
                    json!({ "ca-bundle.crt": "", "x": "" }),
                ),
                "no subject",
            ),
            (
                "list not complete",
                owned(integrated(), "old-ca").incomplete("v1/configmaps@openshift-console"),
                "unknown",
            ),
            (
                "type not known",
                owned(integrated(), "old-ca").incomplete("config.openshift.io/v1/authentications"),
                "unknown",
            ),
        ],
    );
    for own in ["trusted-ca-bundle", "default-ingress-cert", "oauth-serving-cert"] {
        assert_eq!(owned(integrated(), own).about(&format!("ConfigMap/openshift-console/{own}")), "no subject");
    }
}

#[test]
fn the_copy_of_the_client_secret_is_compared_without_being_shown() {
    let copy = |given: Given, text: &str| {
        given.secret("openshift-console", "console-oauth-config", json!({ "clientSecret": text }))
    };
    let leftover = "leftover → delete offered no-referrer blocked:operator-owned";
    let no_client = || copy(given(), "x");
    each(
        SECRET,
        [
            ("the same", copy(with_sources(), "s3cret"), "match"),
            ("another", copy(with_sources(), "rotated"), "drift"),
            ("absent", with_sources(), "missing"),
            ("source gone", copy(with_sources().without("Secret", "web-secret"), "x"), leftover),
            ("no client", no_client(), leftover),
            ("no client, no copy", given(), "no subject"),
            ("another type keeps its own there", copy(integrated(), "x"), "no subject"),
            (
                "source not known",
                copy(with_sources().without("Secret", "web-secret"), "x").incomplete("v1/secrets@openshift-config"),
                "unknown",
            ),
            ("copy not known", with_sources().incomplete("v1/secrets@openshift-console"), "unknown"),
            (
                "a leftover while the type is not certain",
                no_client().incomplete("config.openshift.io/v1/authentications"),
                "unknown",
            ),
            (
                "a leftover in a list that is not complete",
                no_client().incomplete("v1/secrets@openshift-console"),
                "unknown",
            ),
        ],
    );
    let judged = copy(with_sources(), "r0tated").judged();
    let shown = format!("{:?}", judged.find(SECRET).unwrap().explanation);
    assert!(!shown.contains("s3cret") && !shown.contains("r0tated"), "{shown}");
    assert!(shown.contains("<6 bytes>") && shown.contains("<7 bytes, different>"), "{shown}");
}

#[test]
fn a_component_is_judged_by_the_client_it_uses() {
    let uses = |given: Given, clients: Value| {
        let entry = json!({
            "componentNamespace": "openshift-console", "componentName": "console", "currentOIDCClients": clients
        });
        given.set("Authentication", "status.oidcClients", json!([entry]))
    };
    let current = |id: &str, issuer: &str| json!({ "oidcProviderName": "any", "issuerURL": issuer, "clientID": id });
    let right = || current("web", "https://idp.example");
    each(
        CLIENT,
        [
            ("the listed one", uses(with_sources(), json!([right()])), "match"),
            ("another id", uses(with_sources(), json!([current("old", "https://idp.example")])), "drift"),
            ("another issuer", uses(with_sources(), json!([current("web", "https://old.example")])), "drift"),
            ("the listed one and another", uses(with_sources(), json!([right(), current("old", "x")])), "drift"),
            ("none", uses(with_sources(), json!([])), "missing"),
            ("none, written as null", uses(with_sources(), Value::Null), "missing"),
            ("no entry", with_sources(), "missing"),
            ("not listed, in use", uses(given(), json!([right()])), "leftover"),
            ("not listed, not in use", uses(given(), json!([])), "match"),
            ("not listed, no entry", given(), "no subject"),
            (
                "another type, in use",
                uses(with_sources().set("Authentication", "spec.type", json!("")), json!([right()])),
                "leftover",
            ),
            (
                "another type, not in use",
                uses(with_sources().set("Authentication", "spec.type", json!("")), json!([])),
                "match",
            ),
            (
                "another type, listed, no entry",
                with_sources().set("Authentication", "spec.type", json!("")),
                "no subject",
            ),
        ],
    );
}

#[test]
fn a_component_with_a_name_of_another_shape_breaks_nothing() {
    let entry = json!({ "componentNamespace": "a/b", "componentName": "c", "currentOIDCClients": [] });
    let nameless = json!({ "currentOIDCClients": [{}] });
    let judged = given().set("Authentication", "status.oidcClients", json!([entry, nameless])).judged();
    assert_eq!(judged.about("Authentication/_//"), "leftover");
}
