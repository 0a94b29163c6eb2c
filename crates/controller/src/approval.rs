//! Whether a Proposal is approved. Pure.
//!
//! Invariants:
//! - an Approval counts only for the whole plan id and tier it names, with the words of that plan, while the Proposal is
//!   valid, and never from the controller's own account;
//! - where four eyes are needed, two different people approve the same actions;
//! - one rejection ends the Proposal, whatever was approved.
//!
//! Elsewhere: who created an Approval is checked by the API server (`deploy/base/admission.yaml`); the plan itself is
//! checked by `operate::admit`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::api::{ApprovalRecord, ApprovalSpec, Decision};
use crate::recorded::Recorded;
use crate::settings::FourEyes;
use trueup_core::engine::{Asks, Chosen, ClusterQuestion, Refusal, Tier, questions};

/// An Approval object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenApproval {
    pub name: String,
    pub at: Timestamp,
    pub spec: ApprovalSpec,
}

/// What the Approvals of a Proposal amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    pub verdict: Verdict,
    /// The Approvals that do not count, by name, with the reason.
    pub faults: BTreeMap<String, ApprovalFault>,
}

/// Whether it is approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// So many approvals count, and so many are needed.
    Open {
        counted: Vec<ApprovalRecord>,
        needed: usize,
    },
    Rejected {
        by: ApprovalRecord,
        reason: String,
    },
    Approved(Approved),
}

/// A yes of enough people to the same actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    pub approvers: Vec<ApprovalRecord>,
    pub chosen: Chosen,
    /// The words for each cluster, as the engine asks for them.
    pub words: BTreeMap<String, String>,
}

/// Why an Approval does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalFault {
    #[error("it names plan {named}, the Proposal has {found}")]
    OtherPlan { named: String, found: String },
    #[error("it names tier {named}, the Proposal has {found}")]
    OtherTier { named: Tier, found: Tier },
    #[error("{approver} is the controller's own account")]
    OwnAccount { approver: String },
    #[error("it names no approver")]
    NoApprover,
    #[error("its words are not `{expected}`")]
    Words { expected: String },
    #[error("{approver} has approved it already; another person is needed")]
    SameApprover { approver: String },
    #[error("it was created at {at}, the Proposal expired at {expired}")]
    Late { at: Timestamp, expired: Timestamp },
    #[error("it approves other actions than the approval before it")]
    OtherActions,
    #[error("{0}")]
    Actions(Refusal),
    #[error("its actions write to {0} clusters; approve them in Proposals of their own")]
    Clusters(usize),
    #[error("{why}")]
    Access { why: String },
}

/// Examines the Approvals that name a Proposal. `own`: the controller's user name. `denied`: approvers that may not do
/// what they approve, with the reason.
pub fn examine(
    proposal: &Recorded,
    given: &[GivenApproval],
    four_eyes: FourEyes,
    own: &str,
    denied: &BTreeMap<String, String>,
) -> Examined {
    let mut given: Vec<&GivenApproval> = given.iter().filter(|one| one.spec.proposal == proposal.name).collect();
    given.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
    let mut faults = BTreeMap::new();
    let mut counted: Vec<(&GivenApproval, BTreeSet<&str>)> = Vec::new();
    let mut question = None;
    for approval in given {
        let ApprovalSpec { approver, actions, decision, .. } = &approval.spec;
        if let Err(fault) = same_proposal(proposal, approval, own) {
            faults.insert(approval.name.clone(), fault);
            continue;
        }
        if *decision == Decision::Reject {
            let verdict = Verdict::Rejected { by: record(approval), reason: approval.spec.reason.clone() };
            return Examined { verdict, faults };
        }
        let found = asked(proposal, actions)
            .and_then(|asked| right_words(proposal, &asked, &approval.spec.words).map(|()| asked));
        let actions: BTreeSet<&str> = actions.iter().map(String::as_str).collect();
        let other = counted.first().is_some_and(|(_, before)| *before != actions);
        let again = counted.iter().any(|(before, _)| before.spec.approver == *approver);
        let fault = match found {
            Err(fault) => fault,
            Ok(_) if again => ApprovalFault::SameApprover { approver: approver.clone() },
            Ok(_) if other => ApprovalFault::OtherActions,
            Ok(asked) => match denied.get(approver) {
                Some(why) => ApprovalFault::Access { why: why.clone() },
                None => {
                    question = Some(asked);
                    counted.push((approval, actions));
                    continue;
                }
            },
        };
        faults.insert(approval.name.clone(), fault);
    }
    let needed = four_eyes.approvers(proposal.tier);
    let approvers = counted.iter().map(|(approval, _)| record(approval)).collect();
    let verdict = match (question, counted.first()) {
        (Some(question), Some((_, actions))) if counted.len() >= needed => Verdict::Approved(Approved {
            approvers,
            chosen: chosen(actions.iter().copied()),
            words: [(question.cluster.clone(), question.asks.word())].into(),
        }),
        _ => Verdict::Open { counted: approvers, needed },
    };
    Examined { verdict, faults }
}

