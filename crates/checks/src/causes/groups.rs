//! Groups of findings that follow from one thing.
//!
//! Invariants: every finding is in at most one group; a group has at least two; the worst and largest come first.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::edits::Edits;
use crate::judgements::CurrentJudgement;
use crate::outline::{Cause, CauseForm, CauseObject};
use trueup_core::engine::{State, SubjectId};
use trueup_core::world::ObjectEdit;

/// Findings with one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseGroup {
    pub cause: Cause,
    /// The edit that is behind it, where it was seen in this session.
    pub edit: Option<Arc<ObjectEdit>>,
    /// The worst state of its findings.
    pub state: State,
    /// Its findings, in their order.
    pub members: Vec<Arc<SubjectId>>,
    /// How many of them match.
    pub matches: u32,
}

/// How a group is worded.
#[derive(Debug, Clone)]
pub struct GroupWords<'w> {
    /// Between two values.
    pub arrow: &'w str,
    pub zone: TimeZone,
    pub now: Timestamp,
}

/// The groups among some findings of a check, the worst and largest first.
pub fn cause_groups<'f>(
    findings: impl IntoIterator<Item = (&'f Arc<SubjectId>, &'f CurrentJudgement)>,
    edits: &Edits,
) -> Vec<CauseGroup> {
    type Members<'f> = (&'f Cause, Vec<(&'f Arc<SubjectId>, State)>);
    let mut by_cause: BTreeMap<(&CauseObject, &str), Members<'f>> = BTreeMap::new();
    for (subject, held) in findings {
        let Some(cause) = held.outline.as_ref().and_then(|outline| outline.cause.as_ref()) else { continue };
        let (_, members) = by_cause.entry((&cause.object, cause.effect)).or_insert_with(|| (cause, Vec::new()));
        members.push((subject, held.judgement.state));
    }
    let group = |(cause, members): Members<'f>| {
        let state = members.iter().map(|(_, state)| *state).min_by_key(|state| severity(*state))?;
        let edit = edits.of_cause(cause).cloned();
        let matches = members.iter().filter(|(_, state)| *state == State::Match).count();
        let matches = u32::try_from(matches).unwrap_or(u32::MAX);
        let members: Vec<Arc<SubjectId>> = members.into_iter().map(|(subject, _)| subject.clone()).collect();
        Some(CauseGroup { cause: cause.clone(), edit, state, members, matches }).filter(|group| group.members.len() > 1)
    };
    let mut groups: Vec<CauseGroup> = by_cause.into_values().filter_map(group).collect();
    groups.sort_by_key(|group| (severity(group.state), std::cmp::Reverse(group.members.len())));
    groups
}

/// The order of states, the worst first.
pub fn severity(state: State) -> u8 {
    match state {
        State::Error => 0,
        State::Drift => 1,
        State::Missing => 2,
        State::Extra => 3,
        State::Stale => 4,
        State::Unknown => 5,
        State::Blocked => 6,
        State::Match => 7,
    }
}

impl CauseGroup {
    /// `12 orphans: HostedCluster guest-checkout edited 19:34:02 by hypershift-cli, oidcProviders 3 → 1`.
    pub fn sentence(&self, words: &GroupWords<'_>) -> String {
        let (count, effect) = (self.members.len(), self.cause.effect);
        match self.cause.form {
            CauseForm::Effect => format!("{count} {effect}: {}", self.reason(words)),
            CauseForm::Sequence => format!("{}: {count} {effect}", self.cause.reason),
        }
    }

    /// What is behind it: the edit that was seen, else the last write before this session, else what the check says.
    fn reason(&self, words: &GroupWords<'_>) -> String {
        let object = &self.cause.object;
        if let Some(edit) = &self.edit {
            let by = edit.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
            let (what, when) = (edit.describe(words.arrow), words.time(edit.at));
            return format!("{} edited {when}{by}, {what}", object.describe());
        }
        let Some(writer) = &self.cause.written else { return self.cause.reason.to_string() };
        let when = writer.at().map_or_else(String::new, |at| format!(" {}", words.time(at)));
        let (object, by) = (object.describe(), &writer.manager);
        format!("{object}, {}; edited{when} by {by} (before this session)", self.cause.reason)
    }
}

impl GroupWords<'_> {
    /// The time of day today, the day before that.
    pub fn time(&self, at: Timestamp) -> String {
        let (then, now) = (at.to_zoned(self.zone.clone()), self.now.to_zoned(self.zone.clone()));
        let form = if then.date() == now.date() { "%H:%M:%S" } else { "%-d %b %H:%M" };
        then.strftime(form).to_string()
    }
}

#[cfg(test)]
mod tests;
