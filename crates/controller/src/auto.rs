//! What is applied without a person. Pure.
//!
//! Invariants:
//! - a rule covers an action up to its tier, and never T4, a cloud delete, a change of logins, an undo or a restore;
//! - above T1, and for every delete, the finding's verdict is named in the rule;
//! - over the brake, or over the deletes per hour of the whole fleet, it is proposed and not applied.
//!
//! Elsewhere: the engine approves for a rule up to its tier only (`engine::Answers::Rule`).

use jiff::{SignedDuration, Timestamp};

use crate::recorded::{Recorded, Topic};
use crate::settings::{AUTO_TIER_MAX, AutoRule, NEVER_AUTO};
use trueup_core::engine::{Action, DELETES_MAX, Tier};
use trueup_core::world::RiskClass;

/// How long an applied delete counts for the brake.
const BRAKE_TIME: SignedDuration = SignedDuration::from_hours(24);
/// The span of `auto_deletes_per_hour`.
const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Why a rule does not apply what it covers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AutoStopped {
    #[error("brake: {deletes} deletes of {} in {} are proposed or were applied in the last 24 h, more than {DELETES_MAX}", .topic.check, .topic.cluster)]
    Brake { topic: Topic, deletes: u64 },
    #[error("rules applied or are to apply {deletes} deletes within an hour, more than auto_deletes_per_hour = {most}")]
    PerHour { deletes: u64, most: u64 },
}

impl AutoRule {
    /// Whether the rule applies an action of a finding with this verdict, in a cluster of this class.
    pub fn covers(&self, action: &Action, verdict: &str, class: RiskClass) -> bool {
        let is_in_class = self.classes.is_empty() || self.classes.contains(&class);
        let is_named = self.verdicts.contains(verdict);
        let needs_name = action.tier > Tier::T1 || action.is_delete() || !self.verdicts.is_empty();
        let is_cloud_delete = action.target.cloud.is_some() && action.is_delete();
        let is_of_a_finding = action.finding().is_some();
        action.domain != NEVER_AUTO
            && action.tier <= self.tier.min(AUTO_TIER_MAX)
            && is_of_a_finding
            && !is_cloud_delete
            && is_in_class
            && (is_named || !needs_name)
    }

    /// How people and the journal know the rule of a check.
    pub fn name(&self, check: &str) -> String {
        format!("{check} tier {}", u8::from(self.tier))
    }
}

/// Whether a rule may apply a Proposal that is among `all`, every Proposal of the fleet.
///
/// # Errors
/// A brake is reached.
pub fn may_apply(proposal: &Recorded, all: &[Recorded], per_hour: u64, now: Timestamp) -> Result<(), AutoStopped> {
    if proposal.deletes() == 0 {
        return Ok(());
    }
    let deletes = all.iter().filter(|one| one.topic == proposal.topic).map(|one| counted(one, now)).sum();
    if deletes > DELETES_MAX {
        return Err(AutoStopped::Brake { topic: proposal.topic.clone(), deletes });
    }
    let is_recent =
        |one: &&Recorded| one.name == proposal.name || one.by_rule_at().is_some_and(|at| now.duration_since(at) < HOUR);
    let deletes = all.iter().filter(is_recent).map(Recorded::deletes).sum();
    if deletes > per_hour {
        return Err(AutoStopped::PerHour { deletes, most: per_hour });
    }
    Ok(())
}

