//! Effects of keys and replies: the model and the requested tasks.

use std::time::Duration;

use super::fixtures;
use crate::console::effect::TerminalRequest;
use crate::console::event::What;
use crate::console::model::{History, Layer, Pane, REST, RunState, ScreenId, Standing};
use crate::console::task::{Planned, RequestId, Task, TaskReply, Tried};
use crate::console::testing::TestConsole;
use trueup_checks::{FleetCell, FleetRow, FleetTable, Panel, RowKnowledge};
use trueup_core::engine::executor::Report;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{State, Tier};
use trueup_core::world::{ClusterName, RiskClass};
use trueup_fleet::connect::PluginQuestion;
use trueup_fleet::live::Update;

const GUARD: Duration = Duration::from_millis(300);

fn planned() -> TestConsole {
    let mut stage = TestConsole::full();
    stage.planned(fixtures::plan(fixtures::actions())).forget();
    stage
}

/// The approval of a prod delete, open long enough to accept keys.
fn asked() -> TestConsole {
    let mut stage = TestConsole::full();
    stage.planned(fixtures::plan(fixtures::deletes("guest-payments", 2, Tier::T3))).keys("a").later(GUARD).forget();
    stage
}

fn change(stage: &mut TestConsole, name: &str, state: Option<State>) {
    let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", name);
    let held = state.map(|state| fixtures::held(state, "in-use", 0));
    stage.data(Update::of([(id, held)]));
}

fn plugin_question() -> TaskReply {
    let (command, arguments) = ("/bin/aws".to_owned(), "get-token".to_owned());
    TaskReply::PluginQuestion { cluster: ClusterName::new("mgmt-eu"), question: PluginQuestion { command, arguments } }
}

#[test]
fn a_credential_plugin_is_asked_about_once_and_runs_after_yes_alone() {
    let answered = |keys: &str| {
        let mut stage = TestConsole::full();
        stage.draw(120, 40);
        stage.reply(plugin_question()).keys("y");
        assert!(stage.wishes.is_empty(), "a key that was pressed before the dialog appeared is dropped");
        stage.later(Duration::from_millis(300)).keys(keys);
        let runs = stage.wishes.iter().any(|wish| matches!(wish, TerminalRequest::ApprovePlugin(_)));
        let is_open = matches!(stage.model.layer, Some(Layer::Plugin(_)));
        stage.reply(plugin_question());
        let is_asked_again = !is_open && matches!(stage.model.layer, Some(Layer::Plugin(_)));
        (runs, is_open, is_asked_again)
    };
    let cases = [
        ("y", (true, false, false)),
        ("n", (false, false, false)),
        ("esc", (false, false, false)),
        ("enter", (false, true, false)),
        ("X", (false, true, false)),
        ("q", (false, false, false)),
    ];
    for (keys, expected) in cases {
        assert_eq!(answered(keys), expected, "key: {keys}");
    }
}

#[test]
fn a_cluster_that_needs_a_login_has_its_plugin_looked_up_once() {
    let mut stage = TestConsole::full();
    let cluster = stage.model.fleet.get(&ClusterName::new("mgmt-eu")).unwrap().clone();
    let gap = trueup_core::world::Gap::new(trueup_core::world::GapCause::Unauthorized, "not approved");
    let link = trueup_core::world::Link::AuthExpired { gap, hint: "log in".to_owned() };
    let expired = trueup_core::world::Cluster { link, ..cluster };
    for _ in 0..2 {
        let clusters = [(expired.name.clone(), Some(expired.clone()))].into();
        stage.data(trueup_fleet::live::Update { clusters, ..Default::default() });
    }
    let asked = stage.tasks.iter().filter(|task| matches!(task, Task::AskPlugin(name) if *name == expired.name));
    assert_eq!(asked.count(), 1);
}

