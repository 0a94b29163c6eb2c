//! Plans, their approval, and the keys that close, discard, stop and switch writes.

use std::time::Duration;

use super::fixtures;
use crate::console::effect::TerminalRequest;
use crate::console::model::{Entered, Layer, PromptWhat, RunState, ScreenId};
use crate::console::task::{Planned, PlannedObject, ReadOnly, Stage, TaskReply, Tried};
use crate::console::testing::{TestConsole, ago};
use trueup_checks::{RelatedObject, Relations};
use trueup_core::engine::executor::{ActionResult, Report};
use trueup_core::engine::journal::VerifiedState;
use trueup_core::engine::{Action, Plan, Reason, Tier, Undo};
use trueup_core::world::{ClusterName, Gap, GapCause, Link, RiskClass};
use trueup_fleet::live::Update;

const GUARD: Duration = Duration::from_millis(300);

fn planned(actions: Vec<Action>) -> TestConsole {
    let mut stage = TestConsole::full();
    stage.planned(fixtures::plan(actions)).forget();
    stage
}

fn asked(actions: Vec<Action>) -> TestConsole {
    let mut stage = planned(actions);
    stage.keys("a").later(GUARD).forget();
    stage
}

fn wrong(stage: &TestConsole) -> Option<String> {
    let Some(Layer::Approval(approval)) = &stage.model.layer else { panic!("the approval is open") };
    approval.wrong.clone()
}

fn plan_of(stage: &TestConsole) -> Plan {
    stage.model.plan.as_ref().unwrap().plan.clone()
}

#[test]
fn nothing_without_undo_is_ticked_except_the_teardown_of_a_cluster_that_is_being_deleted() {
    let permanent = |reason| Action {
        tier: Tier::T4,
        undo: Undo::None,
        reason,
        ..fixtures::action("a1", "mgmt-eu", "vpc", "quarry-vpc")
    };
    let cases = [
        ("a leaked resource", permanent(Reason::NoOwner), 0),
        ("a teardown", permanent(Reason::ClusterDeleted), 1),
        ("a delete with a backup", fixtures::action("a1", "mgmt-eu", "Secret", "old"), 1),
    ];
    for (case, action, ticked) in cases {
        let mut stage = planned(vec![action]);
        assert_eq!(stage.model.plan.as_ref().unwrap().totals().sent(), ticked, "case: {case}");
        let screen = stage.draw(120, 40);
        assert_eq!(screen.contains("Not ticked: 1 without undo."), ticked == 0, "case: {case}: {screen}");
        assert_eq!(screen.contains("Teardown of a cluster that is being deleted"), case == "a teardown", "{screen}");
        stage.keys("space");
        assert_eq!(stage.model.plan.as_ref().unwrap().totals().sent(), 1 - ticked, "case: {case}: it can be ticked");
    }
}

#[test]
fn the_right_of_the_title_says_what_stands_in_the_way() {
    let shown = |change: &dyn Fn(&mut TestConsole)| {
        let mut stage = planned(fixtures::actions());
        change(&mut stage);
        stage.draw(120, 40).lines().find(|line| line.contains("ticked")).unwrap_or_default().to_owned()
    };
    type Case<'c> = (&'c str, &'c dyn Fn(&mut TestConsole));
    let cases: [Case<'_>; 4] = [
        ("valid 14m", &|_| {}),
        ("Expired: press R", &|stage| {
            stage.later(Duration::from_secs(900));
        }),
        ("Plan out of date: press R", &|stage| {
            let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", "ext-auth-client-old");
            stage.data(trueup_fleet::live::Update::of([(id, None)]));
        }),
        ("Read-only (!: switch writes on)", &|stage| {
            stage.keys("!");
        }),
    ];
    for (expected, change) in cases {
        let line = shown(change);
        assert!(line.contains(expected), "no `{expected}` in {line}");
    }
    let taken_at = Some(ago(32_400));
    let mut stage = TestConsole::full_with(|start| start.read_only = Some(ReadOnly::Recording { taken_at }));
    let screen = stage.planned(fixtures::plan(fixtures::actions())).draw(120, 40);
    assert!(screen.contains("From a recording, 9h old: cannot be applied"), "{screen}");
}

