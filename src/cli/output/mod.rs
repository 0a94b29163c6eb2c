//! Output formats of plans and findings.
//!
//! Invariants: the same plan gives the same text; text from clusters is escaped.

mod blocks;
mod csv;
mod explain;
mod html;
mod junit;
mod markdown;
mod name;
mod openmetrics;
mod sarif;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod vocabulary;
mod yaml;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::args::PlanFormat;
use super::terminal::Terminal;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Finding, Findings, Plan, State};

pub use explain::{explain_json, explain_text};
pub use table::Detail;
pub use text::{padded, wrapped};
pub use vocabulary::{age, count, place, state_mark};

use self::csv::csv;
use self::html::html;
use self::junit::junit;
use self::markdown::markdown;
use self::name::name;
use self::openmetrics::openmetrics;
use self::sarif::sarif;
use self::table::table;
use self::yaml::yaml;

/// Where the parts of a document go.
pub type Writer<'w, E> = dyn FnMut(&Printable) -> Result<(), E> + 'w;

/// Passes a plan in a format to `write`, in parts. `json` passes its file.
///
/// # Errors
/// That of `write`.
pub fn plan<F: FindingSource, E>(
    page: &Page<'_, F>,
    format: PlanFormat,
    json: impl FnOnce(&mut Writer<'_, E>) -> Result<(), E>,
    write: &mut Writer<'_, E>,
) -> Result<(), E> {
    match format {
        PlanFormat::Table => write(&Printable::styled(&table(page, Detail::Usual))),
        PlanFormat::Wide => write(&Printable::styled(&table(&page.uncut(), Detail::Wide))),
        PlanFormat::Json => json(write),
        PlanFormat::Yaml => yaml(page, write),
        PlanFormat::Name => name(page, write),
        PlanFormat::Markdown => markdown(page, write),
        PlanFormat::Csv => csv(page, write),
        PlanFormat::Junit => junit(page, write),
        PlanFormat::Sarif => sarif(page, write),
        PlanFormat::Openmetrics => openmetrics(page, write),
        PlanFormat::Html => html(page, write),
    }
}

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
    pub check: &'f str,
    pub state: State,
    pub verdict: &'f str,
    /// It would not match without that.
    pub is_accepted: bool,
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
            check: row.subject.domain.0,
            state: row.state(),
            verdict: row.judgement.verdict,
            is_accepted: row.state() != row.judgement.state,
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
            account: finding.subject.cloud.as_ref().map(|cloud| cloud.account.as_str()),
            ..Brief::of(finding)
        })
    }
}

impl<'f> Brief<'f> {
    /// What a finding of a cluster says.
    fn of(finding: &'f Finding) -> Self {
        Self {
            check: &finding.domain,
            state: finding.state,
            verdict: &finding.verdict,
            is_accepted: finding.accepted.as_ref().is_some_and(|accepted| accepted.state != finding.state),
            cluster: &finding.cluster,
            account: None,
        }
    }
}

/// What becomes of findings that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    Counted,
    Listed,
}

impl<'p, F> Page<'p, F> {
    /// The same page for lines of any length.
    fn uncut(&self) -> Page<'p, F> {
        let terminal = Terminal { width: None, ..self.terminal };
        Page { plan: self.plan, now: self.now, zone: self.zone.clone(), terminal, matches: self.matches }
    }

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
