//! A run of this console: its actions, their results, and the totals.
//!
//! Invariants: only what was read back as it was wanted counts as done. What is terminating, was gone already, was
//! restored or was not sent is counted separately.

use std::time::Duration;

use jiff::Timestamp;

use crate::console::task::Stage;
use trueup_core::engine::executor::{ActionResult, Halt, Report, Skip};
use trueup_core::engine::journal::VerifiedState;
use trueup_core::engine::{Action, Chosen, Plan, Verb};
use trueup_core::world::RiskClass;

#[derive(Debug)]
pub struct Run {
    pub plan: String,
    pub rows: Vec<RunRow>,
    pub state: RunState,
    pub started: Timestamp,
    /// When a stop was requested.
    pub stop_requested: Option<Timestamp>,
    pub notices: Vec<String>,
    /// When everything was read and nothing referred to the deleted objects.
    pub unreferenced_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    Running,
    Finished {
        halted: Option<Halt>,
        at: Timestamp,
    },
    /// It never started.
    Failed(String),
}

/// One action of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub id: String,
    /// The finding that the action is for.
    pub finding: Option<String>,
    pub verb: Verb,
    pub what: String,
    pub cluster: String,
    pub class: RiskClass,
    pub depends_on: Vec<String>,
    pub intended: Option<Timestamp>,
    pub sent: Option<Timestamp>,
    pub answered: Option<Timestamp>,
    /// How long the action has been waiting, and for what.
    pub waiting: Option<(Duration, String)>,
    pub ended: Option<(Timestamp, ActionResult)>,
}

/// Where one action of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    Queued,
    /// Its intent is in the journal, or its request is under way.
    Sending,
    /// The server answered; the object is being read.
    Verifying,
    /// Held back, and tried again.
    Waiting,
    /// Deleted, and still there: a finalizer, or a cloud that takes its time.
    Terminating,
    Verified,
    /// It was as wanted before anything was sent.
    Already,
    /// Deleted, and restored because something refers to it.
    Restored,
    Skipped,
    /// The run was stopped before it.
    NotSent,
    Failed,
    Unknown,
}

/// How many actions of a run are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub all: usize,
    pub done: usize,
    /// Deleted by another client before this run.
    pub already_gone: usize,
    /// As wanted before this run.
    pub unchanged: usize,
    pub terminating: usize,
    pub restored: usize,
    pub skipped: usize,
    pub not_sent: usize,
    pub failed: usize,
    pub unknown: usize,
    /// Queued or under way.
    pub open: usize,
}

impl Run {
    pub fn new(plan: &Plan, chosen: &Chosen, now: Timestamp) -> Self {
        let is_chosen = |action: &Action| match chosen {
            Chosen::Selected => action.selected && action.blocked_by.is_empty(),
            Chosen::Except(ids) => action.selected && action.blocked_by.is_empty() && !ids.contains(&action.id),
            Chosen::Only(ids) => ids.contains(&action.id),
        };
        let class = |cluster: &str| {
            plan.targets.iter().find(|target| target.cluster == cluster).map(|target| target.class).unwrap_or_default()
        };
        let row = |action: &Action| RunRow {
            id: action.id.clone(),
            finding: action.finding().map(str::to_owned),
            verb: action.verb(),
            what: format!("{} {}", action.target.kind, action.target.place()),
            cluster: action.cluster.clone(),
            class: class(&action.cluster),
            depends_on: action.depends_on.clone(),
            intended: None,
            sent: None,
            answered: None,
            waiting: None,
            ended: None,
        };
        let mut chosen: Vec<(usize, &Action)> = plan.steps().into_iter().zip(&plan.actions).collect();
        chosen.retain(|(_, action)| is_chosen(action));
        chosen.sort_by_key(|(step, action)| (&action.cluster, *step));
        Self {
            plan: plan.id.clone(),
            rows: chosen.into_iter().map(|(_, action)| row(action)).collect(),
            state: RunState::Running,
            started: now,
            stop_requested: None,
            notices: Vec::new(),
            unreferenced_at: None,
        }
    }

    pub fn take(&mut self, action: &str, at: Timestamp, stage: Stage) {
        let Some(row) = self.rows.iter_mut().find(|row| row.id == action) else { return };
        row.waiting = None;
        match stage {
            Stage::Intended => row.intended = Some(at),
            Stage::Sent => row.sent = Some(at),
            Stage::Answered => row.answered = Some(at),
            Stage::Waiting { so_far, why } => row.waiting = Some((so_far, why)),
            Stage::Ended(end) => row.ended = Some((at, end)),
        }
    }

