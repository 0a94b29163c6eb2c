//! Going back to the OAuth server is judged as fully as going away from it.

use serde_json::{Value, json};

use super::*;

const ROLLOUT: &str = "KubeAPIServer/_/cluster";
const OBSERVED: &str = "KubeAPIServer/_/cluster/observed-config";
const WEBHOOK: &str = "Secret/openshift-kube-apiserver/webhook-authenticator";
const METADATA: &str = "ConfigMap/openshift-kube-apiserver/oauth-metadata";

/// What a revision runs with, without these parts.
fn oauth_without(webhook: bool, metadata: bool) -> Value {
    let mut config = on_oauth();
    if webhook {
        config["apiServerArguments"]["authentication-token-webhook-config-file"] = json!([""]);
    }
    if metadata {
        config["authConfig"]["oauthMetadataFile"] = json!("");
    }
    config
}

/// A cluster on OAuth whose status names its metadata.
fn named() -> Given {
    integrated().set("Authentication", "status.integratedOAuthMetadata", json!({ "name": "oauth-openshift" }))
}

#[test]
fn a_running_revision_without_webhook_or_metadata_is_incomplete_unless_the_next_has_them() {
    let running = |config: Value| named().revision_config(7, &config);
    let latest = |given: Given, config: Value| {
        given.revision_config(8, &config).set("KubeAPIServer", "status.latestAvailableRevision", json!(8))
    };
    let mut absent = on_oauth();
    absent["apiServerArguments"] = json!({});
    absent["authConfig"] = json!({});
    let none = named().spec(json!({ "type": "None" })).revision_config(7, &oauth_without(true, true));
    each(
        ROLLOUT,
        [
            ("complete", named(), "not-available"),
            ("no webhook", running(oauth_without(true, false)), "oauth-incomplete webhook-arg"),
            ("no metadata", running(oauth_without(false, true)), "oauth-incomplete oauth-metadata"),
            ("neither", running(oauth_without(true, true)), "oauth-incomplete oauth-metadata webhook-arg"),
            ("both keys absent", running(absent), "oauth-incomplete oauth-metadata webhook-arg"),
            (
                "metadata that nothing names is not judged",
                integrated().revision_config(7, &oauth_without(false, true)),
                "not-available",
            ),
            (
                "metadata named by the spec",
                integrated()
                    .set("Authentication", "spec.oauthMetadata", json!({ "name": "mine" }))
                    .revision_config(7, &oauth_without(false, true)),
                "oauth-incomplete oauth-metadata",
            ),
            (
                "the next revision has it",
                latest(running(oauth_without(true, true)), on_oauth()),
                "rolling-out oauth-metadata webhook-arg",
            ),
            (
                "the next revision has half of it",
                latest(running(oauth_without(true, true)), oauth_without(false, true)),
                "oauth-incomplete oauth-metadata webhook-arg",
            ),
            (
                "no config of the revision",
                named().without("ConfigMap", "config-7"),
                "not-available revision-config-missing",
            ),
            ("type None", none, "not-available"),
            ("still on OIDC", named().revision(7), "not-available still-on-oidc"),
            (
                "configs not known",
                named().without("ConfigMap", "config-7").incomplete("v1/configmaps@openshift-kube-apiserver"),
                "unknown",
            ),
        ],
    );
    let judged = named().without("ConfigMap", "config-7").judged();
    assert_eq!(judged.find(ROLLOUT).unwrap().judgement.state.as_str(), "match");
}

