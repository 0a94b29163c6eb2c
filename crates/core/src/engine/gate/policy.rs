//! The policy gate: rules from the config that deny, cap or raise the tier.
//!
//! Invariants: every rule that matches counts, so the strictest wins and their order means nothing.

use super::{Blocked, Candidate, GateInputs, GateName, Gated, blocked};
use crate::engine::action::Verb;
use crate::engine::glob::Glob;
use crate::engine::tier::Tier;
use crate::world::RiskClass;

/// One rule. A pattern that is not given matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRule {
    pub cluster: Option<Glob>,
    pub class: Option<Glob>,
    /// Matched against nothing for kinds without namespaces: only `*` covers that.
    pub namespace: Option<Glob>,
    pub kind: Option<Glob>,
    pub verb: Option<Glob>,
    pub effect: PolicyEffect,
}

/// What a rule does to the actions it matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyEffect {
    /// Blocks them, with the user's reason.
    Deny(String),
    /// Blocks all of them when more than this many are selected.
    Cap(u64),
    /// Asks for at least this tier.
    Tier(Tier),
}

/// What a rule is held against.
pub struct PolicySubject<'a> {
    pub cluster: &'a str,
    pub class: RiskClass,
    /// Empty for kinds without namespaces.
    pub namespace: &'a str,
    pub kind: &'a str,
    pub verb: Verb,
}

/// What the rules say of each of these selected actions: what speaks against it, and the tier it has to have.
pub fn judge_policy(rules: &[PolicyRule], subjects: &[PolicySubject<'_>]) -> Vec<(Vec<Blocked>, Tier)> {
    let mut judged: Vec<(Vec<Blocked>, Tier)> = subjects
        .iter()
        .map(|subject| {
            let matching = || rules.iter().filter(|rule| rule.covers(subject));
            (denied(matching()).into_iter().collect(), raised(Tier::T0, matching()))
        })
        .collect();
    for rule in rules {
        let PolicyEffect::Cap(most) = rule.effect else { continue };
        let matched: Vec<usize> = (0..subjects.len()).filter(|index| rule.covers(&subjects[*index])).collect();
        let selected = matched.len() as u64;
        if selected > most {
            matched.into_iter().for_each(|index| judged[index].0.push(over_cap(selected, most)));
        }
    }
    judged
}

/// Blocks what a rule denies.
pub fn deny(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    denied(matching(candidate, around))
}

fn denied<'p>(rules: impl Iterator<Item = &'p PolicyRule>) -> Option<Blocked> {
    let mut reasons: Vec<&str> = rules
        .filter_map(|rule| match &rule.effect {
            PolicyEffect::Deny(reason) => Some(reason.as_str()),
            PolicyEffect::Cap(_) | PolicyEffect::Tier(_) => None,
        })
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    if reasons.is_empty() {
        return None;
    }
    Some(blocked(GateName::Policy, format!("a [[policy]] rule denies it: {}", reasons.join("; "))))
}

/// Blocks everything a rule matches when more of it is selected than the rule allows.
pub fn cap(candidates: &[Candidate<'_>], around: &GateInputs<'_>, gated: &mut [Gated]) {
    for rule in &around.conditions.policy {
        let PolicyEffect::Cap(most) = rule.effect else { continue };
        let matched: Vec<usize> =
            (0..candidates.len()).filter(|index| rule.matches(&candidates[*index], around)).collect();
        let selected = matched.iter().filter(|index| candidates[**index].selected).count() as u64;
        if selected <= most {
            continue;
        }
        for index in matched {
            gated[index].blocked_by.push(over_cap(selected, most));
        }
    }
}

fn over_cap(selected: u64, most: u64) -> Blocked {
    let why = format!(
        "{selected} selected actions match a [[policy]] rule that allows {most}; deselect some, or change the rule"
    );
    blocked(GateName::Policy, why)
}

/// The tier after every rule that asks for one.
pub fn raise(own: Tier, candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Tier {
    raised(own, matching(candidate, around))
}

fn raised<'p>(own: Tier, rules: impl Iterator<Item = &'p PolicyRule>) -> Tier {
    rules.fold(own, |tier, rule| match rule.effect {
        PolicyEffect::Tier(asked) => tier.max(asked),
        PolicyEffect::Deny(_) | PolicyEffect::Cap(_) => tier,
    })
}

fn matching<'p>(candidate: &Candidate<'_>, around: &GateInputs<'p>) -> impl Iterator<Item = &'p PolicyRule> {
    around.conditions.policy.iter().filter(move |rule| rule.matches(candidate, around))
}

impl PolicyRule {
    fn matches(&self, candidate: &Candidate<'_>, around: &GateInputs<'_>) -> bool {
        let target = &candidate.draft.target;
        self.covers(&PolicySubject {
            cluster: target.cluster.as_str(),
            class: around.class(candidate),
            namespace: target.namespace.as_deref().unwrap_or(""),
            kind: target.resource.kind,
            verb: candidate.draft.verb(),
        })
    }

    fn covers(&self, subject: &PolicySubject<'_>) -> bool {
        let Self { cluster, class, namespace, kind, verb, effect: _ } = self;
        let covers = |pattern: &Option<Glob>, text: &str| pattern.as_ref().is_none_or(|glob| glob.matches(text));
        covers(cluster, subject.cluster)
            && covers(class, subject.class.as_str())
            && covers(namespace, subject.namespace)
            && covers(kind, subject.kind)
            && covers(verb, subject.verb.as_str())
    }
}