#[test]
fn a_plan_without_actions_says_how_many_findings_it_looked_at() {
    let mut plan = fixtures::plan(fixtures::deletes("guest-payments", 3, Tier::T3));
    plan.actions.clear();
    let mut stage = TestConsole::full();
    stage.planned(plan);
    assert_eq!(stage.toasts(), ["Nothing to fix here: 3 findings, none trueup can fix"]);
}

#[test]
fn esc_keeps_the_plan_and_x_asks_before_ticks_or_dry_runs_are_lost() {
    let mut stage = planned(fixtures::actions());
    assert_eq!(stage.keys("esc").model.screen(), ScreenId::Fleet);
    assert_eq!(stage.keys("gp").model.screen(), ScreenId::Plan);
    stage.keys("x");
    assert!(stage.model.plan.is_none() && stage.model.layer.is_none(), "nothing was changed: nothing is asked");
    type Act<'a> = &'a dyn Fn(&mut TestConsole);
    let changes: [(&str, Act<'_>); 2] = [
        ("a tick", &|stage| {
            stage.keys("space");
        }),
        ("a dry run", &|stage| {
            let plan = plan_of(stage).id;
            stage.reply(TaskReply::DryRun { plan, action: "a1".to_owned(), tried: Tried::Fine });
        }),
    ];
    for (case, change) in changes {
        let mut stage = planned(fixtures::actions());
        change(&mut stage);
        assert!(stage.keys("x n").model.plan.is_some(), "case: {case}: no keeps it");
        assert!(stage.keys("x esc").model.plan.is_some(), "case: {case}: esc keeps it");
        assert!(stage.keys("x y").model.plan.is_none(), "case: {case}");
    }
}

#[test]
fn writes_are_switched_off_at_once_and_on_after_a_question() {
    let mut stage = planned(fixtures::actions());
    assert_eq!(stage.keys("!").model.read_only(), Some(ReadOnly::SwitchedOff));
    assert_eq!(stage.keys("a D").take_tasks(), [""; 0]);
    assert!(stage.model.layer.is_none(), "no approval");
    assert_eq!(stage.keys("! n").model.read_only(), Some(ReadOnly::SwitchedOff));
    assert_eq!(stage.keys("! y").model.read_only(), None);
    for fixed in [ReadOnly::Flag, ReadOnly::Config, ReadOnly::Recording { taken_at: None }] {
        let mut stage = TestConsole::full_with(|start| start.read_only = Some(fixed));
        assert_eq!(stage.keys("! !").model.read_only(), Some(fixed));
        assert!(stage.model.layer.is_none() && stage.toasts()[0].contains(&fixed.message()), "{:?}", stage.toasts());
    }
}

#[test]
fn a_word_is_typed_only_after_the_list_was_read() {
    let mut stage = TestConsole::full();
    stage.draw(80, 24);
    stage.planned(fixtures::plan(fixtures::deletes("guest-payments", 40, Tier::T3))).keys("a").later(GUARD).forget();
    stage.letters("guest-payments");
    assert_eq!(wrong(&stage).as_deref(), Some("scroll to the end of the list first"));
    assert_eq!(stage.keys("ctrl-end enter").take_tasks(), [""; 0], "what was typed before does not count");
    assert_eq!(wrong(&stage).as_deref(), Some("expected guest-payments"));
    assert_eq!(stage.keys("guest-payments enter").take_tasks().len(), 2);
}

#[test]
fn a_wrong_word_is_quoted_beside_the_expected_one() {
    let mut stage = asked(fixtures::deletes("guest-payments", 2, Tier::T3));
    stage.keys("guest-foo enter");
    assert_eq!(wrong(&stage).as_deref(), Some("expected guest-payments, not \"guest-foo\""));
    let mut stage = asked(fixtures::deletes("stage-1", 3, Tier::T2));
    stage.keys("2 enter");
    assert_eq!(wrong(&stage).as_deref(), Some("expected 3, not \"2\""));
}

#[test]
fn an_approval_names_verb_class_age_reason_and_undo() {
    let cases = [
        (vec![fixtures::label("a4")], "Update 1 object in mgmt-eu · ▌prod", "T1", "Undo: trueup undo"),
        (
            fixtures::deletes("guest-payments", 2, Tier::T3),
            "Delete 2 objects in guest-payments · ▌prod",
            "T3",
            "(sealed backup; new uid and creation time)",
        ),
        (fixtures::teardown(), "Delete 3 objects in mgmt-eu · ▌prod · NO UNDO", "T4", "Cannot be undone."),
    ];
    for (actions, title, tier, undo) in cases {
        let mut stage = asked(actions);
        for (width, height) in [(80, 24), (120, 40)] {
            let screen = stage.draw(width, height);
            let line =
                screen.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("no `{title}` in {screen}"));
            assert!(line.contains(tier) && screen.contains(undo), "{screen}");
        }
    }
    let screen = asked(fixtures::deletes("guest-payments", 2, Tier::T3)).draw(120, 40);
    assert!(screen.contains("openshift-config/ext-auth-client-01  200d  used by: nothing"), "{screen}");
    let screen = asked(fixtures::teardown()).draw(120, 40);
    assert!(screen.contains("Teardown: the cluster that owns these resources is being deleted."), "{screen}");
}

