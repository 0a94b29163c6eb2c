//! What operators and clients say of themselves, on the object it is about and on no other.

use serde_json::{Value, json};

use super::*;

const AUTHENTICATION: &str = "Authentication.operator.openshift.io/_/cluster";
const CONSOLE: &str = "Console/_/cluster";

/// An operator's configuration with these conditions.
fn with(given: Given, kind: &str, conditions: &[(&str, &str)]) -> Given {
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|(name, status)| json!({ "type": name, "status": status, "reason": "R", "message": "m" }))
        .collect();
    given.object(OPERATOR, kind, None, "cluster", json!({ "status": { "conditions": conditions } }))
}

#[test]
fn the_authentication_operator_is_degraded_by_the_conditions_that_count_for_the_type() {
    let operator = |given: Given, name: &str, status: &str| with(given, "Authentication", &[(name, status)]);
    let external = "ExternalOIDCControllerDegraded";
    each(
        AUTHENTICATION,
        [
            ("absent", given(), "no subject"),
            ("quiet", with(given(), "Authentication", &[]), "match"),
            (
                "external OIDC, type OIDC",
                operator(given(), external, "True"),
                "degraded ExternalOIDCControllerDegraded",
            ),
            (
                "external OIDC, OAuth",
                operator(integrated(), external, "True"),
                "degraded ExternalOIDCControllerDegraded",
            ),
            ("not degraded", operator(given(), external, "False"), "match"),
            ("the OAuth server's, type OIDC", operator(given(), "OAuthServerDeploymentDegraded", "True"), "match"),
            (
                "the OAuth server's, OAuth",
                operator(integrated(), "OAuthServerDeploymentDegraded", "True"),
                "degraded OAuthServerDeploymentDegraded",
            ),
            (
                "unavailable",
                operator(integrated(), "OAuthServerServiceEndpointAccessibleControllerAvailable", "False"),
                "degraded OAuthServerServiceEndpointAccessibleControllerAvailable",
            ),
            ("progressing is not bad", operator(integrated(), "OAuthServerDeploymentProgressing", "True"), "match"),
            ("a type that is not listed", operator(integrated(), "ManagementStateDegraded", "True"), "match"),
        ],
    );
    let judged = operator(integrated(), "OAuthServerDeploymentDegraded", "True").judged();
    let subject = &judged.find(AUTHENTICATION).unwrap().subject;
    assert_eq!((subject.kind, subject.api_version), ("Authentication", "operator.openshift.io/v1"));
}

#[test]
fn the_console_operator_counts_with_type_oidc_alone() {
    let name = "OIDCProviderTrustedAuthorityConfigGetDegraded";
    let degraded = "degraded OIDCProviderTrustedAuthorityConfigGetDegraded";
    each(
        CONSOLE,
        [
            ("absent", given(), "no subject"),
            ("type OIDC", with(given(), "Console", &[(name, "True")]), degraded),
            ("not cleared on revert", with(integrated(), "Console", &[(name, "True")]), "match"),
            ("another type", with(given(), "Console", &[("DownloadsDeploymentDegraded", "True")]), "match"),
        ],
    );
}

#[test]
fn a_condition_is_named_for_the_subjects_it_is_listed_for_and_no_other() {
    let types = [
        "ExternalOIDCControllerDegraded",
        "OAuthServerDeploymentDegraded",
        "OAuthServerRouteEndpointAccessibleControllerDegraded",
        "OAuthServerServiceEndpointAccessibleControllerDegraded",
        "OAuthConfigDegraded",
        "OAuthConfigRouteDegraded",
        "OAuthServiceDegraded",
        "OAuthSessionSecretDegraded",
        "OAuthSystemMetadataDegraded",
        "OpenshiftAuthenticationStaticResourcesDegraded",
        "APIServerDeploymentDegraded",
        "APIServicesDegraded",
        "APIServerStaticResourcesDegraded",
        "WebhookAuthenticatorControllerDegraded",
        "WellKnownReadyControllerDegraded",
        "ProxyConfigControllerDegraded",
    ];
    let conditions: Vec<(&str, &str)> = types.iter().map(|name| (*name, "True")).collect();
    // Everything is wanted and gone, so that every subject is in trouble.
    let bare = super::super::stack::PARTS.iter().fold(integrated(), |given, part| match part.namespace {
        Some(namespace) => given.without_in(namespace, part.name),
        None => given.without(part.resource.kind, part.name),
    });
    let judged = with(bare, "Authentication", &conditions).judged();
    let (server, api) = ("openshift-authentication", "openshift-oauth-apiserver");
    let cases = [
        (format!("Deployment/{server}/oauth-openshift"), vec!["OAuthServerDeploymentDegraded"]),
        (
            format!("Route/{server}/oauth-openshift"),
            vec!["OAuthServerRouteEndpointAccessibleControllerDegraded", "OAuthConfigRouteDegraded"],
        ),
        (format!("Service/{server}/oauth-openshift"), vec!["OAuthServerServiceEndpointAccessibleControllerDegraded"]),
        (format!("Secret/{server}/v4-0-config-system-session"), vec!["OAuthSessionSecretDegraded"]),
        (format!("ConfigMap/{server}/v4-0-config-system-cliconfig"), vec!["OAuthConfigDegraded"]),
        (format!("ConfigMap/{server}/v4-0-config-system-metadata"), vec!["OAuthSystemMetadataDegraded"]),
        ("ConfigMap/openshift-config-managed/oauth-openshift".to_owned(), vec!["OAuthSystemMetadataDegraded"]),
        (format!("ConfigMap/{server}/v4-0-config-system-service-ca"), vec!["OAuthServiceDegraded"]),
        (format!("ServiceAccount/{server}/oauth-openshift"), vec!["OpenshiftAuthenticationStaticResourcesDegraded"]),
        (format!("Deployment/{api}/apiserver"), vec!["APIServerDeploymentDegraded"]),
        ("APIService/_/v1.oauth.openshift.io".to_owned(), vec!["APIServicesDegraded"]),
        (format!("Service/{api}/api"), vec!["APIServerStaticResourcesDegraded"]),
        (
            "Secret/openshift-config/webhook-authentication-integrated-oauth".to_owned(),
            vec!["WebhookAuthenticatorControllerDegraded"],
        ),
    ];
    for (subject, expected) in cases {
        let answer = judged.find(&subject).unwrap_or_else(|| panic!("no {subject}"));
        let named: Vec<&str> = answer
            .explanation
            .evidence
            .iter()
            .filter_map(|line| line.field.strip_prefix("status.conditions[")?.strip_suffix(']'))
            .collect();
        assert_eq!(named, expected, "{subject}");
    }
}

