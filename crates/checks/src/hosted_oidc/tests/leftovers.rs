//! What a former provider leaves in the control plane's namespace and in the console's: judged on its own, deletable,
//! never selected.

use serde_json::{Value, json};

use super::*;
use trueup_core::engine::Stake;

const IN_PLANE: [&str; 2] = ["mgmt/ConfigMap/clusters-guest-a/ca", "mgmt/Secret/clusters-guest-a/s"];
const IN_CONSOLE: &str = "guest-a/ConfigMap/openshift-console/ca";
const REFERENCED: &str = "referenced-resource.hypershift.openshift.io/guest-a";
const BY_CLUSTER: &str = "hypershift.openshift.io/cluster";

/// An orphan of each kind with a source and, for the CA, a mirror. Nothing marks the sources.
fn orphaned() -> Given {
    given()
        .has(secret("s").managed())
        .has(config_map("ca").oidc())
        .source(secret("s"))
        .source(config_map("ca"))
        .console(config_map("ca"))
        .console(secret("s"))
}

/// Sources as HyperShift copies them, and the console's mirror; the guest's copies are gone.
fn alone() -> Given {
    given()
        .source(secret("s").annotated(REFERENCED, "true"))
        .source(config_map("ca").annotated(REFERENCED, "true"))
        .console(mirror("ca"))
}

/// A ConfigMap as the console operator mirrors it.
fn mirror(name: &str) -> Thing {
    let owner = json!([{ "apiVersion": "operator.openshift.io/v1", "kind": "Console", "name": "cluster", "uid": "c" }]);
    config_map(name).set("metadata.ownerReferences", owner)
}

const LEFT: &str = "leftover → delete offered no-referrer proofs=2";

#[test]
fn a_leftover_is_judged_by_its_own_marks_and_stays_until_it_is_gone() {
    let judged = alone().judged();
    for id in IN_PLANE.into_iter().chain([IN_CONSOLE]) {
        assert_eq!(judged.about(id), LEFT, "{id}");
    }
    let gone = alone().without("mgmt", "Secret").without("mgmt", "ConfigMap").without("guest-a", "ConfigMap");
    for id in IN_PLANE.into_iter().chain([IN_CONSOLE]) {
        assert_eq!(gone.about(id), "no subject", "{id}");
    }
}

#[test]
fn the_same_kind_and_name_as_an_orphan_is_left_over_whatever_marks_it() {
    let judged = orphaned().judged();
    let one = "leftover → delete offered no-referrer proofs=1";
    for id in IN_PLANE.into_iter().chain([IN_CONSOLE]) {
        assert_eq!(judged.about(id), one, "{id}: the engine's ownership gate needs two");
    }
    let secret_mirror = "guest-a/Secret/openshift-console/s";
    assert_eq!(judged.about(secret_mirror), "no subject", "the console mirrors the CA alone");
}