#[test]
fn t1_has_no_text_field() {
    let mut stage = asked(vec![fixtures::label("a4")]);
    stage.letters("yes");
    let screen = stage.draw(120, 40);
    assert!(!screen.contains("> ") && screen.contains("Press enter to approve."), "{screen}");
    let Some(Layer::Approval(approval)) = &mut stage.model.layer else { panic!("the approval is open") };
    assert_eq!(approval.typed, "");
    assert!(matches!(approval.enter(ago(0)), Entered::Done(_)));
}

#[test]
fn q_closes_what_is_open_and_quits_on_the_fleet() {
    let mut stage = TestConsole::full();
    stage.keys("1 enter q");
    assert_eq!((stage.model.screen(), stage.model.pane), (ScreenId::Check(0), crate::console::model::Pane::List));
    stage.keys("? q");
    assert!(stage.model.layer.is_none() && stage.model.screen() == ScreenId::Check(0), "the help was closed");
    assert_eq!(stage.keys("ga q").model.screen(), ScreenId::Check(0));
    assert_eq!(stage.keys("q").model.screen(), ScreenId::Fleet);
    assert!(!stage.has_ended);
    assert!(stage.keys("q").has_ended);
    assert!(TestConsole::full().keys("1 ctrl-c").has_ended, "from anywhere");
}

#[test]
fn q_on_the_fleet_asks_while_an_apply_runs() {
    let mut stage = asked(fixtures::deletes("guest-payments", 2, Tier::T3));
    stage.keys("guest-payments enter 0 q");
    let is_asking = matches!(&stage.model.layer, Some(Layer::Prompt(prompt)) if prompt.what == PromptWhat::Quit);
    assert!(is_asking && !stage.has_ended);
}

#[test]
fn ctrl_x_stops_an_apply_even_while_typing() {
    for keys in ["0 /gu", "1 A because", ":plan", "c gu", "?"] {
        let mut stage = asked(fixtures::deletes("guest-payments", 2, Tier::T3));
        stage.keys("guest-payments enter").keys(keys).forget();
        assert!(stage.keys("ctrl-x").take_tasks().contains(&"stop".to_owned()), "while {keys}");
    }
}

#[test]
fn an_end_date_keeps_what_was_typed_after_a_mistake() {
    let mut stage = TestConsole::full();
    stage.keys("1 j").rest().forget();
    stage.keys("A known enter soon enter");
    let Some(Layer::Prompt(prompt)) = &stage.model.layer else { panic!("the prompt is open") };
    assert_eq!(prompt.input.value(), "soon");
    assert_eq!(prompt.problem.as_deref(), Some("invalid date `soon`; use 7d, 2w or YYYY-MM-DD"));
    let accepted = stage.keys("ctrl-u 2w enter").take_tasks();
    assert_eq!(accepted, ["accept ext-auth-ca-old because known until 2026-11-30"]);
}

