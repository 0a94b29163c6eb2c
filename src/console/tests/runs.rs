//! What is said of a run and of the journal, and what can be undone.

use super::fixtures;
use crate::console::model::{RowState, Run};
use crate::console::task::{Stage, TaskReply};
use crate::console::testing::{TestConsole, now};
use trueup_core::engine::executor::{ActionResult, Halt, Report, Skip};
use trueup_core::engine::journal::{ActionStanding, Entry, VerifiedState};
use trueup_core::engine::{CloudRef, ObjectRef, Tier};

/// A run of so many deletes.
fn run(count: usize) -> Run {
    let plan = fixtures::plan(fixtures::deletes("guest-payments", count, Tier::T3));
    Run::new(&plan, &trueup_core::engine::Chosen::Selected, now())
}

fn journal(entries: Vec<Entry>) -> TestConsole {
    let mut stage = TestConsole::full();
    stage.keys("ga").reply(TaskReply::History { asked: u64::MAX, entries: Ok(entries) }).forget();
    stage
}

#[test]
fn only_what_was_verified_counts_as_done() {
    let skipped = |class| ActionResult::Skipped { class, why: String::new() };
    let cases = [
        (ActionResult::Done(VerifiedState::Gone), RowState::Verified, "1 of 1 done"),
        (ActionResult::Done(VerifiedState::Terminating), RowState::Terminating, "0 of 1 done, 1 terminating"),
        (ActionResult::Already, RowState::Already, "0 of 1 done, 1 already gone"),
        (ActionResult::Restored { why: String::new() }, RowState::Restored, "0 of 1 done, 1 restored"),
        (skipped(Skip::Stopped), RowState::NotSent, "0 of 1 done, 1 not sent"),
        (skipped(Skip::Stale), RowState::Skipped, "0 of 1 done, 1 skipped"),
        (skipped(Skip::Gate), RowState::Skipped, "0 of 1 done, 1 skipped"),
        (ActionResult::Failed { why: String::new() }, RowState::Failed, "0 of 1 done, 1 failed"),
        (ActionResult::Unknown { why: String::new() }, RowState::Unknown, "0 of 1 done, 1 unknown"),
    ];
    for (end, state, parts) in cases {
        let mut run = run(1);
        run.take("a01", now(), Stage::Ended(end.clone()));
        assert_eq!(run.row_state(&run.rows[0]), state, "{end:?}");
        assert_eq!(run.tally().parts().join(", "), parts, "{end:?}");
    }
}

#[test]
fn a_stopped_run_says_who_stopped_it_when_and_what_was_not_sent() {
    let mut stage = TestConsole::full();
    stage.model.activity.run = Some(run(3));
    stage.keys("ga x");
    let done = ActionResult::Done(VerifiedState::Gone);
    let not_sent = ActionResult::Skipped { class: Skip::Stopped, why: "stopped before it was sent".to_owned() };
    let ends = [("a01", done), ("a02", not_sent.clone()), ("a03", not_sent)];
    let report = Report {
        ends: ends.map(|(id, end)| (id.to_owned(), end)).into(),
        halted: Some(Halt::Stopped),
        ..Report::default()
    };
    stage.reply(TaskReply::Applied { report: Ok(Box::new(report)) });
    let screen = stage.draw(120, 40);
    assert!(screen.contains("STOPPED by you 10:00:00 · 1 of 3 done · 2 not sent"), "{screen}");
    assert!(screen.contains("r: plan the rest") && !screen.contains("verified"), "{screen}");
}

#[test]
fn the_rest_of_a_stopped_run_is_planned_from_its_findings() {
    let mut stage = TestConsole::full();
    let plan = fixtures::plan(fixtures::actions());
    let chosen = trueup_core::engine::Chosen::Only(["a1", "a2"].map(str::to_owned).into());
    stage.model.activity.run = Some(Run::new(&plan, &chosen, now()));
    stage.keys("ga").forget();
    assert_eq!(stage.keys("r").take_tasks(), [""; 0], "not while it runs");
    let not_sent = ActionResult::Skipped { class: Skip::Stopped, why: String::new() };
    let ends = [("a1", ActionResult::Done(VerifiedState::Gone)), ("a2", not_sent)];
    let report = Report { ends: ends.map(|(id, end)| (id.to_owned(), end)).into(), ..Report::default() };
    stage.reply(TaskReply::Applied { report: Ok(Box::new(report)) }).forget();
    assert_eq!(stage.keys("r").take_tasks(), ["plan ext-auth-ca-old"]);
}

