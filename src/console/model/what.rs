//! What is wrong with each cluster, in one sentence, and since when: its largest cause.
//!
//! Invariants: only clusters with a change are summed up again, from their own findings alone.
//!
//! Elsewhere: groups of findings (`trueup_checks::causes`), links and lists (the fleet's list shows them itself).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::findings::{Findings, shown_name};
use trueup_checks::causes::{CauseGroup, Edits, GroupWords, cause_groups, severity};
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{CheckName, State, SubjectId};
use trueup_core::world::ClusterName;

/// The largest cause of each cluster with a difference.
#[derive(Debug, Default)]
pub struct LargestCauses(BTreeMap<ClusterName, LargestCause>);

/// What is worst in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargestCause {
    pub check: CheckName,
    pub state: State,
    pub what: CauseOrFinding,
    /// When it began; absent where that is unknown.
    pub since: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CauseOrFinding {
    Cause(Box<CauseGroup>),
    /// A finding of its own, and how many others have its state.
    Finding {
        subject: Arc<SubjectId>,
        sentence: Box<str>,
        others: usize,
    },
}

impl LargestCauses {
    pub fn get(&self, cluster: &ClusterName) -> Option<&LargestCause> {
        self.0.get(cluster)
    }

    /// Sums a cluster up again.
    pub fn renew(&mut self, cluster: &ClusterName, checks: &[CheckName], findings: &Findings, edits: &Edits) {
        let candidates = checks.iter().filter_map(|check| of_check(*check, cluster, findings, edits));
        match candidates.min_by_key(LargestCause::rank) {
            Some(largest) => self.0.insert(cluster.clone(), largest),
            None => self.0.remove(cluster),
        };
    }
}

/// The largest cause among the findings of one check in a cluster.
fn of_check(check: CheckName, cluster: &ClusterName, findings: &Findings, edits: &Edits) -> Option<LargestCause> {
    let differences = || findings.of(check, cluster).filter(|(_, held)| held.judgement.state != State::Match);
    let state = differences().map(|(_, held)| held.judgement.state).min_by_key(|state| severity(*state))?;
    let since =
        |members: &[Arc<SubjectId>]| members.iter().filter_map(|subject| findings.get(subject)?.began.at()).min();
    let group = cause_groups(differences(), edits).into_iter().find(|group| group.state == state);
    if let Some(group) = group {
        let began = group.edit.as_ref().map(|edit| edit.at);
        let since = began.or_else(|| since(&group.members));
        return Some(LargestCause { check, state, what: CauseOrFinding::Cause(Box::new(group)), since });
    }
    let of_state = || differences().filter(|(_, held)| held.judgement.state == state);
    // The one that has been so longest is the first to repair; one of unknown age comes after those.
    let age = |held: &CurrentJudgement| held.began.at().unwrap_or(Timestamp::MAX);
    let (subject, held) = of_state().min_by_key(|(_, held)| age(held))?;
    let sentence = held.outline.as_ref().map_or("", |outline| &*outline.sentence);
    let sentence = if sentence.is_empty() { held.judgement.verdict } else { sentence };
    let (subject, sentence, others) = (subject.clone(), sentence.into(), of_state().count() - 1);
    let since = held.began.at();
    Some(LargestCause { check, state, what: CauseOrFinding::Finding { subject, sentence, others }, since })
}

impl LargestCause {
    /// The worst state first, in it what explains most.
    fn rank(&self) -> (u8, std::cmp::Reverse<usize>) {
        let explained = match &self.what {
            CauseOrFinding::Cause(group) => group.members.len(),
            CauseOrFinding::Finding { .. } => 1,
        };
        (severity(self.state), std::cmp::Reverse(explained))
    }