/// Reports every action of the run as done.
fn all_done(stage: &mut TestConsole, state: VerifiedState) {
    let run = stage.model.activity.run.as_ref().unwrap();
    let ids: Vec<String> = run.rows.iter().map(|row| row.id.clone()).collect();
    for id in &ids {
        for step in [Stage::Intended, Stage::Sent, Stage::Answered, Stage::Ended(ActionResult::Done(state))] {
            stage.reply(TaskReply::Progress { action: id.clone(), at: stage.model.now, stage: step });
        }
    }
    let ends = ids.into_iter().map(|id| (id, ActionResult::Done(state))).collect();
    let report = Report { ends, ..Report::default() };
    stage.reply(TaskReply::Applied { report: Ok(Box::new(report)) });
}

#[test]
fn journey_plan_dry_run_apply_and_undo_over_two_clusters() {
    let mut stage = TestConsole::full();
    stage.keys("1 space space").rest().forget();
    assert_eq!(stage.keys("r").take_tasks().len(), 1, "the marked findings are planned");
    let actions =
        vec![fixtures::action("a1", "guest-payments", "Secret", "ext-auth-client-old"), fixtures::label("a4")];
    stage.planned(fixtures::plan(actions)).forget();
    assert_eq!(stage.model.screen(), ScreenId::Plan);
    assert_eq!(stage.keys("D").take_tasks(), ["dry run a1 a4"]);
    let plan = plan_of(&stage).id;
    for action in ["a1", "a4"] {
        stage.reply(TaskReply::DryRun { plan: plan.clone(), action: action.to_owned(), tried: Tried::Fine });
    }
    assert_eq!(stage.draw(120, 40).matches(" ok ").count(), 2, "both dry runs are shown");
    stage.keys("a").later(GUARD);
    assert!(stage.draw(120, 40).contains("cluster 1 of 2"));
    assert_eq!(stage.keys("guest-payments enter").take_tasks(), [""; 0], "the second cluster asks, too");
    let applied = stage.later(GUARD).keys("enter").take_tasks();
    assert_eq!(applied, ["apply a1 a4", "read history"]);
    all_done(&mut stage, VerifiedState::Gone);
    let screen = stage.draw(120, 40);
    assert!(screen.contains("2 of 2 done") && screen.contains("✓ deleted"), "{screen}");
    stage.reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) }).forget();
    let newest = fixtures::journal().pop().unwrap().plan;
    assert_eq!(stage.keys("u").take_tasks(), [format!("undo {newest}")]);
    let restore = fixtures::actions().into_iter().filter(|action| action.id == "a6").collect();
    let ask = stage.model.planning.unwrap();
    let planned = Planned { plan: fixtures::plan(restore), left_out: Vec::new(), objects: Default::default() };
    stage.reply(TaskReply::Planned { ask, plan: Ok(Box::new(planned)) });
    assert!(stage.keys("a").later(GUARD).draw(120, 40).contains("Create 1 object in mgmt-eu"));
    assert_eq!(stage.keys("enter").take_tasks(), ["apply a6", "read history"]);
    all_done(&mut stage, VerifiedState::Restored);
    assert!(stage.draw(120, 40).contains("✓ restored"));
    assert!(matches!(stage.model.activity.run.as_ref().unwrap().state, RunState::Finished { .. }));
    assert_eq!(stage.wishes, Vec::<TerminalRequest>::new());
}