#[test]
fn selecting_a_finding_requests_its_detail_and_its_cluster() {
    let mut stage = TestConsole::full();
    assert_eq!(stage.keys("1").take_tasks(), ["explain half-written", "need guest-payments"]);
    assert_eq!(stage.rest().keys("j").take_tasks(), ["explain ext-auth-ca-old"]);
    assert_eq!(stage.rest().keys("k").take_tasks(), ["explain half-written"]);
    assert_eq!(stage.rest().keys("k").take_tasks(), [""; 0]);
}

#[test]
fn a_held_key_requests_only_the_detail_of_the_row_where_it_ends() {
    let mut stage = TestConsole::full();
    stage.keys("1").explained().rest().forget();
    assert_eq!(stage.keys("j").take_tasks(), ["explain ext-auth-ca-old"], "the first press, after a rest");
    for _ in 0..3 {
        stage.later(Duration::from_millis(40)).keys("j");
        assert_eq!(stage.model.detail.subject, stage.model.subject());
        assert_eq!(stage.model.detail.content, None, "nothing of another row is shown");
        assert_eq!(stage.take_tasks(), [""; 0]);
    }
    let due = stage.model.deadline().unwrap();
    assert_eq!(due, stage.model.now + REST);
    stage.later(Duration::from_millis(199));
    assert_eq!(stage.take_tasks(), [""; 0], "not yet");
    stage.later(Duration::from_millis(1));
    assert_eq!(stage.take_tasks(), ["explain keycloak-ca", "need mgmt-eu"]);
    assert_eq!(stage.model.deadline(), None, "nothing to wake up for");
}

#[test]
fn a_key_that_does_not_move_the_cursor_requests_a_pending_detail() {
    let mut stage = TestConsole::full();
    stage.keys("1 j").forget();
    assert!(stage.model.deadline().is_some());
    assert_eq!(stage.keys("tab").take_tasks(), ["explain ext-auth-ca-old"]);
    assert_eq!(stage.model.deadline(), None);
}

#[test]
fn a_finding_that_changes_while_its_detail_is_pending_is_requested_once() {
    let mut stage = TestConsole::full();
    stage.keys("1 j").forget();
    change(&mut stage, "ext-auth-ca-old", Some(State::Error));
    assert_eq!(stage.take_tasks(), [""; 0]);
    assert_eq!(stage.rest().take_tasks(), ["explain ext-auth-ca-old"]);
}

#[test]
fn a_probe_runs_only_on_its_key() {
    let mut stage = TestConsole::full();
    stage.keys("1").forget();
    assert_eq!(stage.keys("P").take_tasks(), ["probe half-written"]);
    assert_eq!(stage.toasts(), ["testing half-written"]);
}

#[test]
fn replies_to_replaced_requests_are_dropped() {
    let mut stage = TestConsole::full();
    stage.keys("1");
    let (stale, subject) = (stage.model.detail.ask, stage.model.subject().unwrap());
    stage.keys("j");
    let detail = Some(Box::new(fixtures::subject_detail(&subject)));
    stage.reply(TaskReply::Explained { ask: stale, detail });
    assert_eq!(stage.model.detail.content, None);
    stage.keys("v");
    let object = Ok(Box::new(fixtures::sheet()));
    stage.reply(TaskReply::Object { ask: RequestId(stale.0), object });
    assert!(stage.model.object.as_ref().unwrap().sheet.is_none());
    stage.keys("esc r");
    let awaited = stage.model.planning.unwrap();
    let plan = |ask| {
        let plan = fixtures::plan(fixtures::actions());
        TaskReply::Planned {
            ask,
            plan: Ok(Box::new(Planned { plan, left_out: Vec::new(), objects: Default::default() })),
        }
    };
    stage.reply(plan(RequestId(awaited.0 - 1)));
    assert!(stage.model.plan.is_none());
    stage.reply(plan(awaited));
    assert!(stage.model.plan.is_some() && stage.model.planning.is_none());
    stage.reply(TaskReply::DryRun { plan: "another".to_owned(), action: "a1".to_owned(), tried: Tried::Fine });
    assert!(stage.model.plan.as_ref().unwrap().tried.is_empty());
}

