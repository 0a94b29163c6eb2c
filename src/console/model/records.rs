//! Change records of the session: verdicts and links, with the edits that are behind them.
//!
//! Invariants:
//! - what a first listing brings is no change, and neither is what is known again as it was;
//! - the size is limited; the oldest records are dropped first.
//!
//! Elsewhere: what is shown of them (`feed`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use trueup_checks::causes::Edits;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{ChangeRecord, LinkState, LinkStates, RecordedChange, RecordedVerdict, State, SubjectId};
use trueup_core::world::{ClusterName, ObjectEdit};

/// Records kept: a day of a busy fleet. A record is about 100 bytes.
const RECORDS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct Records {
    list: VecDeque<Arc<ChangeRecord>>,
    /// Records dropped because of the limit.
    dropped: u64,
    pub edits: Edits,
    links: LinkStates,
    /// The last known verdict of subjects that are unknown now.
    known: BTreeMap<Arc<SubjectId>, RecordedVerdict>,
}

/// Whether a cluster was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// A list of it has just become complete, or is not complete yet.
    Arriving,
    Settled,
}

impl Records {
    /// Records, newest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<ChangeRecord>> {
        self.list.iter().rev()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Records dropped because of the limit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes in the edits of an update.
    pub fn put_edits(&mut self, edits: Vec<Arc<ObjectEdit>>, now: Timestamp) {
        edits.into_iter().for_each(|edit| self.edits.put(edit, now));
    }

    /// Takes in a judgement; returns the record, where it is a change.
    pub fn judged(
        &mut self,
        subject: &Arc<SubjectId>,
        before: Option<&CurrentJudgement>,
        held: &CurrentJudgement,
        arrival: Arrival,
        now: Timestamp,
    ) -> Option<Arc<ChangeRecord>> {
        let to = verdict(held);
        let from = self.changed(subject, before.map(verdict), to, arrival)?;
        let edit = self.edits.behind(subject, held.outline.as_deref(), now);
        Some(self.push(
            subject.cluster.clone(),
            now,
            RecordedChange::Finding { subject: subject.clone(), from, to: Some(to), edit },
        ))
    }

    /// Takes in that a subject is gone; returns the record, where it was a difference.
    pub fn gone(
        &mut self,
        subject: &Arc<SubjectId>,
        before: &CurrentJudgement,
        arrival: Arrival,
        now: Timestamp,
    ) -> Option<Arc<ChangeRecord>> {
        let known = self.known.remove(subject);
        let from = known.unwrap_or_else(|| verdict(before));
        if arrival == Arrival::Arriving || matches!(from.state, State::Match | State::Unknown) {
            return None;
        }
        let edit = self.edits.behind(subject, before.outline.as_deref(), now);
        Some(self.push(
            subject.cluster.clone(),
            now,
            RecordedChange::Finding { subject: subject.clone(), from: Some(from), to: None, edit },
        ))
    }

    /// Takes in the link of a cluster; returns the record, where it is a change.
    pub fn linked(
        &mut self,
        cluster: &ClusterName,
        state: LinkState,
        why: Option<&str>,
        now: Timestamp,
    ) -> Option<Arc<ChangeRecord>> {
        let from = self.links.put(cluster, state)?;
        let why = why.map(Into::into);
        Some(self.push(cluster.clone(), now, RecordedChange::Link { from, to: state, why }))
    }

    /// Forgets a cluster that left the fleet.
    pub fn left(&mut self, cluster: &ClusterName) {
        self.links.remove(cluster);
    }

    /// The verdict before, where the new one is a change.
    fn changed(
        &mut self,
        subject: &Arc<SubjectId>,
        before: Option<RecordedVerdict>,
        now: RecordedVerdict,
        arrival: Arrival,
    ) -> Option<Option<RecordedVerdict>> {
        let is_unknown = now.state == State::Unknown;
        match before {
            Some(before) if before.state == State::Unknown && is_unknown => None,
            // Known again: what was known before the gap counts.
            Some(before) if before.state == State::Unknown => {
                let known = self.known.remove(subject)?;
                (known.verdict != now.verdict).then_some(Some(known))
            }
            Some(before) if is_unknown => {
                self.known.insert(subject.clone(), before);
                Some(Some(before))
            }
            Some(before) => (before.verdict != now.verdict).then_some(Some(before)),
            None if arrival == Arrival::Arriving || is_unknown || now.state == State::Match => None,
            None => Some(None),
        }
    }

    fn push(&mut self, cluster: ClusterName, at: Timestamp, change: RecordedChange) -> Arc<ChangeRecord> {
        if self.list.len() == RECORDS_MAX {
            self.list.pop_front();
            self.dropped += 1;
        }
        let record = Arc::new(ChangeRecord { at, cluster, change });
        self.list.push_back(record.clone());
        record
    }
}

fn verdict(held: &CurrentJudgement) -> RecordedVerdict {
    RecordedVerdict { state: held.judgement.state, verdict: held.judgement.verdict }
}

#[cfg(test)]
mod tests;
