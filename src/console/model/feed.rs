//! Recent changes of verdicts, and the number of differences per cluster.
//!
//! Invariants: the size is limited; the oldest entries are dropped first.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use trueup_core::engine::State;
use trueup_core::world::ClusterName;

/// Entries kept for scrolling.
const LINES_MAX: usize = 500;
/// Columns of the sparkline, each five minutes of the last hour.
pub const COLUMNS: usize = 12;
const COLUMN_SECONDS: i64 = 300;
/// The name under which the differences of the whole fleet are noted. No cluster has an empty name.
pub const FLEET_DRIFT: &str = "";

/// A changed verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedLine {
    pub at: Timestamp,
    pub cluster: ClusterName,
    /// `Secret openshift-config/x`
    pub subject: String,
    /// The new verdict; none when the subject no longer exists.
    pub now: Option<(State, &'static str)>,
}

#[derive(Debug, Default)]
pub struct Feed {
    lines: VecDeque<FeedLine>,
    recorded: usize,
    drift: BTreeMap<ClusterName, VecDeque<(i64, u32)>>,
}

impl Feed {
    pub fn push(&mut self, line: FeedLine) {
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        self.recorded += 1;
    }

    /// Number of entries so far, dropped ones included.
    pub fn recorded(&self) -> usize {
        self.recorded
    }

    /// Entries, newest first.
    pub fn lines(&self) -> impl Iterator<Item = &FeedLine> {
        self.lines.iter().rev()
    }

    /// Records the number of differences of a cluster.
    pub fn note(&mut self, cluster: &ClusterName, now: Timestamp, differences: u32) {
        let column = now.as_second().div_euclid(COLUMN_SECONDS);
        let columns = self.drift.entry(cluster.clone()).or_default();
        match columns.back_mut() {
            // A column keeps its maximum, so that short spikes are visible.
            Some((last, most)) if *last == column => *most = (*most).max(differences),
            _ => columns.push_back((column, differences)),
        }
        while columns.len() > COLUMNS + 1 {
            columns.pop_front();
        }
    }

    /// The last hour, column by column, oldest first; empty before the first record.
    pub fn hour(&self, cluster: &ClusterName, now: Timestamp) -> Vec<u32> {
        let Some(columns) = self.drift.get(cluster) else { return Vec::new() };
        let last = now.as_second().div_euclid(COLUMN_SECONDS);
        let first = last + 1 - i64::try_from(COLUMNS).unwrap_or(i64::MAX);
        let mut line = Vec::with_capacity(COLUMNS);
        for column in first..=last {
            let known = columns.iter().rev().find(|(at, _)| *at <= column).map(|(_, count)| *count);
            line.extend(known);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    #[test]
    fn an_hour_shows_the_maximum_of_each_five_minutes() {
        let (mut feed, cluster) = (Feed::default(), ClusterName::new("a"));
        assert!(feed.hour(&cluster, at(0)).is_empty());
        feed.note(&cluster, at(0), 1);
        feed.note(&cluster, at(1), 7);
        feed.note(&cluster, at(2), 3);
        assert_eq!(feed.hour(&cluster, at(2)), [7]);
        feed.note(&cluster, at(12), 2);
        assert_eq!(feed.hour(&cluster, at(14)), [7, 7, 2]);
        assert_eq!(feed.hour(&cluster, at(600)), [2; COLUMNS]);
    }

    #[test]
    fn the_oldest_entries_are_dropped() {
        let mut feed = Feed::default();
        for number in 0..=LINES_MAX {
            let (cluster, subject) = (ClusterName::new("a"), number.to_string());
            feed.push(FeedLine { at: at(0), cluster, subject, now: None });
        }
        assert_eq!(feed.lines().count(), LINES_MAX);
        assert_eq!(feed.lines().next().map(|line| line.subject.clone()), Some(LINES_MAX.to_string()));
    }
}