#[test]
fn a_changed_finding_is_requested_again() {
    let mut stage = TestConsole::full();
    stage.keys("1").forget();
    change(&mut stage, "half-written", Some(State::Error));
    assert_eq!(stage.take_tasks(), ["explain half-written"]);
    change(&mut stage, "another", Some(State::Match));
    assert_eq!(stage.take_tasks(), [""; 0]);
}

#[test]
fn reconcile_plans_for_the_marks_else_for_the_cursor() {
    let mut stage = TestConsole::full();
    stage.keys("1 j").rest().forget();
    assert_eq!(stage.keys("r").take_tasks(), ["plan ext-auth-ca-old"]);
    stage.keys("space space").rest().forget();
    assert_eq!(stage.keys("r").take_tasks(), ["plan ext-auth-ca-old ext-auth-client-old"]);
    stage.keys("\\").rest().forget();
    assert_eq!(stage.keys("r").take_tasks(), ["plan lost-copy"]);
}

#[test]
fn reconcile_in_the_fleet_plans_for_all_findings_of_the_cluster() {
    let mut stage = TestConsole::full();
    assert_eq!(stage.keys("j j j r").take_tasks(), [""; 0]);
    assert_eq!(stage.toasts(), ["no finding to plan for"]);
    let plan = "plan ext-auth-ca-old ext-auth-client-old half-written";
    assert_eq!(stage.keys("k k k r").take_tasks(), [plan]);
}

#[test]
fn an_empty_plan_is_a_message_and_not_a_screen() {
    let mut stage = TestConsole::full();
    stage.keys("1").planned(fixtures::plan(Vec::new()));
    assert_eq!(stage.model.screen(), ScreenId::Check(0));
    assert_eq!(stage.toasts(), ["No actions: findings match or have no fix."]);
}

#[test]
fn a_plan_is_approved_applied_and_finished() {
    let mut stage = asked();
    let applied = stage.keys("guest-payments enter").take_tasks();
    assert_eq!(applied, ["apply a01 a02", "read history"]);
    assert_eq!(stage.model.screen(), ScreenId::Activity);
    assert!(stage.model.plan.is_none() && stage.model.layer.is_none());
    let report = Report { plan: stage.model.activity.run.as_ref().unwrap().plan.clone(), ..Report::default() };
    assert_eq!(stage.reply(TaskReply::Applied { report: Ok(Box::new(report)) }).take_tasks(), ["read history"]);
    assert_eq!(
        stage.model.activity.run.as_ref().unwrap().state,
        RunState::Finished { halted: None, at: stage.model.now }
    );
    let run = stage.model.activity.run.as_ref().unwrap().plan.clone();
    assert_eq!(stage.keys("u").take_tasks(), [format!("undo {run}")], "before the journal is read again");
    stage.reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) });
    let newest = fixtures::journal().pop().unwrap().plan;
    assert_eq!(stage.keys("u").take_tasks(), [format!("undo {newest}")]);
    assert!(stage.model.planning.is_some());
}

#[test]
fn keys_pressed_before_the_approval_opens_confirm_nothing() {
    let mut stage = TestConsole::full();
    stage.planned(fixtures::plan(vec![fixtures::label("a4")])).keys("a").forget();
    assert_eq!(stage.later(Duration::from_millis(299)).keys("enter").take_tasks(), [""; 0]);
    assert!(matches!(stage.model.layer, Some(Layer::Approval(_))));
    let applied = stage.later(Duration::from_millis(1)).keys("enter").take_tasks();
    assert_eq!(applied, ["apply a4", "read history"]);
}

#[test]
fn an_approval_says_how_many_api_servers_restart() {
    let mut stage = TestConsole::full();
    let mut actions = fixtures::deletes("guest-payments", 1, Tier::T3);
    actions[0].diff = "! restarts 3 API servers, one node after another, and changes who can log in\n- a\n".to_owned();
    stage.planned(fixtures::plan(actions)).keys("a").later(GUARD);
    for (width, height) in [(80, 24), (120, 40)] {
        let screen = stage.draw(width, height);
        assert!(screen.contains("restarts 3 API servers, one node after another"), "{screen}");
    }
}