/// What an Approval has to say for these actions; none means all that are selected.
///
/// # Errors
/// An action does not exist or is blocked, or several clusters are written to.
pub fn asked(proposal: &Recorded, actions: &[String]) -> Result<ClusterQuestion, ApprovalFault> {
    let mut questions = questions(&proposal.plan, &chosen(actions.iter().map(String::as_str)));
    match questions.as_mut() {
        Err(refusal) => Err(ApprovalFault::Actions(refusal.clone())),
        Ok(questions) if questions.len() == 1 => Ok(questions.remove(0)),
        Ok(questions) => Err(ApprovalFault::Clusters(questions.len())),
    }
}

fn chosen<'a>(actions: impl Iterator<Item = &'a str>) -> Chosen {
    let only: BTreeSet<String> = actions.map(str::to_owned).collect();
    if only.is_empty() { Chosen::Selected } else { Chosen::Only(only) }
}

fn same_proposal(proposal: &Recorded, approval: &GivenApproval, own: &str) -> Result<(), ApprovalFault> {
    let ApprovalSpec { plan_id, tier, approver, .. } = &approval.spec;
    if *plan_id != proposal.plan_id {
        return Err(ApprovalFault::OtherPlan { named: plan_id.clone(), found: proposal.plan_id.clone() });
    }
    if *tier != proposal.tier {
        return Err(ApprovalFault::OtherTier { named: *tier, found: proposal.tier });
    }
    if approver.trim().is_empty() {
        return Err(ApprovalFault::NoApprover);
    }
    if approver == own || approver == crate::recorded::AUTO {
        return Err(ApprovalFault::OwnAccount { approver: approver.clone() });
    }
    if approval.at >= proposal.expires_at {
        return Err(ApprovalFault::Late { at: approval.at, expired: proposal.expires_at });
    }
    Ok(())
}

/// The words are those of the Proposal's tier, also where the chosen actions alone would have a lower one.
fn right_words(proposal: &Recorded, question: &ClusterQuestion, words: &str) -> Result<(), ApprovalFault> {
    let expected = Asks::of(proposal.tier, &proposal.topic.cluster, question.deletions, &proposal.plan_id).word();
    if words == expected { Ok(()) } else { Err(ApprovalFault::Words { expected }) }
}

