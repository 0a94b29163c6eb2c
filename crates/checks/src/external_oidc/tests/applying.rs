//! Where this check applies, and what it asks of clusters where it doesn't.

use serde_json::json;

use super::*;
use crate::Check;

/// What is asked of the cluster, once nothing more is wanted.
fn asked(given: &Given) -> Vec<String> {
    let (domain, world) = (given.check(), given.world());
    let mut paths: Vec<String> =
        domain.interests(world.view(now())).iter().map(|interest| interest.id.resource.path()).collect();
    paths.sort();
    paths.dedup();
    paths
}

const OPENSHIFT: [(&str, &str); 5] = [
    ("config.openshift.io", "infrastructures"),
    ("config.openshift.io", "authentications"),
    ("operator.openshift.io", "kubeapiservers"),
    ("", "configmaps"),
    ("", "secrets"),
];

#[test]
fn hosted_guests_and_other_kubernetes_have_no_finding_and_are_asked_for_nothing() {
    let external = given().set("Infrastructure", "status.controlPlaneTopology", json!("External"));
    let bare = nothing().without("Infrastructure", "cluster").without("ClusterVersion", "version");
    let plain = bare.clone().config_map("default", "x", json!({}));
    let only_infrastructure = ["config.openshift.io/v1/infrastructures"];
    let cases: [(&str, Given, &[&str]); 6] = [
        ("configured as a guest", given().hosted(), &[]),
        ("a guest by its topology", external, &only_infrastructure),
        ("a plain folder", plain.clone(), &[]),
        ("a plain server", plain.serving(&[("", "configmaps"), ("", "secrets")]), &[]),
        ("half of the kinds", given().serving(&OPENSHIFT[..2]), &[]),
        ("nobody has looked who it is", bare.serving(&OPENSHIFT[1..]), &only_infrastructure),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.judged().answers.len(), 0, "case: {case}");
        let asked = asked(&given);
        let settled: Vec<&str> = asked.iter().map(String::as_str).collect();
        match case {
            // The recording answers, so one look is enough to settle it.
            "nobody has looked who it is" => assert!(settled.len() >= expected.len(), "case: {case}"),
            _ => assert_eq!(settled, expected, "case: {case}"),
        }
    }
}

#[test]
fn a_server_is_not_asked_for_kinds_it_lacks() {
    let asked = asked(&integrated().serving(&OPENSHIFT));
    for lacking in ["routes", "rolebindingrestrictions", "deployments", "apiservices", "featuregates", "consoles"] {
        assert!(!asked.iter().any(|path| path.contains(lacking)), "{lacking} in {asked:?}");
    }
    assert!(asked.contains(&"v1/secrets".to_owned()));
    let judged = integrated().serving(&OPENSHIFT).judged();
    assert_eq!(
        given().serving(&OPENSHIFT).about("KubeAPIServer/_/cluster"),
        "available",
        "no gates: the release's own"
    );
    assert_eq!(judged.about("Route/openshift-authentication/oauth-openshift"), "unknown");
    assert_eq!(judged.about("Secret/openshift-authentication/v4-0-config-system-session"), "match");
}

#[test]
fn kinds_without_objects_are_somebody_elses() {
    let kinds_alone = nothing().serving(&OPENSHIFT);
    assert_eq!(kinds_alone.judged().answers.len(), 0, "the lists are complete and empty");
    let forbidden = kinds_alone.incomplete("config.openshift.io/v1/authentications");
    assert_eq!(forbidden.about("Authentication/_/cluster"), "unknown", "a list nobody may read proves nothing");
}

#[test]
fn secrets_are_read_by_name_and_watched_by_metadata_alone() {
    let (domain, world) = (integrated().check(), integrated().world());
    for interest in domain.interests(world.view(now())) {
        let by_name = matches!(interest.id.scope, trueup_core::world::Scope::Object { .. });
        let metadata = interest.id.content == trueup_core::world::Content::Metadata;
        assert!(interest.id.resource.kind != "Secret" || by_name || metadata, "{:?}", interest.id);
    }
}