#[test]
fn the_observed_config_has_webhook_and_metadata_where_oauth_is_wanted() {
    let observed = |given: Given, config: Value| given.set("KubeAPIServer", "spec.observedConfig", config);
    let source = |given: Given| given.config_map("openshift-config-managed", "oauth-openshift", json!({}));
    each(
        OBSERVED,
        [
            ("both", source(named()), "match"),
            ("no webhook", observed(named(), oauth_without(true, false)), "drift webhook-arg"),
            (
                "no metadata, its source exists",
                observed(source(named()), oauth_without(false, true)),
                "drift oauth-metadata",
            ),
            (
                "no metadata, its source is absent",
                observed(named().without_in("openshift-config-managed", "oauth-openshift"), oauth_without(false, true)),
                "match",
            ),
            ("no metadata, none named", observed(integrated(), oauth_without(false, true)), "match"),
            (
                "the spec's metadata counts before the status'",
                observed(source(named()), oauth_without(false, true)).set(
                    "Authentication",
                    "spec.oauthMetadata",
                    json!({ "name": "mine" }),
                ),
                "match",
            ),
            (
                "the spec's metadata exists",
                observed(named(), oauth_without(false, true))
                    .set("Authentication", "spec.oauthMetadata", json!({ "name": "mine" }))
                    .config_map("openshift-config", "mine", json!({})),
                "drift oauth-metadata",
            ),
            (
                "type None judges neither",
                observed(
                    named().spec(json!({ "type": "None" })),
                    json!({ "apiServerArguments": { "disable-admission-plugins": plugins() } }),
                ),
                "match",
            ),
        ],
    );
    let waits = |given: Given, what: &str| {
        let judged = observed(given, oauth_without(true, false)).judged();
        let evidence = &judged.find(OBSERVED).unwrap().explanation.evidence;
        assert!(evidence.iter().any(|line| line.message.contains(what)), "{what}: {evidence:?}");
    };
    waits(named(), "waits for spec.webhookTokenAuthenticator, which is not set");
    let webhook = json!({ "kubeConfig": { "name": "hook" } });
    let set = named().set("Authentication", "spec.webhookTokenAuthenticator", webhook);
    waits(set.clone(), "waits for Secret openshift-config/hook, which is absent");
    waits(set.secret("openshift-config", "hook", json!({})), "Secret openshift-config/hook exists");
}

#[test]
fn kube_apiservers_copies_for_oauth_are_wanted_or_left_over_by_mode() {
    let both = |given: Given| {
        given.secret("openshift-kube-apiserver", "webhook-authenticator", json!({})).config_map(
            "openshift-kube-apiserver",
            "oauth-metadata",
            json!({}),
        )
    };
    let sources = |given: Given| {
        given
            .set("Authentication", "spec.webhookTokenAuthenticator", json!({ "kubeConfig": { "name": "hook" } }))
            .secret("openshift-config", "hook", json!({}))
            .set("Authentication", "status.integratedOAuthMetadata", json!({ "name": "oauth-openshift" }))
            .config_map("openshift-config-managed", "oauth-openshift", json!({}))
    };
    let left = "leftover → delete selected oidc-available blocked:operator-owned";
    let before = || given().without_in("openshift-kube-apiserver", "auth-config");
    let none = || given().spec(json!({ "type": "None" }));
    let cases = [
        ("OIDC, present", both(given()), left, left),
        ("OIDC, absent", given(), "match", "match"),
        ("OIDC, before the copy of auth-config", both(before()), "match", "match"),
        ("OIDC, rolling out", both(given()).nodes(&[(7, 0), (6, 7)]), "leftover", "leftover"),
        ("OIDC, external claims", both(given().claims_gate()), "match", "match"),
        ("OAuth, present", both(integrated()), "match", "match"),
        ("OAuth, absent, sources exist", sources(integrated()), "missing", "missing"),
        (
            "OAuth, absent, sources absent",
            integrated().without_in("openshift-config-managed", "oauth-openshift"),
            "match",
            "match",
        ),
        ("None, present", both(none()), "match", "match"),
        ("None, absent", none(), "match", "match"),
        (
            "OIDC, not known",
            given()
                .incomplete("v1/secrets@openshift-kube-apiserver")
                .without_in("openshift-kube-apiserver", "webhook-authenticator"),
            "unknown",
            "match",
        ),
    ];
    for (case, given, webhook, metadata) in cases {
        let judged = given.judged();
        assert_eq!((judged.about(WEBHOOK), judged.about(METADATA)), (webhook.into(), metadata.into()), "case: {case}");
    }
}

