use super::*;
use crate::engine::testing::{Given, delete, finding, given, label, now};
use crate::engine::{
    ActionDraft, Change, Dependency, Difference, MetadataChange, ObjectBackup, Origin, PolicyEffect, PolicyRule,
    ReadOnly, Verb, scan_reference,
};
use crate::world::{ClusterName, RiskClass};

fn names() -> BTreeMap<String, ClusterName> {
    ["guest-a", "guest-b"].map(|name| (name.to_owned(), ClusterName::new(name))).into()
}

fn request(chosen: Chosen) -> ApplyRequest {
    ApplyRequest {
        chosen,
        provenance: Provenance::Here,
        foreign: ForeignPlan::Refuse,
        limits: PlanLimits::default(),
        sent_earlier: BTreeSet::new(),
    }
}

/// Admits a plan against the world as it is given now.
fn admitted(plan: Plan, world: &Given) -> Result<Admission, Refusal> {
    let (names, fresh) = (names(), world.fresh());
    admit(plan, &request(Chosen::Selected), Current { names: &names, fresh: &fresh, undo: &[] }, now())
}

/// A plan whose file was edited, with a recomputed id.
fn edited(mut plan: Plan, change: impl FnOnce(&mut Plan)) -> Plan {
    change(&mut plan);
    plan.id = plan.computed_id().unwrap();
    plan
}

/// The reasons, one a refused action; nothing when all are applicable.
fn refusals(admission: &Admission) -> Vec<String> {
    admission.refused().filter_map(|(_, why)| why.message()).collect()
}

fn one_delete() -> Given {
    given().finding(finding("a").deletes())
}

fn deny_everything() -> PolicyRule {
    let effect = PolicyEffect::Deny("nothing".to_owned());
    PolicyRule { cluster: None, class: None, namespace: None, kind: None, verb: None, effect }
}

#[test]
fn a_plan_that_still_holds_is_admitted_whole() {
    let world = one_delete().finding(finding("b").draft(label("guest-a", "b")));
    let admission = admitted(world.plan(), &world).unwrap();
    assert_eq!(refusals(&admission), Vec::<String>::new());
    assert_eq!(admission.applicable().count(), 2);
    assert_eq!(admission.refusal_class(), None);
}

#[test]
fn a_plan_file_decides_nothing_about_what_is_checked() {
    type Edit = fn(&mut Plan);
    let cases: [(&str, Edit, &str); 14] = [
        (
            "an undo that the journal does not know",
            |plan| plan.actions[0].origin = Origin::Undo { plan: "sha256:ab".to_owned(), action: "a1".to_owned() },
            "no such entry to undo",
        ),
        (
            "a restore that no tombstone gives",
            |plan| plan.actions[0].origin = Origin::Restore { plan: "sha256:ab".to_owned(), action: "a1".to_owned() },
            "finding is gone",
        ),
        ("another finding", |plan| plan.actions[0].origin = Origin::Finding("x".to_owned()), "finding is gone"),
        ("another target", |plan| plan.actions[0].target.name = "foreign".to_owned(), "finding is gone"),
        ("another kind", |plan| plan.actions[0].target.kind = "Namespace".to_owned(), "finding is gone"),
        ("another uid", |plan| plan.actions[0].target.uid = Some("other".to_owned()), "the target changed"),
        (
            "another precondition",
            |plan| plan.actions[0].preconditions.uid = Some("other".to_owned()),
            "version or content",
        ),
        ("no version", |plan| plan.actions[0].preconditions.resource_version = None, "version or content"),
        ("another verdict", |plan| plan.findings[0].verdict = "foreign".to_owned(), "verdict was foreign, now orphan"),
        ("no finding", |plan| plan.findings.clear(), "finding is gone"),
        ("a lowered tier", |plan| plan.actions[0].tier = Tier::T1, "tier is T3 now, plan says T1"),
        ("nothing it rests on", |plan| plan.actions[0].rests_on.clear(), "every collection"),
        ("another check", |plan| plan.actions[0].domain = "kubeconfig".to_owned(), "finding is gone"),
        (
            "from a backup",
            |plan| {
                let backup = ObjectBackup { backup: "f.age".to_owned(), owners: Vec::new() };
                plan.actions[0].change = Change::CreateFromBackup(backup);
            },
            "would not hold it",
        ),
    ];
    for (case, edit, expected) in cases {
        let world = one_delete();
        let admission = admitted(edited(world.plan(), edit), &world).unwrap();
        assert_eq!(admission.applicable().count(), 0, "case: {case}");
        let refusals = refusals(&admission);
        assert!(refusals.len() == 1 && refusals[0].contains(expected), "case: {case}: {refusals:?}");
    }
}

