//! The activity screen in every state.

use std::time::Duration;

use jiff::SignedDuration;

use super::fixtures;
use super::screens::{States, full, typed};
use crate::console::model::{Run, RunState};
use crate::console::task::{Stage as Step, TaskReply};
use crate::console::testing::{TestConsole, after};
use trueup_core::engine::executor::{ActionResult, Halt, Report, Skip};
use trueup_core::engine::journal::VerifiedState;
use trueup_core::engine::{Chosen, Plan};

/// A run of every action of the plan but the blocked one.
pub(super) fn running(act: impl FnOnce(&mut TestConsole)) -> TestConsole {
    full(|stage| {
        let plan: Plan = fixtures::plan(fixtures::actions());
        let ids = ["a1", "a2", "a4", "a5", "a6"].map(str::to_owned);
        stage.model.activity.run = Some(Run::new(&plan, &Chosen::Only(ids.into()), stage.model.now));
        stage.keys("ga").reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) });
        act(stage);
    })
}

fn progress(stage: &mut TestConsole, action: &str, steps: Vec<Step>) {
    for (place, stage_of) in steps.into_iter().enumerate() {
        let at = after(1) + SignedDuration::from_millis(7 * i64::try_from(place).unwrap());
        stage.reply(TaskReply::Progress { action: action.to_owned(), at, stage: stage_of });
    }
}

pub(super) fn every_stage(stage: &mut TestConsole) {
    let done = Step::Ended(ActionResult::Done(VerifiedState::Gone));
    progress(stage, "a1", vec![Step::Intended, Step::Sent, Step::Answered, done]);
    progress(stage, "a2", vec![Step::Intended, Step::Sent, Step::Answered]);
    progress(stage, "a4", vec![Step::Intended, Step::Sent]);
    progress(stage, "a5", vec![Step::Intended]);
}

/// One that is on its way out, and one that is held back.
fn every_wait(stage: &mut TestConsole) {
    let wait = |seconds: u64, why: &str| Step::Waiting { so_far: Duration::from_secs(seconds), why: why.to_owned() };
    let leaving = Step::Ended(ActionResult::Done(VerifiedState::Terminating));
    progress(stage, "a1", vec![Step::Intended, Step::Sent, Step::Answered, leaving, wait(150, "it is being deleted")]);
    let held =
        wait(45, "VPC: delete a VPC resource: 409 (load_balancer_busy: the load balancer is in state update_pending)");
    progress(stage, "a2", vec![Step::Intended, Step::Sent, Step::Answered, held]);
}

fn every_end(stage: &mut TestConsole) {
    let ends = [
        ("a1", ActionResult::Done(VerifiedState::Gone)),
        ("a2", ActionResult::Restored { why: "OAuth/cluster refers to it now".to_owned() }),
        (
            "a4",
            ActionResult::Skipped { class: Skip::Stale, why: "changed since the preview (rv 41, was 40)".to_owned() },
        ),
        ("a5", ActionResult::Failed { why: "the server refused it: 403 Forbidden".to_owned() }),
        ("a6", ActionResult::Unknown { why: "connection reset; the next run reads the outcome".to_owned() }),
    ];
    for (action, end) in ends {
        progress(stage, action, vec![Step::Intended, Step::Sent, Step::Ended(end)]);
    }
    let report = Report {
        plan: "sha256:1".to_owned(),
        notices: vec!["the log could not be written".to_owned()],
        ..Report::default()
    };
    stage.reply(TaskReply::Applied { report: Ok(Box::new(report)) });
    stage.later(Duration::from_secs(7));
}

/// The screen without a run.
fn journal() -> States {
    vec![
        (
            "nothing was ever applied",
            full(|stage| {
                stage.keys("ga").reply(TaskReply::History { asked: u64::MAX, entries: Ok(Vec::new()) });
            }),
        ),
        ("the journal is being read", typed("ga")),
        (
            "an unreadable journal",
            full(|stage| {
                let entries = Err("the journal is damaged at byte 812".to_owned());
                stage.keys("ga").reply(TaskReply::History { asked: u64::MAX, entries });
            }),
        ),
        (
            "the journal alone",
            full(|stage| {
                stage
                    .keys("ga")
                    .reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) })
                    .keys("j");
            }),
        ),
        (
            "an entry of the journal",
            full(|stage| {
                stage
                    .keys("ga")
                    .reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) })
                    .keys("j enter");
            }),
        ),
    ]
}

pub fn activity() -> States {
    let mut states = journal();
    states.extend(runs());
    states
}

/// The screen with a run at each stage, and at each end.
fn runs() -> States {
    let reported = |halted, end: ActionResult| {
        move |stage: &mut TestConsole| {
            let ends = ["a1", "a2", "a4", "a5", "a6"].map(|id| (id.to_owned(), end.clone()));
            let unreferenced_at = Some(stage.model.now);
            let plan = "sha256:5f21c9aa".to_owned();
            let report = Report { plan, halted, ends: ends.into(), unreferenced_at, ..Report::default() };
            stage.reply(TaskReply::Applied { report: Ok(Box::new(report)) });
            stage.reply(TaskReply::History { asked: u64::MAX, entries: Ok(fixtures::journal()) });
        }
    };
    let stopped = ActionResult::Skipped { class: Skip::Stopped, why: "stopped before it was sent".to_owned() };
    let gated =
        ActionResult::Skipped { class: Skip::Gate, why: "not-complete: the list is older than 60 s".to_owned() };
    vec![
        ("every stage", running(every_stage)),
        ("what takes its time", running(every_wait)),
        (
            "stopping",
            running(|stage| {
                every_stage(stage);
                stage.keys("x");
            }),
        ),
        (
            "stopped",
            running(|stage| {
                every_stage(stage);
                stage.later(Duration::from_secs(29)).keys("x").later(Duration::from_secs(2));
                reported(Some(Halt::Stopped), stopped)(stage);
            }),
        ),
        ("halted by a gate", running(reported(Some(Halt::Gate(fixtures::blocked())), gated))),
        ("every end", running(every_end)),
        ("found done", running(reported(None, ActionResult::Already))),
        (
            "never begun",
            running(|stage| {
                stage.reply(TaskReply::Applied { report: Err("another trueup holds the journal (pid 12)".to_owned()) });
                assert!(matches!(stage.model.activity.run.as_ref().unwrap().state, RunState::Failed(_)));
            }),
        ),
        (
            "leaving while it runs",
            running(|stage| {
                stage.keys("ctrl-c");
            }),
        ),
    ]
}
