//! Output formats of plans and findings.
//!
//! Invariants: the same plan gives the same text; text from clusters is escaped.

mod csv;
mod explain;
mod markdown;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod vocabulary;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::terminal::Terminal;
use trueup_core::engine::Plan;

pub use csv::csv;
pub use explain::{explain_json, explain_text};
pub use markdown::markdown;
pub use table::table;
pub use text::{padded, wrapped};
pub use vocabulary::{count, place, state_mark};

/// A plan and how to show it.
pub struct Page<'p> {
    pub plan: &'p Plan,
    /// When the subjects of findings were created, by finding id.
    pub created: BTreeMap<String, Timestamp>,
    pub now: Timestamp,
    pub zone: TimeZone,
    pub terminal: Terminal,
    /// Whether matches are shown one by one.
    pub matches: Matches,
}

/// What becomes of findings that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    Counted,
    Listed,
}

impl Page<'_> {
    /// `2026-11-16 10:00:00 UTC`
    fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// `10:15:00`
    fn clock(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }
}
