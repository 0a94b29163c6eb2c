//! The groups of findings with one cause, check by check.
//!
//! Invariants: a check is grouped again only when one of its findings or an edit changed, and only while it is shown.
//!
//! Elsewhere: what a group is (`trueup_checks::causes`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::findings::Findings;
use trueup_checks::causes::{CauseGroup, Edits, cause_groups};
use trueup_core::engine::{CheckName, SubjectId};

#[derive(Debug, Default)]
pub struct CauseGroups {
    checks: BTreeMap<CheckName, OfCheck>,
    changed: BTreeSet<CheckName>,
}

/// The groups of one check, and the group of each member.
#[derive(Debug, Default)]
struct OfCheck {
    groups: Vec<CauseGroup>,
    places: BTreeMap<Arc<SubjectId>, usize>,
}

impl CauseGroups {
    /// Notes that findings of a check changed, or what is behind them.
    pub fn change(&mut self, check: CheckName) {
        self.changed.insert(check);
    }

    /// Groups a check, unless nothing changed since the last time.
    pub fn renew(&mut self, check: CheckName, findings: &Findings, edits: &Edits) {
        if !self.changed.remove(&check) && self.checks.contains_key(&check) {
            return;
        }
        let groups = cause_groups(findings.of_check(check), edits);
        let members = groups.iter().enumerate();
        let places =
            members.flat_map(|(place, group)| group.members.iter().map(move |id| (id.clone(), place))).collect();
        self.checks.insert(check, OfCheck { groups, places });
    }

    /// The groups of a check, the worst and largest first.
    pub fn of(&self, check: CheckName) -> &[CauseGroup] {
        self.checks.get(&check).map_or(&[], |of| &of.groups)
    }

    /// The group that a finding is in.
    pub fn group_of(&self, subject: &SubjectId) -> Option<&CauseGroup> {
        let of = self.checks.get(&subject.domain)?;
        of.groups.get(*of.places.get(subject)?)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use trueup_checks::judgements::CurrentJudgement;
    use trueup_checks::{Cause, CauseObject, Outline};
    use trueup_core::engine::{Judgement, State};
    use trueup_core::world::{ClusterName, Key};

    const CHECK: CheckName = CheckName("toy");

    fn subject(name: &str) -> Arc<SubjectId> {
        Arc::new(SubjectId {
            domain: CHECK,
            cluster: ClusterName::new("a"),
            api_version: "v1",
            kind: "Secret",
            namespace: None,
            name: name.to_owned(),
            cloud: None,
        })
    }

    fn put(findings: &mut Findings, name: &str) {
        let object =
            CauseObject { check: CHECK, cluster: ClusterName::new("a"), kind: "Toy", key: Key::new(None, "x") };
        let cause = Cause {
            object,
            effect: "orphans",
            reason: "gone".into(),
            written: None,
            form: trueup_checks::CauseForm::Effect,
        };
        let state = State::Extra;
        let judgement = Judgement { state, verdict: "toy", codes: Vec::new(), ownership_proofs: 0, until: None };
        let outline = Some(Arc::new(Outline::default().with_cause(Some(cause))));
        let held = CurrentJudgement { outline, ..CurrentJudgement::new(judgement, Timestamp::UNIX_EPOCH) };
        findings.put(subject(name), Arc::new(held));
    }

    #[test]
    fn a_check_is_grouped_again_only_after_a_change() {
        let (mut groups, mut findings, edits) = (CauseGroups::default(), Findings::default(), Edits::default());
        put(&mut findings, "a");
        put(&mut findings, "b");
        groups.renew(CHECK, &findings, &edits);
        assert_eq!(groups.of(CHECK).len(), 1);
        assert_eq!(groups.group_of(&subject("b")).map(|group| group.members.len()), Some(2));
        put(&mut findings, "c");
        groups.renew(CHECK, &findings, &edits);
        assert!(groups.group_of(&subject("c")).is_none(), "no change was reported");
        groups.change(CHECK);
        groups.renew(CHECK, &findings, &edits);
        assert_eq!(groups.group_of(&subject("c")).map(|group| group.members.len()), Some(3));
    }
}
