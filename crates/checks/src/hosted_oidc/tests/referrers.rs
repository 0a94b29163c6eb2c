//! Rules 4 and 5: who else refers to an object, and who still does.

use serde_json::{Value, json};

use super::*;

/// Wraps a value in the fields of a path: `a.b[].c`.
fn nested(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, part| match part.strip_suffix("[]") {
        Some(list) => json!({ list: [inner] }),
        None => json!({ part: inner }),
    })
}

fn labelled(kind: &str, name: &str) -> Thing {
    if kind == "Secret" { secret(name).oidc() } else { config_map(name).oidc() }
}

/// Where a guest's configs name things in `openshift-config`: config, field, kind.
const CONFIG_FIELDS: &[(&str, &str, &str)] = &[
    ("Proxy", "trustedCA.name", "ConfigMap"),
    ("Image", "additionalTrustedCA.name", "ConfigMap"),
    ("APIServer", "clientCA.name", "ConfigMap"),
    ("APIServer", "servingCerts.namedCertificates[].servingCertificate.name", "Secret"),
    ("APIServer", "encryption.kms.vault.tls.caBundle.name", "ConfigMap"),
    ("APIServer", "encryption.kms.vault.authentication.appRole.secret.name", "Secret"),
    ("OAuth", "identityProviders[].basicAuth.ca.name", "ConfigMap"),
    ("OAuth", "identityProviders[].basicAuth.tlsClientCert.name", "Secret"),
    ("OAuth", "identityProviders[].basicAuth.tlsClientKey.name", "Secret"),
    ("OAuth", "identityProviders[].github.ca.name", "ConfigMap"),
    ("OAuth", "identityProviders[].github.clientSecret.name", "Secret"),
    ("OAuth", "identityProviders[].gitlab.ca.name", "ConfigMap"),
    ("OAuth", "identityProviders[].gitlab.clientSecret.name", "Secret"),
    ("OAuth", "identityProviders[].google.clientSecret.name", "Secret"),
    ("OAuth", "identityProviders[].htpasswd.fileData.name", "Secret"),
    ("OAuth", "identityProviders[].keystone.ca.name", "ConfigMap"),
    ("OAuth", "identityProviders[].keystone.tlsClientCert.name", "Secret"),
    ("OAuth", "identityProviders[].keystone.tlsClientKey.name", "Secret"),
    ("OAuth", "identityProviders[].ldap.bindPassword.name", "Secret"),
    ("OAuth", "identityProviders[].ldap.ca.name", "ConfigMap"),
    ("OAuth", "identityProviders[].openID.ca.name", "ConfigMap"),
    ("OAuth", "identityProviders[].openID.clientSecret.name", "Secret"),
    ("OAuth", "identityProviders[].requestHeader.ca.name", "ConfigMap"),
    ("OAuth", "templates.error.name", "Secret"),
    ("OAuth", "templates.login.name", "Secret"),
    ("OAuth", "templates.providerSelection.name", "Secret"),
];

/// What only a control plane's configuration holds: field below `spec.configuration`, kind.
const PLANE_FIELDS: &[(&str, &str)] = &[
    ("authentication.oauthMetadata.name", "ConfigMap"),
    ("authentication.webhookTokenAuthenticator.kubeConfig.name", "Secret"),
    ("authentication.webhookTokenAuthenticators[].kubeConfig.name", "Secret"),
    ("ingress.componentRoutes[].servingCertKeyPairSecret.name", "Secret"),
    ("scheduler.policy.name", "ConfigMap"),
];

#[test]
fn every_field_of_a_guest_config_protects_what_it_names_and_the_other_kind_not() {
    for (config, field, kind) in CONFIG_FIELDS {
        let other = if *kind == "Secret" { "ConfigMap" } else { "Secret" };
        let given = given().set("guest-a", config, "spec", nested(field, json!("x")));
        let given = given.has(labelled(kind, "x")).has(labelled(other, "x")).has(labelled(kind, "y"));
        assert_eq!(given.about(&format!("{kind}/x")), "protected", "{config} {field}");
        assert_eq!(given.about(&format!("{other}/x")), CERTAIN, "{config} {field} names a {kind}");
        assert_eq!(given.about(&format!("{kind}/y")), CERTAIN, "{config} {field} names another");
    }
}

#[test]
fn every_other_field_of_the_control_planes_configuration_protects_what_it_names() {
    let copied = |config: &str| match config {
        "APIServer" => "apiServer",
        "OAuth" => "oauth",
        "Proxy" => "proxy",
        _ => "image",
    };
    let fields = CONFIG_FIELDS.iter().map(|(config, field, kind)| (format!("{}.{field}", copied(config)), *kind));
    for (field, kind) in fields.chain(PLANE_FIELDS.iter().map(|(field, kind)| ((*field).to_owned(), *kind))) {
        let given = given()
            .set("mgmt", "HostedControlPlane", "spec.configuration", nested(&field, json!("x")))
            .has(labelled(kind, "x"))
            .has(labelled(kind, "y"));
        assert_eq!(given.about(&format!("{kind}/x")), "protected", "{field}");
        assert_eq!(given.about(&format!("{kind}/y")), CERTAIN, "{field} names another");
    }
}