#[test]
fn a_change_that_is_not_the_planned_one_is_refused() {
    let world = given().finding(finding("b").draft(label("guest-a", "b")));
    let plan = edited(world.plan(), |plan| {
        plan.actions[0].change = Change::Label(MetadataChange::setting([("a", "other")]));
    });
    let admission = admitted(plan, &world).unwrap();
    assert_eq!(refusals(&admission), ["what would be written changed since the plan was made"]);
}

#[test]
fn what_became_stricter_since_is_refused_with_the_difference() {
    type Stricter = fn(Given) -> Given;
    let cases: [(&str, Stricter, &str, RefusalClass); 6] = [
        (
            "the class became prod",
            |world| world.cluster(|cluster| cluster.class = RiskClass::Prod),
            "tier is T3 now, plan says T2",
            RefusalClass::Safety,
        ),
        (
            "a policy denies it",
            |world| world.conditions(|c| c.policy = vec![deny_everything()]),
            "policy: ",
            RefusalClass::Safety,
        ),
        (
            "read-only",
            |world| world.conditions(|c| c.read_only = ReadOnly::ByConfig),
            "read-only: ",
            RefusalClass::Safety,
        ),
        (
            "one proof is gone",
            |world| {
                world.with(|world| {
                    world.judged[0].explanation.remedy[0].ownership.truncate(1);
                })
            },
            "ownership: ",
            RefusalClass::Safety,
        ),
        (
            "the verdict changed",
            |world| world.with(|world| world.judged[0].judgement.verdict = "protected"),
            "verdict was orphan-certain, now protected",
            RefusalClass::Stale,
        ),
        (
            "it is not offered any more",
            |world| world.with(|world| world.judged[0].explanation.remedy.clear()),
            "a plan made now would not hold it",
            RefusalClass::Stale,
        ),
    ];
    for (case, change, expected, class) in cases {
        let dev = one_delete().cluster(|cluster| cluster.class = RiskClass::Dev);
        let plan = dev.plan();
        let admission = admitted(plan, &change(dev)).unwrap();
        let refusals = refusals(&admission);
        assert!(refusals.len() == 1 && refusals[0].contains(expected), "case: {case}: {refusals:?}");
        assert_eq!(admission.refusal_class(), Some(class), "case: {case}");
    }
}

#[test]
fn emptying_blocked_by_does_not_release_the_brake() {
    let world = given().findings(30, |index| finding(&format!("x{index:02}")).deletes());
    let blocked = world.plan();
    assert!(blocked.actions.iter().all(|action| !action.blocked_by.is_empty()));
    let freed = edited(blocked, |plan| plan.actions.iter_mut().for_each(|action| action.blocked_by.clear()));
    let admission = admitted(freed.clone(), &world).unwrap();
    assert_eq!(admission.applicable().count(), 0);
    assert!(refusals(&admission).iter().all(|why| why.starts_with("brake: ")), "{:?}", refusals(&admission));

    let raised = world.clone().conditions(|c| c.deletes_max = Some(30)).plan();
    assert!(raised.actions.iter().all(|action| action.tier == Tier::T4));
    let admission = admitted(raised, &world).unwrap();
    assert_eq!(admission.applicable().count(), 30, "{:?}", refusals(&admission));
    assert!(admission.questions().iter().all(|question| question.tier == Tier::T4));

    let few: BTreeSet<String> = freed.actions.iter().take(25).map(|action| action.id.clone()).collect();
    let (names, fresh) = (names(), world.fresh());
    let current = Current { names: &names, fresh: &fresh, undo: &[] };
    let chosen = admit(freed, &request(Chosen::Only(few)), current, now()).unwrap();
    let shut = refusals(&chosen);
    assert!(shut.len() == 25 && shut[0].contains("25 of the 30"), "more than half of what the check manages: {shut:?}");
}

#[test]
fn named_deletes_pass_when_they_alone_are_below_the_brake() {
    let world = given().findings(30, |index| finding(&format!("x{index:02}")).deletes());
    let plan = world.plan();
    assert!(plan.actions.iter().all(|action| action.blocked_by[0].gate == GateName::Brake));
    let (names, fresh) = (names(), world.fresh());
    let current = Current { names: &names, fresh: &fresh, undo: &[] };
    let only = |count: usize, plan: &Plan| {
        let few = plan.actions.iter().take(count).map(|action| action.id.clone()).collect();
        admit(plan.clone(), &request(Chosen::Only(few)), current, now())
    };
    for (chosen, applicable) in [(5, 5), (15, 15), (16, 0), (30, 0)] {
        assert_eq!(only(chosen, &plan).unwrap().applicable().count(), applicable, "{chosen} of 30 chosen");
    }
    let frozen = world.clone().conditions(|c| c.read_only = ReadOnly::ByFlag).plan();
    assert!(matches!(only(5, &frozen), Err(Refusal::Blocked { gate: "read-only", .. })));
}

