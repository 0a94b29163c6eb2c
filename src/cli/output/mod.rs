//! A plan in the forms people and programs read.
//!
//! Invariants: the same plan gives the same text; everything that came from a cluster is escaped on its way out.

mod csv;
mod explain;
mod markdown;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod words;

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
pub use words::{count, place, state_mark};

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

/// The plan as its file holds it.
pub fn json(plan: &Plan) -> String {
    let text = serde_json::to_string_pretty(plan).expect("a plan is made of JSON values and text keys");
    trueup_core::engine::text::printable_json(&text) + "\n"
}

/// The first characters of a plan's id, as people say it.
pub fn short_id(plan: &Plan) -> &str {
    let hex = plan.id.strip_prefix("sha256:").unwrap_or(&plan.id);
    hex.get(..8).unwrap_or(hex)
}
