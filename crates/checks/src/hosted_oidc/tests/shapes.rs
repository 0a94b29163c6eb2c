//! Shapes: null and empty mean absent, as Go writes them; anything else unexpected means not known.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::{Value, json};

use super::*;

fn marked() -> Given {
    given().has(secret("s").oidc())
}

#[test]
fn null_and_empty_are_absent_wherever_go_may_write_them() {
    let providers = [
        json!(null),
        json!([]),
        json!([null]),
        json!([{}]),
        json!([{ "name": null, "issuer": null, "oidcClients": null, "externalClaimsSources": null }]),
        json!([{ "issuer": { "issuerURL": null, "issuerCertificateAuthority": null }, "oidcClients": [], "externalClaimsSources": [] }]),
        json!([{ "issuer": { "issuerCertificateAuthority": { "name": "" } }, "oidcClients": [null, {}] }]),
        json!([{ "issuer": { "issuerCertificateAuthority": { "name": null } }, "oidcClients": [{ "clientSecret": null, "clientID": null }] }]),
        json!([{ "oidcClients": [{ "clientSecret": { "name": "" }, "extraScopes": null }, { "clientSecret": { "name": null } }] }]),
        json!([{ "externalClaimsSources": [null, {}, { "tls": null, "authentication": null }] }]),
        json!([{ "externalClaimsSources": [{ "tls": { "certificateAuthority": null }, "authentication": { "clientCredential": null } }] }]),
        json!([{ "externalClaimsSources": [{ "tls": { "certificateAuthority": { "name": "" } } }] }]),
    ];
    for providers in providers {
        for kind in [json!("OIDC"), json!("IntegratedOAuth"), json!(""), Value::Null] {
            let block = json!({ "type": kind, "oidcProviders": providers, "oauthMetadata": { "name": "" }, "webhookTokenAuthenticator": null });
            let judged = marked().authentication(block.clone()).judged();
            assert_eq!(judged.objects(), [format!("guest-a/Secret/openshift-config/s: {CERTAIN}")], "{block}");
        }
    }
    let cases = [
        ("HostedCluster", "spec.configuration", Value::Null),
        ("HostedControlPlane", "spec.configuration", Value::Null),
        (
            "HostedControlPlane",
            "spec.configuration",
            json!({ "proxy": null, "oauth": null, "apiServer": null, "image": null, "authentication": null }),
        ),
        ("HostedControlPlane", "spec.platform", Value::Null),
        ("HostedControlPlane", "spec.platform", json!({ "type": null, "azure": null })),
        ("HostedControlPlane", "status", Value::Null),
        ("HostedControlPlane", "status", json!({ "conditions": null })),
        (
            "HostedCluster",
            "status",
            json!({ "conditions": [{ "type": null, "status": null, "reason": null, "message": null }] }),
        ),
        ("HostedCluster", "spec.infraID", Value::Null),
        ("HostedCluster", "metadata.annotations", Value::Null),
        ("HostedCluster", "metadata.labels", Value::Null),
    ];
    for (kind, field, value) in cases {
        assert_eq!(
            marked().set("mgmt", kind, field, value.clone()).about("Secret/s"),
            CERTAIN,
            "{kind} {field} {value}"
        );
    }
    let in_guest = [
        ("Authentication", "spec", Value::Null),
        ("Authentication", "status", Value::Null),
        ("Authentication", "status", json!({ "oidcClients": null })),
        ("Authentication", "status", json!({ "oidcClients": [null, {}] })),
        ("OAuth", "spec", Value::Null),
        ("OAuth", "spec", json!({ "identityProviders": null, "templates": null })),
        (
            "OAuth",
            "spec",
            json!({ "identityProviders": [null, { "github": null }, { "openID": { "ca": { "name": "" } } }] }),
        ),
        (
            "APIServer",
            "spec",
            json!({ "clientCA": { "name": "" }, "servingCerts": { "namedCertificates": [{ "servingCertificate": null }] } }),
        ),
    ];
    for (kind, field, value) in in_guest {
        assert_eq!(
            marked().set("guest-a", kind, field, value.clone()).about("Secret/s"),
            CERTAIN,
            "{kind} {field} {value}"
        );
    }
}

