//! News of the fleet, and the number of differences of each cluster over the last hour.
//!
//! Invariants: the size is limited; the oldest entries are dropped first; changes of one cause are one entry.
//!
//! Elsewhere: which changes are recorded (`records`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use trueup_core::engine::{ChangeRecord, CheckName, RecordedChange, RecordedVerdict};
use trueup_core::world::{ClusterName, ObjectEdit};

use super::findings::shown_name;

/// Entries kept for scrolling.
const LINES_MAX: usize = 500;
/// Columns of the sparkline, each five minutes of the last hour.
pub const COLUMNS: usize = 12;
/// The name under which the differences of the whole fleet are noted. No cluster has an empty name.
pub const FLEET_DRIFT: &str = "";
const MINUTES_PER_COLUMN: i64 = 5;
const MINUTE: i64 = 60;
/// Minutes of counts that are kept: one hour.
const MINUTES_MAX: usize = 60;
/// Changes of one cause arrive in several updates; those within this time are one entry.
const ONE_ENTRY: SignedDuration = SignedDuration::from_secs(30);
/// Entries that a further change is looked for in.
const MERGED_AMONG: usize = 8;

/// One entry of the news: a change, or several that follow from one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedLine {
    /// The latest of them.
    pub record: Arc<ChangeRecord>,
    /// How many changes it stands for.
    pub count: usize,
}

#[derive(Debug, Default)]
pub struct Feed {
    lines: VecDeque<FeedLine>,
    recorded: usize,
    /// The number of differences at the end of each minute that had a change.
    drift: BTreeMap<ClusterName, VecDeque<(i64, u32)>>,
}

impl FeedLine {
    pub fn at(&self) -> Timestamp {
        self.record.at
    }

    pub fn cluster(&self) -> &ClusterName {
        &self.record.cluster
    }

    /// What changed: `Secret openshift-config/x`, `12 copies` of a check that calls them so, or `link`.
    pub fn subject(&self, plural: &str) -> String {
        match &self.record.change {
            RecordedChange::Link { .. } => "link".to_owned(),
            RecordedChange::Finding { .. } if self.count > 1 => format!("{} {plural}", self.count),
            RecordedChange::Finding { subject, .. } => {
                let place = subject.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
                format!("{} {place}{}", subject.kind, shown_name(subject))
            }
        }
    }

    /// The check that it is about; nothing for a link.
    pub fn check(&self) -> Option<CheckName> {
        match &self.record.change {
            RecordedChange::Finding { subject, .. } => Some(subject.domain),
            RecordedChange::Link { .. } => None,
        }
    }

    /// The new verdict; nothing for a link, and where the subject no longer exists.
    pub fn now(&self) -> Option<RecordedVerdict> {
        match &self.record.change {
            RecordedChange::Finding { to, .. } => *to,
            RecordedChange::Link { .. } => None,
        }
    }

    /// `oidcProviders 3 → 1  by hypershift-cli`, with this arrow; empty where neither is known.
    pub fn detail(&self, arrow: &str) -> String {
        let by = self.record.by().map(|by| format!("by {by}"));
        [self.record.field(arrow), by].into_iter().flatten().collect::<Vec<_>>().join("  ")
    }

    /// Whether a further change belongs to this entry.
    fn takes(&self, record: &ChangeRecord) -> bool {
        let is_near = record.at.duration_since(self.record.at) <= ONE_ENTRY;
        is_near && self.record.cluster == record.cluster && kind_of(&self.record.change) == kind_of(&record.change)
    }
}

/// What the changes of one entry have in common.
#[derive(PartialEq)]
struct ChangeKind<'c> {
    check: CheckName,
    from: Option<RecordedVerdict>,
    to: Option<RecordedVerdict>,
    edit: Option<&'c ObjectEdit>,
}

/// The kind of a change; nothing for a link, which is an entry of its own.
fn kind_of(change: &RecordedChange) -> Option<ChangeKind<'_>> {
    match change {
        RecordedChange::Finding { subject, from, to, edit } => {
            Some(ChangeKind { check: subject.domain, from: *from, to: *to, edit: edit.as_deref() })
        }
        RecordedChange::Link { .. } => None,
    }
}

impl Feed {
    pub fn push(&mut self, record: Arc<ChangeRecord>) {
        self.recorded += 1;
        let is_finding = kind_of(&record.change).is_some();
        let mut latest = self.lines.iter_mut().rev().take(MERGED_AMONG);
        if let Some(line) = latest.find(|line| is_finding && line.takes(&record)) {
            line.count += 1;
            line.record = record;
            return;
        }
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(FeedLine { record, count: 1 });
    }

    /// Number of changes so far, dropped ones included.
    pub fn recorded(&self) -> usize {
        self.recorded
    }

    /// Entries, newest first.
    pub fn lines(&self) -> impl Iterator<Item = &FeedLine> {
        self.lines.iter().rev()
    }

    /// Entries of the last minute.
    pub fn per_minute(&self, now: Timestamp) -> usize {
        self.lines().take_while(|line| now.duration_since(line.at()).as_secs() < MINUTE).count()
    }

