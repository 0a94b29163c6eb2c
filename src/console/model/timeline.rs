//! The session's changes. Each can be undone and redone on the shown rows.
//!
//! Invariants:
//! - the number of changes is limited, the oldest are dropped first, and how many is known;
//! - a past moment is reached by undoing changes one by one: no copy of the fleet is kept;
//! - rows touched on the way keep their newest value, so that returning to live restores exactly what is known.
//!
//! Elsewhere: which changes are news (`update::data`), undoing them (`update::timeline`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{ChangeRecord, State, SubjectId};
use trueup_core::world::{Cluster, ClusterName, Link};
use trueup_fleet::live::Update;

use super::sorting::rank;
use crate::console::keymap::Action;

/// Changes kept: some 400 bytes each, and hours of a busy fleet.
const CHANGES_MAX: usize = 5_000;
/// Columns of the sparkline.
pub const SPARKS: usize = 20;

/// A judgement as it is shared, or none where the subject did not exist.
pub type Held = Option<Arc<CurrentJudgement>>;

/// One change of the session.
#[derive(Debug, Clone)]
pub struct TimedChange {
    pub at: Timestamp,
    pub what: ChangedThing,
    /// The change as the news have it: with the edit that it follows from.
    pub record: Option<Arc<ChangeRecord>>,
}

/// What changed, with its value before and after.
#[derive(Debug, Clone)]
pub enum ChangedThing {
    Finding {
        subject: Arc<SubjectId>,
        before: Held,
        after: Held,
    },
    /// The connection of a cluster.
    Link {
        before: Arc<Cluster>,
        after: Arc<Cluster>,
    },
}

/// The changes, and the moment that is shown.
#[derive(Debug)]
pub struct Timeline {
    /// When the session began.
    pub began: Timestamp,
    changes: VecDeque<TimedChange>,
    /// Changes dropped so far: the number of the first kept one.
    dropped: usize,
    most: usize,
    pub past: Option<Past>,
    /// The moment to compare with: the number of changes before it.
    pub mark: Option<usize>,
    pub comparison: Option<Comparison>,
}

/// A moment before now.
#[derive(Debug, Default)]
pub struct Past {
    /// Number of changes up to the moment.
    pub after: usize,
    /// Newest values of what was touched on the way here.
    pub findings: BTreeMap<Arc<SubjectId>, Held>,
    pub clusters: BTreeMap<ClusterName, Arc<Cluster>>,
    /// Changes of the fleet since.
    pub waiting: Update,
}

impl Past {
    /// The clusters whose rows differ from live.
    pub fn touched(&self) -> BTreeSet<ClusterName> {
        self.findings.keys().map(|subject| subject.cluster.clone()).chain(self.clusters.keys().cloned()).collect()
    }
}

/// Two moments side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub from: Timestamp,
    pub to: Timestamp,
    /// Most important first.
    pub rows: Vec<ComparedRow>,
    pub same: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    pub kind: Compared,
    pub subject: Arc<SubjectId>,
    pub before: Held,
    pub after: Held,
}

/// How a subject differs between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compared {
    Appeared,
    Worse,
    Better,
    Healed,
}

impl Compared {
    pub const ALL: [Self; 4] = [Self::Appeared, Self::Worse, Self::Better, Self::Healed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Healed => "healed",
        }
    }
}

impl Timeline {
    pub fn new(began: Timestamp) -> Self {
        Self {
            began,
            changes: VecDeque::new(),
            dropped: 0,
            most: CHANGES_MAX,
            past: None,
            mark: None,
            comparison: None,
        }
    }

    /// Keeps every change from now on: those of a recording are all known.
    pub fn keep_all(&mut self) {
        self.most = usize::MAX;
    }

    /// Whether an action is refused because a past moment is shown: only looking is possible there.
    pub fn refuses(&self, action: Action) -> bool {
        let writes = matches!(
            action,
            Action::Reconcile
                | Action::Approve
                | Action::DryRun
                | Action::WritePlan
                | Action::Discard
                | Action::Undo
                | Action::Accept
        );
        writes && self.past.is_some()
    }

    pub fn push(&mut self, change: TimedChange) {
        self.changes.push_back(change);
        if self.changes.len() > self.most {
            self.changes.pop_front();
            self.dropped += 1;
            self.mark = self.mark.filter(|mark| *mark >= self.dropped);
        }
    }

    /// Number of changes so far, dropped ones included.
    pub fn count(&self) -> usize {
        self.dropped + self.changes.len()
    }

    /// Number of changes that were dropped.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// A change by its number.
    pub fn get(&self, number: usize) -> Option<&TimedChange> {
        self.changes.get(number.checked_sub(self.dropped)?)
    }

    /// Number of changes up to the shown moment.
    pub fn here(&self) -> usize {
        self.past.as_ref().map_or(self.count(), |past| past.after)
    }

    /// The time of the moment after this many changes.
    pub fn time_of(&self, after: usize) -> Timestamp {
        after.checked_sub(1).and_then(|last| self.get(last)).map_or(self.began, |change| change.at)
    }

    /// The shown moment, if it is past.
    pub fn past_moment(&self) -> Option<Timestamp> {
        self.past.as_ref().map(|past| self.time_of(past.after))
    }

