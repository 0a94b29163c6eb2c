//! The bytes, beside those of the operator's own generator.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::gates::{Gate, Gates};
use super::*;

/// A spec with what the operator's generator (at f3df4f5b2, Go's encoder) made of it, one a line.
const GENERATED: &str = include_str!("fixtures/generated.jsonl");

#[test]
fn the_bytes_are_those_of_the_operators_generator() {
    let mut count = 0;
    for line in GENERATED.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let spec = AuthSpec::from_json(&case["spec"]).unwrap();
        let gates =
            Gates::of(case["gates"].as_array().unwrap().iter().filter_map(|gate| Gate::parse(gate.as_str().unwrap())));
        let ca = |name: &str| case["ca"][name].as_str().map_or(CaBundle::Absent, CaBundle::Text);
        let rendered = render(&spec, &gates, &ca);
        assert_eq!(rendered.as_deref(), case["json"].as_str(), "case: {}", case["name"]);
        count += 1;
    }
    assert!(count >= 40, "the table has shrunk to {count} cases");
}

#[test]
fn a_file_that_would_hold_something_unknown_is_not_rendered() {
    let issuer = json!({"issuerURL": "https://x", "audiences": ["a"], "issuerCertificateAuthority": {"name": "ca"}});
    let credential = json!([{"authentication": {"type": "ClientCredential"}, "url": {}, "mappings": []}]);
    let spec = |more: Value| {
        let mut provider = json!({"issuer": {"issuerURL": "https://x", "audiences": ["a"]}, "claimMappings": {"username": {"claim": "sub"}}});
        for (name, value) in more.as_object().unwrap() {
            provider[name] = value.clone();
        }
        AuthSpec::from_json(&json!({"type": "OIDC", "oidcProviders": [provider]})).unwrap()
    };
    let cases = [
        ("a bundle that is not there", spec(json!({"issuer": issuer})), CaBundle::Absent),
        ("a bundle nobody knows", spec(json!({"issuer": issuer})), CaBundle::Unknown),
        ("a client secret", spec(json!({"externalClaimsSources": credential})), CaBundle::Absent),
    ];
    for (case, spec, bundle) in cases {
        assert_eq!(render(&spec, &Gates::of(Gate::ALL), &|_| bundle), None, "case: {case}");
    }
}

proptest! {
    #[test]
    fn whatever_is_rendered_reads_back_as_what_was_asked_for(
        url in "\\PC{1,30}", claim in "\\PC{1,20}", prefix in any::<String>(), audience in any::<String>(), bundle in any::<String>()
    ) {
        let spec = AuthSpec::from_json(&json!({"type": "OIDC", "oidcProviders": [{
            "issuer": {"issuerURL": url, "audiences": [audience], "issuerCertificateAuthority": {"name": "ca"}},
            "claimMappings": {"username": {"claim": claim, "prefixPolicy": "Prefix", "prefix": {"prefixString": prefix}}},
        }]})).unwrap();
        let lookup = |_: &str| CaBundle::Text(&bundle);
        let rendered = render(&spec, &Gates::of_release(None), &lookup).unwrap();
        let escaped = ['<', '>', '&', '\u{2028}', '\u{2029}', '\n'];
        prop_assert!(!rendered.contains(escaped), "something is not escaped");
        let read: Value = serde_json::from_str(&rendered).unwrap();
        let jwt = &read["jwt"][0];
        prop_assert_eq!(jwt["issuer"]["url"].as_str(), Some(url.as_str()));
        prop_assert_eq!(jwt["issuer"]["audiences"][0].as_str(), Some(audience.as_str()));
        prop_assert_eq!(jwt["issuer"]["certificateAuthority"].as_str(), Some(bundle.as_str()));
        prop_assert_eq!(jwt["claimMappings"]["username"]["claim"].as_str(), Some(claim.as_str()));
        prop_assert_eq!(jwt["claimMappings"]["username"]["prefix"].as_str(), Some(prefix.as_str()));
    }
}