fn record(approval: &GivenApproval) -> ApprovalRecord {
    let (name, approver) = (Some(approval.name.clone()), approval.spec.approver.clone());
    ApprovalRecord { name, approver, rule: None, at: approval.at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Phase;
    use crate::testing::{approval, deletes, labels, now, recorded};
    use trueup_core::world::RiskClass;

    const OWN: &str = "system:serviceaccount:trueup:trueup";
    const FROM_T3: FourEyes = FourEyes::From(Tier::T3);

    fn seen(proposal: &Recorded, given: &[GivenApproval], four_eyes: FourEyes) -> (String, Vec<String>) {
        let Examined { verdict, faults } = examine(proposal, given, four_eyes, OWN, &BTreeMap::new());
        let said = match verdict {
            Verdict::Open { counted, needed } => format!("{} of {needed}", counted.len()),
            Verdict::Rejected { by, .. } => format!("rejected by {}", by.approver),
            Verdict::Approved(approved) => {
                let names: Vec<&str> = approved.approvers.iter().map(|one| one.approver.as_str()).collect();
                format!("approved by {}", names.join(" and "))
            }
        };
        (said, faults.values().map(ToString::to_string).collect())
    }

    #[test]
    fn words_are_asked_by_tier() {
        let (dev, prod) = (RiskClass::Dev, RiskClass::Prod);
        let cases = [
            ("T1", labels(&["a", "b"]), "", "approved by ann"),
            ("T1 with words", labels(&["a"]), "guest-a", "0 of 1"),
            ("T2", deletes(&["a", "b"], dev), "2", "approved by ann"),
            ("T2 with another number", deletes(&["a", "b"], dev), "1", "0 of 1"),
            ("T2 without words", deletes(&["a"], dev), "", "0 of 1"),
            ("T3", deletes(&["a"], prod), "guest-a", "approved by ann"),
            ("T3 with another cluster", deletes(&["a"], prod), "guest-b", "0 of 1"),
            ("T3 with the number", deletes(&["a"], prod), "1", "0 of 1"),
        ];
        for (case, plan, words, expected) in cases {
            let proposal = recorded(&plan, "p", Phase::Proposed);
            assert_eq!(
                seen(&proposal, &[approval(&proposal, "ann", words)], FourEyes::Never).0,
                expected,
                "case: {case}"
            );
        }
    }

    #[test]
    fn four_eyes_are_two_people_who_approve_the_same_actions() {
        let proposal = recorded(&deletes(&["a", "b"], RiskClass::Prod), "p", Phase::Proposed);
        let yes = |who: &str| approval(&proposal, who, "guest-a");
        let only = |who: &str, action: &str| {
            let mut one = yes(who);
            one.spec.actions = vec![action.to_owned()];
            one
        };
        let (first, second) = ("a1", "a2");
        let again = GivenApproval { name: "again".to_owned(), ..yes("ann") };
        let cases = [
            ("one", vec![yes("ann")], "1 of 2"),
            ("the same person twice", vec![yes("ann"), again], "1 of 2"),
            ("two people", vec![yes("ann"), yes("bob")], "approved by ann and bob"),
            ("two people, one of them for another part", vec![yes("ann"), only("bob", first)], "1 of 2"),
            ("two people for different parts", vec![only("ann", first), only("bob", second)], "1 of 2"),
            ("two people for the same part", vec![only("ann", first), only("bob", first)], "approved by ann and bob"),
        ];
        let ids: Vec<&String> = proposal.actions.keys().collect();
        assert_eq!(ids, ["a1", "a2"]);
        for (case, given, expected) in cases {
            assert_eq!(seen(&proposal, &given, FROM_T3).0, expected, "case: {case}");
        }
    }

    #[test]
    fn an_approval_of_anything_else_does_not_count() {
        let proposal = recorded(&deletes(&["a"], RiskClass::Dev), "p", Phase::Proposed);
        let with = |change: fn(&mut GivenApproval)| {
            let mut one = approval(&proposal, "ann", "1");
            change(&mut one);
            one
        };
        let cases = [
            ("another plan", with(|one| one.spec.plan_id = "sha256:00".to_owned()), "it names plan sha256:00"),
            ("another tier", with(|one| one.spec.tier = Tier::T3), "it names tier T3, the Proposal has T2"),
            ("the controller", with(|one| one.spec.approver = OWN.to_owned()), "is the controller's own account"),
            ("the name of rules", with(|one| one.spec.approver = "auto".to_owned()), "is the controller's own account"),
            ("no approver", with(|one| one.spec.approver = " ".to_owned()), "it names no approver"),
            ("late", with(|one| one.at += jiff::SignedDuration::from_hours(24)), "the Proposal expired at"),
            ("no such action", with(|one| one.spec.actions = vec!["a99".to_owned()]), "plan has no action a99"),
            ("other words", with(|one| one.spec.words = "2".to_owned()), "its words are not `1`"),
        ];
        for (case, given, expected) in cases {
            let (said, faults) = seen(&proposal, &[given], FROM_T3);
            assert_eq!(said, "0 of 1", "case: {case}");
            assert!(faults[0].contains(expected), "case: {case}: {faults:?}");
        }
        let elsewhere = with(|one| one.spec.proposal = "q".to_owned());
        assert_eq!(seen(&proposal, &[elsewhere], FROM_T3), ("0 of 1".to_owned(), Vec::new()), "another Proposal");
    }

    #[test]
    fn one_rejection_ends_it() {
        let proposal = recorded(&deletes(&["a"], RiskClass::Dev), "p", Phase::Proposed);
        let mut no = approval(&proposal, "bob", "");
        no.spec.decision = Decision::Reject;
        let given = [approval(&proposal, "ann", "1"), no];
        assert_eq!(seen(&proposal, &given, FourEyes::Never).0, "rejected by bob");
    }

    #[test]
    fn an_approver_without_the_right_does_not_count() {
        let proposal = recorded(&deletes(&["a"], RiskClass::Dev), "p", Phase::Proposed);
        let denied = [("ann".to_owned(), "ann may not delete Secret".to_owned())].into();
        let found = examine(&proposal, &[approval(&proposal, "ann", "1")], FourEyes::Never, OWN, &denied);
        assert_eq!(found.verdict, Verdict::Open { counted: Vec::new(), needed: 1 });
        assert_eq!(found.faults["by-ann"].to_string(), "ann may not delete Secret");
    }

    #[test]
    fn what_was_approved_is_what_the_engine_is_asked_for() {
        let proposal = recorded(&deletes(&["a", "b"], RiskClass::Prod), "p", Phase::Proposed);
        let found =
            examine(&proposal, &[approval(&proposal, "ann", "guest-a")], FourEyes::Never, OWN, &BTreeMap::new());
        let Verdict::Approved(approved) = found.verdict else { panic!("{found:?}") };
        assert_eq!(approved.chosen, Chosen::Selected);
        assert_eq!(approved.words, [("guest-a".to_owned(), "guest-a".to_owned())].into());
        assert!(now() < proposal.expires_at);
    }
}