    /// Records the number of differences of a cluster.
    pub fn note(&mut self, cluster: &ClusterName, now: Timestamp, differences: u32) {
        let minute = now.as_second().div_euclid(MINUTE);
        let minutes = self.drift.entry(cluster.clone()).or_default();
        match minutes.back_mut() {
            Some((last, count)) if *last == minute => *count = differences,
            Some((_, count)) if *count == differences => {}
            _ => minutes.push_back((minute, differences)),
        }
        while minutes.len() > MINUTES_MAX + 1 {
            minutes.pop_front();
        }
    }

    /// The number of differences at the end of each five minutes of the last hour, oldest first; empty before the first.
    pub fn hour(&self, cluster: &ClusterName, now: Timestamp) -> Vec<u32> {
        let Some(minutes) = self.drift.get(cluster) else { return Vec::new() };
        let last = now.as_second().div_euclid(MINUTE);
        let ends = (0..COLUMNS as i64).rev().map(|column| last - column * MINUTES_PER_COLUMN);
        ends.filter_map(|end| Some(minutes.iter().rev().find(|(at, _)| *at <= end)?.1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::{LinkState, State, SubjectId};
    use trueup_core::world::{EditedPart, Key};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    fn found(name: &str, cluster: &str, second: i64, edit: Option<&Arc<ObjectEdit>>) -> Arc<ChangeRecord> {
        let subject = Arc::new(SubjectId {
            domain: CheckName("toy"),
            cluster: ClusterName::new(cluster),
            api_version: "v1",
            kind: "Secret",
            namespace: Some("n".to_owned()),
            name: name.to_owned(),
            cloud: None,
        });
        let verdict = |state| Some(RecordedVerdict { state, verdict: "toy" });
        let (from, to) = (verdict(State::Match), verdict(State::Extra));
        let at = at(0) + SignedDuration::from_secs(second);
        let change = RecordedChange::Finding { subject, from, to, edit: edit.cloned() };
        Arc::new(ChangeRecord { at, cluster: ClusterName::new(cluster), change })
    }

    fn edit(name: &str) -> Arc<ObjectEdit> {
        let (cluster, key) = (ClusterName::new("mgmt"), Key::new(None, name));
        let by = Some("cli".into());
        Arc::new(ObjectEdit { cluster, kind: "HostedCluster", key, change: EditedPart::Created, at: at(0), by })
    }

    #[test]
    fn an_hour_shows_the_number_at_each_minute_and_not_the_maximum() {
        let (mut feed, cluster) = (Feed::default(), ClusterName::new("a"));
        assert!(feed.hour(&cluster, at(0)).is_empty());
        feed.note(&cluster, at(0), 1);
        feed.note(&cluster, at(1), 7);
        feed.note(&cluster, at(2), 3);
        assert_eq!(feed.hour(&cluster, at(2)), [3]);
        assert_eq!(feed.hour(&cluster, at(6)), [7, 3]);
        feed.note(&cluster, at(12), 2);
        assert_eq!(feed.hour(&cluster, at(14)), [3, 3, 2]);
        assert_eq!(feed.hour(&cluster, at(600)), [2; COLUMNS]);
    }

    #[test]
    fn the_oldest_entries_are_dropped() {
        let mut feed = Feed::default();
        for number in 0..=LINES_MAX {
            feed.push(found(&number.to_string(), &number.to_string(), 0, None));
        }
        assert_eq!(feed.lines().count(), LINES_MAX);
        assert_eq!(feed.lines().next().map(|line| line.cluster().to_string()), Some(LINES_MAX.to_string()));
    }

    #[test]
    fn changes_of_one_cause_are_one_entry() {
        let (one, other) = (edit("one"), edit("other"));
        let cases = [
            ("one edit", vec![found("x", "a", 0, Some(&one)), found("y", "a", 2, Some(&one))], vec!["2 copies"]),
            (
                "two edits",
                vec![found("x", "a", 0, Some(&one)), found("y", "a", 2, Some(&other))],
                vec!["Secret n/y", "Secret n/x"],
            ),
            (
                "two clusters",
                vec![found("x", "a", 0, None), found("x", "b", 0, None)],
                vec!["Secret n/x", "Secret n/x"],
            ),
            ("much later", vec![found("x", "a", 0, None), found("y", "a", 31, None)], vec!["Secret n/y", "Secret n/x"]),
        ];
        for (case, records, expected) in cases {
            let mut feed = Feed::default();
            records.into_iter().for_each(|record| feed.push(record));
            let subjects: Vec<String> = feed.lines().map(|line| line.subject("copies")).collect();
            assert_eq!(subjects, expected, "case: {case}");
        }
    }

    #[test]
    fn an_entry_says_what_is_behind_it_and_a_link_is_named() {
        let mut feed = Feed::default();
        feed.push(found("x", "a", 0, Some(&edit("one"))));
        let (from, to) = (LinkState::Live, LinkState::Retrying);
        let change = RecordedChange::Link { from, to, why: Some("connection refused".into()) };
        feed.push(Arc::new(ChangeRecord { at: at(1), cluster: ClusterName::new("b"), change }));
        let lines: Vec<(String, String)> =
            feed.lines().map(|line| (line.subject("copies"), line.detail("→"))).collect();
        let expected = [("link", "connection refused"), ("Secret n/x", "created  by cli")];
        assert_eq!(lines, expected.map(|(subject, detail)| (subject.to_owned(), detail.to_owned())));
        assert_eq!((feed.per_minute(at(1)), feed.per_minute(at(2))), (1, 0));
    }
}
