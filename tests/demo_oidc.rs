//! The demo's clusters with a control plane of their own, judged: each tells its part of going over to OIDC and back.

#![expect(
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;
use trueup_checks::Check;
use trueup_checks::external_oidc::ExternalOidc;
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{Coverage, KindCoverage, RecordedCluster, RecordedObject, fill};
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, RiskClass, Served, World};
use trueup_sim::demo::{DemoCluster, Scenario, ScenarioOptions, ScenarioRunner};
use trueup_sim::{Answer, Request};

fn start() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn scenario() -> Scenario {
    Scenario::new(&ScenarioOptions { seed: 1, guests_more: 0, objects_more: 0, start: start() })
}

fn get(cluster: &DemoCluster, path: &str) -> Value {
    let request = Request::get(path);
    let Answer::Reply(reply) = cluster.sim.with(|server, now| server.handle(now, &request)) else {
        panic!("{path}: a list is answered at once");
    };
    assert_eq!(reply.status, 200, "{path}");
    serde_json::from_slice(&reply.body).unwrap()
}

/// Everything a cluster serves, as its discovery says, and everything in it.
fn record(cluster: &DemoCluster) -> (RecordedCluster, BTreeSet<(String, String)>) {
    let mut recording = RecordedCluster::new(Coverage { kinds: KindCoverage::All, ..Coverage::default() });
    let mut served = BTreeSet::new();
    let groups = get(cluster, "/apis");
    let named = groups["groups"].as_array().unwrap().iter().map(|group| {
        let version = group["preferredVersion"]["groupVersion"].as_str().unwrap().to_owned();
        (group["name"].as_str().unwrap().to_owned(), format!("/apis/{version}"))
    });
    for (group, root) in named.chain([(String::new(), "/api/v1".to_owned())]) {
        for resource in get(cluster, &root)["resources"].as_array().unwrap() {
            let (plural, kind) = (resource["name"].as_str().unwrap(), resource["kind"].as_str().unwrap());
            let listed = resource["verbs"].as_array().unwrap().iter().any(|verb| verb == "list");
            if plural.contains('/') || !listed {
                continue;
            }
            served.insert((group.clone(), plural.to_owned()));
            for item in get(cluster, &format!("{root}/{plural}"))["items"].as_array().unwrap() {
                let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
                let (namespace, name) = (text("namespace"), text("name"));
                let (group, kind, json) = (group.clone(), kind.to_owned(), item.to_string().into());
                recording.push(RecordedObject { group, kind, namespace, name, json });
            }
        }
    }
    (recording, served)
}

/// What is not a match in one cluster of the scenario as it is now.
fn troubles(scenario: &Scenario, name: &str) -> BTreeMap<String, String> {
    let is_trouble = |(place, (state, answer)): (String, (&str, String))| (state != "match").then_some((place, answer));
    judged(scenario, name).into_iter().filter_map(is_trouble).collect()
}

/// State, and verdict with codes, of every subject in one cluster of the scenario as it is now.
fn judged(scenario: &Scenario, name: &str) -> BTreeMap<String, (&'static str, String)> {
    let cluster = scenario.clusters.iter().find(|cluster| cluster.name == name).unwrap();
    let (domain, digester, known) = (ExternalOidc::default(), Digester::new(&[7; 32]), ClusterName::new(name));
    let (recording, served) = record(cluster);
    let mut world = World::default();
    world.put_cluster(Cluster {
        name: known.clone(),
        class: RiskClass::Prod,
        source: ClusterSource::Kubeconfig { context: name.to_owned() },
        hosted_by: None,
        link: Link::Live { since: start() },
        identity: ClusterIdentity::default(),
        served: Served::Complete(served.into_iter().collect()),
    });
    let recordings = BTreeMap::from([(known, recording)]);
    // Who it is, whether it has the kinds, everything else, the secrets that are compared.
    for _ in 0..5 {
        let interests = domain.interests(world.view(start()));
        fill(&mut world, &recordings, &interests, &digester, start());
    }
    let view = world.view(start());
    let judged = domain.subjects(view).into_iter().map(|subject| {
        let judgement = domain.judge(&subject, view).expect("a subject has a judgement");
        let answer = [vec![judgement.verdict], judgement.codes].concat().join(" ");
        // Two API groups have a kind of this name.
        let kind = match (subject.kind, subject.api_version.split_once('/')) {
            ("Authentication", Some((group @ "operator.openshift.io", _))) => format!("{}.{group}", subject.kind),
            (kind, _) => kind.to_owned(),
        };
        let place = format!("{kind} {}", [subject.namespace.unwrap_or_default(), subject.name].join("/"));
        (place, (judgement.state.as_str(), answer))
    });
    judged.collect()
}