#[test]
fn a_shape_nobody_understands_makes_a_candidate_unknown() {
    let odd = [json!(5), json!("x"), json!(true), json!(["x"])];
    let in_plane = [
        "spec",
        "status",
        "spec.configuration",
        "spec.configuration.authentication",
        "spec.configuration.authentication.oidcProviders",
        "spec.configuration.oauth",
        "spec.configuration.oauth.identityProviders",
        "spec.configuration.apiServer",
        "spec.configuration.proxy.trustedCA",
        "spec.configuration.ingress",
        "spec.configuration.scheduler",
        "spec.configuration.image",
        "spec.platform",
        "metadata.annotations",
    ];
    for field in in_plane {
        for value in &odd {
            let given = marked().set("mgmt", "HostedControlPlane", field, value.clone());
            assert_eq!(given.about("Secret/s"), INCOMPLETE, "HostedControlPlane {field} {value}");
        }
    }
    let in_cluster = ["spec", "status", "spec.configuration", "spec.configuration.authentication", "spec.infraID"];
    for field in in_cluster {
        for value in odd.iter().filter(|value| field != "spec.infraID" || !value.is_string()) {
            let given = marked().set("mgmt", "HostedCluster", field, value.clone());
            assert_eq!(given.about("Secret/s"), INCOMPLETE, "HostedCluster {field} {value}");
        }
    }
    let in_guest = [
        ("Authentication", "spec"),
        ("Authentication", "status"),
        ("Authentication", "spec.oidcProviders"),
        ("Authentication", "status.oidcClients"),
        ("OAuth", "spec"),
        ("OAuth", "spec.identityProviders"),
        ("OAuth", "spec.templates"),
        ("APIServer", "spec"),
        ("APIServer", "spec.servingCerts"),
    ];
    for (kind, field) in in_guest {
        for value in &odd {
            let given = marked().set("guest-a", kind, field, value.clone());
            assert_eq!(given.about("Secret/s"), INCOMPLETE, "{kind} {field} {value}");
        }
    }
}

#[test]
fn odd_leaves_make_a_candidate_unknown() {
    let plane = "HostedControlPlane";
    let leaves = [
        ("mgmt", plane, "spec.pausedUntil", json!(5)),
        ("mgmt", plane, "spec.pausedUntil", json!({})),
        ("mgmt", plane, "spec.configuration.authentication.type", json!(5)),
        ("mgmt", plane, "spec.configuration.authentication.oauthMetadata", json!({ "name": 5 })),
        (
            "mgmt",
            plane,
            "spec.configuration.authentication.oidcProviders",
            json!([{ "oidcClients": [{ "clientSecret": { "name": 5 } }] }]),
        ),
        (
            "mgmt",
            plane,
            "spec.configuration.authentication.oidcProviders",
            json!([{ "oidcClients": [{ "clientID": 5 }] }]),
        ),
        ("mgmt", "HostedCluster", "spec.configuration.authentication.oidcProviders", json!([{ "issuer": "x" }])),
        ("mgmt", plane, "metadata.annotations", json!({ "hypershift.openshift.io/cluster": 5 })),
        ("guest-a", "Authentication", "spec.type", json!([])),
        ("guest-a", "Authentication", "status.oidcClients", json!([{ "currentOIDCClients": {} }])),
        ("guest-a", "Authentication", "status.oidcClients", json!([{ "currentOIDCClients": [{ "clientID": 5 }] }])),
        ("guest-a", "OAuth", "spec.templates", json!({ "login": "s" })),
    ];
    for (cluster, kind, field, value) in leaves {
        let given = marked().set(cluster, kind, field, value.clone());
        assert_eq!(given.about("Secret/s"), INCOMPLETE, "{kind} {field} {value}");
    }
}

#[test]
fn an_object_that_cannot_be_read_makes_its_collection_incomplete() {
    let odd = [
        ("metadata.labels", json!({ "hypershift.openshift.io/managed": true })),
        ("metadata.ownerReferences", json!("x")),
        ("data", json!("x")),
        ("data", json!({ "clientSecret": 5 })),
        ("type", json!(5)),
    ];
    for (field, value) in odd {
        let judged = marked().has(secret("odd").set(field, value.clone())).judged();
        assert_eq!(judged.about("Secret/*"), "unknown", "{field} {value}");
        assert_eq!(judged.about("Secret/s"), "unknown", "{field} {value}");
        assert_eq!(judged.about("Secret/odd"), "no subject", "{field} {value}");
    }
}

#[test]
fn a_source_that_cannot_be_read_is_not_a_missing_one() {
    let given = given()
        .authentication(oidc("", &[("console", "s")]))
        .has(secret("s"))
        .source(secret("s").set("data", json!("x")));
    assert_eq!(given.about("Secret/s"), "unknown");
    assert_eq!(given.without("guest-a", "Secret").about("Secret/s"), "unknown");
}

#[test]
fn values_may_come_as_string_data_and_folded_base64() {
    let expecting = || given().authentication(oidc("", &[("console", "s")])).source(secret("s"));
    let plain = secret("s").set("data", Value::Null).set("stringData", json!({ "clientSecret": "hunter2" }));
    let folded = secret("s").set("data", json!({ "clientSecret": "aHVu\n  dGVyMg==\n" }));
    assert_eq!(expecting().has(plain).about("Secret/s"), "referenced");
    assert_eq!(expecting().has(folded).about("Secret/s"), "referenced");
}

#[test]
fn a_cluster_wide_object_written_with_a_namespace_still_counts() {
    let given = marked().guest_authentication(oidc("", &[("console", "s")])).set(
        "guest-a",
        "Authentication",
        "metadata.namespace",
        json!("default"),
    );
    assert_eq!(given.about("Secret/s"), "pending guest-still-refers");
}