    /// `12 orphans: HostedCluster guest-checkout edited …`, or `reports-cli: its source is missing (and 2 more)`.
    pub fn sentence(&self, words: &GroupWords<'_>) -> String {
        match &self.what {
            CauseOrFinding::Cause(group) => group.sentence(words),
            CauseOrFinding::Finding { subject, sentence, others } => {
                let more = if *others > 0 { format!(" (and {others} more)") } else { String::new() };
                format!("{}: {sentence}{more}", shown_name(subject))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use trueup_checks::judgements::Began;
    use trueup_checks::{Cause, CauseObject, Outline};
    use trueup_core::engine::Judgement;
    use trueup_core::world::Key;

    const CHECK: CheckName = CheckName("toy");
    const OTHER: CheckName = CheckName("other");

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    struct Case {
        check: CheckName,
        name: &'static str,
        state: State,
        cause: Option<&'static str>,
        began: Began,
    }

    fn case(name: &'static str, state: State, began: Began) -> Case {
        Case { check: CHECK, name, state, cause: None, began }
    }

    fn caused(name: &'static str, state: State, cause: &'static str) -> Case {
        Case { cause: Some(cause), ..case(name, state, Began::NotKnown) }
    }

    fn largest(cases: Vec<Case>) -> Option<(String, Option<Timestamp>)> {
        let (mut findings, cluster) = (Findings::default(), ClusterName::new("a"));
        for Case { check, name, state, cause, began } in cases {
            let subject = SubjectId {
                domain: check,
                cluster: cluster.clone(),
                api_version: "v1",
                kind: "Secret",
                namespace: None,
                name: name.to_owned(),
                cloud: None,
            };
            let judgement =
                Judgement { state, verdict: state.as_str(), codes: Vec::new(), ownership_proofs: 0, until: None };
            let cause = cause.map(|cause| Cause {
                object: CauseObject { check, cluster: cluster.clone(), kind: "Toy", key: Key::new(None, cause) },
                effect: "orphans",
                reason: cause.into(),
                written: None,
                form: trueup_checks::CauseForm::Effect,
            });
            let outline = Some(Arc::new(Outline::of("it is wrong; repair it").with_cause(cause)));
            let held = CurrentJudgement { began, outline, ..CurrentJudgement::new(judgement, at(0)) };
            findings.put(Arc::new(subject), Arc::new(held));
        }
        let mut causes = LargestCauses::default();
        causes.renew(&cluster, &[CHECK, OTHER], &findings, &Edits::default());
        let words = GroupWords { arrow: "→", zone: TimeZone::UTC, now: at(0) };
        causes.get(&cluster).map(|largest| (largest.sentence(&words), largest.since))
    }

    #[test]
    fn a_cluster_is_summed_up_by_its_worst_and_largest_cause() {
        use State::{Drift, Error, Extra, Match};
        let single = |name, state| case(name, state, Began::NotKnown);
        type Expected = Option<(&'static str, Option<Timestamp>)>;
        let cases: [(&str, Vec<Case>, Expected); 6] = [
            ("all is well", vec![single("x", Match)], None),
            (
                "one finding, since its event",
                vec![case("x", Drift, Began::Recorded(at(-5)))],
                Some(("x: it is wrong", Some(at(-5)))),
            ),
            (
                "the oldest of several",
                vec![
                    case("x", Drift, Began::NotKnown),
                    case("y", Drift, Began::Seen(at(-1))),
                    case("z", Drift, Began::Seen(at(-3))),
                ],
                Some(("z: it is wrong (and 2 more)", Some(at(-3)))),
            ),
            (
                "a group",
                vec![caused("x", Extra, "gone"), caused("y", Extra, "gone"), single("z", Extra)],
                Some(("2 orphans: gone", None)),
            ),
            (
                "the worst state before the larger cause",
                vec![caused("x", Extra, "gone"), caused("y", Extra, "gone"), single("z", Error)],
                Some(("z: it is wrong", None)),
            ),
            (
                "the larger cause of two checks",
                vec![
                    single("z", Extra),
                    Case { check: OTHER, ..caused("x", Extra, "gone") },
                    Case { check: OTHER, ..caused("y", Extra, "gone") },
                ],
                Some(("2 orphans: gone", None)),
            ),
        ];
        for (case, findings, expected) in cases {
            let expected = expected.map(|(sentence, since)| (sentence.to_owned(), since));
            assert_eq!(largest(findings), expected, "case: {case}");
        }
    }
}