#[test]
fn journey_a_teardown_is_planned_approved_and_applied_in_its_order() {
    let order = ["lagoon-public", "lagoon-vpc", "lagoon-gateway"];
    let in_order = |screen: &str, case: &str| {
        let places: Vec<Option<usize>> = order.iter().map(|name| screen.find(name)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{case}: {places:?}\n{screen}");
    };
    let mut stage = planned(fixtures::teardown());
    let screen = stage.draw(120, 40);
    in_order(&screen, "plan");
    assert!(screen.contains("STEP") && screen.contains("teardown"), "{screen}");
    let word = format!("mgmt-eu {}", trueup_core::engine::short_id(&plan_of(&stage).id));
    stage.keys("a").later(GUARD);
    let screen = stage.draw(120, 40);
    in_order(&screen, "approval");
    assert!(screen.contains(&format!("Type `{word}` to approve:")), "{screen}");
    assert_eq!(stage.keys("mgmt-eu enter").take_tasks(), [""; 0], "the name alone is not enough");
    stage.keys("ctrl-u").letters(&word);
    assert_eq!(stage.keys("enter").take_tasks(), ["apply a1 a2 a3", "read history"]);
    let screen = stage.draw(120, 40);
    in_order(&screen, "run");
    assert!(screen.contains("waits for load-balancer"), "{screen}");
}

/// A plan of one delete whose references are known so far.
fn asked_with(relations: Relations) -> TestConsole {
    let mut stage = TestConsole::full();
    let plan = fixtures::plan(vec![fixtures::action("a1", "guest-payments", "Secret", "ext-auth-client-old")]);
    let ask = stage.keys("1 r").model.planning.unwrap_or_default();
    let object = PlannedObject { created: None, relations };
    let planned = Planned { plan, left_out: Vec::new(), objects: [("a1".to_owned(), object)].into() };
    stage.reply(TaskReply::Planned { ask, plan: Ok(Box::new(planned)) });
    stage.keys("a").later(GUARD).forget();
    stage
}

#[test]
fn a_delete_whose_references_are_not_known_cannot_be_approved() {
    let unread =
        Relations { searched: vec!["Proxy".to_owned()], unread: vec!["OAuth".to_owned()], ..Relations::default() };
    let mut stage = asked_with(unread);
    let screen = stage.draw(120, 40);
    for expected in ["used by: ?", "Cannot check references of Secret", "OAuth not read", "then R: plan again"] {
        assert!(screen.contains(expected), "{expected}: {screen}");
    }
    stage.letters("guest-payments");
    stage.keys("enter");
    assert!(stage.take_tasks().is_empty() && stage.model.layer.is_some(), "nothing was approved");
    let searched = vec!["Proxy".to_owned(), "OAuth".to_owned()];
    let mut stage = asked_with(Relations { searched, ..Relations::default() });
    assert!(stage.draw(120, 40).contains("used by: nothing"));
    stage.letters("guest-payments");
    stage.keys("enter");
    assert!(!stage.take_tasks().is_empty(), "what is known to be unused can be deleted");
}

#[test]
fn references_of_a_cluster_without_a_connection_are_not_known() {
    let searched = vec!["Proxy".to_owned()];
    let mut stage = asked_with(Relations { searched, ..Relations::default() });
    let gap = Gap::new(GapCause::Unreachable, "connection refused");
    let lost = fixtures::cluster("guest-payments", RiskClass::Prod, Link::Degraded { gap, retry_at: ago(-300) });
    let name = ClusterName::new("guest-payments");
    stage.data(Update { clusters: [(name, Some(lost))].into(), ..Update::default() });
    let screen = stage.draw(120, 40);
    assert!(screen.contains("used by: ?") && screen.contains("connection refused"), "{screen}");
    stage.letters("guest-payments");
    stage.keys("enter");
    assert!(stage.model.layer.is_some() && stage.model.activity.run.is_none());
}

#[test]
fn tab_lists_what_uses_an_object_below_it() {
    let user = |name: &str| RelatedObject::new("mgmt-eu", "HostedCluster", Some("clusters"), name);
    let mut stage = asked_with(Relations { used_by: vec![user("a"), user("b")], ..Relations::default() });
    let screen = stage.draw(120, 40);
    let listed = "used by HostedCluster clusters/b (mgmt-eu)";
    assert!(screen.contains("used by: 2") && !screen.contains(listed), "{screen}");
    let screen = stage.keys("tab").draw(120, 40);
    assert!(screen.contains("used by HostedCluster clusters/a (mgmt-eu)") && screen.contains(listed), "{screen}");
    assert!(!stage.keys("tab").draw(120, 40).contains(listed));
}

#[test]
fn plan_and_approval_mark_the_class_of_prod() {
    let mut stage = planned(fixtures::actions());
    assert!(stage.draw(160, 45).contains("▌prod"), "{}", stage.draw(160, 45));
    let mut stage = asked(fixtures::deletes("guest-payments", 1, Tier::T3));
    let screen = stage.draw(120, 40);
    assert!(screen.contains("in guest-payments · ▌prod"), "{screen}");
}
