//! Which discovery document may be asked for, and by whose word its server is trusted.

use serde_json::{Value, json};

use super::*;
use crate::{Check, DiscoveryProbe, Probe};

fn probe(given: &Given, subject: &str) -> Option<DiscoveryProbe> {
    let (domain, world) = (given.check(), given.world());
    let view = world.view(now());
    let id = format!("external-oidc/ocp/{subject}");
    let subject = domain.subjects(view).into_iter().find(|subject| subject.to_string() == id)?;
    match domain.probe(&subject, view)? {
        Probe::Discovery(probe) => Some(probe),
        other @ (Probe::Kubeconfig(_) | Probe::Role(_)) => panic!("{other:?}"),
    }
}

fn issuer(fields: Value) -> Given {
    let mut spec = oidc();
    for (name, value) in fields.as_object().unwrap() {
        spec["oidcProviders"][0]["issuer"][name] = value.clone();
    }
    given().spec(spec)
}

fn pem() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    rcgen::CertificateParams::new(vec!["idp.example".to_owned()]).unwrap().self_signed(&key).unwrap().pem()
}

#[test]
fn the_document_is_where_the_operator_looks_for_it() {
    let below = "https://idp.example/.well-known/openid-configuration";
    let cases = [
        ("below the issuer", json!({}), Some(below)),
        ("one slash less", json!({ "issuerURL": "https://idp.example/" }), Some(below)),
        (
            "one slash of two",
            json!({ "issuerURL": "https://idp.example//" }),
            Some("https://idp.example//.well-known/openid-configuration"),
        ),
        ("elsewhere", json!({ "discoveryURL": "https://in.example/doc" }), Some("https://in.example/doc")),
        ("an empty one is none", json!({ "discoveryURL": "" }), Some(below)),
        ("not over TLS", json!({ "issuerURL": "http://idp.example" }), None),
        ("no host", json!({ "issuerURL": "https:///x" }), None),
        ("no URL", json!({ "issuerURL": "https://%zz" }), None),
        ("nothing", json!({ "issuerURL": "" }), None),
    ];
    for (case, fields, expected) in cases {
        let found = probe(&issuer(fields), "Authentication/_/cluster");
        assert_eq!(found.map(|probe| probe.url).as_deref(), expected, "case: {case}");
    }
    let other = issuer(json!({ "discoveryURL": "https://in.example/doc" }));
    assert_eq!(probe(&other, "Authentication/_/cluster").unwrap().issuer, "https://idp.example");
}

#[test]
fn only_a_ca_that_is_known_and_of_use_vouches_for_the_server() {
    let named = issuer(json!({ "issuerCertificateAuthority": { "name": "ca" } }));
    let with = |text: &str| named.clone().config_map("openshift-config", "ca", json!({ "ca-bundle.crt": text }));
    let pem = pem();
    let subject = "Authentication/_/cluster";
    assert_eq!(probe(&given(), subject).unwrap().roots, None, "none is named: the system's");
    assert_eq!(probe(&with(&pem), subject).unwrap().roots, Some(pem));
    let cases = [
        ("absent", named.clone()),
        ("no certificate in it", with("-----BEGIN NOTHING-----")),
        ("not known", named.incomplete("v1/configmaps@openshift-config")),
    ];
    for (case, given) in cases {
        assert_eq!(probe(&given, subject), None, "case: {case}");
    }
}

#[test]
fn it_is_asked_for_the_authentication_alone_whatever_its_type() {
    let mut prepared = oidc();
    prepared["type"] = json!("IntegratedOAuth");
    assert!(probe(&integrated().spec(prepared), "Authentication/_/cluster").is_some(), "before the switch, too");
    assert_eq!(probe(&integrated(), "Authentication/_/cluster"), None, "there is no provider");
    assert_eq!(probe(&given(), "KubeAPIServer/_/cluster"), None);
    assert_eq!(probe(&given(), "ConfigMap/openshift-config-managed/auth-config"), None);
}