#[test]
fn a_paste_never_confirms_an_approval() {
    let mut stage = asked();
    stage.event(What::Paste("guest-payments\n".to_owned()));
    assert_eq!(stage.keys("enter").take_tasks(), [""; 0]);
    let Some(Layer::Approval(approval)) = &stage.model.layer else { panic!("the approval is open") };
    assert_eq!((approval.typed.as_str(), approval.wrong.as_deref()), ("", Some("expected guest-payments")));
}

#[test]
fn a_paste_is_typed_only_into_text_fields() {
    let mut stage = TestConsole::full();
    stage.keys("1").forget().event(What::Paste("q".to_owned()));
    assert!(!stage.has_ended);
    assert_eq!(stage.toasts(), ["nothing to paste into; /: filter"]);
    stage.keys("/").event(What::Paste("state:\nextra".to_owned()));
    assert_eq!(stage.model.check().unwrap().filter_text, "state:extra");
}

#[test]
fn an_approval_on_a_screen_that_is_too_small_accepts_no_keys() {
    let mut stage = asked();
    stage.event(What::Resize { width: 40, height: 10 });
    assert_eq!(stage.keys("guest-payments enter").take_tasks(), [""; 0]);
    stage.event(What::Resize { width: 80, height: 24 });
    assert_eq!(stage.keys("guest-payments enter").take_tasks(), ["apply a01 a02", "read history"]);
}

#[test]
fn an_approval_list_must_be_read_again_after_a_resize() {
    let mut stage = TestConsole::full();
    stage.event(What::Resize { width: 80, height: 40 });
    stage.planned(fixtures::plan(fixtures::deletes("guest-payments", 10, Tier::T3))).keys("a").later(GUARD).forget();
    stage.event(What::Resize { width: 80, height: 16 });
    assert_eq!(stage.keys("guest-payments enter").take_tasks(), [""; 0]);
    let applied = stage.keys("ctrl-end guest-payments enter").take_tasks();
    assert_eq!(applied.len(), 2, "{applied:?}");
}

#[test]
fn a_cancelled_approval_sends_nothing() {
    let mut stage = asked();
    assert_eq!(stage.keys("guest-payments esc").take_tasks(), [""; 0]);
    assert!(stage.model.layer.is_none() && stage.model.plan.is_some());
    assert_eq!(stage.toasts(), ["nothing was sent"]);
}

#[test]
fn a_plan_that_becomes_stale_during_approval_is_not_sent() {
    let mut stage = TestConsole::full();
    let plan = fixtures::plan(vec![fixtures::action("a1", "guest-payments", "Secret", "ext-auth-client-old")]);
    stage.planned(plan).keys("a").later(GUARD).forget();
    change(&mut stage, "ext-auth-client-old", Some(State::Match));
    assert_eq!(stage.keys("guest-payments enter").take_tasks(), [""; 0]);
    assert_eq!(stage.toasts(), ["nothing was sent: plan is stale; R: replan"]);
}

#[test]
fn an_approval_of_an_expired_plan_sends_nothing() {
    let mut stage = asked();
    stage.later(Duration::from_secs(900));
    assert_eq!(stage.keys("guest-payments enter").take_tasks(), [""; 0]);
    assert!(stage.toasts()[0].contains("expired"), "{:?}", stage.toasts());
}

#[test]
fn a_stale_plan_names_the_change_and_is_replanned_for_the_same_findings() {
    let mut stage = planned();
    change(&mut stage, "ext-auth-client-old", Some(State::Match));
    let sheet = stage.model.plan.as_ref().unwrap();
    let moved: Vec<_> = sheet.moved.values().map(|moved| (moved.was.as_str(), moved.is)).collect();
    assert_eq!(moved, [("orphan-certain", Some("in-use"))]);
    assert_eq!(stage.keys("a").take_tasks(), [""; 0]);
    assert_eq!(stage.toasts(), ["plan is stale; R: replan"]);
    let planned = stage.keys("R").take_tasks();
    assert_eq!(planned, ["plan ext-auth-ca-old ext-auth-client-old keycloak-ca lost-copy tmp-client"]);
    assert_eq!(stage.forget().keys("R R").take_tasks(), [""; 0], "one that is being made is not begun again");
}

