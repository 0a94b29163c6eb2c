//! The demo under patches of any shape, sent as kubectl sends them.
//!
//! Property: whatever a server stores, every operator and every event of the scenario still runs.

use http::Method;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Answer, Request};

const CONFIG: &str = "/apis/config.openshift.io/v1/authentications/cluster";
const PLACES: [(&str, &str); 9] = [
    ("ocp-madrid", CONFIG),
    ("ocp-oslo", CONFIG),
    ("guest-checkout", CONFIG),
    ("ocp-madrid", "/apis/operator.openshift.io/v1/kubeapiservers/cluster"),
    ("ocp-madrid", "/apis/operator.openshift.io/v1/kubeapiservers/cluster/status"),
    ("ocp-madrid", "/apis/operator.openshift.io/v1/authentications/cluster"),
    ("ocp-madrid", "/api/v1/namespaces/openshift-config/configmaps/madrid-ca"),
    ("mgmt-eu", "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters/guest-payments"),
    (
        "mgmt-eu",
        "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-guest-payments/hostedcontrolplanes/guest-payments",
    ),
];

/// Fields the operators look at.
const FIELDS: [&str; 24] = [
    "spec",
    "status",
    "metadata",
    "data",
    "type",
    "oidcProviders",
    "issuer",
    "issuerURL",
    "audiences",
    "issuerCertificateAuthority",
    "name",
    "oidcClients",
    "claimMappings",
    "username",
    "claimValidationRules",
    "webhookTokenAuthenticator",
    "configuration",
    "authentication",
    "pausedUntil",
    "nodeStatuses",
    "latestAvailableRevision",
    "observedConfig",
    "conditions",
    "annotations",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "OIDC",
            "IntegratedOAuth",
            "None",
            "CEL",
            "RequiredClaim",
            "Prefix",
            "madrid-ca",
            "\u{0}"
        ])
        .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let field = prop::sample::select(FIELDS.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((field, inner), 0..4)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// A merge patch, or a JSON patch of one field.
fn patch() -> impl Strategy<Value = (&'static str, Value)> {
    let field = || prop::sample::select(FIELDS.to_vec());
    let spec = value().prop_map(|value| ("application/merge-patch+json", json!({ "spec": value })));
    let whole = value().prop_map(|value| ("application/merge-patch+json", value));
    let single = (field(), field(), value()).prop_map(|(one, two, value)| {
        let operation = json!([{ "op": "add", "path": format!("/{one}/{two}"), "value": value }]);
        ("application/json-patch+json", operation)
    });
    prop_oneof![3 => spec, 1 => whole, 2 => single]
}

/// Cluster and path of an object; content type and body of a patch.
type Patch = ((&'static str, &'static str), (&'static str, Value));

/// Sends patches to a new demo, and lets it run after each.
fn play(patches: Vec<Patch>) {
    let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let _entered = runtime.enter();
    let scenario = Scenario::new(&ScenarioOptions { seed: 5, guests_more: 0, objects_more: 0, start });
    let mut runner = scenario.runner();
    for ((cluster, path), (content_type, body)) in patches {
        let cluster = scenario.clusters.iter().find(|one| one.name == cluster).unwrap();
        let request = Request::new(Method::PATCH, path, body.to_string()).with_content_type(content_type);
        let Answer::Reply(reply) = cluster.sim.with(|server, now| server.handle(now, &request)) else {
            panic!("a patch is answered at once");
        };
        assert!(reply.status < 500, "{path}: {}", String::from_utf8_lossy(&reply.body));
        (0..8).for_each(|_| drop(runner.tick()));
    }
}

#[test]
fn the_demo_runs_with_no_list_of_providers_and_with_text_for_a_configuration() {
    let null = json!([{ "op": "add", "path": "/spec/oidcProviders", "value": null }]);
    play(vec![(PLACES[0], ("application/json-patch+json", null))]);
    play(vec![(PLACES[7], ("application/merge-patch+json", json!({ "spec": { "configuration": "x" } })))]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_demo_never_panics_on_patches(
        patches in prop::collection::vec((prop::sample::select(PLACES.to_vec()), patch()), 1..4),
    ) {
        play(patches);
    }
}
