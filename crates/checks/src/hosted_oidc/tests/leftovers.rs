//! What an orphan leaves elsewhere: shown, never acted on, and gone with the orphan.

use serde_json::json;

use super::*;

/// An orphan of each kind with a source and, for the CA, a mirror.
fn orphaned() -> Given {
    given()
        .has(secret("s").managed())
        .has(config_map("ca").oidc())
        .source(secret("s"))
        .source(config_map("ca"))
        .console(config_map("ca"))
        .console(secret("s"))
}

const IN_PLANE: [&str; 2] = ["mgmt/ConfigMap/clusters-guest-a/ca", "mgmt/Secret/clusters-guest-a/s"];
const IN_CONSOLE: &str = "guest-a/ConfigMap/openshift-console/ca";

#[test]
fn the_same_kind_and_name_in_the_control_planes_namespace_and_the_console_is_left_over() {
    let judged = orphaned().judged();
    for id in IN_PLANE.into_iter().chain([IN_CONSOLE]) {
        assert_eq!(judged.about(id), "leftover", "{id}");
    }
    let secret_mirror = "guest-a/Secret/openshift-console/s";
    assert_eq!(judged.about(secret_mirror), "no subject", "the console mirrors the CA alone");
}

#[test]
fn leftovers_vanish_with_the_orphan() {
    let provider = oidc("ca", &[("console", "s")]);
    let cases = [
        ("expected again", orphaned().authentication(provider.clone())),
        ("the guest still names it", orphaned().guest_authentication(provider)),
        ("paused", orphaned().set("mgmt", "HostedControlPlane", "spec.pausedUntil", json!("true"))),
        ("not known", orphaned().incomplete("guest-a", "config.openshift.io/v1/oauths")),
        (
            "guest objects gone",
            orphaned().without("guest-a", "Secret").without("guest-a", "ConfigMap").console(config_map("ca")),
        ),
    ];
    for (case, given) in cases {
        let judged = given.judged();
        for id in IN_PLANE.into_iter().chain([IN_CONSOLE]) {
            assert_eq!(judged.about(id), "no subject", "case: {case}: {id}");
        }
    }
}

#[test]
fn another_kind_or_name_or_namespace_is_no_leftover() {
    let given = given()
        .has(secret("s").oidc())
        .source(config_map("s"))
        .source(secret("t"))
        .object("mgmt", secret("s").in_namespace("clusters"))
        .object("mgmt", secret("s").in_namespace("elsewhere"))
        .console(config_map("s"));
    assert_eq!(given.judged().all(), [format!("guest-a/Secret/openshift-config/s: {}", super::CERTAIN)]);
}

#[test]
fn a_leftover_seen_in_a_list_cut_short_is_shown() {
    let cut = orphaned()
        .incomplete("mgmt", "v1/secrets@clusters-guest-a")
        .incomplete("guest-a", "v1/configmaps@openshift-console");
    let judged = cut.judged();
    assert_eq!(judged.about("mgmt/Secret/clusters-guest-a/s"), "leftover");
    assert_eq!(judged.about(IN_CONSOLE), "leftover");
}
