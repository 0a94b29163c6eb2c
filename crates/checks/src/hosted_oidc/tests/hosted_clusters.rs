//! The HostedCluster itself: visible while it is deleted, and judged as an Authentication is.

use serde_json::{Value, json};

use super::*;

const SUBJECT: &str = "mgmt/HostedCluster/clusters/guest-a";

fn with_block(block: Value) -> Given {
    given().cluster_authentication(block)
}

/// A provider that nothing speaks against.
fn valid() -> Value {
    oidc("", &[])
}

fn condition(kind: &str, status: &str) -> Value {
    json!([{ "type": kind, "status": status, "reason": "R", "message": "secret s is missing" }])
}

#[test]
fn a_hosted_cluster_that_is_being_deleted_stays_visible_as_moot() {
    let now = json!("2026-11-16T09:00:00Z");
    let cases = [
        (
            "HostedCluster",
            given().set("mgmt", "HostedCluster", "metadata.deletionTimestamp", now.clone()),
            "moot deleting",
        ),
        (
            "control plane",
            given().set("mgmt", "HostedControlPlane", "metadata.deletionTimestamp", now.clone()),
            "moot deleting",
        ),
        (
            "whatever its spec says",
            with_block(json!({ "type": "" })).set("mgmt", "HostedCluster", "metadata.deletionTimestamp", now),
            "moot deleting",
        ),
        ("gone", given().without("mgmt", "HostedCluster"), "no subject"),
        ("its guest can't be reached", given().unreachable("guest-a"), "valid no-providers"),
        ("its guest is not part of the run", given().forget_cluster("guest-a"), "valid no-providers"),
        ("its control plane is not known", given().without("mgmt", "HostedControlPlane"), "valid no-providers"),
    ];
    each(SUBJECT, cases);
}

#[test]
fn the_authentication_of_a_hosted_cluster_is_judged_like_that_of_a_cluster() {
    let mut no_audience = valid();
    no_audience["oidcProviders"][0]["issuer"]["audiences"] = json!([]);
    let mut twice = valid();
    let rule = json!({ "type": "RequiredClaim", "requiredClaim": { "claim": "a", "requiredValue": "b" } });
    twice["oidcProviders"][0]["claimValidationRules"] = json!([rule, rule]);
    let mut misspelled = valid();
    misspelled["oidcProviders"][0]["claimMappings"]["group"] = json!({ "claim": "g" });
    let issuer = |issuer: &str, url: Value| {
        let mut block = valid();
        block["oidcProviders"][0]["issuer"]["issuerURL"] = json!(issuer);
        with_block(block).set("mgmt", "HostedCluster", "spec.issuerURL", url)
    };
    let cases = [
        ("no authentication", given().set("mgmt", "HostedCluster", "spec.configuration", json!({})), "valid"),
        ("integrated", with_block(json!({ "type": "IntegratedOAuth" })), "valid"),
        ("leftover providers of another type", with_block(json!({ "type": "None", "oidcProviders": [{}] })), "valid"),
        ("an empty type", with_block(json!({ "type": "" })), "invalid type-empty"),
        ("no type", with_block(json!({ "oidcProviders": [] })), "invalid type-empty"),
        ("valid", with_block(valid()), "valid"),
        ("no providers is normal", with_block(json!({ "type": "OIDC" })), "valid no-providers"),
        ("invalid", with_block(no_audience), "invalid audiences-empty"),
        ("kube-apiserver would refuse it", with_block(twice), "kas-would-refuse claim-rule-duplicate"),
        ("an unknown field that a server stored", with_block(misspelled), "valid unknown-field"),
        (
            "the issuer of service accounts",
            issuer("https://sa.example", json!("https://sa.example")),
            "invalid issuer-is-service-account-issuer",
        ),
        (
            "the default issuer of service accounts",
            issuer("https://kubernetes.default.svc", json!("")),
            "invalid issuer-is-service-account-issuer",
        ),
        (
            "another issuer of service accounts",
            issuer("https://kubernetes.default.svc", json!("https://sa.example")),
            "valid",
        ),
        (
            "unreadable",
            with_block(
                json!({ "type": "OIDC", "oidcProviders": [{ "claimMappings": { "username": { "claim": 5 } } }] }),
            ),
            "unknown",
        ),
    ];
    each(SUBJECT, cases);
}

#[test]
fn a_file_with_an_unknown_field_would_be_refused() {
    let mut misspelled = valid();
    misspelled["oidcProviders"][0]["claimMappings"]["group"] = json!({ "claim": "g" });
    let file = with_block(misspelled).set("mgmt", "HostedCluster", "metadata.resourceVersion", Value::Null);
    assert_eq!(file.about(SUBJECT), "invalid unknown-field");
}

#[test]
fn cas_and_client_secrets_are_looked_for_in_the_hosted_clusters_own_namespace() {
    const PEM: &str = include_str!("../../../../net/src/fixtures/ec.crt");
    let naming = || with_block(oidc("ca", &[("console", "s")]));
    let own = |given: Given| {
        given
            .object("mgmt", config_map("ca").key("ca-bundle.crt", PEM).in_namespace("clusters"))
            .object("mgmt", secret("s").in_namespace("clusters"))
    };
    let cases = [
        ("both there", own(naming()), "valid"),
        ("neither", naming(), "invalid ca-configmap-missing client-secret-missing"),
        (
            "the guest's copies don't count",
            naming().has(config_map("ca").key("ca-bundle.crt", PEM)).has(secret("s")),
            "invalid ca-configmap-missing client-secret-missing",
        ),
        (
            "ConfigMaps not known",
            naming().incomplete("mgmt", "v1/configmaps@clusters"),
            "unknown client-secret-missing",
        ),
        (
            "Secrets not known",
            own(naming()).without("mgmt", "Secret").incomplete("mgmt", "v1/secrets@clusters"),
            "unknown",
        ),
    ];
    each(SUBJECT, cases);
}