#[test]
fn a_finding_that_changes_back_makes_the_plan_current_again() {
    let mut stage = planned();
    change(&mut stage, "ext-auth-client-old", None);
    assert_eq!(stage.model.plan.as_ref().unwrap().moved.len(), 1);
    let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", "ext-auth-client-old");
    let before = fixtures::findings().remove(&id).unwrap();
    stage.data(Update::of([(id, before)]));
    assert!(stage.model.plan.as_ref().unwrap().moved.is_empty());
}

#[test]
fn a_plan_becomes_stale_while_updates_are_paused() {
    let mut stage = planned();
    stage.keys("p");
    change(&mut stage, "ext-auth-client-old", Some(State::Match));
    assert_eq!(stage.keys("a").take_tasks(), [""; 0]);
    assert!(stage.model.layer.is_none());
}

#[test]
fn read_only_offers_neither_a_dry_run_nor_an_approval() {
    let mut stage = TestConsole::full_with(|start| start.read_only = Some(crate::console::task::ReadOnly::Flag));
    stage.planned(fixtures::plan(fixtures::actions())).forget();
    assert_eq!(stage.keys("D a").take_tasks(), [""; 0]);
    assert!(stage.model.layer.is_none());
    assert!(stage.toasts().iter().all(|message| message.contains("read-only")), "{:?}", stage.toasts());
    let screen = stage.draw(120, 40);
    assert!(!screen.contains("a approve") && !screen.contains("D dry run"), "{screen}");
}

#[test]
fn only_included_actions_are_dry_run_and_sent() {
    let mut stage = planned();
    assert_eq!(stage.keys("D").take_tasks(), ["dry run a1 a2 a4 a6"]);
    // The second needs the first.
    assert_eq!(stage.keys("j space D").take_tasks(), ["dry run a4 a6"]);
    stage.keys("G space");
    assert!(stage.toasts().iter().any(|message| message.starts_with("cannot include: not-complete")));
}

#[test]
fn quitting_during_an_apply_asks_and_waits_for_the_running_action() {
    let mut stage = asked();
    stage.keys("guest-payments enter").forget();
    assert_eq!(stage.keys("ctrl-c").take_tasks(), [""; 0]);
    assert!(!stage.has_ended && !stage.model.leaving);
    stage.keys("no enter");
    assert!(!stage.model.leaving, "other text continues the apply");
    assert_eq!(stage.keys("ctrl-c stop enter").take_tasks(), ["stop"]);
    assert!(stage.model.leaving && stage.model.activity.is_running());
    assert!(!TestConsole::full().keys("q").model.leaving);
    assert!(TestConsole::full().keys("q").has_ended);
}

#[test]
fn while_one_plan_is_applied_no_other_is_approved_or_undone() {
    let mut stage = asked();
    stage
        .keys("guest-payments enter")
        .reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) })
        .forget();
    assert_eq!(stage.keys("u").take_tasks(), [""; 0]);
    stage.planned(fixtures::plan(fixtures::actions())).forget();
    assert_eq!(stage.keys("a").take_tasks(), [""; 0]);
    assert!(stage.model.layer.is_none());
}