#[test]
fn only_what_this_hosted_cluster_marked_and_nothing_names_is_a_leftover_in_the_control_planes_namespace() {
    let marked = |thing: Thing| thing.annotated(REFERENCED, "true");
    let cases = [
        ("marked", given().source(marked(secret("s"))), LEFT),
        ("not marked", given().source(secret("s")), "no subject"),
        (
            "marked by its cluster annotation alone",
            given().source(secret("s").annotated(BY_CLUSTER, "clusters/guest-a")),
            "no subject",
        ),
        (
            "marked by another HostedCluster",
            given().source(secret("s").annotated("referenced-resource.hypershift.openshift.io/other", "true")),
            "no subject",
        ),
        (
            "both annotations",
            given().source(marked(secret("s")).annotated(BY_CLUSTER, "clusters/guest-a")),
            "leftover → delete offered no-referrer proofs=3",
        ),
        (
            "the cluster annotation of another HostedCluster proves nothing",
            given().source(marked(secret("s")).annotated(BY_CLUSTER, "clusters/guest-b")),
            LEFT,
        ),
        ("more keys", given().source(marked(secret("s")).key("x", "y")), "no subject"),
        ("another type", given().source(marked(secret("s")).set("type", json!("kubernetes.io/tls"))), "no subject"),
        ("owned", given().source(marked(secret("s")).owned()), "no subject"),
        (
            "a day-2 stub",
            given().source(marked(secret("s")).annotated("hypershift.openshift.io/hosted-cluster-sourced", "true")),
            "no subject",
        ),
        (
            "a text of the control plane's spec",
            given().source(marked(secret("s"))).set(
                "mgmt",
                "HostedControlPlane",
                "spec.etcd.unmanaged.name",
                json!("s"),
            ),
            "no subject",
        ),
        (
            "a text in a list of the HostedCluster's spec",
            given().source(marked(secret("s"))).set("mgmt", "HostedCluster", "spec.services", json!([{ "x": ["s"] }])),
            "no subject",
        ),
        (
            "a part of a text is another name",
            given().source(marked(secret("s"))).set("mgmt", "HostedCluster", "spec.dns", json!("s.example")),
            LEFT,
        ),
        ("terminating", given().source(marked(secret("s")).terminating()), "terminating"),
        (
            "restored by undo",
            given().source(marked(secret("s")).annotated("trueup/restored-from", "1a2b3c4d/a1")),
            "leftover restored → delete offered no-referrer proofs=2",
        ),
    ];
    each("mgmt/Secret/clusters-guest-a/s", cases);
    let platform = given().source(secret("pull-secret").annotated(REFERENCED, "true"));
    assert_eq!(platform.about("mgmt/Secret/clusters-guest-a/pull-secret"), "no subject");
}

#[test]
fn only_the_console_operators_mirror_of_a_ca_that_no_provider_names_is_a_leftover() {
    let named = |kind: &str| json!({ "type": kind, "oidcProviders": [provider("idp", "ca", &[])] });
    let cases = [
        ("mirror", given().console(mirror("ca")), LEFT),
        ("no owner", given().console(config_map("ca")), "no subject"),
        (
            "a Console of another group",
            given().console(config_map("ca").set(
                "metadata.ownerReferences",
                json!([{ "apiVersion": "config.openshift.io/v1", "kind": "Console", "name": "cluster", "uid": "c" }]),
            )),
            "no subject",
        ),
        ("more keys", given().console(mirror("ca").key("x", "y")), "no subject"),
        ("another key", given().console(mirror("ca").without_keys().key("x", "y")), "no subject"),
        (
            "filled by the network operator",
            given().console(mirror("ca").label("config.openshift.io/inject-trusted-cabundle", "true")),
            "no subject",
        ),
        (
            "named by the guest, type OIDC",
            given().console(mirror("ca")).guest_authentication(named("OIDC")),
            "no subject",
        ),
        (
            "named by the guest, another type",
            given().console(mirror("ca")).guest_authentication(named("IntegratedOAuth")),
            "no subject",
        ),
        (
            "expected by the control plane",
            given().console(mirror("ca")).plane_authentication(named("OIDC")),
            "no subject",
        ),
        (
            "named by a control plane of another type",
            given().console(mirror("ca")).plane_authentication(named("IntegratedOAuth")),
            LEFT,
        ),
        ("terminating", given().console(mirror("ca").terminating()), "terminating"),
        (
            "restored by undo",
            given().console(mirror("ca").annotated("trueup/restored-from", "1a2b3c4d/a1")),
            "leftover restored → delete offered no-referrer proofs=2",
        ),
    ];
    each(IN_CONSOLE, cases);
    for own in ["trusted-ca-bundle", "default-ingress-cert", "oauth-serving-cert"] {
        let id = format!("guest-a/ConfigMap/openshift-console/{own}");
        assert_eq!(given().console(mirror(own)).about(&id), "no subject", "{own}");
    }
}

