//! The running apply and the journal.

use super::journal::{JournalRow, UndoOffer};
use super::run::Run;
use crate::console::table::ListState;
use crate::console::task::Task;
use trueup_core::engine::journal::Entry;

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
    pub upper: Upper,
}

/// Content of the upper pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Upper {
    #[default]
    Run,
    /// The selected entry of the journal.
    Entry,
}

/// State of the journal.
#[derive(Debug, Default)]
pub enum History {
    #[default]
    NotRead,
    Read(Vec<JournalRow>),
    Failed(String),
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
            Ok(entries) => {
                let rows = JournalRow::all(entries);
                self.names = rows.iter().map(|row| row.entry.plan.clone()).collect();
                History::Read(rows)
            }
            Err(why) => History::Failed(why),
        };
    }

    /// The plan that undo is about, and whether it can be undone: the selected entry, or the last run's until the journal is
    /// read again.
    pub fn to_undo(&self) -> Option<(&str, UndoOffer)> {
        match &self.history {
            History::NotRead => self.run.as_ref().map(|run| (run.plan.as_str(), UndoOffer::Possible)),
            History::Read(_) | History::Failed(_) => {
                self.cursor().map(|row| (row.entry.plan.as_str(), row.undo.clone()))
            }
        }
    }

    /// The selected entry of the journal.
    pub fn cursor(&self) -> Option<&JournalRow> {
        let History::Read(rows) = &self.history else { return None };
        let plan = self.list.cursor()?;
        rows.iter().find(|row| row.entry.plan == *plan)
    }

    /// The entry in the upper pane.
    pub fn opened(&self) -> Option<&JournalRow> {
        match self.upper {
            Upper::Run => None,
            Upper::Entry => self.cursor(),
        }
    }

    /// The journal's list state and rows.
    pub fn list_and_rows(&mut self) -> (&mut ListState<String>, &[String]) {
        (&mut self.list, &self.names)
    }

    pub fn settle(&mut self, journal_height: usize) {
        self.list.apply(self.names.as_slice(), journal_height);
    }
}