#[test]
fn a_wanted_operand_that_does_not_work_is_not_a_match() {
    let deployment = |spec: Value, status: Value| {
        let body = json!({ "metadata": { "generation": 5 }, "spec": spec, "status": status });
        integrated().object("apps/v1", "Deployment", Some("openshift-authentication"), "oauth-openshift", body)
    };
    let three = || json!({ "replicas": 3 });
    each(
        "Deployment/openshift-authentication/oauth-openshift",
        [
            ("no status", deployment(three(), Value::Null), "match"),
            ("an empty status", deployment(json!({ "replicas": 0 }), json!({})), "match"),
            ("all available", deployment(three(), json!({ "availableReplicas": 3, "observedGeneration": 5 })), "match"),
            (
                "scaled to zero",
                deployment(json!({ "replicas": 0 }), json!({ "observedGeneration": 5 })),
                "not-ready scaled-to-zero",
            ),
            ("none available", deployment(three(), json!({ "availableReplicas": 0, "replicas": 3 })), "not-ready"),
            ("available absent", deployment(three(), json!({ "replicas": 3 })), "not-ready"),
            ("some available", deployment(three(), json!({ "availableReplicas": 2 })), "rolling-out"),
            ("one by default", deployment(json!({}), json!({ "availableReplicas": 1 })), "match"),
            (
                "an old generation",
                deployment(three(), json!({ "availableReplicas": 3, "observedGeneration": 4 })),
                "rolling-out",
            ),
        ],
    );
    let route = |status: Value| {
        let body = json!({ "status": status });
        integrated().object("route.openshift.io/v1", "Route", Some("openshift-authentication"), "oauth-openshift", body)
    };
    let ingress = |status: &str| json!({ "ingress": [{ "conditions": [{ "type": "Admitted", "status": status }] }] });
    each(
        "Route/openshift-authentication/oauth-openshift",
        [
            ("no status", route(json!({})), "match"),
            ("admitted", route(ingress("True")), "match"),
            ("refused", route(ingress("False")), "not-ready"),
            ("no router", route(json!({ "ingress": [] })), "not-ready"),
        ],
    );
    let api = |status: &str| {
        let body = json!({ "status": { "conditions": [{ "type": "Available", "status": status }] } });
        integrated().object("apiregistration.k8s.io/v1", "APIService", None, "v1.oauth.openshift.io", body)
    };
    each(
        "APIService/_/v1.oauth.openshift.io",
        [
            ("available", api("True"), "match"),
            ("unavailable", api("False"), "not-ready"),
            ("unknown says nothing", api("Unknown"), "match"),
        ],
    );
    let leftover = given().object(
        "apps/v1",
        "Deployment",
        Some("openshift-authentication"),
        "oauth-openshift",
        json!({ "spec": { "replicas": 0 }, "status": { "replicas": 0 } }),
    );
    let answer = leftover.about("Deployment/openshift-authentication/oauth-openshift");
    assert!(answer.starts_with("leftover"), "readiness counts only where it is wanted: {answer}");
}

#[test]
fn a_namespace_that_is_being_deleted_is_an_error_in_every_mode() {
    let body = json!({ "spec": { "finalizers": ["kubernetes"] }, "status": { "phase": "Terminating", "conditions": [
        { "type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain", "message": "pods. has 1" }
    ] } });
    let marked =
        json!({ "metadata": { "deletionTimestamp": "2026-11-16T09:00:00Z" }, "status": { "phase": "Active" } });
    let active = json!({ "status": { "phase": "Active" } });
    for (case, given) in [("OIDC", given()), ("OAuth", integrated())] {
        for name in ["openshift-authentication", "openshift-oauth-apiserver"] {
            let with = |body: &Value| given.clone().object("v1", "Namespace", None, name, body.clone());
            let subject = format!("Namespace/_/{name}");
            let verdicts = [&body, &marked, &active].map(|body| with(body).about(&subject));
            assert_eq!(verdicts, ["namespace-terminating", "namespace-terminating", "match"], "case: {case} {name}");
            assert_eq!(given.about(&subject), "no subject", "case: {case}: absent");
            let judged = with(&body).judged();
            let lines: Vec<&str> =
                judged.find(&subject).unwrap().explanation.evidence.iter().map(|line| line.message.as_str()).collect();
            assert!(lines.contains(&"finalizers: kubernetes"), "{lines:?}");
            assert!(lines.iter().any(|line| line.starts_with("NamespaceContentRemaining=True")), "{lines:?}");
        }
    }
}
