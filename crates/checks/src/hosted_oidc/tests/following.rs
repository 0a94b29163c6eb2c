//! Judging only what a change touched: the moves of guests between homes, by name.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::Check;
use trueup_core::engine::{Judgement, SubjectId};

/// An orphan with a leftover in the management cluster.
fn orphaned() -> Given {
    given().has(secret("s").oidc()).source(secret("s"))
}

/// A second management cluster with a HostedCluster of this infraID, and the same leftover.
fn second_home(given: Given, infra_id: &str) -> Given {
    let mut cluster = hosted_cluster("clusters", "guest-a");
    cluster["spec"]["infraID"] = json!(infra_id);
    given
        .cluster("mgmt-2")
        .object("mgmt-2", cluster)
        .object("mgmt-2", control_plane("clusters", "guest-a", "clusters-guest-a"))
        .object("mgmt-2", secret("s").in_namespace("clusters-guest-a"))
}

#[test]
fn leftovers_follow_a_guest_that_goes_or_finds_another_home() {
    let by_id = |given: Given, infra_id: &str| given.known_by_topology("guest-a", infra_id);
    let configured = || orphaned();
    let found = || by_id(orphaned(), "guest-a-infra");
    let nobody = "no leftover";
    let (first, second) = ("mgmt", "mgmt-2");
    // Case, before, after, where the leftover is before and after.
    let cases = [
        ("a configured guest goes", configured(), configured().forget_cluster("guest-a"), first, nobody),
        ("a found guest goes", found(), found().forget_cluster("guest-a"), first, nobody),
        ("a guest comes", found().forget_cluster("guest-a"), found(), nobody, first),
        (
            "a guest is configured with another home",
            second_home(configured(), "x"),
            second_home(configured(), "x").hosted("guest-a", "mgmt-2", "clusters", "guest-a"),
            first,
            second,
        ),
        (
            "a guest's own id changes",
            second_home(found(), "x"),
            second_home(by_id(orphaned(), "x"), "x"),
            first,
            second,
        ),
        (
            "another home with its id appears",
            second_home(found(), "x"),
            second_home(found(), "guest-a-infra"),
            first,
            nobody,
        ),
        (
            "the other home with its id goes",
            second_home(found(), "guest-a-infra"),
            second_home(found(), "guest-a-infra").set("mgmt", "HostedCluster", "spec.infraID", json!("x")),
            nobody,
            second,
        ),
        (
            "the other home goes with its cluster",
            second_home(found(), "guest-a-infra"),
            second_home(found(), "guest-a-infra").forget_cluster("mgmt"),
            nobody,
            second,
        ),
        (
            "its only home gets another id",
            found(),
            found().set("mgmt", "HostedCluster", "spec.infraID", json!("x")),
            first,
            nobody,
        ),
        ("its only home is deleted", found(), found().without("mgmt", "HostedCluster"), first, nobody),
        ("a guest becomes a cluster of its own", found(), orphaned().known_by_nobody("guest-a"), first, nobody),
    ];
    for (case, before, after, place_before, place_after) in cases {
        let mut follow = Follow::new(&before);
        follow.step(&before);
        assert_eq!(leftover_in(&follow.held()), place_before, "case: {case}: before");
        follow.step(&after);
        assert_eq!(leftover_in(&follow.held()), place_after, "case: {case}: after");
    }
}

fn leftover_in(held: &BTreeMap<SubjectId, Judgement>) -> &str {
    let mut leftovers = held.iter().filter(|(_, judgement)| judgement.verdict == "leftover");
    leftovers.next().map_or("no leftover", |(subject, _)| subject.cluster.as_str())
}

#[test]
fn a_guest_known_under_two_names_follows_its_control_plane_under_both() {
    let twins = |paused: &str| {
        orphaned()
            .cluster("a-twin")
            .hosted("a-twin", "mgmt", "clusters", "guest-a")
            .object("a-twin", secret("s").oidc().in_namespace("openshift-config"))
            .set("mgmt", "HostedControlPlane", "spec.pausedUntil", json!(paused))
    };
    let mut follow = Follow::new(&twins("false"));
    follow.step(&twins("false"));
    follow.step(&twins("true"));
}

#[test]
fn a_copy_that_changes_touches_itself_and_what_it_leaves_and_no_whole_cluster() {
    let mut world = orphaned().has(secret("t")).world();
    let after = orphaned().has(secret("t").oidc());
    let changes = after.fill(&mut world);
    let touched = after.check().touched(&changes, world.view(now()));
    assert!(touched.clusters.is_empty(), "one Secret changed: {touched:?}");
    let ids: Vec<String> = touched.subjects.iter().map(SubjectId::to_string).collect();
    assert_eq!(ids, ["hosted-oidc/guest-a/Secret/openshift-config/t", "hosted-oidc/mgmt/Secret/clusters-guest-a/t"]);
}
