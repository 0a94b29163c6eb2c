//! `auth-config`, kube-apiserver's copy of it, and what kube-apiserver's operator observed.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::{Value, json};

use super::*;

const FILE: &str = "ConfigMap/openshift-config-managed/auth-config";
const COPY: &str = "ConfigMap/openshift-kube-apiserver/auth-config";
const OBSERVED: &str = "KubeAPIServer/_/cluster/observed-config";

const MANAGED: &str = "openshift-config-managed";
const KAS: &str = "openshift-kube-apiserver";

fn without_file() -> Given {
    given().without_in(MANAGED, "auth-config")
}

fn without_copy() -> Given {
    given().without_in(KAS, "auth-config")
}

/// Accepted by everybody, and kube-apiserver does not start with it.
fn refused() -> Value {
    let mut spec = oidc();
    let rule = json!({ "type": "RequiredClaim", "requiredClaim": { "claim": "hd", "requiredValue": "a" } });
    spec["oidcProviders"][0]["claimValidationRules"] = json!([rule, rule]);
    spec
}

#[test]
fn the_authentication_is_judged_by_its_spec() {
    let issuer = |url: &str| {
        let mut spec = oidc();
        spec["oidcProviders"][0]["issuer"]["issuerURL"] = json!(url);
        spec
    };
    each(
        "Authentication/_/cluster",
        [
            ("valid", given(), "valid"),
            ("another type with leftovers", integrated().spec(json!({ "oidcProviders": [{ "name": "x" }] })), "valid"),
            ("no provider", given().spec(json!({ "type": "OIDC" })), "lockout no-providers"),
            ("http", given().spec(issuer("http://idp.example")), "invalid issuer-url-invalid"),
            ("refused at start", given().spec(refused()), "kas-would-refuse claim-rule-duplicate"),
            ("gates not known", given().incomplete("config.openshift.io/v1/featuregates"), "unknown"),
            (
                "trusted issuers not known",
                given().without("KubeAPIServer", "cluster").incomplete("operator.openshift.io/v1/kubeapiservers"),
                "unknown",
            ),
        ],
    );
}

#[test]
fn an_issuer_that_is_trusted_until_later_is_judged_again_then() {
    let issuers = json!([
        { "name": "https://idp.example", "expirationTime": "2026-11-16T11:00:00Z" },
        { "name": "https://old.example", "expirationTime": "2026-11-16T09:00:00Z" },
        { "name": "https://new.example" },
    ]);
    let judged = given().set("KubeAPIServer", "status.serviceAccountIssuers", issuers).judged();
    let answer = judged.find("Authentication/_/cluster").unwrap();
    assert_eq!(answer.to_string(), "kas-would-refuse issuer-is-service-account-issuer");
    assert_eq!(answer.judgement.until, Some("2026-11-16T11:00:00Z".parse().unwrap()));
}

#[test]
fn auth_config_is_compared_byte_for_byte() {
    let write = "→ apply selected";
    let missing = format!("missing {write} missing blocked:operator-owned");
    let drift = format!("drift {write} differs blocked:operator-owned");
    let harmful = format!("{drift},operator-owned");
    let extra = "extra → delete selected oidc-not-wanted blocked:operator-owned";
    let list = "v1/configmaps@openshift-config-managed";
    each(
        FILE,
        [
            ("the same", given(), "match"),
            ("one byte more", given().file(MANAGED, "auth-config", &format!("{RENDERED}\n")), drift.as_str()),
            ("the same JSON in another order", given().file(MANAGED, "auth-config", &reordered()), &drift),
            ("no key", given().config_map(MANAGED, "auth-config", json!({ "other": RENDERED })), &drift),
            (
                "the key among binary ones",
                given().object(
                    "v1",
                    "ConfigMap",
                    Some(MANAGED),
                    "auth-config",
                    json!({ "binaryData": { "auth-config.json": "e30=" } }),
                ),
                &drift,
            ),
            (
                "another key beside it",
                given().config_map(MANAGED, "auth-config", json!({ "auth-config.json": RENDERED, "x": "y" })),
                "match",
            ),
            ("absent", without_file(), &missing),
            ("absent from a list that is not complete", without_file().incomplete(list), "unknown"),
            ("no provider", given().spec(json!({ "type": "OIDC" })), &harmful),
            ("kube-apiserver would refuse it", given().spec(refused()), &harmful),
            ("invalid", given().spec(json!({ "type": "OIDC", "oidcProviders": [{}] })), "unrenderable"),
            (
                "invalid and absent",
                without_file().spec(json!({ "type": "OIDC", "oidcProviders": [{}] })),
                "unrenderable",
            ),
            ("not asked for", integrated(), "match"),
            ("not asked for and there", integrated().file(MANAGED, "auth-config", RENDERED), extra),
            (
                "not asked for, seen in part",
                integrated().file(MANAGED, "auth-config", RENDERED).incomplete(list),
                "unknown",
            ),
            (
                "type seen in part",
                integrated()
                    .file(MANAGED, "auth-config", RENDERED)
                    .incomplete("config.openshift.io/v1/authentications"),
                "unknown",
            ),
        ],
    );
}

fn reordered() -> String {
    serde_json::from_str::<Value>(RENDERED).unwrap().to_string()
}