#[test]
fn what_is_under_way_is_named_after_what_is_bad() {
    let missing = given().without_in("openshift-config-managed", "auth-config");
    let why = |conditions: &[(&str, &str)]| {
        let judged = with(missing.clone(), "Authentication", conditions).judged();
        let answer = judged.find("ConfigMap/openshift-config-managed/auth-config").unwrap();
        answer.explanation.remedy[0].blocked_by[0].why.clone()
    };
    let under_way = ("ExternalOIDCControllerProgressing", "True");
    let bad = ("ExternalOIDCControllerDegraded", "True");
    let cases = [
        ("nothing", why(&[]), "no condition says why"),
        ("under way", why(&[under_way]), "under way: ExternalOIDCControllerProgressing=True R: m"),
        ("both", why(&[under_way, bad]), "ExternalOIDCControllerDegraded=True R: m"),
        ("another subject's", why(&[("OAuthServerDeploymentDegraded", "True")]), "no condition says why"),
        ("status Unknown", why(&[("ExternalOIDCControllerDegraded", "Unknown")]), "no condition says why"),
    ];
    for (case, why, expected) in cases {
        assert!(why.ends_with(expected), "case: {case}: {why}");
    }
}

#[test]
fn the_conditions_of_a_client_count_where_the_spec_names_it() {
    let mut spec = oidc();
    spec["oidcProviders"][0]["oidcClients"] =
        json!([{ "componentNamespace": "openshift-console", "componentName": "cli", "clientID": "id" }]);
    let entry = |current: &[&str], conditions: &[(&str, &str)]| {
        let current: Vec<Value> =
            current.iter().map(|id| json!({ "issuerURL": "https://idp.example", "clientID": id })).collect();
        let conditions: Vec<Value> =
            conditions.iter().map(|(kind, status)| json!({ "type": kind, "status": status })).collect();
        json!([{ "componentNamespace": "openshift-console", "componentName": "cli",
            "currentOIDCClients": current, "conditions": conditions }])
    };
    let of = |spec: &Value, current: &[&str], conditions: &[(&str, &str)]| {
        given().spec(spec.clone()).set("Authentication", "status.oidcClients", entry(current, conditions))
    };
    let (degraded, unavailable, progressing) = (("Degraded", "True"), ("Available", "False"), ("Progressing", "True"));
    each(
        "Authentication/_/openshift-console/cli",
        [
            ("fine", of(&spec, &["id"], &[("Available", "True"), ("Degraded", "False")]), "match"),
            ("degraded", of(&spec, &["id"], &[degraded]), "degraded degraded"),
            ("unavailable", of(&spec, &["id"], &[unavailable]), "degraded unavailable"),
            ("progressing", of(&spec, &["id"], &[progressing]), "rolling-out progressing"),
            (
                "all",
                of(&spec, &["id"], &[degraded, unavailable, progressing]),
                "degraded degraded progressing unavailable",
            ),
            ("beside missing", of(&spec, &[], &[degraded]), "missing degraded"),
            ("beside drift", of(&spec, &["other"], &[progressing]), "drift progressing"),
            (
                "unknown counts as nothing",
                of(&spec, &["id"], &[("Degraded", "Unknown"), ("Available", "Unknown")]),
                "match",
            ),
            ("not named by the spec", of(&oidc(), &[], &[unavailable]), "match"),
        ],
    );
}