#[test]
fn back_closes_one_level_at_a_time() {
    let mut stage = TestConsole::full();
    stage.keys("1 /state:extra enter enter").reply(TaskReply::Notice { message: "hello".to_owned() });
    let seen = |stage: &TestConsole| {
        let filter = stage.model.checks[0].filter_text.clone();
        (stage.toasts().len(), stage.model.pane, filter, stage.model.screen())
    };
    let extra = "state:extra".to_owned();
    assert_eq!(seen(&stage), (1, Pane::Detail, extra.clone(), ScreenId::Check(0)));
    assert_eq!(seen(stage.keys("esc")), (0, Pane::List, extra, ScreenId::Check(0)));
    assert_eq!(seen(stage.keys("esc")), (0, Pane::List, String::new(), ScreenId::Check(0)));
    assert_eq!(seen(stage.keys("esc")), (0, Pane::List, String::new(), ScreenId::Fleet));
    assert_eq!(seen(stage.keys("esc")), (0, Pane::List, String::new(), ScreenId::Fleet));
    assert!(!stage.has_ended);
}

#[test]
fn history_skips_screens_that_no_longer_exist() {
    let mut stage = planned();
    stage.keys("1 2").forget();
    assert_eq!(stage.keys("H").model.screen(), ScreenId::Check(0));
    assert_eq!(stage.keys("L").model.screen(), ScreenId::Check(1));
    assert_eq!(stage.keys("H H").model.screen(), ScreenId::Plan);
    stage.keys("L H x");
    assert!(stage.model.plan.is_none());
    assert_eq!(stage.model.screen(), ScreenId::Fleet);
    assert_eq!(stage.keys("L").model.screen(), ScreenId::Check(0));
}

#[test]
fn a_filter_applies_while_typing_and_stays_after_submit() {
    let mut stage = TestConsole::full();
    stage.keys("1 /");
    let mut shown = vec![stage.model.checks[0].order.shown()];
    for letter in ["k", "e", "y", "c", "l"] {
        stage.keys(letter);
        shown.push(stage.model.checks[0].order.shown());
    }
    assert!(shown.is_sorted_by(|before, after| before >= after), "{shown:?}");
    assert_eq!(shown.last(), Some(&1));
    stage.keys("enter");
    assert_eq!((stage.model.checks[0].order.shown(), stage.model.layer.is_none()), (1, true));
    stage.keys("backspace");
    assert_eq!(stage.model.checks[0].order.shown(), 8);
}

#[test]
fn an_invalid_filter_stays_open_and_hides_no_rows() {
    let mut stage = TestConsole::full();
    stage.keys("1 /state:extra");
    assert_eq!(stage.model.checks[0].order.shown(), 2);
    stage.keys("l enter");
    let Some(Layer::Prompt(prompt)) = &stage.model.layer else { panic!("it is open") };
    assert_eq!(prompt.problem.as_deref(), Some("Unknown state extral (did you mean extra?)"));
    assert_eq!(stage.model.checks[0].order.shown(), 2);
}

#[test]
fn help_scrolls_to_its_end_and_no_further() {
    let mut stage = TestConsole::full();
    stage.draw(80, 24);
    let end = stage.keys("? G").draw(80, 24);
    assert_eq!(stage.keys("j j j").draw(80, 24), end);
    assert_ne!(stage.keys("k").draw(80, 24), end);
}

#[test]
fn a_query_of_a_check_runs_for_the_selected_subject() {
    let mut stage = TestConsole::full();
    stage.keys("2").explained().forget();
    assert_eq!(stage.keys("i").take_tasks(), [""; 0]);
    stage.letters("{\"sub\": 42}");
    assert_eq!(stage.keys("enter").take_tasks(), ["answer whoami \"{\\\"sub\\\": 42}\" of demo"]);
    let ask = stage.model.detail.answer_ask;
    stage.reply(TaskReply::Answered { ask: RequestId(ask.0 - 1), lines: vec!["late".to_owned()] });
    stage.reply(TaskReply::Answered { ask, lines: vec!["user 42".to_owned()] });
    let (question, lines) = stage.model.detail.answer.clone().unwrap();
    assert_eq!((question, lines), ("Who would I be?", vec!["user 42".to_owned()]));
    stage.keys("1 i");
    assert!(stage.toasts().contains(&"this check has no queries"));
}

