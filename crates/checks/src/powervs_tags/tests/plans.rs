//! The drafts as plans: tiers, gates, and what the engine makes of a target that is not an object.

use serde_json::json;

use super::*;
use trueup_core::engine::{
    Chosen, Conditions, Judged as Whole, Observed, Plan, PlanInput, PlanScope, Tier, build, questions,
};

fn plan_of(given: &Given) -> Plan {
    let mut world = World::default();
    given.fill(&mut world);
    let view = world.view(now());
    let answers = Judged::<Given>::new(&given.check(), &world, now()).answers.into_values();
    let judged: Vec<Whole> = answers
        .map(|Answer { subject, judgement, explanation, .. }| Whole { subject, judgement, explanation })
        .collect();
    let input = PlanInput {
        judged: &judged,
        unexplained: trueup_core::engine::Unexplained::NONE,
        clusters: view.clusters().collect(),
        observed: Observed::all(view),
        accepted: &[],
        scope: &PlanScope::default(),
        conditions: &Conditions::at(now()),
    };
    build(&input).unwrap()
}

/// `verb id T3 gates` of each action, in the order of the plan.
fn actions(given: &Given) -> Vec<String> {
    let plan = plan_of(given);
    let line = |action: &trueup_core::engine::Action| {
        let gates: Vec<&str> = action.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
        let id = &action.target.cloud.as_ref().unwrap().id;
        format!("{} {id} {} {}", action.verb().as_str(), action.tier, gates.join(",")).trim_end().to_owned()
    };
    plan.actions.iter().map(line).collect()
}

#[test]
fn marks_of_ownership_are_tier_3_user_tags_tier_1_and_deletes_tier_4() {
    let only = |id: &str| newer().has_only(id).set("status", json!({ "vpc": { "id": "vpc" } }));
    let wanted = json!([{ "key": "env", "value": "prod" }]);
    let cases = [
        ("tags that say whose it is", only("vpc").tags::<&str>("vpc", &[]), "tag vpc T3"),
        ("a user's tag", only("vpc").set("spec.tags", wanted), "tag vpc T1"),
        (
            "a user's tag off",
            only("vpc").tags("vpc", &[&owner("demo"), &uuid(UID), "a:b"]).annotate("trueup/attached-tags", "[\"a:b\"]"),
            "untag vpc T1",
        ),
        ("a new owner", only("vpc").tags("vpc", &[owner("demo"), uuid(DEAD)]), "re-own vpc T3"),
        ("a teardown", only("vpc").going(), "delete vpc T4"),
        (
            "an orphan",
            only("none").set("status", json!({})).has(resource("vpc", "v")).tags("v", &dead()),
            "delete v T4",
        ),
        (
            "an orphan with one proof",
            only("none").set("status", json!({})).has(resource("vpc", "v")).tags("v", &[uuid(DEAD)]),
            "delete v T4 ownership",
        ),
        ("a teardown in an account half read", only("vpc").going().cut_short(), "delete vpc T4 not-complete"),
        (
            "a teardown beside clusters half read",
            only("vpc").going().clusters_cut_short(),
            "delete vpc T4 fleet,not-complete",
        ),
        ("marks off a reference", only("vpc").going().set("spec.vpc.type", json!("Reference")), "untag vpc T3"),
    ];
    for (case, given, expected) in cases {
        assert_eq!(actions(&given), [expected], "case: {case}");
    }
}

#[test]
fn a_teardown_of_many_is_one_intent_and_no_brake_pulls() {
    let mut given = newer().going();
    for index in 0..40 {
        let id = format!("lb-{index}");
        given = given.has(resource("load-balancer", &id)).tags(&id, &ours());
    }
    let all = actions(&given);
    assert_eq!(all.len(), 49);
    assert!(all.iter().all(|line| line.ends_with("T4")), "{all:#?}");
}

#[test]
fn what_waits_for_a_blocked_step_is_blocked_with_it() {
    let theirs = connection("theirs", "tg", "vpc", &crn("vpc", "x"));
    let all = actions(&newer().going().has(theirs));
    assert!(all.contains(&"delete tg T4 dependency".to_owned()), "{all:#?}");
    assert!(all.contains(&"delete lb T4".to_owned()), "{all:#?}");
}

#[test]
fn a_teardown_asks_for_the_name_of_the_cluster_that_points_and_an_unclaimed_orphan_for_its_accounts() {
    let plan = plan_of(&newer().going().has(resource("vpc", "stray")).tags("stray", &dead()));
    let asked = questions(&plan, &Chosen::Selected).unwrap();
    let said: Vec<String> = asked.iter().map(|one| format!("{} {} {}", one.cluster, one.tier, one.deletions)).collect();
    assert_eq!(said, ["mgmt T4 9"]);
    let orphan = plan.actions.iter().find(|action| !action.selected).unwrap().id.clone();
    let asked = questions(&plan, &Chosen::Only([orphan].into())).unwrap();
    assert_eq!((asked[0].cluster.as_str(), asked[0].tier), ("ibm:main", Tier::T4));
}

#[test]
fn the_finding_belongs_to_who_points_and_an_unclaimed_one_to_nobody() {
    let plan = plan_of(&newer().has(resource("vpc", "stray")).tags("stray", &dead()));
    let of = |id: &str| plan.findings.iter().find(|finding| finding.id.ends_with(id)).unwrap();
    assert_eq!(of("vpc/vpc@clusters/demo").cluster, "mgmt");
    assert_eq!(of("vpc/stray@-").cluster, "");
    let orphan =
        plan.actions.iter().find(|action| action.finding().unwrap_or_default().ends_with("vpc/stray@-")).unwrap();
    assert_eq!((orphan.cluster.as_str(), orphan.selected), ("ibm:main", false));
    let targets: Vec<(&str, &str)> =
        plan.targets.iter().map(|target| (target.cluster.as_str(), target.identity.account.as_str())).collect();
    assert_eq!(targets, [("ibm:main", ACCOUNT), ("mgmt", "")]);
    let claimed = plan_of(&newer());
    assert_eq!(claimed.targets.len(), 1, "nothing would be done in the account for itself");
}
