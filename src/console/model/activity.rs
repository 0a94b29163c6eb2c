//! The running apply and the journal.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::console::table::ListState;
use crate::console::task::{Stage, Task};
use trueup_core::engine::executor::{ActionResult, Report};
use trueup_core::engine::journal::Entry;
use trueup_core::engine::{Action, Chosen, Plan, Verb};

#[derive(Debug, Default)]
pub struct Activity {
    /// The console's own run, active or last.
    pub run: Option<Run>,
    /// The journal, newest first.
    pub history: History,
    /// Number of reads requested.
    history_asked: u64,
    pub list: ListState<String>,
    names: Vec<String>,
}

/// State of the journal.
#[derive(Debug, Default)]
pub enum History {
    #[default]
    NotRead,
    Read(Vec<Entry>),
    Failed(String),
}

#[derive(Debug)]
pub struct Run {
    pub plan: String,
    pub rows: Vec<RunRow>,
    pub state: RunState,
    /// A stop was requested and is pending.
    pub stopping: bool,
    pub notices: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    Running,
    Finished {
        halted: Option<String>,
    },
    /// It never started.
    Failed(String),
}

/// One action of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub id: String,
    pub verb: Verb,
    pub what: String,
    pub cluster: String,
    pub depends_on: Vec<String>,
    pub intended: Option<Timestamp>,
    pub sent: Option<Timestamp>,
    pub answered: Option<Timestamp>,
    /// How long the action has been waiting, and for what.
    pub waiting: Option<(Duration, String)>,
    pub ended: Option<(Timestamp, ActionResult)>,
}

impl Run {
    pub fn new(plan: &Plan, chosen: &Chosen) -> Self {
        let is_chosen = |action: &Action| match chosen {
            Chosen::Selected => action.selected && action.blocked_by.is_empty(),
            Chosen::Except(ids) => action.selected && action.blocked_by.is_empty() && !ids.contains(&action.id),
            Chosen::Only(ids) => ids.contains(&action.id),
        };
        let row = |action: &Action| RunRow {
            id: action.id.clone(),
            verb: action.verb(),
            what: format!("{} {}", action.target.kind, action.target.name),
            cluster: action.cluster.clone(),
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
        let rows = chosen.into_iter().map(|(_, action)| row(action)).collect();
        Self { plan: plan.id.clone(), rows, state: RunState::Running, stopping: false, notices: Vec::new() }
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

    pub fn finish(&mut self, report: &Report, halted: Option<String>, at: Timestamp) {
        self.notices.clone_from(&report.notices);
        // Interrupted actions end with the run.
        for row in &mut self.rows {
            row.waiting = None;
        }
        for row in self.rows.iter_mut().filter(|row| row.ended.is_none()) {
            row.ended = report.ends.get(&row.id).map(|end| (at, end.clone()));
        }
        self.state = RunState::Finished { halted };
    }

    pub fn is_running(&self) -> bool {
        self.state == RunState::Running
    }

    pub fn done(&self) -> usize {
        self.rows.iter().filter(|row| row.ended.is_some() && row.waiting.is_none()).count()
    }

    /// Number of actions per result.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (_, end) in self.rows.iter().filter_map(|row| row.ended.as_ref()) {
            *counts.entry(end.as_str()).or_insert(0) += 1;
        }
        counts
    }
}

impl Activity {
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(Run::is_running)
    }

    /// Requests the journal; results of earlier requests are dropped.
    pub fn request_history(&mut self) -> Task {
        self.history_asked += 1;
        Task::ReadHistory { asked: self.history_asked }
    }

    /// Stores the result of a read, unless a later one is pending.
    pub fn take_history(&mut self, asked: u64, entries: Result<Vec<Entry>, String>) {
        if asked < self.history_asked {
            return;
        }
        self.history = match entries {
            Ok(mut entries) => {
                entries.reverse();
                self.names = entries.iter().map(|entry| entry.plan.clone()).collect();
                History::Read(entries)
            }
            Err(why) => History::Failed(why),
        };
    }

    /// The plan to undo: the selected one, or the last run's until the journal is read again.
    pub fn to_undo(&self) -> Option<String> {
        match &self.history {
            History::NotRead => self.run.as_ref().map(|run| run.plan.clone()),
            History::Read(_) | History::Failed(_) => self.cursor().map(|entry| entry.plan.clone()),
        }
    }

    /// The selected entry of the journal.
    pub fn cursor(&self) -> Option<&Entry> {
        let History::Read(entries) = &self.history else { return None };
        let plan = self.list.cursor()?;
        entries.iter().find(|entry| entry.plan == *plan)
    }

    /// The journal's list state and rows.
    pub fn list_and_rows(&mut self) -> (&mut ListState<String>, &[String]) {
        (&mut self.list, &self.names)
    }

    pub fn settle(&mut self, journal_height: usize) {
        self.list.apply(self.names.as_slice(), journal_height);
    }
}
