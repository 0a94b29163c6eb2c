//! Findings of a list under the heading of their cause.
//!
//! Invariants: a heading is a row of its own, before its findings; it is shown while one of them would be; the findings of
//! a closed group are hidden. Headings are no findings: nothing is planned for them, only for their findings.
//!
//! Elsewhere: which findings have one cause (`groups`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use trueup_checks::CauseForm;
use trueup_checks::causes::CauseGroup;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{Judgement, State, SubjectId};

/// Whether findings are shown under their cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    #[default]
    ByCause,
    None,
}

/// Whether the findings below a heading are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    Open,
    Closed,
}

/// The groups of a list.
#[derive(Debug, Default)]
pub struct Grouped {
    groups: Vec<CauseGroup>,
    heads: Vec<Arc<SubjectId>>,
    places: BTreeMap<Arc<SubjectId>, usize>,
    member_of: BTreeMap<Arc<SubjectId>, usize>,
    /// Groups stay closed while they exist.
    closed: BTreeSet<Arc<SubjectId>>,
}

/// Where a row is in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupPlace {
    /// The worst state of the group, for sorting; the group's index; heading before findings.
    pub state: State,
    pub index: usize,
}

impl Grouped {
    /// Takes these groups; returns whether they are others than before.
    pub fn replace(&mut self, groups: &[CauseGroup]) -> bool {
        if self.groups == groups {
            return false;
        }
        self.groups = groups.to_vec();
        self.heads = groups.iter().map(|group| Arc::new(head_of(group))).collect();
        self.places = self.heads.iter().cloned().zip(0..).collect();
        let members = groups.iter().enumerate();
        self.member_of =
            members.flat_map(|(place, group)| group.members.iter().map(move |id| (id.clone(), place))).collect();
        let places = &self.places;
        self.closed.retain(|head| places.contains_key(head));
        true
    }

    /// The headings, with a judgement to be sorted and shown by.
    pub fn heads(&self) -> impl Iterator<Item = (&Arc<SubjectId>, Arc<CurrentJudgement>)> {
        let judged = |group: &CauseGroup| {
            let judgement = Judgement {
                state: group.state,
                verdict: group.cause.effect,
                codes: Vec::new(),
                ownership_proofs: 0,
                until: None,
            };
            Arc::new(CurrentJudgement::new(judgement, Timestamp::UNIX_EPOCH))
        };
        self.heads.iter().zip(self.groups.iter().map(judged))
    }

    /// The group of a heading.
    pub fn of_head(&self, id: &SubjectId) -> Option<&CauseGroup> {
        self.groups.get(*self.places.get(id)?)
    }

    pub fn is_head(&self, id: &SubjectId) -> bool {
        self.places.contains_key(id)
    }

    /// The heading above a finding.
    pub fn head_of(&self, id: &SubjectId) -> Option<&Arc<SubjectId>> {
        self.heads.get(*self.member_of.get(id)?)
    }

    /// The group that a row is in, as heading or finding.
    pub fn place(&self, id: &SubjectId) -> Option<GroupPlace> {
        let index = *self.places.get(id).or_else(|| self.member_of.get(id))?;
        let group = self.groups.get(index)?;
        // Steps to be taken are not at the end of the list, whatever their state.
        let state = match (group.cause.form, group.state) {
            (CauseForm::Sequence, State::Match) => State::Stale,
            (CauseForm::Sequence | CauseForm::Effect, state) => state,
        };
        Some(GroupPlace { state, index })
    }

    pub fn fold(&self, head: &SubjectId) -> Fold {
        if self.closed.contains(head) { Fold::Closed } else { Fold::Open }
    }

    /// Whether the group of a finding is closed.
    pub fn is_folded(&self, id: &SubjectId) -> bool {
        self.head_of(id).is_some_and(|head| self.closed.contains(head))
    }

    /// Whether all findings of the group of a finding are among those that are shown, counted by heading.
    pub fn is_whole(&self, id: &SubjectId, shown: &BTreeMap<Arc<SubjectId>, usize>) -> bool {
        let Some(place) = self.member_of.get(id) else { return false };
        let (head, group) = (&self.heads[*place], &self.groups[*place]);
        shown.get(head) == Some(&group.members.len())
    }

    pub fn toggle(&mut self, head: &Arc<SubjectId>) {
        if !self.closed.remove(head) {
            self.closed.insert(head.clone());
        }
    }

    /// Number of findings that match and are shown all the same, because they are steps of their group.
    pub fn steps_that_match(&self) -> u32 {
        let sequences = self.groups.iter().filter(|group| group.cause.form == CauseForm::Sequence);
        sequences.map(|group| group.matches).sum()
    }

    pub fn len(&self) -> usize {
        self.heads.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }
}

/// The id of a heading. No finding has the effect of a cause as its API version.
fn head_of(group: &CauseGroup) -> SubjectId {
    let object = &group.cause.object;
    SubjectId {
        domain: object.check,
        cluster: object.cluster.clone(),
        api_version: group.cause.effect,
        kind: object.kind,
        namespace: object.key.namespace.as_ref().map(ToString::to_string),
        name: object.key.name.to_string(),
        cloud: None,
    }
}