#[test]
fn what_is_not_known_or_moot_keeps_a_leftover_without_a_delete() {
    let cases = [
        ("paused", alone().set("mgmt", "HostedControlPlane", "spec.pausedUntil", json!("true")), ["moot paused"; 3]),
        (
            "deleting",
            alone().set("mgmt", "HostedCluster", "metadata.deletionTimestamp", json!("2026-11-16T09:00:00Z")),
            ["moot deleting"; 3],
        ),
        ("HostedCluster gone", alone().without("mgmt", "HostedCluster"), ["moot gone"; 3]),
        ("OAuth not known", alone().incomplete("guest-a", "config.openshift.io/v1/oauths"), [INCOMPLETE; 3]),
        (
            "Authentication not known",
            alone().incomplete("guest-a", "config.openshift.io/v1/authentications"),
            [INCOMPLETE; 3],
        ),
        (
            "Images not known",
            alone().incomplete("guest-a", "config.openshift.io/v1/images"),
            [INCOMPLETE, LEFT, INCOMPLETE],
        ),
        (
            "Secrets of the control plane's namespace not known",
            alone().incomplete("mgmt", "v1/secrets@clusters-guest-a"),
            [LEFT, INCOMPLETE, LEFT],
        ),
    ];
    for (case, given, expected) in cases {
        let judged = given.judged();
        for (id, expected) in IN_PLANE.into_iter().chain([IN_CONSOLE]).zip(expected) {
            assert_eq!(judged.about(id), expected, "case: {case}: {id}");
        }
    }
}

#[test]
fn deletes_in_the_control_planes_namespace_are_tier_4_and_those_of_the_console_tier_3() {
    let judged = alone().judged();
    let stake = |id: &str| judged.find(id).unwrap().explanation.remedy[0].stake;
    assert_eq!(IN_PLANE.map(stake), [Stake::Irreversible; 2]);
    assert_eq!(stake(IN_CONSOLE), Stake::Ownership);
    for id in IN_PLANE.into_iter().chain([IN_CONSOLE]) {
        let draft = &judged.find(id).unwrap().explanation.remedy[0];
        assert_eq!(draft.undo.as_str(), "restore-from-backup", "{id}");
        assert!(draft.depends_on.is_empty(), "{id}: the guest has no orphan of its name");
    }
}

#[test]
fn a_delete_in_the_control_planes_namespace_depends_on_the_guests_orphan_of_its_name() {
    let judged = orphaned().judged();
    for (id, orphan) in IN_PLANE.into_iter().zip(["ConfigMap/openshift-config/ca", "Secret/openshift-config/s"]) {
        let draft = &judged.find(id).unwrap().explanation.remedy[0];
        let depends: Vec<String> = draft.depends_on.iter().map(|one| one.finding.to_string()).collect();
        assert_eq!(depends, [format!("hosted-oidc/guest-a/{orphan}")], "{id}");
    }
}

/// The console's Deployment with these volumes.
fn console(volumes: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "namespace": "openshift-console", "name": "console", "uid": "d", "resourceVersion": "1" },
        "spec": { "template": { "spec": { "volumes": volumes } } }
    })
}

#[test]
fn a_mirror_that_the_consoles_pods_mount_is_not_deleted() {
    let mounting = |volumes: Value| alone().object("guest-a", console(volumes));
    let blocked = |gate: &str| format!("{LEFT} blocked:{gate}");
    let cases = [
        ("no Deployment", alone(), LEFT.to_owned()),
        ("another volume", mounting(json!([{ "name": "x", "configMap": { "name": "other" } }])), LEFT.to_owned()),
        (
            "a Secret of the same name",
            mounting(json!([{ "name": "x", "secret": { "secretName": "ca" } }])),
            LEFT.to_owned(),
        ),
        ("mounted", mounting(json!([{ "name": "x", "configMap": { "name": "ca" } }])), blocked("dependency")),
        (
            "projected",
            mounting(json!([{ "name": "x", "projected": { "sources": [{ "configMap": { "name": "ca" } }] } }])),
            blocked("dependency"),
        ),
        ("not known", alone().incomplete("guest-a", "apps/v1/deployments@openshift-console"), blocked("not-complete")),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.about(IN_CONSOLE), expected, "case: {case}");
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
    let orphan = format!("guest-a/Secret/openshift-config/s: {CERTAIN}");
    assert_eq!(given.judged().all(), [orphan, "mgmt/HostedCluster/clusters/guest-a: valid no-providers".to_owned()]);
}
