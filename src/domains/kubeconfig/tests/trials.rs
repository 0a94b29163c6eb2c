//! Which kubeconfigs may be tried when somebody asks for it.

use serde_json::json;

use super::*;
use crate::domains::Probe;

fn probe_of(given: &Given, subject: &str) -> Option<Probe> {
    let mut world = World::default();
    given.fill(&mut world);
    let view = world.view(given.now);
    let subject = Kubeconfigs.subjects(view).into_iter().find(|id| id.to_string().ends_with(subject))?;
    Kubeconfigs.probe(&subject, view)
}

#[test]
fn a_login_goes_only_to_a_server_that_nothing_speaks_against() {
    const MOVED: &str = "https://other.gr7.us-west-2.eks.amazonaws.com";
    let exec = json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1", "command": "x" } });
    let insecure = config().cluster("insecure-skip-tls-verify", json!(true));
    let cases = [
        ("as it shall be", given(), true),
        ("expired", given().at("2026-11-16T12:00:00Z".parse().unwrap()), true),
        ("moved", given().both(&config().server(MOVED)), false),
        ("another authority", given().both(&config().authorities(&["x"])), false),
        ("nobody verified", given().both(&insecure), false),
        ("a command to run", given().both(&config().user(exec)), false),
        ("unreadable", given().has(target("team-a", "demo", &config()).key("value", "{")), false),
        ("absent", given().without("Secret", "demo-kubeconfig"), false),
        (
            "whether it is there is not known",
            given().without("Secret", "demo-kubeconfig").incomplete("v1/secrets@team-a"),
            false,
        ),
    ];
    for (case, given, expected) in cases {
        assert_eq!(probe_of(&given, DEMO).is_some(), expected, "case: {case}: {}", given.about(DEMO));
    }
    let expected = Probe {
        cluster: ClusterName::new("mgmt"),
        namespace: "team-a".to_owned(),
        secret: "demo-kubeconfig".to_owned(),
        key: "value",
    };
    assert_eq!(probe_of(&given(), DEMO), Some(expected));
}