/// The deletes of a Proposal that the brake counts: all while it is unfinished, and those that were sent in 24 hours.
fn counted(proposal: &Recorded, now: Timestamp) -> u64 {
    if !proposal.phase.is_terminal() {
        return proposal.deletes();
    }
    let sent = proposal.ended.iter().filter(|ended| {
        let is_delete = proposal.actions.get(&ended.id).is_some_and(|action| action.is_delete);
        let was_sent = !matches!(ended.outcome.as_str(), "skipped" | "already");
        is_delete && was_sent && now.duration_since(ended.at) < BRAKE_TIME
    });
    sent.count() as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api::{ActionRecord, ApprovalRecord, Phase};
    use crate::recorded::AUTO;
    use crate::testing::{deletes, labels, now, recorded};
    use proptest::prelude::*;
    use trueup_core::engine::testing::{DOMAIN, SECRETS};
    use trueup_core::engine::{CloudRef, Origin};

    fn rule(tier: Tier, verdicts: &[&str], classes: &[RiskClass]) -> AutoRule {
        let verdicts = verdicts.iter().map(|verdict| (*verdict).to_owned()).collect();
        AutoRule { tier, verdicts, classes: classes.iter().copied().collect() }
    }

    fn delete_in(class: RiskClass) -> Action {
        deletes(&["a"], class).actions.remove(0)
    }

    #[test]
    fn a_rule_covers_up_to_its_tier_and_above_t1_only_named_verdicts() {
        let (label, delete) = (labels(&["a"]).actions.remove(0), delete_in(RiskClass::Dev));
        let dev = RiskClass::Dev;
        let cases = [
            ("T1 by tier", rule(Tier::T1, &[], &[]), &label, dev, true),
            ("T1 with another verdict named", rule(Tier::T1, &["x"], &[]), &label, dev, false),
            ("a delete by tier alone", rule(Tier::T2, &[], &[]), &delete, dev, false),
            ("a delete above the tier", rule(Tier::T1, &["orphan-certain"], &[]), &delete, dev, false),
            ("a named delete", rule(Tier::T2, &["orphan-certain"], &[]), &delete, dev, true),
            ("in a named class", rule(Tier::T2, &["orphan-certain"], &[dev]), &delete, dev, true),
            ("in another class", rule(Tier::T2, &["orphan-certain"], &[dev]), &delete, RiskClass::Stage, false),
        ];
        for (case, rule, action, class, expected) in cases {
            assert_eq!(rule.covers(action, "orphan-certain", class), expected, "case: {case}");
        }
    }

    #[test]
    fn what_is_never_automatic_is_covered_by_no_rule() {
        let all = rule(Tier::T4, &["orphan-certain"], &[]);
        let delete = delete_in(RiskClass::Dev);
        assert!(all.covers(&delete, "orphan-certain", RiskClass::Dev));
        let mut cloud = delete.clone();
        cloud.target = CloudRef {
            cloud: "ibm".to_owned(),
            account: "acc".to_owned(),
            kind: "vpc".to_owned(),
            id: "r1".to_owned(),
            crn: None,
            name: None,
        }
        .into();
        let undo = Origin::Undo { plan: "sha256:ab".to_owned(), action: "a1".to_owned() };
        let cases = [
            ("T4", Action { tier: Tier::T4, ..delete.clone() }),
            ("logins", Action { domain: NEVER_AUTO.to_owned(), ..delete.clone() }),
            ("a cloud delete", cloud),
            ("an undo", Action { origin: undo, ..delete }),
        ];
        for (case, action) in cases {
            assert!(!all.covers(&action, "orphan-certain", RiskClass::Dev), "case: {case}");
        }
    }

    /// So many applied or open deletes, in Proposals of 5.
    fn history(count: usize, phase: Phase, at: Timestamp, by_rule: bool) -> Vec<Recorded> {
        let names: Vec<String> = (0..count).map(|index| format!("s{index:03}")).collect();
        let proposal = |(index, names): (usize, &[String])| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut recorded = recorded(&deletes(&names, RiskClass::Dev), &format!("p{index}"), phase);
            if phase.is_terminal() {
                let ended = |id: &String| ActionRecord {
                    id: id.clone(),
                    outcome: "gone".to_owned(),
                    message: String::new(),
                    at,
                };
                recorded.ended = recorded.actions.keys().map(ended).collect();
            }
            if by_rule {
                let approver = AUTO.to_owned();
                recorded.approvals = vec![ApprovalRecord { name: None, approver, rule: None, at }];
            }
            recorded
        };
        names.chunks(5).enumerate().map(proposal).collect()
    }

    #[test]
    fn the_brake_counts_open_deletes_and_those_of_the_last_24_h() {
        let own = recorded(&deletes(&["mine"], RiskClass::Dev), "mine", Phase::Proposed);
        let (hour, day) = (now() - SignedDuration::from_hours(2), now() - SignedDuration::from_hours(25));
        let cases = [
            ("alone", Vec::new(), true),
            ("24 others are open", history(20, Phase::Proposed, hour, false), true),
            ("25 others are open", history(25, Phase::Proposed, hour, false), false),
            ("25 were applied today", history(25, Phase::Applied, hour, false), false),
            ("25 were applied before yesterday", history(25, Phase::Applied, day, false), true),
            ("25 were superseded", history(25, Phase::Superseded, day, false), true),
        ];
        for (case, mut all, expected) in cases {
            all.push(own.clone());
            assert_eq!(may_apply(&own, &all, 1_000, now()).is_ok(), expected, "case: {case}");
        }
    }

    #[test]
    fn deletes_per_hour_count_for_the_whole_fleet() {
        let own = recorded(&deletes(&["mine"], RiskClass::Dev), "mine", Phase::Proposed);
        let elsewhere = |at| {
            let mut all = history(5, Phase::Applied, at, true);
            all.iter_mut().for_each(|one| one.topic.cluster = "guest-b".to_owned());
            all.push(own.clone());
            all
        };
        let (minutes, hours) = (now() - SignedDuration::from_mins(59), now() - SignedDuration::from_mins(60));
        assert_eq!(may_apply(&own, &elsewhere(minutes), 5, now()), Err(AutoStopped::PerHour { deletes: 6, most: 5 }));
        assert_eq!(may_apply(&own, &elsewhere(minutes), 6, now()), Ok(()));
        assert_eq!(may_apply(&own, &elsewhere(hours), 1, now()), Ok(()));
        assert_eq!(may_apply(&own, &elsewhere(hours), 0, now()), Err(AutoStopped::PerHour { deletes: 1, most: 0 }));
        let label = recorded(&labels(&["a"]), "label", Phase::Proposed);
        assert_eq!(may_apply(&label, &elsewhere(minutes), 0, now()), Ok(()), "it deletes nothing");
    }

    proptest! {
        #[test]
        fn no_rule_covers_t4_or_a_delete_whose_verdict_it_does_not_name(
            tier in 0_u8..=4, rule_tier in 1_u8..=4, named in any::<bool>(), is_delete in any::<bool>(),
        ) {
            let verdicts: BTreeSet<String> = named.then(|| "named".to_owned()).into_iter().collect();
            let rule = AutoRule { tier: Tier::try_from(rule_tier).unwrap(), verdicts, classes: BTreeSet::new() };
            let mut action = if is_delete { delete_in(RiskClass::Dev) } else { labels(&["a"]).actions.remove(0) };
            action.tier = Tier::try_from(tier).unwrap();
            for verdict in ["named", "other"] {
                if rule.covers(&action, verdict, RiskClass::Dev) {
                    prop_assert!(action.tier <= Tier::T3 && action.tier <= rule.tier);
                    prop_assert!(verdict == "named" && named || !is_delete && action.tier <= Tier::T1 && !named);
                }
            }
            prop_assert_eq!((DOMAIN.0, SECRETS.kind), ("hosted-oidc", "Secret"));
        }
    }
}