#[test]
fn the_copy_is_compared_with_its_source_and_not_with_the_spec() {
    let missing = "missing → apply selected missing blocked:operator-owned";
    let drift = "drift → apply selected differs blocked:operator-owned";
    let extra = "extra → delete selected oidc-not-wanted blocked:operator-owned";
    each(
        COPY,
        [
            ("the same", given(), "match"),
            (
                "both behind the spec",
                given().file(MANAGED, "auth-config", "{}").file(KAS, "auth-config", "{}"),
                "match",
            ),
            ("behind its source", given().file(KAS, "auth-config", "{}"), drift),
            ("absent", without_copy(), missing),
            ("neither", without_copy().without_in(MANAGED, "auth-config"), "match"),
            ("its source is gone", without_file(), extra),
            ("not asked for", integrated(), "match"),
            ("not asked for and there", integrated().file(KAS, "auth-config", "{}"), extra),
            ("external claims", without_copy().claims_gate(), "match"),
            ("external claims and there", given().claims_gate(), extra),
            (
                "the source's list is not complete",
                without_file().incomplete("v1/configmaps@openshift-config-managed"),
                "unknown",
            ),
            (
                "its own list is not complete",
                without_copy().incomplete("v1/configmaps@openshift-kube-apiserver"),
                "unknown",
            ),
        ],
    );
}

#[test]
fn the_observed_config_follows_the_type_and_what_has_been_copied() {
    let observed = |given: Given, change: fn(&mut Value)| {
        let mut config = on_oidc();
        change(&mut config);
        given.set("KubeAPIServer", "spec.observedConfig", config)
    };
    let webhook: fn(&mut Value) = |config| {
        config["apiServerArguments"]["authentication-token-webhook-config-file"] = json!(["/x"]);
    };
    let metadata: fn(&mut Value) = |config| config["authConfig"]["oauthMetadataFile"] = json!("/x");
    let no_argument: fn(&mut Value) = |config| config["apiServerArguments"]["authentication-config"] = json!(null);
    let enabled: fn(&mut Value) = |config| {
        config["apiServerArguments"]["enable-admission-plugins"] = plugins();
        config["apiServerArguments"]["disable-admission-plugins"] = json!([]);
    };
    let half: fn(&mut Value) =
        |config| config["apiServerArguments"]["disable-admission-plugins"] = json!([plugins()[0]]);
    let all: fn(&mut Value) = |config| *config = on_oauth();
    let old =
        |given: Given| given.set("ClusterVersion", "status.desired.version", json!("4.19.9")).gates(&["ExternalOIDC"]);
    each(
        OBSERVED,
        [
            ("OIDC", given(), "match"),
            ("OAuth", integrated(), "match"),
            (
                "nothing observed, OAuth",
                integrated().set("KubeAPIServer", "spec.observedConfig", json!(null)),
                "drift webhook-arg",
            ),
            (
                "OIDC, all as before",
                observed(given(), all),
                "drift admission-plugins authentication-config-arg oauth-metadata webhook-arg",
            ),
            (
                "OIDC, nothing copied yet",
                observed(without_copy(), all),
                "drift admission-plugins authentication-config-arg",
            ),
            (
                "OIDC, nothing written yet",
                observed(without_file().without_in(KAS, "auth-config"), all),
                "drift admission-plugins",
            ),
            ("the argument without its source", without_file(), "drift authentication-config-arg"),
            (
                "a source with nothing in it",
                observed(given().config_map(MANAGED, "auth-config", json!({})), no_argument),
                "match",
            ),
            ("no argument", observed(given(), no_argument), "drift authentication-config-arg"),
            ("webhook", observed(given(), webhook), "drift webhook-arg"),
            ("webhook, nothing copied yet", observed(without_copy(), webhook), "match"),
            ("metadata", observed(given(), metadata), "drift oauth-metadata"),
            ("plugins on", observed(given(), enabled), "drift admission-plugins"),
            ("one plugin off", observed(given(), half), "drift admission-plugins"),
            ("plugins on, a release that leaves them", old(observed(given(), enabled)), "match"),
            (
                "OAuth, the argument still there and no webhook",
                observed(integrated(), enabled),
                "drift authentication-config-arg webhook-arg",
            ),
            (
                "OAuth, plugins off and no webhook",
                integrated().set("KubeAPIServer", "spec.observedConfig", off()),
                "drift admission-plugins webhook-arg",
            ),
            (
                "None",
                integrated().spec(json!({ "type": "None" })).set("KubeAPIServer", "spec.observedConfig", off()),
                "match",
            ),
            ("None, plugins on", integrated().spec(json!({ "type": "None" })), "drift admission-plugins"),
            ("external claims", observed(given().claims_gate(), no_argument), "match"),
            ("external claims, the argument still there", given().claims_gate(), "drift authentication-config-arg"),
            ("no operator", given().without("KubeAPIServer", "cluster"), "unknown"),
            ("copy not known", without_copy().incomplete("v1/configmaps@openshift-kube-apiserver"), "unknown"),
        ],
    );
}

fn off() -> Value {
    json!({ "apiServerArguments": { "disable-admission-plugins": plugins() } })
}

#[test]
fn what_has_another_shape_than_its_kind_promises_is_unknown() {
    each(
        OBSERVED,
        [
            (
                "arguments that are no map",
                given().set("KubeAPIServer", "spec.observedConfig", json!({ "apiServerArguments": [] })),
                "unknown",
            ),
            (
                "an argument that is not a list",
                given().set(
                    "KubeAPIServer",
                    "spec.observedConfig",
                    json!({ "apiServerArguments": { "authentication-config": 1 } }),
                ),
                "unknown",
            ),
        ],
    );
    assert_eq!(nothing().judged().answers.len(), 0);
}