#[test]
fn validity_is_what_the_configuration_allows() {
    let at = |hours: i64| now() + SignedDuration::from_hours(hours);
    let limits = PlanLimits::default();
    let week = SignedDuration::from_hours(7 * 24);
    let plan = |created: Timestamp, expires: Timestamp| {
        edited(one_delete().plan(), |plan| (plan.created_at, plan.expires_at) = (created, expires))
    };
    let soon = now() + SignedDuration::from_mins(15);
    use Provenance::{Foreign, Here};
    let too_long = |valid_for, most| Err(Refusal::ValidTooLong { valid_for, most });
    let cases = [
        ("as made", plan(now(), soon), Here, ForeignPlan::Refuse, Ok(())),
        ("a week", plan(now(), now() + week), Here, ForeignPlan::Refuse, Ok(())),
        ("expired", plan(at(-1), now()), Here, ForeignPlan::Refuse, Err(Refusal::Expired { since: now() })),
        ("from the future", plan(at(1), at(2)), Here, ForeignPlan::Refuse, Err(Refusal::NotYet { created_at: at(1) })),
        (
            "a far end",
            plan(now(), now() + week + SignedDuration::from_secs(1)),
            Here,
            ForeignPlan::Refuse,
            too_long(week + SignedDuration::from_secs(1), week),
        ),
        ("foreign", plan(now(), soon), Foreign, ForeignPlan::Refuse, Err(Refusal::Foreign)),
        ("foreign and accepted", plan(now(), soon), Foreign, ForeignPlan::Accept, Ok(())),
        (
            "foreign for an hour",
            plan(now(), at(1)),
            Foreign,
            ForeignPlan::Accept,
            too_long(SignedDuration::from_hours(1), PLAN_TTL),
        ),
    ];
    for (case, plan, provenance, foreign, expected) in cases {
        assert_eq!(check_whole(&plan, provenance, foreign, limits, now()), expected, "case: {case}");
    }
    assert_eq!(Refusal::Foreign.class(), RefusalClass::Safety);
    assert_eq!(Refusal::NotYet { created_at: now() }.class(), RefusalClass::Stale);
}

#[test]
fn a_foreign_plan_is_t4_throughout() {
    let world = given().finding(finding("b").draft(label("guest-a", "b"))).cluster(|one| one.class = RiskClass::Dev);
    let (names, fresh, plan) = (names(), world.fresh(), world.plan());
    assert_eq!(plan.actions[0].tier, Tier::T1);
    let accepted =
        ApplyRequest { provenance: Provenance::Foreign, foreign: ForeignPlan::Accept, ..request(Chosen::Selected) };
    let admission = admit(plan, &accepted, Current { names: &names, fresh: &fresh, undo: &[] }, now()).unwrap();
    let questions = admission.questions();
    assert_eq!((questions[0].tier, questions[0].provenance), (Tier::T4, Provenance::Foreign));
    assert_eq!(admission.tier(&admission.plan().actions[0]), Tier::T4);
}

fn chain() -> Given {
    let first = finding("a").deletes();
    let needs = vec![Dependency { finding: first.0.subject.clone(), order: 0 }];
    let second = finding("b").draft(ActionDraft { depends_on: needs, ..delete("guest-a", "b") });
    given().finding(first).finding(second)
}

#[test]
fn what_depends_on_a_refused_or_excluded_action_is_refused() {
    let world = chain();
    let (names, plan) = (names(), world.plan());
    let moved = chain().with(|world| world.judged[0].judgement.verdict = "protected");
    let cases = [
        ("refused", Chosen::Selected, moved.fresh(), "it depends on a1, which is refused"),
        (
            "excluded",
            Chosen::Except(["a1".to_owned()].into()),
            world.fresh(),
            "it depends on a1, which is not selected",
        ),
    ];
    for (case, chosen, fresh, expected) in cases {
        let current = Current { names: &names, fresh: &fresh, undo: &[] };
        let admission = admit(plan.clone(), &request(chosen), current, now()).unwrap();
        let last = refusals(&admission).pop().unwrap();
        assert_eq!(last, format!("dependency: {expected}"), "case: {case}");
        assert_eq!(admission.applicable().count(), 0, "case: {case}");
    }
    let missing = places(&plan, &Chosen::Except(["a99".to_owned()].into()));
    assert_eq!(missing, Err(Refusal::NoSuchAction { action: "a99".to_owned() }));
    let unchained = edited(plan, |plan| plan.actions[1].depends_on.clear());
    let admission = admitted(unchained, &world).unwrap();
    assert_eq!(refusals(&admission), ["the plan does not name every action it depends on"]);
}