#[test]
fn empty_and_null_names_refer_to_nothing() {
    for name in [json!(""), Value::Null] {
        for (config, field, kind) in CONFIG_FIELDS {
            let given = given().set("guest-a", config, "spec", nested(field, name.clone())).has(labelled(kind, "x"));
            assert_eq!(given.about(&format!("{kind}/x")), CERTAIN, "{config} {field} {name}");
        }
    }
}

#[test]
fn expected_comes_before_protected_and_protected_before_pending() {
    let proxy = |given: Given| given.set("guest-a", "Proxy", "spec", json!({ "trustedCA": { "name": "ca" } }));
    let expected = given().authentication(oidc("ca", &[])).source(config_map("ca"));
    let cases = [
        ("expected too", proxy(expected).has(config_map("ca").oidc()), "referenced"),
        (
            "the guest names it too",
            proxy(given().guest_authentication(oidc("ca", &[]))).has(config_map("ca").oidc()),
            "protected",
        ),
        ("no label at all", proxy(given()).has(config_map("ca")), "protected"),
    ];
    each("ConfigMap/ca", cases);
}

#[test]
fn what_the_guest_still_names_is_pending_whatever_the_type() {
    let named = |kind: Value| json!({ "type": kind, "oidcProviders": [provider("idp", "x", &[("console", "x")])] });
    for kind in [json!("OIDC"), json!("IntegratedOAuth"), json!("None"), json!(""), Value::Null] {
        let given = given().guest_authentication(named(kind.clone()));
        let marked = given.clone().has(config_map("x").oidc()).has(secret("x").managed());
        assert_eq!(marked.about("ConfigMap/x"), "pending guest-still-refers", "{kind}");
        assert_eq!(marked.about("Secret/x"), "pending guest-still-refers", "{kind}");
        let bare = given.has(config_map("x")).has(secret("x"));
        assert_eq!(bare.about("ConfigMap/x"), "pending guest-still-refers", "{kind}: labels don't matter");
        assert_eq!(bare.about("Secret/x"), "pending guest-still-refers", "{kind}: labels don't matter");
    }
}

#[test]
fn what_the_guests_claims_sources_name_is_pending() {
    let mut one = provider("idp", "", &[]);
    one["externalClaimsSources"] = json!([{ "tls": { "certificateAuthority": { "name": "x" } } }]);
    let given = given().guest_authentication(json!({ "type": "OIDC", "oidcProviders": [one] }));
    assert_eq!(given.has(config_map("x").oidc()).about("ConfigMap/x"), "pending guest-still-refers");
}

#[test]
fn what_the_hosted_cluster_names_and_the_control_plane_does_not_is_pending() {
    let named = || oidc("", &[("console", "s")]);
    let typed = |kind: &str| json!({ "type": kind, "oidcProviders": [provider("idp", "", &[("console", "s")])] });
    let s = || secret("s").oidc();
    let cases = [
        ("not propagated", given().cluster_authentication(named()).has(s()), "pending not-propagated"),
        ("no label", given().cluster_authentication(named()).has(secret("s")), "pending not-propagated"),
        ("HostedCluster has another type", given().cluster_authentication(typed("IntegratedOAuth")).has(s()), CERTAIN),
        (
            "the control plane names it with another type",
            given().cluster_authentication(named()).plane_authentication(typed("IntegratedOAuth")).has(s()),
            CERTAIN,
        ),
        (
            "the control plane names another",
            given().cluster_authentication(named()).plane_authentication(oidc("", &[("console", "t")])).has(s()),
            "pending not-propagated",
        ),
        (
            "the guest names it too",
            given().cluster_authentication(named()).guest_authentication(named()).has(s()),
            "pending guest-still-refers not-propagated",
        ),
        ("the guest alone", given().guest_authentication(named()).has(s()), "pending guest-still-refers"),
    ];
    each("Secret/s", cases);
    let ca = given().cluster_authentication(named()).has(config_map("s").oidc());
    assert_eq!(ca.about("ConfigMap/s"), CERTAIN, "the two kinds are two sets");
}

#[test]
fn a_name_nobody_has_and_only_the_hosted_cluster_or_guest_names_is_no_subject() {
    let given = given().cluster_authentication(oidc("a", &[])).guest_authentication(oidc("b", &[("console", "c")]));
    assert_eq!(given.judged().objects(), Vec::<String>::new());
}