#[test]
fn the_table_of_the_fleet_marks_what_differs_from_most_and_closes() {
    let mut stage = TestConsole::full();
    stage.keys("1").forget();
    assert_eq!(stage.keys("M").take_tasks(), [format!("table of {}", fixtures::COPIES.0)]);
    let Some(Layer::Table { ask, .. }) = &stage.model.layer else { panic!("it is open") };
    let ask = *ask;
    stage.reply(TaskReply::FleetTable { ask: RequestId(ask.0 - 1), table: None });
    assert!(stage.draw(120, 30).contains("reading"), "a late reply is dropped");
    let row = |cluster: &str, cells: Vec<FleetCell>, note: &str, knowledge| FleetRow {
        cluster: ClusterName::new(cluster),
        class: RiskClass::Prod,
        cells,
        note: note.to_owned(),
        knowledge,
    };
    let usual = |text: &str| FleetCell::Usual(text.to_owned());
    let table = FleetTable {
        title: "Identity matrix",
        columns: vec!["ISSUER", "GROUPS"],
        rows: vec![
            row("ocp-berlin", vec![usual("https://id.example"), usual("oidc:groups")], "", RowKnowledge::Known),
            row(
                "ocp-oslo",
                vec![FleetCell::Odd("https://oslo.example".to_owned()), usual("oidc:groups")],
                "",
                RowKnowledge::Known,
            ),
            row("ocp-paris", Vec::new(), "? Authentication: forbidden", RowKnowledge::NotKnown),
        ],
        question: None,
        note: String::new(),
    };
    stage.reply(TaskReply::FleetTable { ask, table: Some(table) });
    for (width, height) in [(80, 24), (120, 40)] {
        let screen = stage.draw(width, height);
        assert!(screen.contains("≠  ocp-oslo") && screen.contains("≠ https://oslo.example"), "{screen}");
        assert!(screen.contains("ocp-berlin") && screen.contains("? Authentication: forbidden"), "{screen}");
    }
    assert!(stage.keys("esc").model.layer.is_none());
    stage.keys("M");
    let Some(Layer::Table { ask, .. }) = &stage.model.layer else { panic!("it is open") };
    let ask = *ask;
    stage.reply(TaskReply::FleetTable { ask, table: None });
    assert!(stage.toasts().contains(&"this check has no table of the fleet") && stage.model.layer.is_none());
}

#[test]
fn an_acceptance_needs_a_reason_and_a_day() {
    let mut stage = TestConsole::full();
    stage.keys("1 j").rest().forget();
    assert_eq!(stage.keys("A enter").take_tasks(), [""; 0]);
    let Some(Layer::Prompt(prompt)) = &stage.model.layer else { panic!("it is open") };
    assert!(prompt.problem.is_some());
    stage.keys("known enter");
    let accepted = stage.keys("2026-12-31 enter").take_tasks();
    assert_eq!(accepted, ["accept ext-auth-ca-old because known until 2026-12-31"]);
}

#[test]
fn an_object_is_read_on_open_and_on_refresh() {
    let mut stage = TestConsole::full();
    stage.keys("1 j").rest().forget();
    let read = ["read guest-payments ConfigMap ext-auth-ca-old"];
    assert_eq!(stage.keys("v").take_tasks(), read);
    assert_eq!(stage.keys("e").take_tasks(), [""; 0]);
    assert_eq!(stage.keys("R").take_tasks(), read);
    assert_eq!(stage.model.screen(), ScreenId::Object);
    assert_eq!(stage.keys("esc").model.screen(), ScreenId::Check(0));
    stage.keys("G").rest().forget();
    assert_eq!(stage.keys("v").take_tasks(), [""; 0]);
    assert!(stage.toasts().contains(&"no object selected"));
}

#[test]
fn opening_a_cluster_shows_its_worst_check_with_its_guests() {
    let mut stage = TestConsole::full();
    stage.keys("enter");
    assert_eq!(stage.model.screen(), ScreenId::Check(0));
    assert_eq!(stage.model.checks[0].filter_text, "cluster:guest-payments");
    stage.keys("0 j j j j enter");
    assert_eq!(stage.model.screen(), ScreenId::Check(1));
    assert_eq!(stage.model.checks[1].filter_text, "cluster:mgmt-eu,guest-old,guest-payments,guest-search");
    assert!(stage.take_tasks().contains(&"need mgmt-eu".to_owned()));
}