    /// Changes per part of the time between the first and the last, oldest first.
    pub fn sparks(&self) -> [u64; SPARKS] {
        let mut sparks = [0; SPARKS];
        let (Some(first), Some(last)) = (self.changes.front(), self.changes.back()) else { return sparks };
        let span = last.at.duration_since(first.at).as_millis().max(1);
        for change in &self.changes {
            let part = change.at.duration_since(first.at).as_millis() * SPARKS as i128 / span;
            sparks[usize::try_from(part).unwrap_or(0).min(SPARKS - 1)] += 1;
        }
        sparks
    }

    /// Compares the moments after `from` and `to` changes. `shown` is the number of findings at the later one.
    pub fn compare(&self, from: usize, to: usize, shown: usize) -> Comparison {
        let (from, to) = (from.min(to), from.max(to));
        let mut ends: BTreeMap<&Arc<SubjectId>, (&Held, &Held)> = BTreeMap::new();
        for change in (from..to).filter_map(|number| self.get(number)) {
            if let ChangedThing::Finding { subject, before, after } = &change.what {
                ends.entry(subject).or_insert((before, after)).1 = after;
            }
        }
        let mut rows: Vec<ComparedRow> = ends
            .into_iter()
            .filter_map(|(subject, (before, after))| {
                let kind = compared(before.as_deref(), after.as_deref())?;
                Some(ComparedRow { kind, subject: subject.clone(), before: before.clone(), after: after.clone() })
            })
            .collect();
        rows.sort_by_key(|row| row.kind);
        let changed = rows.iter().filter(|row| row.after.is_some()).count();
        Comparison { from: self.time_of(from), to: self.time_of(to), rows, same: shown.saturating_sub(changed) }
    }
}

impl Comparison {
    pub fn count(&self, kind: Compared) -> usize {
        self.rows.iter().filter(|row| row.kind == kind).count()
    }
}

/// A connection's state in a word or two.
pub fn link_word(link: &Link) -> &'static str {
    match link {
        Link::Idle => "idle",
        Link::Connecting => "connecting",
        Link::Listing { .. } => "listing",
        Link::Live { .. } => "live",
        Link::Degraded { .. } => "retrying",
        Link::AuthExpired { .. } => "login expired",
        Link::Failed { .. } => "unreachable",
        Link::Recorded => "recorded",
    }
}

/// How a subject differs; none when it does not.
fn compared(before: Option<&CurrentJudgement>, after: Option<&CurrentJudgement>) -> Option<Compared> {
    let is_bad = |held: &&CurrentJudgement| held.judgement.state != State::Match;
    match (before.filter(is_bad), after.filter(is_bad)) {
        (None, None) => None,
        (None, Some(_)) => Some(Compared::Appeared),
        (Some(_), None) => Some(Compared::Healed),
        (Some(before), Some(after)) if before.judgement.verdict == after.judgement.verdict => None,
        // An equal state with another verdict counts as worse: `expiring` became `expired`.
        (Some(before), Some(after)) if rank(after.judgement.state) <= rank(before.judgement.state) => {
            Some(Compared::Worse)
        }
        (Some(_), Some(_)) => Some(Compared::Better),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::testing::after;
    use crate::console::tests::fixtures::{COPIES, held, subject};

    fn change(
        number: i64,
        name: &str,
        before: Option<(State, &'static str)>,
        now: Option<(State, &'static str)>,
    ) -> TimedChange {
        let value =
            |held_as: Option<(State, &'static str)>| held_as.map(|(state, verdict)| Arc::new(held(state, verdict, 0)));
        let subject = Arc::new(subject(COPIES, "a", "Secret", name));
        TimedChange {
            at: after(number),
            what: ChangedThing::Finding { subject, before: value(before), after: value(now) },
            record: None,
        }
    }

    #[test]
    fn two_moments_compare_by_what_a_subject_was_and_became() {
        let (fine, extra) = (Some((State::Match, "in-use")), Some((State::Extra, "orphan")));
        let (soon, over) = (Some((State::Stale, "expiring")), Some((State::Stale, "expired")));
        let error = Some((State::Error, "unreadable"));
        let cases = [
            ("new and bad", vec![(None, extra)], Some(Compared::Appeared)),
            ("new and fine", vec![(None, fine)], None),
            ("was fine", vec![(fine, extra)], Some(Compared::Appeared)),
            ("became fine", vec![(extra, fine)], Some(Compared::Healed)),
            ("is gone", vec![(extra, None)], Some(Compared::Healed)),
            ("there and back", vec![(fine, extra), (extra, fine)], None),
            ("of the same state", vec![(soon, over)], Some(Compared::Worse)),
            ("more severe", vec![(extra, error)], Some(Compared::Worse)),
            ("less severe", vec![(error, extra)], Some(Compared::Better)),
        ];
        for (case, steps, expected) in cases {
            let mut timeline = Timeline::new(after(0));
            for (number, (before, now)) in steps.into_iter().enumerate() {
                timeline.push(change(number as i64, "x", before, now));
            }
            let found = timeline.compare(timeline.count(), 0, 1);
            assert_eq!(found.rows.first().map(|row| row.kind), expected, "case: {case}");
        }
    }

    #[test]
    fn the_oldest_changes_are_dropped_and_counted() {
        let mut timeline = Timeline::new(after(0));
        timeline.mark = Some(0);
        for number in 0..=CHANGES_MAX as i64 {
            timeline.push(change(number, "x", None, None));
        }
        assert_eq!((timeline.dropped(), timeline.count(), timeline.mark), (1, CHANGES_MAX + 1, None));
        assert!(timeline.get(0).is_none() && timeline.get(1).is_some());
    }
}
