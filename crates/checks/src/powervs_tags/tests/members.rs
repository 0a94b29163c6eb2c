//! Whether every management cluster of an account was read, and whether those are all there are.

use serde_json::json;

use super::*;
use trueup_core::world::ClusterSource;

/// An orphan beside a living cluster of `mgmt`.
fn orphaned() -> Given {
    let mut cluster = newer_cluster("demo", UID);
    cluster["status"] = json!({});
    empty().cluster_object(cluster).has(resource("vpc", "v")).of("v", "name", json!("x")).tags("v", &dead())
}

#[test]
fn a_management_cluster_that_is_not_part_of_the_run_leaves_no_orphan() {
    let given = orphaned().used_from("main", "mgmt").used_from("main", "mgmt-a");
    let judged = given.judged();
    assert_eq!(judged.about("vpc/v@-"), "unknown fleet-incomplete");
    assert_eq!(judged.about("management-clusters/*@-"), "unknown fleet-incomplete");
    let evidence = &judged.find("management-clusters/*@-").unwrap().explanation.evidence;
    assert_eq!((evidence[0].object.as_str(), evidence[0].message.as_str()), ("mgmt-a", "not part of this run"));
}

#[test]
fn an_orphan_is_deletable_only_in_a_set_that_is_complete_and_declared() {
    let far = |given: Given| given.cluster("far");
    let late = |given: Given| {
        let mut given = far(given);
        given.fleet.member("far").incomplete("infrastructure.cluster.x-k8s.io/v1beta2/ibmpowervsclusters");
        given
    };
    let delete = "orphan → delete offered no-owner";
    let unknown = "unknown fleet-incomplete";
    each(
        "vpc/v@-",
        [
            ("complete and declared", orphaned(), delete),
            (
                "complete and not declared",
                orphaned().not_declared(),
                "orphan fleet-not-declared → delete offered no-owner blocked:fleet",
            ),
            ("all of a glob", far(orphaned()).used_from("main", "*"), delete),
            ("a context of the glob is not opened", orphaned().used_from("main", "mg*").not_opened("mgmt-2"), unknown),
            ("a context that no glob matches", orphaned().used_from("main", "mg*").not_opened("edge"), delete),
            ("a named member is not asked", orphaned().used_from("main", "mgmt").used_from("main", "mgmt-a"), unknown),
            ("a glob without a match", orphaned().used_from("main", "mgmt").used_from("main", "edge-*"), unknown),
            ("a member is late", late(orphaned()), unknown),
            ("what is late is no member", late(orphaned()).used_from("main", "mgmt"), delete),
        ],
    );
}

#[test]
fn a_new_owner_needs_a_declared_set_and_a_teardown_a_complete_one() {
    let vpc = "vpc/vpc@clusters/demo";
    let stale = || newer().tags("vpc", &[owner("demo"), uuid(DEAD)]);
    assert!(stale().not_declared().about(vpc).starts_with("stale-owner fleet-not-declared → re-own offered moved"));
    assert!(stale().not_declared().about(vpc).ends_with("blocked:fleet"));
    assert!(!stale().about(vpc).contains("blocked"));
    let teardown = "owned → delete selected cluster-deleted";
    assert_eq!(newer().going().not_declared().about(vpc), teardown, "the tags prove whose it is");
    let incomplete = newer().going().used_from("main", "mgmt").used_from("main", "mgmt-a");
    assert_eq!(incomplete.about(vpc), format!("{teardown} blocked:fleet"));
}

/// The first of two contexts of one cluster speaks for both: nothing is pointed at twice.
#[test]
fn two_contexts_of_one_cluster_are_one_member() {
    let mut given = newer().going().cluster("mgmt-again");
    let again = given.fleet.members["mgmt"].objects.clone();
    given.fleet.member("mgmt-again").objects = again;
    let count = |given: &Given| {
        let mut world = World::default();
        given.fill(&mut world);
        given.check().subjects(world.view(now())).len()
    };
    let as_two = count(&given);
    for name in ["mgmt", "mgmt-again"] {
        given.fleet.member(name).identity = Some("one".to_owned());
    }
    assert_eq!((as_two, count(&given)), (22, 11));
    assert_eq!(given.about("vpc/vpc@clusters/demo"), "owned → delete selected cluster-deleted");
}

#[test]
fn an_account_that_cannot_be_read_could_hold_any_id() {
    let second = |given: Given| {
        let mut given = given.account("second", "acc2");
        given.fleet.member("ibm:second").incomplete("ibm.cloud.trueup/v1/resources");
        given
    };
    let named = newer().lacks("vpc").set("status.vpc.id", json!(crn("vpc", "vpc")));
    let elsewhere = second(newer().lacks("vpc")).used_from("second", "edge");
    let cases = [
        ("every account is complete", newer().lacks("vpc").account("second", "acc2"), "vpc", "gone"),
        ("another account is not", second(newer().lacks("vpc")), "vpc", "unknown"),
        ("the cluster may not use the other", elsewhere, "vpc", "gone"),
        ("its CRN names the complete one", second(named), &crn("vpc", "vpc"), "gone"),
    ];
    for (case, given, id, expected) in cases {
        assert_eq!(given.about(&format!("ibm:acc/vpc/{id}@clusters/demo")), expected, "case: {case}");
    }
}

#[test]
fn the_testing_account_is_declared() {
    let given = empty();
    let ClusterSource::Cloud { used_from, .. } = &given.fleet.members["ibm:main"].source else { panic!("no account") };
    assert_eq!(*used_from, trueup_core::world::MemberRule::declared());
}