fn expect(name: &str, expected: &[(&str, &str)]) {
    let found = troubles(&scenario(), name);
    let found: Vec<(&str, &str)> = found.iter().map(|(place, answer)| (place.as_str(), answer.as_str())).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn berlin_is_in_the_middle_of_a_switch_with_one_node_behind() {
    expect(
        "ocp-berlin",
        &[
            ("Authentication /openshift-console/console", "missing"),
            ("CustomResourceDefinition /rolebindingrestrictions.authorization.openshift.io", "blocks-oidc"),
            ("KubeAPIServer /cluster", "rolling-out"),
            ("Secret openshift-console/console-oauth-config", "drift"),
        ],
    );
}

#[test]
fn paris_has_a_spec_that_kube_apiserver_refuses() {
    expect(
        "ocp-paris",
        &[
            ("Authentication /cluster", "kas-would-refuse claim-rule-duplicate"),
            ("KubeAPIServer /cluster", "rolling-out"),
        ],
    );
}

#[test]
fn lisbon_was_reverted_and_both_sides_are_unfinished() {
    expect(
        "ocp-lisbon",
        &[
            ("APIService /v1.user.openshift.io", "missing"),
            ("Authentication /openshift-console/console", "leftover"),
            ("Authentication.operator.openshift.io /cluster", "degraded ExternalOIDCControllerDegraded"),
            ("ConfigMap openshift-config-managed/auth-config", "extra"),
            ("ConfigMap openshift-config-managed/oauth-openshift", "missing"),
            ("ConfigMap openshift-console/lisbon-ca", "leftover"),
            ("ConfigMap openshift-kube-apiserver/auth-config", "extra"),
            ("Deployment openshift-authentication/oauth-openshift", "missing"),
            ("KubeAPIServer /cluster", "not-available still-on-oidc"),
            ("KubeAPIServer /cluster/observed-config", "drift admission-plugins authentication-config-arg webhook-arg"),
            ("Route openshift-authentication/oauth-openshift", "missing"),
            ("Secret openshift-authentication/v4-0-config-system-session", "missing"),
            ("Service openshift-authentication/oauth-openshift", "missing"),
            ("ServiceAccount openshift-authentication/oauth-openshift", "missing"),
        ],
    );
}

/// What an operator could not remove in Oslo.
const OSLO: [(&str, &str); 4] = [
    ("APIService /v1.oauth.openshift.io", "leftover"),
    ("Deployment openshift-oauth-apiserver/apiserver", "leftover"),
    ("Service openshift-oauth-apiserver/api", "leftover"),
    ("ServiceAccount openshift-oauth-apiserver/oauth-apiserver-sa", "leftover"),
];

#[test]
fn in_oslo_a_change_of_the_spec_is_written_copied_and_rolled_out_while_oidc_stays_available() {
    expect("ocp-oslo", &OSLO);
    let scenario = scenario();
    // The release keeps the CRD, so that its finding is a match.
    let definition = "CustomResourceDefinition /rolebindingrestrictions.authorization.openshift.io";
    assert_eq!(judged(&scenario, "ocp-oslo")[definition], ("match", "removable".to_owned()));
    let mut runner = scenario.runner();
    let ours = ["auth-config", "KubeAPIServer /cluster"];
    let mut seen: Vec<Vec<String>> = Vec::new();
    // The scenario changes the audiences at the thirtieth tick; three nodes take two ticks each.
    for _ in 0..45 {
        runner.tick();
        let now = troubles(&scenario, "ocp-oslo");
        let now = now.into_iter().filter(|(place, _)| ours.iter().any(|ours| place.ends_with(ours)));
        let now: Vec<String> = now.map(|(place, answer)| format!("{place}: {answer}")).collect();
        if seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    let managed = "ConfigMap openshift-config-managed/auth-config: drift".to_owned();
    let copy = "ConfigMap openshift-kube-apiserver/auth-config: drift".to_owned();
    assert_eq!(seen, [vec![], vec![managed], vec![copy], vec![]]);
    assert_eq!(troubles(&scenario, "ocp-oslo").len(), OSLO.len());
}

/// Sends a merge patch as kubectl does.
fn patch_authentication(scenario: &Scenario, name: &str, patch: &Value) {
    let cluster = scenario.clusters.iter().find(|cluster| cluster.name == name).unwrap();
    let path = "/apis/config.openshift.io/v1/authentications/cluster";
    let request = Request::new(http::Method::PATCH, path, patch.to_string());
    let request = request.with_content_type("application/merge-patch+json");
    let Answer::Reply(reply) = cluster.sim.with(|server, now| server.handle(now, &request)) else {
        panic!("a patch is answered at once");
    };
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
}

/// Lets the operators run until nothing is left to do. Returns the verdicts of some subjects, without repetitions.
fn played(scenario: &Scenario, runner: &mut ScenarioRunner, subjects: &[&str]) -> Vec<Vec<String>> {
    let mut seen: Vec<Vec<String>> = vec![Vec::new(); subjects.len()];
    // Two revisions on three nodes take two ticks a node, and a few hops come before and after.
    for _ in 0..40 {
        runner.tick();
        let now = judged(scenario, "ocp-madrid");
        for (subject, seen) in subjects.iter().zip(&mut seen) {
            let answer = now.get(*subject).map_or("", |(_, answer)| answer.as_str());
            if seen.last().map(String::as_str) != Some(answer) {
                seen.push(answer.to_owned());
            }
        }
    }
    seen
}

const MADRID: [&str; 7] = [
    "KubeAPIServer /cluster",
    "ConfigMap openshift-config-managed/auth-config",
    "ConfigMap openshift-kube-apiserver/auth-config",
    "KubeAPIServer /cluster/observed-config",
    "Route openshift-authentication/oauth-openshift",
    "Deployment openshift-oauth-apiserver/apiserver",
    "Authentication /openshift-console/console",
];

#[test]
fn madrid_moves_to_oidc_and_back_as_its_spec_says() {
    let scenario = scenario();
    let mut runner = scenario.runner();
    assert_eq!(troubles(&scenario, "ocp-madrid"), BTreeMap::new(), "healthy OAuth with a provider listed");
    runner.tick();
    assert_eq!(troubles(&scenario, "ocp-madrid"), BTreeMap::new(), "its operators leave it as it is");

    let to_oidc = serde_json::json!({ "spec": { "type": "OIDC", "webhookTokenAuthenticator": null } });
    patch_authentication(&scenario, "ocp-madrid", &to_oidc);
    let before = judged(&scenario, "ocp-madrid");
    assert_eq!(before["ConfigMap openshift-config-managed/auth-config"].1, "missing");
    let there = played(&scenario, &mut runner, &MADRID);
    let expected: [&[&str]; 7] = [
        &["not-available", "rolling-out", "available"],
        &["match"],
        &["missing", "match"],
        &["drift admission-plugins authentication-config-arg", "drift oauth-metadata webhook-arg", "match"],
        &["match", "leftover", "match"],
        &["match", "leftover", "match"],
        &["missing", "match"],
    ];
    assert_eq!(there, expected);
    assert_eq!(troubles(&scenario, "ocp-madrid"), BTreeMap::new(), "a healthy OIDC cluster");

    patch_authentication(&scenario, "ocp-madrid", &serde_json::json!({ "spec": { "type": "IntegratedOAuth" } }));
    let back = played(&scenario, &mut runner, &MADRID);
    let expected: [&[&str]; 7] = [
        &[
            "not-available still-on-oidc",
            "oauth-incomplete oauth-metadata webhook-arg",
            "rolling-out oauth-metadata webhook-arg",
            "not-available",
        ],
        &["match"],
        &["match"],
        &["drift oauth-metadata webhook-arg", "match"],
        &["not-ready", "match"],
        &["not-ready", "match"],
        &["match"],
    ];
    assert_eq!(back, expected);
    // The console operator does not clean up, as upstream.
    let left = BTreeMap::from([("ConfigMap openshift-console/madrid-ca".to_owned(), "leftover".to_owned())]);
    assert_eq!(troubles(&scenario, "ocp-madrid"), left);
}

#[test]
fn the_operators_of_the_demo_render_what_the_spec_says() {
    let provider = "/spec/oidcProviders/0";
    let cases = [
        ("another claim", serde_json::json!([["claimMappings/username", { "claim": "sub" }]])),
        (
            "a prefix of its own",
            serde_json::json!([["claimMappings/username", { "claim": "sub", "prefixPolicy": "Prefix", "prefix": { "prefixString": "corp:" } }]]),
        ),
        ("no prefix", serde_json::json!([["claimMappings/username", { "claim": "sub", "prefixPolicy": "NoPrefix" }]])),
        ("no groups", serde_json::json!([["claimMappings/groups", null]])),
        ("a uid", serde_json::json!([["claimMappings/uid", { "claim": "oid" }]])),
        (
            "extra, with what Go escapes",
            serde_json::json!([["claimMappings/extra", [{ "key": "corp.example/a", "valueExpression": "claims.a == 'x' && 1 < 2 ? 'y' : 'z'" }]]]),
        ),
        (
            "a required claim",
            serde_json::json!([["claimValidationRules", [{ "type": "RequiredClaim", "requiredClaim": { "claim": "hd", "requiredValue": "a&b" } }]]]),
        ),
    ];
    for (case, changes) in cases {
        let scenario = scenario();
        let mut runner = scenario.runner();
        let cluster = scenario.clusters.iter().find(|cluster| cluster.name == "ocp-madrid").unwrap();
        let change = |object: &mut Value| {
            object["spec"]["type"] = "OIDC".into();
            for one in changes.as_array().unwrap() {
                let mut at = object.pointer_mut(provider).unwrap();
                for name in one[0].as_str().unwrap().split('/') {
                    at = &mut at[name];
                }
                *at = one[1].clone();
            }
        };
        cluster.sim.edit("config.openshift.io/v1", "Authentication", "cluster", change).unwrap();
        (0..3).for_each(|_| drop(runner.tick()));
        let now = judged(&scenario, "ocp-madrid");
        assert_eq!(now["Authentication /cluster"].0, "match", "case: {case}: {:?}", now["Authentication /cluster"]);
        assert_eq!(now["ConfigMap openshift-config-managed/auth-config"].1, "match", "case: {case}");
    }
}

#[test]
fn a_spec_that_the_operator_refuses_is_not_written_and_said() {
    let scenario = scenario();
    let mut runner = scenario.runner();
    let patch = serde_json::json!({ "spec": { "type": "OIDC", "oidcProviders": [{
        "name": "sso", "issuer": { "issuerURL": "https://x.example", "audiences": ["a"], "issuerCertificateAuthority": { "name": "gone" } },
        "claimMappings": { "username": { "claim": "email" } },
    }] } });
    patch_authentication(&scenario, "ocp-madrid", &patch);
    (0..5).for_each(|_| drop(runner.tick()));
    let now = troubles(&scenario, "ocp-madrid");
    assert_eq!(now["Authentication /cluster"], "invalid ca-configmap-missing webhook-authenticator-set");
    assert_eq!(now["Authentication.operator.openshift.io /cluster"], "degraded ExternalOIDCControllerDegraded");
    assert_eq!(now["ConfigMap openshift-config-managed/auth-config"], "unrenderable");
}

#[test]
fn other_clusters_of_the_scenario_have_no_subjects() {
    let scenario = scenario();
    for name in ["mgmt-eu", "mgmt-us", "stage-1", "guest-payments"] {
        assert_eq!(troubles(&scenario, name), BTreeMap::new(), "{name}");
    }
}