#[test]
fn gates_follow_the_release_of_the_hosted_cluster() {
    let mut block = valid();
    block["oidcProviders"][0]["userValidationRules"] = json!([]);
    let of = |release: Value| with_block(block.clone()).set("mgmt", "HostedCluster", "status.version.history", release);
    let version = |name: &str| json!([{ "version": name, "state": "Completed" }, { "version": "4.19.0" }]);
    let cases = [
        ("before the gate", of(version("4.21.3")), "valid"),
        ("after it", of(version("5.0.0")), "invalid user-rule-expression-missing"),
        ("no release is the newest", of(Value::Null), "invalid user-rule-expression-missing"),
    ];
    each(SUBJECT, cases);
}

#[test]
fn a_configuration_that_hypershift_refuses_is_degraded() {
    let on =
        |kind: &str, name: &str, status: &str| given().set("mgmt", kind, "status.conditions", condition(name, status));
    let (cluster, plane) = ("HostedCluster", "HostedControlPlane");
    let cases = [
        ("refused", on(cluster, "ValidConfiguration", "False"), "degraded ValidConfiguration no-providers"),
        ("not known", on(cluster, "ValidConfiguration", "Unknown"), "valid no-providers"),
        ("accepted", on(cluster, "ValidConfiguration", "True"), "valid no-providers"),
        (
            "the control plane's, on the HostedCluster",
            on(cluster, "ValidHostedControlPlaneConfiguration", "False"),
            "degraded ValidHostedControlPlaneConfiguration no-providers",
        ),
        (
            "the control plane's own",
            on(plane, "ValidHostedControlPlaneConfiguration", "False"),
            "degraded ValidHostedControlPlaneConfiguration no-providers",
        ),
        ("ValidConfiguration of the control plane", on(plane, "ValidConfiguration", "False"), "valid no-providers"),
        ("paused", on(cluster, "ReconciliationActive", "False"), "valid no-providers"),
        ("service accounts of the cloud", on(cluster, "ValidOIDCConfiguration", "False"), "valid no-providers"),
        (
            "invalid stays invalid",
            on(cluster, "ValidConfiguration", "False").cluster_authentication(json!({ "type": "" })),
            "invalid type-empty",
        ),
    ];
    each(SUBJECT, cases);
}

#[test]
fn only_listed_conditions_are_named_as_a_cause() {
    let fields = |given: &Given, subject: &str| -> Vec<String> {
        let judged = given.judged();
        let evidence = &judged.find(subject).unwrap_or_else(|| panic!("no {subject}")).explanation.evidence;
        evidence
            .iter()
            .filter(|line| line.field.starts_with("status.conditions"))
            .map(|line| line.field.clone())
            .collect()
    };
    let named = |kind: &str| vec![format!("status.conditions[{kind}]")];
    let missing_source = || given().authentication(oidc("", &[("console", "s")])).has(secret("s"));
    let missing_copy = || given().authentication(oidc("", &[("console", "s")])).source(secret("s"));
    let unpropagated = || given().has(secret("s")).cluster_authentication(oidc("", &[("console", "s")]));
    let with =
        |given: Given, kind: &str| given.set("mgmt", "HostedCluster", "status.conditions", condition(kind, "False"));
    let cases = [
        (
            "source-missing",
            with(missing_source(), "ReconciliationSucceeded"),
            "Secret/s",
            named("ReconciliationSucceeded"),
        ),
        (
            "source-missing, another",
            with(missing_source(), "ConfigOperatorReconciliationSucceeded"),
            "Secret/s",
            vec![],
        ),
        (
            "missing-copy",
            with(missing_copy(), "ConfigOperatorReconciliationSucceeded"),
            "Secret/s",
            named("ConfigOperatorReconciliationSucceeded"),
        ),
        ("missing-copy, another", with(missing_copy(), "ReconciliationSucceeded"), "Secret/s", vec![]),
        ("not-propagated", with(unpropagated(), "ValidConfiguration"), "Secret/s", named("ValidConfiguration")),
        (
            "not-propagated, paused",
            with(unpropagated(), "ReconciliationActive"),
            "Secret/s",
            named("ReconciliationActive"),
        ),
        ("the HostedCluster", with(given(), "ReconciliationActive"), SUBJECT, named("ReconciliationActive")),
        ("never of the cloud", with(given(), "ValidOIDCConfiguration"), SUBJECT, vec![]),
        ("never of integrated OAuth", with(unpropagated(), "ValidIDPConfiguration"), "Secret/s", vec![]),
    ];
    for (case, given, subject, expected) in cases {
        assert_eq!(fields(&given, subject), expected, "case: {case}");
    }
    let other = missing_source()
        .set(
            "mgmt",
            "HostedCluster",
            "status.conditions",
            json!([{ "type": "ReconciliationSucceeded",
            "status": "False", "message": "configmap other is missing" }]),
        )
        .source(secret("other"));
    let renamed = other.authentication(oidc("", &[("console", "zebra")])).has(secret("zebra"));
    assert_eq!(fields(&renamed, "Secret/zebra"), Vec::<String>::new(), "the message names another object");
}
