//! What a dead cluster left, as one set: connections and DHCP servers included, in order.

use serde_json::{Value, json};

use super::*;
use crate::contract::Pass;
use crate::rules::ContextCache;

fn left(kind: &str, id: &str, parent: &str) -> Value {
    let mut one = resource(kind, id);
    (one["tags"], one["name"]) = (json!(dead()), json!(format!("old-{id}")));
    if !parent.is_empty() {
        one["parent"] = json!(parent);
    }
    one
}

/// Everything a cluster has, left by one that is gone, beside a living one that has nothing.
fn leaked() -> Given {
    let mut living = newer_cluster("demo", UID);
    living["status"] = json!({});
    empty()
        .cluster_object(living)
        .has(left("workspace", "w", ""))
        .has(left("network", "n", "w"))
        .has(json!({ "kind": "dhcp-server", "id": "d", "state": "ACTIVE", "parent": "w", "network": "n" }))
        .has(left("vpc", "v", ""))
        .has(left("subnet", "s", "v"))
        .has(left("transit-gateway", "t", ""))
        .has(connection("cv", "t", "vpc", &crn("vpc", "v")))
        .has(connection("cp", "t", "power_virtual_server", &crn("workspace", "w")))
}

#[test]
fn a_leaked_set_is_one_group_in_the_order_of_a_teardown() {
    let judged = leaked().judged();
    assert_eq!(judged.in_order(), ["cp", "cv", "t", "s", "v", "d", "n", "w"]);
    for answer in judged.answers.values() {
        let draft = &answer.explanation.remedy[0];
        assert_eq!(draft.group.as_deref(), Some(&*format!("leaked/{DEAD}")), "{}", answer.subject);
        assert!(!draft.selected && draft.ownership.len() >= 2, "{}: {:?}", answer.subject, draft.ownership);
        assert_eq!(answer.to_string(), "orphan → delete offered no-owner", "{}", answer.subject);
    }
}

#[test]
fn a_connection_that_no_cluster_points_at_is_judged_by_both_ends() {
    let far = crn("vpc", "far").replace("a/acc", "a/acc2");
    let foreign = |tags: &[String]| leaked().tags("t", tags);
    let untag = "orphan → delete offered no-owner; untag offered no-owner on t \
                 -~tgconn:99999999-9999-9999-9999-999999999999.vpc";
    let orphan = "orphan → delete offered no-owner";
    let leading = |crn: &str| leaked().of("cv", "network_id", json!(crn));
    let other = |crn: &str| leading(crn).account("second", "acc2");
    let half = |crn: &str| {
        let mut given = other(crn);
        given.fleet.member("ibm:second").incomplete("ibm.cloud.trueup/v1/resources");
        given
    };
    let cases = [
        ("both ends are the dead one's", leaked(), orphan),
        ("a gateway of others with its tag", foreign(&[connects(DEAD, "vpc")]), untag),
        ("a gateway of others with the tag of the other side", foreign(&[connects(DEAD, "powervs")]), "foreign"),
        ("a gateway of others without a tag", foreign(&[]), "foreign"),
        ("it leads to nothing", leading(&crn("vpc", "none")), orphan),
        ("it leads to a living VPC", leading(&crn("vpc", "live")).has(resource("vpc", "live")), "foreign"),
        ("it leads to nothing of another account", other(&far), orphan),
        ("it leads into an account that was not read", leading(&far), "foreign"),
        ("it leads into an account that was half read", half(&far), "foreign"),
        ("where it leads is not said", leaked().of("cv", "network_id", json!(null)), "foreign"),
        (
            "the set is not declared",
            leaked().not_declared(),
            "orphan fleet-not-declared → delete offered no-owner blocked:fleet",
        ),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.about("ibm:acc/tg-connection/cv@-"), expected, "case: {case}");
    }
}

#[test]
fn what_stays_keeps_its_holder_and_what_is_in_the_set_does_not() {
    let given = leaked().has(resource("subnet", "theirs")).of("theirs", "parent", json!("v"));
    let judged = given.judged();
    assert_eq!(judged.about("vpc/v@-"), "orphan → delete offered no-owner blocked:dependency");
    assert_eq!(judged.about("subnet/s@-"), "orphan → delete offered no-owner");
    assert_eq!(
        judged.about("workspace/w@-"),
        "orphan → delete offered no-owner",
        "networks and servers are in the set"
    );
    let stays = leaked().has(resource("transit-gateway", "live")).has(connection("x", "live", "vpc", &crn("vpc", "v")));
    assert_eq!(stays.about("vpc/v@-"), "orphan → delete offered no-owner blocked:dependency", "a connection of others");
}

#[test]
fn two_dead_clusters_are_two_sets() {
    let second = "88888888-8888-8888-8888-888888888888";
    let given = leaked().has(resource("cos-instance", "c")).tags("c", &[owner("older"), uuid(second)]);
    let judged = given.judged();
    let cos = &judged.find("cos-instance/c@-").unwrap().explanation.remedy[0];
    assert_eq!((cos.group.as_deref(), cos.depends_on.len()), (Some(&*format!("leaked/{second}")), 0));
}

/// Counts the rulings needed for the remedies of this many deleted clusters. Each left a VPC and a subnet.
fn rulings_for(dead_clusters: usize) -> u64 {
    let mut living = newer_cluster("demo", UID);
    living["status"] = json!({});
    let mut given = empty().cluster_object(living);
    for index in 0..dead_clusters {
        let tags = [owner(&format!("dead-{index}")), uuid(&format!("{index:08}-9999-9999-9999-999999999999"))];
        let (vpc, subnet) = (format!("v{index}"), format!("s{index}"));
        given = given.has(left("vpc", &vpc, "")).tags(&vpc, &tags);
        given = given.has(left("subnet", &subnet, &vpc)).tags(&subnet, &tags);
    }
    let mut world = World::default();
    given.fill(&mut world);
    let check = given.check();
    let contexts = ContextCache::new(&check, world.view(now()));
    let orphans = contexts.fleet.subjects.keys().filter(|id| matches!(id.kind, "vpc" | "subnet"));
    let remedied = orphans.filter(|id| contexts.rule(id).is_some_and(|ruled| ruled.has_remedy())).count();
    assert_eq!(remedied, 2 * dead_clusters);
    contexts.fleet.rulings.get()
}

#[test]
fn the_work_for_leaked_sets_grows_with_the_resources_and_not_with_their_square() {
    let (ten, eighty) = (rulings_for(10), rulings_for(80));
    assert!(eighty <= 8 * ten, "{ten} rulings for 10 dead clusters, {eighty} for 80");
}