    pub fn finish(&mut self, report: &Report, at: Timestamp) {
        self.notices.clone_from(&report.notices);
        self.unreferenced_at = report.unreferenced_at;
        // Interrupted actions end with the run.
        for row in &mut self.rows {
            row.waiting = None;
        }
        for row in self.rows.iter_mut().filter(|row| row.ended.is_none()) {
            row.ended = report.ends.get(&row.id).map(|end| (at, end.clone()));
        }
        self.state = RunState::Finished { halted: report.halted.clone(), at };
    }

    pub fn is_running(&self) -> bool {
        self.state == RunState::Running
    }

    /// Whether only the scan for references is left.
    pub fn is_scanning(&self) -> bool {
        let terminating = |row: &RunRow| row.waiting.is_none() && self.row_state(row) == RowState::Terminating;
        let tally = self.tally();
        let held = self.rows.iter().filter(|row| terminating(row)).count();
        self.is_running() && tally.open == 0 && tally.terminating == held
    }

    pub fn row_state(&self, row: &RunRow) -> RowState {
        match (&row.ended, &row.waiting) {
            (Some((_, ActionResult::Done(VerifiedState::Terminating))), _) => RowState::Terminating,
            (_, Some(_)) => RowState::Waiting,
            (Some((_, end)), None) => state_of(end),
            (None, None) if row.intended.is_some() && !self.is_running() => RowState::Unknown,
            (None, None) if row.answered.is_some() => RowState::Verifying,
            (None, None) if row.intended.is_some() => RowState::Sending,
            (None, None) if self.is_running() => RowState::Queued,
            (None, None) => RowState::NotSent,
        }
    }

    pub fn tally(&self) -> Tally {
        let mut tally = Tally { all: self.rows.len(), ..Tally::default() };
        for row in &self.rows {
            *match self.row_state(row) {
                RowState::Queued | RowState::Sending | RowState::Verifying | RowState::Waiting => &mut tally.open,
                RowState::Terminating => &mut tally.terminating,
                RowState::Verified => &mut tally.done,
                RowState::Already if row.verb == Verb::Delete => &mut tally.already_gone,
                RowState::Already => &mut tally.unchanged,
                RowState::Restored => &mut tally.restored,
                RowState::Skipped => &mut tally.skipped,
                RowState::NotSent => &mut tally.not_sent,
                RowState::Failed => &mut tally.failed,
                RowState::Unknown => &mut tally.unknown,
            } += 1;
        }
        tally
    }

    /// The findings of the actions that were not carried out.
    pub fn findings_left(&self) -> impl Iterator<Item = &str> {
        let is_left = |row: &&RunRow| match self.row_state(row) {
            RowState::Skipped | RowState::NotSent | RowState::Failed => true,
            RowState::Queued
            | RowState::Sending
            | RowState::Verifying
            | RowState::Waiting
            | RowState::Terminating
            | RowState::Verified
            | RowState::Already
            | RowState::Restored
            | RowState::Unknown => false,
        };
        self.rows.iter().filter(is_left).filter_map(|row| row.finding.as_deref())
    }
}

impl Tally {
    /// Every number that is not zero, besides the total: `12 of 19 done`, `7 not sent`.
    pub fn parts(&self) -> Vec<String> {
        let parts = [
            (self.already_gone, "already gone"),
            (self.unchanged, "unchanged"),
            (self.terminating, "terminating"),
            (self.restored, "restored"),
            (self.skipped, "skipped"),
            (self.not_sent, "not sent"),
            (self.failed, "failed"),
            (self.unknown, "unknown"),
        ];
        let done = format!("{} of {} done", self.done, self.all);
        let rest = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
        std::iter::once(done).chain(rest).collect()
    }
}

fn state_of(end: &ActionResult) -> RowState {
    match end {
        ActionResult::Done(state) => match state {
            VerifiedState::Gone | VerifiedState::Changed | VerifiedState::Created | VerifiedState::Restored => {
                RowState::Verified
            }
            VerifiedState::Terminating => RowState::Terminating,
            VerifiedState::Skipped => RowState::Skipped,
            VerifiedState::Failed => RowState::Failed,
            VerifiedState::Unknown => RowState::Unknown,
        },
        ActionResult::Already => RowState::Already,
        ActionResult::Restored { .. } => RowState::Restored,
        ActionResult::Skipped { class: Skip::Stopped, .. } => RowState::NotSent,
        ActionResult::Skipped { class: Skip::Stale | Skip::Gate, .. } => RowState::Skipped,
        ActionResult::Failed { .. } => RowState::Failed,
        ActionResult::Unknown { .. } => RowState::Unknown,
    }
}

/// What was done to an object, in one word.
pub fn past(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "created",
        Verb::Apply => "applied",
        Verb::Update => "updated",
        Verb::Label => "labelled",
        Verb::Annotate => "annotated",
        Verb::Patch => "patched",
        Verb::Delete => "deleted",
        Verb::Tag => "tagged",
        Verb::Untag => "untagged",
        Verb::ReOwn => "re-owned",
    }
}
