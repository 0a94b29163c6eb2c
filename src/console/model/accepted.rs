//! Accepted findings: shown as match while their rule is valid.
//!
//! Invariants: an accepted finding keeps its judgement and is shown again when its rule ends.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{AcceptRule, State, SubjectId};

/// The code of an accepted finding, in addition to those of its check.
pub const ACCEPTED: &str = "accepted";

#[derive(Debug, Default)]
pub struct Accepted {
    rules: Vec<AcceptRule>,
    /// Original judgement of each accepted finding.
    were: BTreeMap<SubjectId, State>,
    /// When the next rule ends.
    ends: Option<Timestamp>,
}

impl Accepted {
    pub fn new(rules: Vec<AcceptRule>, now: Timestamp) -> Self {
        let ends = rules.iter().filter_map(|rule| end(rule).filter(|end| *end > now)).min();
        Self { rules, were: BTreeMap::new(), ends }
    }

    pub fn rules(&self) -> &[AcceptRule] {
        &self.rules
    }

    /// Whether a rule ended since the last check.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }

    /// Returns the rule that accepts a finding.
    pub fn rule(&self, subject: &SubjectId, now: Timestamp) -> Option<&AcceptRule> {
        if self.rules.is_empty() {
            return None;
        }
        let id = subject.to_string();
        self.rules.iter().find(|rule| rule.covers(&id, now))
    }

    /// Turns an accepted finding into a match.
    pub fn mark(&mut self, subject: &SubjectId, held: &mut CurrentJudgement, now: Timestamp) {
        self.were.remove(subject);
        if held.judgement.state == State::Match || self.rule(subject, now).is_none() {
            return;
        }
        self.were.insert(subject.clone(), held.judgement.state);
        held.judgement.state = State::Match;
        held.judgement.codes.push(ACCEPTED);
    }

    /// Returns the finding without its rule.
    pub fn unmarked(&self, subject: &SubjectId, held: &CurrentJudgement) -> CurrentJudgement {
        let mut held = held.clone();
        if let Some(state) = self.were.get(subject) {
            held.judgement.state = *state;
            held.judgement.codes.retain(|code| *code != ACCEPTED);
        }
        held
    }

    pub fn forget(&mut self, subject: &SubjectId) {
        self.were.remove(subject);
    }
}

/// The first moment at which a rule is no longer valid.
fn end(rule: &AcceptRule) -> Option<Timestamp> {
    let day_after = rule.until.tomorrow().ok()?;
    day_after.to_zoned(TimeZone::UTC).ok().map(|start| start.timestamp())
}