#[test]
fn the_scan_for_references_is_reported_only_when_it_was_done() {
    let finished = |unreferenced_at| {
        let mut stage = TestConsole::full();
        stage.model.activity.run = Some(run(1));
        let ends = [("a01".to_owned(), ActionResult::Done(VerifiedState::Gone))].into();
        let report = Report { ends, unreferenced_at, ..Report::default() };
        stage.keys("ga").reply(TaskReply::Applied { report: Ok(Box::new(report)) });
        stage.draw(120, 40)
    };
    let checked = "Checked 10:00:00: nothing refers to the deleted objects.";
    assert!(finished(Some(now())).contains(checked));
    assert!(!finished(None).contains("nothing refers"));
}

#[test]
fn the_journal_marks_undone_entries_and_names_user_and_host() {
    let mut stage = journal(fixtures::journal());
    let screen = stage.draw(120, 40);
    let line = |id: &str| screen.lines().find(|line| line.contains(id)).unwrap_or_default().to_owned();
    assert!(line("11111111  ").contains("undone by 55555555"), "{screen}");
    assert!(line("55555555  ").contains("1 restored") && line("55555555  ").contains("undoes 11111111"), "{screen}");
    assert!(line("44444444  ").contains("2 deleted, 1 labelled, 1 not sent"), "{screen}");
    assert!(screen.contains("ann@desk") && screen.contains("5 entries, chain ok"), "{screen}");
}

#[test]
fn enter_opens_an_entry_and_esc_closes_it() {
    let mut stage = journal(fixtures::journal());
    let entry = stage.keys("j enter").draw(160, 40);
    for text in ["Journal entry 44444444", "by ann@desk (typed)", "no undo: nothing was sent", "undoable"] {
        assert!(entry.contains(text), "no `{text}` in\n{entry}");
    }
    let closed = stage.keys("esc").draw(160, 40);
    assert!(!closed.contains("Journal entry") && closed.contains("Journal"), "{closed}");
}

#[test]
fn undo_is_offered_for_what_can_be_undone_and_for_a_restore() {
    let newest = |change: &dyn Fn(&mut Entry)| {
        let mut entries = fixtures::journal();
        change(entries.last_mut().unwrap());
        let mut stage = journal(entries);
        let is_hinted = stage.draw(120, 40).lines().last().unwrap_or_default().contains("u undo");
        let tasks = stage.keys("u").take_tasks().len();
        (is_hinted, tasks, stage.toasts().join("; "))
    };
    assert_eq!(newest(&|_| {}), (true, 1, String::new()), "a restore can be undone");
    let failed = newest(&|entry| {
        let at = entry.approvals[0].at;
        entry.actions[0].standing = ActionStanding::Verified { state: VerifiedState::Failed, why: String::new(), at };
    });
    let why = "Undo is not possible: it was not created by this plan, or it is not known that it was";
    assert_eq!(failed, (false, 0, why.to_owned()));
    let in_cloud = newest(&|entry| {
        let at = entry.approvals[0].at;
        entry.actions[0].standing = ActionStanding::Verified { state: VerifiedState::Gone, why: String::new(), at };
        let sent = entry.actions[0].sent.as_mut().unwrap();
        sent.verb = trueup_core::engine::Verb::Delete;
        sent.target = cloud_target();
    });
    assert!(!in_cloud.0 && in_cloud.1 == 0 && in_cloud.2.starts_with("Undo is not possible: "), "{in_cloud:?}");
}

fn cloud_target() -> ObjectRef {
    ObjectRef::from(CloudRef {
        cloud: "ibm".to_owned(),
        account: "0123".to_owned(),
        kind: "vpc".to_owned(),
        id: "r006-1".to_owned(),
        crn: None,
        name: Some("quarry-vpc".to_owned()),
    })
}

#[test]
fn an_undone_entry_is_not_undone_again() {
    let mut stage = journal(fixtures::journal());
    assert_eq!(stage.keys("G u").take_tasks(), [""; 0]);
    assert_eq!(stage.toasts(), ["Already undone by 55555555"]);
}

#[test]
fn the_journal_says_who_approved_and_what_was_typed() {
    let mut entries = fixtures::journal();
    let cluster = &mut entries.last_mut().unwrap().approvals[0].clusters[0];
    cluster.typed = Some("guest-payments".to_owned());
    let mut stage = journal(entries);
    stage.keys("enter");
    let screen = stage.draw(160, 45);
    let expected = r#"by ann@desk (typed) for guest-payments, typed "guest-payments""#;
    assert!(screen.contains(expected), "{screen}");
}