#[test]
fn a_saved_view_goes_to_its_screen_and_filters_it() {
    let mut stage = TestConsole::full();
    stage.reply(TaskReply::Settings(Box::new(fixtures::settings()))).keys("gv enter");
    assert_eq!((stage.model.screen(), stage.model.checks[0].filter_text.as_str()), (ScreenId::Check(0), "state:extra"));
    stage.keys("gv guests enter");
    assert_eq!((stage.model.screen(), stage.model.fleet.filter_text.as_str()), (ScreenId::Fleet, "guest"));
}

#[test]
fn copied_commands_name_the_object_and_are_shell_quoted() {
    let mut stage = TestConsole::full();
    let id = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", "a'; rm -rf ~");
    stage.data(Update::of([(id, Some(fixtures::held(State::Error, "unreadable", 0)))]));
    stage.keys("1 /name~rm enter K");
    let command = "kubectl --context mgmt-eu get secret 'a'\\''; rm -rf ~' -n openshift-config -o yaml";
    assert_eq!(stage.wishes, [TerminalRequest::Copy(Printable::line(command))]);
}

#[test]
fn a_failed_start_is_shown_and_can_be_quit() {
    let mut stage = TestConsole::starting();
    stage.reply(TaskReply::NotStarted { message: "no kubeconfig".to_owned() });
    assert_eq!(stage.model.standing, Standing::Failed("no kubeconfig".to_owned()));
    assert!(stage.keys("q").has_ended);
    assert!(TestConsole::starting().keys("ctrl-c").has_ended);
}

#[test]
fn findings_that_arrive_before_their_check_are_kept() {
    let mut stage = TestConsole::starting();
    stage.data(Update { clusters: fixtures::clusters(), ..Update::of(fixtures::findings()) });
    stage.reply(TaskReply::Started(Box::new(fixtures::start())));
    let shown: Vec<usize> = stage.model.checks.iter().map(|check| check.order.shown()).collect();
    assert_eq!(shown, [8, 5], "without the rows that match");
    stage.keys("2 =");
    let tree: Vec<&str> = stage.model.checks[1].order.window(0..9).map(|id| id.name.as_str()).collect();
    assert_eq!(tree, ["demo", "demo-transitgateway", "demo-vpc", "vpc-bridge", "alice-subnet", "lonely"]);
}

#[test]
fn a_command_in_the_detail_is_copied_from_there() {
    let mut stage = TestConsole::full();
    stage.keys("1");
    let subject = stage.model.subject().unwrap();
    let mut detail = fixtures::subject_detail(&subject);
    let command = "oc login https://api.example:6443 --issuer-url https://idp.example";
    detail.panels.push(Panel::Command { title: "LOG IN", command: Printable::line(command) });
    let ask = stage.model.detail.ask;
    stage.reply(TaskReply::Explained { ask, detail: Some(Box::new(detail)) });
    stage.keys("K");
    let [TerminalRequest::Copy(from_the_list)] = stage.wishes.as_slice() else { panic!("{:?}", stage.wishes) };
    assert!(from_the_list.starts_with("kubectl --context guest-payments get secret"), "{from_the_list}");
    stage.forget();
    stage.keys("enter K");
    assert_eq!(stage.wishes, [TerminalRequest::Copy(Printable::line(command))]);
}

#[test]
fn a_replaced_read_of_the_journal_is_dropped() {
    let mut stage = TestConsole::full();
    stage.keys("ga 0 ga");
    stage.reply(TaskReply::History { asked: 2, entries: Ok(fixtures::journal()) });
    stage.reply(TaskReply::History { asked: 1, entries: Ok(Vec::new()) });
    let History::Read(entries) = &stage.model.activity.history else { panic!("{:?}", stage.model.activity.history) };
    assert_eq!(entries.len(), fixtures::journal().len());
}