#[test]
fn an_action_an_earlier_run_has_sent_is_left_to_the_executor() {
    let (names, plan) = (names(), chain().plan());
    let gone = given().finding(finding("b").deletes());
    let fresh = gone.fresh();
    let current = Current { names: &names, fresh: &fresh, undo: &[] };
    let earlier = ApplyRequest { sent_earlier: ["a1".to_owned()].into(), ..request(Chosen::Selected) };
    let admission = admit(plan, &earlier, current, now()).unwrap();
    assert_eq!(refusals(&admission), Vec::<String>::new());
}

#[test]
fn a_cluster_that_is_not_connected_refuses_its_own_actions_alone() {
    let world = one_delete().with(|world| {
        world.clusters.push(crate::engine::testing::cluster("guest-b"));
        world.judged.push(crate::engine::testing::finding_in("guest-b", "z").deletes().0);
    });
    let only_a: BTreeMap<String, ClusterName> = [("guest-a".to_owned(), ClusterName::new("guest-a"))].into();
    let fresh = world.fresh();
    let current = Current { names: &only_a, fresh: &fresh, undo: &[] };
    let admission = admit(world.plan(), &request(Chosen::Selected), current, now()).unwrap();
    let refused: Vec<&RecheckResult> = admission.refused().map(|(_, why)| why).collect();
    let away = RecheckResult::Differs(Difference::NotConnected { cluster: "guest-b".to_owned() });
    assert_eq!((refused, admission.applicable().count()), (vec![&away], 1));
}

#[test]
fn a_reference_to_a_deleted_object_is_found_by_its_finding() {
    use crate::engine::State;
    use crate::engine::executor::ReferenceScan;
    let plan = one_delete().plan();
    let names = names();
    let unread = given().finding(finding("*").state(State::Unknown));
    let cases = [
        ("nothing", given(), ReferenceScan::Nothing),
        ("still an orphan", given().finding(finding("a")), ReferenceScan::Nothing),
        (
            "missed",
            given().finding(finding("a").state(State::Missing)),
            ReferenceScan::Referenced("nothing refers to it".to_owned()),
        ),
        (
            "unknown",
            given().finding(finding("a").state(State::Unknown)),
            ReferenceScan::Unknown("nothing refers to it".to_owned()),
        ),
        ("the list is not known", unread, ReferenceScan::Unknown("nothing refers to it".to_owned())),
    ];
    for (case, world, expected) in cases {
        let fresh = world.fresh();
        let current = Current { names: &names, fresh: &fresh, undo: &[] };
        assert_eq!(scan_reference(&plan.actions[0], current), expected, "case: {case}");
    }
    assert_eq!(plan.actions[0].verb(), Verb::Delete);
}

#[test]
fn a_group_stands_for_those_of_its_actions_that_are_not_blocked() {
    let grouped = |name: &str, group: &str| {
        let draft = ActionDraft { group: Some(group.to_owned()), ..delete("guest-a", name) };
        finding(name).draft(draft)
    };
    let world = given().finding(grouped("a", "x")).finding(grouped("b", "x")).finding(grouped("c", "y"));
    let plan = edited(world.plan(), |plan| {
        let blocked = Blocked { gate: GateName::Fleet, why: "not declared".to_owned() };
        plan.actions[1].blocked_by.push(blocked.clone());
        plan.actions[2].blocked_by.push(blocked);
    });
    let of = |name: &str| BTreeSet::from([name.to_owned()]);
    assert_eq!(places(&plan, &Chosen::Only(of("x"))), Ok([0].into()));
    let refused = places(&plan, &Chosen::Only(of("y")));
    assert!(matches!(refused, Err(Refusal::Blocked { .. })), "all of it is blocked: {refused:?}");
    assert_eq!(places(&plan, &Chosen::Except(of("x"))), Ok(BTreeSet::new()));
    let missing = places(&plan, &Chosen::Only(of("z")));
    assert_eq!(missing, Err(Refusal::NoSuchAction { action: "z".to_owned() }));
    for chosen in [Chosen::Only(of("x")), Chosen::Except(of("y"))] {
        let ids: Vec<&str> = chosen.actions(&plan).map(|action| action.id.as_str()).collect();
        assert_eq!(ids, ["a1"], "{chosen:?}");
    }
}
