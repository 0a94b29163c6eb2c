//! Output formats of plans and findings.
//!
//! Invariants: the same plan gives the same text; text from clusters is escaped.

mod blocks;
mod csv;
mod explain;
mod markdown;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod vocabulary;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::terminal::Terminal;
use trueup_core::engine::{Finding, Findings, Plan, State};

pub use csv::csv;
pub use explain::{explain_json, explain_text};
pub use markdown::markdown;
pub use table::table;
pub use text::{padded, wrapped};
pub use vocabulary::{count, place, state_mark};

/// A plan and how to show it.
pub struct Page<'p, F = Vec<Finding>> {
    pub plan: &'p Plan<F>,
    pub now: Timestamp,
    pub zone: TimeZone,
    pub terminal: Terminal,
    /// Whether matches are shown one by one.
    pub matches: Matches,
}

/// Where the findings of a plan come from.
pub trait FindingSource: Sync {
    /// Makes the findings of the wanted states, and passes what `make` returns for each, with the time its subject was
    /// created, to `take`: in order, until it fails.
    ///
    /// # Errors
    /// That of `take`.
    fn each<T: Send, E>(
        &self,
        wanted: impl Fn(State) -> bool,
        make: impl Fn(Finding, Option<Timestamp>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E>;

    /// What is known of each finding before it is made, in order.
    fn brief(&self) -> impl Iterator<Item = Brief<'_>>;
}

/// What is known of a finding before it is made.
pub struct Brief<'f> {
    pub state: State,
    pub cluster: &'f str,
    /// Of a cloud resource.
    pub account: Option<&'f str>,
}

impl FindingSource for Findings<'_> {
    fn each<T: Send, E>(
        &self,
        wanted: impl Fn(State) -> bool,
        make: impl Fn(Finding, Option<Timestamp>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        Findings::each(self, |row| wanted(row.state()), make, take)
    }

    fn brief(&self) -> impl Iterator<Item = Brief<'_>> {
        self.rows.iter().map(|row| Brief {
            state: row.state(),
            cluster: row.subject.home(),
            account: row.subject.cloud.as_ref().map(|place| place.account.as_str()),
        })
    }
}

/// The findings of a saved plan, which does not say when their subjects were created.
impl FindingSource for Vec<Finding> {
    fn each<T: Send, E>(
        &self,
        wanted: impl Fn(State) -> bool,
        make: impl Fn(Finding, Option<Timestamp>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let wanted = self.iter().filter(|finding| wanted(finding.state));
        wanted.map(|finding| make(finding.clone(), None)).try_for_each(take)
    }

    fn brief(&self) -> impl Iterator<Item = Brief<'_>> {
        self.iter().map(|finding| Brief {
            state: finding.state,
            cluster: &finding.cluster,
            account: finding.subject.cloud.as_ref().map(|cloud| cloud.account.as_str()),
        })
    }
}

/// What becomes of findings that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    Counted,
    Listed,
}

impl<F> Page<'_, F> {
    /// Whether findings of a state are shown one by one.
    fn lists(&self, state: State) -> bool {
        state != State::Match || self.matches == Matches::Listed
    }

    /// `2026-11-16 10:00:00 UTC`
    fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// `10:15:00`
    fn clock(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }
}
