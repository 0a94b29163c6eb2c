//! Current judgements, with counts.
//!
//! Invariants: the counts match the findings, whatever the order of changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use trueup_checks::Cell;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{CheckName, State, SubjectId};
use trueup_core::world::ClusterName;

#[derive(Debug, Default)]
pub struct Findings {
    held: BTreeMap<Arc<SubjectId>, Arc<CurrentJudgement>>,
    counts: BTreeMap<(ClusterName, CheckName), StateCounts>,
    /// The counts of each check over all clusters.
    by_check: BTreeMap<CheckName, StateCounts>,
    /// When credentials and certificates end, the soonest first.
    ends: BTreeSet<(Timestamp, Arc<SubjectId>)>,
    /// The findings of each cluster by check and verdict, the worst state first.
    verdicts: BTreeMap<(ClusterName, usize, CheckName, &'static str), u32>,
}

/// The states of findings, the worst first.
pub const WORST_FIRST: [State; State::ALL.len()] = [
    State::Error,
    State::Drift,
    State::Missing,
    State::Extra,
    State::Stale,
    State::Unknown,
    State::Blocked,
    State::Match,
];

/// Number of findings per state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateCounts([u32; State::ALL.len()]);

impl StateCounts {
    pub fn of(&self, state: State) -> u32 {
        self.0[state as usize]
    }

    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Everything except matches.
    pub fn differences(&self) -> u32 {
        self.total() - self.of(State::Match)
    }

    /// The counts of everything except matches, the worst state first.
    pub fn worst(&self) -> impl Iterator<Item = (State, u32)> {
        let counted = WORST_FIRST.into_iter().map(|state| (state, self.of(state)));
        counted.filter(|(state, count)| *state != State::Match && *count > 0)
    }

    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }

    #[cfg(test)]
    pub fn of_states(counts: &[(State, u32)]) -> Self {
        let mut all = Self::default();
        counts.iter().for_each(|(state, count)| all.0[*state as usize] = *count);
        all
    }

    fn count(&mut self, state: State) {
        self.0[state as usize] += 1;
    }

    fn discount(&mut self, state: State) {
        self.0[state as usize] -= 1;
    }
}

impl Findings {
    pub fn get(&self, subject: &SubjectId) -> Option<&CurrentJudgement> {
        self.held.get(subject).map(Arc::as_ref)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<SubjectId>, &Arc<CurrentJudgement>)> {
        self.held.iter()
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub fn counts(&self, cluster: &ClusterName, domain: CheckName) -> Option<&StateCounts> {
        self.counts.get(&(cluster.clone(), domain))
    }

    /// The counts of a check over all clusters.
    pub fn counts_of(&self, domain: CheckName) -> StateCounts {
        self.by_check.get(&domain).copied().unwrap_or_default()
    }

    /// The counts of a cluster over all checks.
    pub fn counts_in(&self, cluster: &ClusterName) -> StateCounts {
        let mut all = StateCounts::default();
        self.checks_of(cluster).for_each(|(_, counts)| all.add(counts));
        all
    }

    /// The counts of a cluster for each check.
    pub fn checks_of(&self, cluster: &ClusterName) -> impl Iterator<Item = (CheckName, &StateCounts)> {
        let from = (cluster.clone(), CheckName(""));
        let own = self.counts.range(from..).take_while(move |((name, _), _)| name == cluster);
        own.map(|((_, check), counts)| (*check, counts))
    }

    /// The verdict that most findings of the worst state of a cluster have, with its check and their number.
    pub fn largest(&self, cluster: &ClusterName) -> Option<(CheckName, &'static str, u32)> {
        let from = (cluster.clone(), 0, CheckName(""), "");
        let own = || self.verdicts.range(from.clone()..).take_while(|((name, ..), _)| name == cluster);
        let worst = own().next().map(|((_, rank, ..), _)| *rank).filter(|rank| WORST_FIRST[*rank] != State::Match)?;
        let of_worst = own().take_while(|((_, rank, ..), _)| *rank == worst);
        // The first of equals: `max_by_key` returns the last.
        let largest = of_worst.min_by_key(|(_, count)| std::cmp::Reverse(**count));
        largest.map(|((_, _, check, verdict), count)| (*check, *verdict, *count))
    }

    /// Subjects that end after this time, the soonest first.
    pub fn ends_after(&self, now: Timestamp) -> impl Iterator<Item = (Timestamp, &Arc<SubjectId>)> {
        self.ends.iter().skip_while(move |(until, _)| *until <= now).map(|(until, subject)| (*until, subject))
    }

    fn note_verdict(&mut self, subject: &SubjectId, held: &CurrentJudgement, by: i64) {
        let rank = WORST_FIRST.iter().position(|state| *state == held.judgement.state).unwrap_or(WORST_FIRST.len() - 1);
        let key = (subject.cluster.clone(), rank, subject.domain, held.judgement.verdict);
        let count = self.verdicts.entry(key.clone()).or_default();
        *count = u32::try_from(i64::from(*count) + by).unwrap_or(0);
        if *count == 0 {
            self.verdicts.remove(&key);
        }
    }

    /// Stores a judgement; returns the shared id of the subject and the previous judgement.
    pub fn put(
        &mut self,
        subject: Arc<SubjectId>,
        held: Arc<CurrentJudgement>,
    ) -> (Arc<SubjectId>, Option<Arc<CurrentJudgement>>) {
        self.note_verdict(&subject, &held, 1);
        let counts = self.counts.entry((subject.cluster.clone(), subject.domain)).or_default();
        let all = self.by_check.entry(subject.domain).or_default();
        counts.count(held.judgement.state);
        all.count(held.judgement.state);
        let known = self.held.get_key_value(&subject).map(|(known, _)| known.clone());
        let id = known.unwrap_or(subject);
        self.ends.extend(end_of(&held).map(|until| (until, id.clone())));
        let before = self.held.insert(id.clone(), held.clone());
        if let Some(before) = &before {
            if let Some(until) = end_of(before).filter(|until| end_of(&held) != Some(*until)) {
                self.ends.remove(&(until, id.clone()));
            }
            counts.discount(before.judgement.state);
            all.discount(before.judgement.state);
            self.note_verdict(&id, before, -1);
        }
        (id, before)
    }

    /// Removes a subject; returns its judgement.
    pub fn remove(&mut self, subject: &SubjectId) -> Option<(Arc<SubjectId>, Arc<CurrentJudgement>)> {
        let (id, held) = self.held.remove_entry(subject)?;
        if let Some(counts) = self.counts.get_mut(&(subject.cluster.clone(), subject.domain)) {
            counts.discount(held.judgement.state);
        }
        if let Some(all) = self.by_check.get_mut(&subject.domain) {
            all.discount(held.judgement.state);
        }
        self.note_verdict(&id, &held, -1);
        if let Some(until) = end_of(&held) {
            self.ends.remove(&(until, id.clone()));
        }
        Some((id, held))
    }
}

/// When the credential or certificate of a finding ends.
fn end_of(held: &CurrentJudgement) -> Option<Timestamp> {
    let ends = held.cells.iter().filter_map(|cell| match cell {
        Cell::Left { until, .. } => Some(*until),
        Cell::Nothing | Cell::Text(_) | Cell::Number(_) | Cell::Age(_) | Cell::Pair { .. } => None,
    });
    ends.min()
}

/// The name of a subject as shown; `*` stands for objects that could not be listed.
pub fn shown_name(subject: &SubjectId) -> &str {
    if subject.name == "*" { "(list incomplete)" } else { subject.called() }
}
