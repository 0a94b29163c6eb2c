//! What happens to the Proposals of a fleet, given a plan of how it is now. Pure.
//!
//! Invariants:
//! - nothing is edited: what changed is superseded, and a new Proposal says what is to be done now;
//! - a Proposal that is being applied is left alone; one that a person approved is superseded only when its own actions
//!   changed;
//! - what a person rejected, and what was refused or tried a moment ago, is not proposed again at once;
//! - a cluster that cannot be read supersedes nothing: what is unknown has not changed.
//!
//! Elsewhere: what fits into one Proposal (`slice`), who approves (`approval`, `auto`).

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::api::{Phase, ProposalSpec};
use crate::recorded::{ActionKey, Recorded, Topic};
use crate::settings::{CheckMode, ControllerSettings};
use crate::slice;
use trueup_core::engine::{Action, MarkKey, Plan};

/// How long the same actions are not proposed again after they were applied, partly applied or refused: lists follow
/// within seconds, and a refusal rarely ends sooner.
pub const RETRY_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Create(Box<ProposalSpec>),
    /// Ends a Proposal in this phase, with the reason.
    End {
        name: String,
        phase: Phase,
        why: String,
    },
}

/// The steps, and what cannot be proposed.
#[derive(Debug, Default, PartialEq)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// Actions that fit into no Proposal, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// What the steps follow from.
pub struct Now<'a> {
    /// The plan of every cluster this replica acts for.
    pub plan: &'a Plan,
    /// The clusters of it whose lists are complete enough to say that something is gone.
    pub known: &'a BTreeSet<String>,
    /// The Proposals of those clusters.
    pub proposals: &'a [Recorded],
    pub settings: &'a ControllerSettings,
    pub key: &'a MarkKey,
    pub now: Timestamp,
}

/// An action of the plan with what it is compared by.
struct Wanted<'a> {
    action: &'a Action,
    key: ActionKey,
    by_rule: bool,
}

impl Now<'_> {
    /// Returns what to do, in the order to do it in.
    pub fn steps(&self) -> Steps {
        let mut steps = Steps::default();
        let mut by_topic: BTreeMap<Topic, Vec<Wanted<'_>>> = BTreeMap::new();
        for action in &self.plan.actions {
            by_topic.entry(Topic::of(action)).or_default().push(self.wanted(action));
        }
        let open = self.proposals.iter().filter(|one| !one.phase.is_terminal());
        let topics: BTreeSet<Topic> = by_topic.keys().cloned().chain(open.map(|one| one.topic.clone())).collect();
        for topic in topics {
            self.topic(&topic, by_topic.get(&topic).map_or(&[], Vec::as_slice), &mut steps);
        }
        steps
    }

    fn topic(&self, topic: &Topic, wanted: &[Wanted<'_>], steps: &mut Steps) {
        let observed = *self.settings.mode(&topic.check) == CheckMode::Observe;
        let current: BTreeSet<&ActionKey> = wanted.iter().map(|one| &one.key).collect();
        let mut kept: Vec<&Recorded> = Vec::new();
        let own = self.proposals.iter().filter(|one| one.topic == *topic);
        for proposal in own.clone().filter(|one| !one.phase.is_terminal()) {
            let end = |phase, why: String| Step::End { name: proposal.name.clone(), phase, why };
            let is_changed = || self.known.contains(&topic.cluster) && !proposal.keys().is_subset(&current);
            if proposal.phase == Phase::Applying {
                kept.push(proposal);
            } else if self.now >= proposal.expires_at {
                steps.steps.push(end(Phase::Expired, format!("it expired at {}", proposal.expires_at)));
            } else if observed {
                steps.steps.push(end(Phase::Superseded, "the check is only observed now".to_owned()));
            } else if is_changed() {
                steps.steps.push(end(Phase::Superseded, "what it would change is not as it was".to_owned()));
            } else {
                kept.push(proposal);
            }
        }
        if observed {
            return;
        }
        let resting: BTreeSet<&ActionKey> = own.filter(|one| self.rests(one)).flat_map(Recorded::keys).collect();
        let covered = |by: &[&Recorded], key: &ActionKey| by.iter().any(|one| one.keys().contains(key));
        let runs = |one: &&Wanted<'_>| one.action.selected && one.action.blocked_by.is_empty();
        let open: Vec<&Wanted<'_>> = wanted.iter().filter(runs).filter(|one| !resting.contains(&one.key)).collect();
        if open.iter().all(|one| covered(&kept, &one.key)) {
            return;
        }
        // One Proposal for a cluster and check: what has no approval yet is proposed again with what is new.
        let (soft, firm): (Vec<&Recorded>, Vec<&Recorded>) =
            kept.into_iter().partition(|one| one.phase == Phase::Proposed && one.approvals.is_empty());
        let key_of: BTreeMap<&str, &ActionKey> = open.iter().map(|one| (one.action.id.as_str(), &one.key)).collect();
        let (mut create, mut same) = (Vec::new(), BTreeSet::new());
        for by_rule in [true, false] {
            let part = open.iter().filter(|one| one.by_rule == by_rule && !covered(&firm, &one.key));
            let ids = part.map(|one| one.action.id.clone()).collect();
            let parts = slice::parts(self.plan, topic, &ids, self.key);
            steps.left_out.extend(parts.left_out);
            for part in parts.parts {
                let keys: BTreeSet<&ActionKey> = part.actions.iter().map(|id| key_of[id.as_str()]).collect();
                match soft.iter().find(|one| one.keys() == keys) {
                    Some(one) => drop(same.insert(&one.name)),
                    None => create.push(Step::Create(Box::new(part.spec))),
                }
            }
        }
        for proposal in soft.iter().filter(|one| !same.contains(&one.name)) {
            let (name, why) = (proposal.name.clone(), "there is more to do in this cluster".to_owned());
            steps.steps.push(Step::End { name, phase: Phase::Superseded, why });
        }
        steps.steps.extend(create);
    }

    /// Whether what a finished Proposal would have done is left alone for now.
    fn rests(&self, proposal: &Recorded) -> bool {
        match proposal.phase {
            Phase::Rejected => self.now < proposal.expires_at,
            Phase::Applied | Phase::PartlyApplied | Phase::Refused => {
                proposal.changed_at.is_some_and(|at| self.now.duration_since(at) < RETRY_AFTER)
            }
            Phase::Proposed | Phase::Approved | Phase::Applying | Phase::Expired | Phase::Superseded => false,
        }
    }

    fn wanted<'a>(&self, action: &'a Action) -> Wanted<'a> {
        Wanted { action, key: ActionKey::of(action), by_rule: by_rule(self.plan, action, self.settings) }
    }
}

/// Whether a rule of the configuration applies an action of a plan.
pub fn by_rule(plan: &Plan, action: &Action, settings: &ControllerSettings) -> bool {
    let CheckMode::Auto(rule) = settings.mode(&action.domain) else { return false };
    let finding = plan.findings.iter().find(|finding| Some(finding.id.as_str()) == action.finding());
    let target = plan.targets.iter().find(|target| target.cluster == action.cluster);
    finding.zip(target).is_some_and(|(finding, target)| rule.covers(action, &finding.verdict, target.class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ApprovalRecord;
    use crate::settings::AutoRule;
    use crate::testing::{deletes, key, labels, now, recorded};
    use trueup_core::engine::{Blocked, GateName, Tier};
    use trueup_core::world::RiskClass;

    fn plan(names: &[&str]) -> Plan {
        deletes(names, RiskClass::Dev)
    }

    fn steps_at(
        plan: &Plan,
        proposals: &[Recorded],
        settings: &ControllerSettings,
        known: &[&str],
        now: Timestamp,
    ) -> Vec<String> {
        let known = known.iter().map(|name| (*name).to_owned()).collect();
        let key = key();
        let steps = Now { plan, known: &known, proposals, settings, key: &key, now }.steps();
        let said = |step: Step| match step {
            Step::Create(spec) => format!("create {}", spec.action_count),
            Step::End { name, phase, .. } => format!("{} {name}", phase.as_str()),
        };
        steps.steps.into_iter().map(said).collect()
    }

    fn steps(plan: &Plan, proposals: &[Recorded]) -> Vec<String> {
        steps_at(plan, proposals, &ControllerSettings::default(), &["guest-a"], now())
    }

    fn partly_approved(plan: &Plan) -> Recorded {
        let ann = ApprovalRecord { name: None, approver: "ann".to_owned(), rule: None, at: now() };
        Recorded { approvals: vec![ann], ..recorded(plan, "old", Phase::Proposed) }
    }

    #[test]
    fn a_proposal_follows_what_is_to_be_done() {
        let (one, two) = (plan(&["a"]), plan(&["a", "b"]));
        let is = |plan: &Plan, phase| vec![recorded(plan, "old", phase)];
        let cases = [
            ("nothing was proposed", &two, Vec::new(), vec!["create 2"]),
            ("the same is proposed", &two, is(&two, Phase::Proposed), vec![]),
            ("part of it is proposed", &one, is(&two, Phase::Proposed), vec!["Superseded old", "create 1"]),
            ("there is more to do", &two, is(&one, Phase::Proposed), vec!["Superseded old", "create 2"]),
            ("more, and it is approved", &two, is(&one, Phase::Approved), vec!["create 1"]),
            ("more, and one person approved", &two, vec![partly_approved(&one)], vec!["create 1"]),
            ("less, and one person approved", &one, vec![partly_approved(&two)], vec!["Superseded old", "create 1"]),
            ("it is being applied", &one, is(&two, Phase::Applying), vec![]),
            ("it was rejected", &two, is(&two, Phase::Rejected), vec![]),
            ("part of it was rejected", &two, is(&one, Phase::Rejected), vec!["create 1"]),
            ("it was applied a moment ago", &two, is(&two, Phase::Applied), vec![]),
            ("it was refused a moment ago", &two, is(&two, Phase::Refused), vec![]),
            ("it was superseded", &two, is(&two, Phase::Superseded), vec!["create 2"]),
        ];
        for (case, plan, proposals, expected) in cases {
            assert_eq!(steps(plan, &proposals), expected, "case: {case}");
        }
    }

    #[test]
    fn what_was_rejected_or_refused_is_proposed_again_in_time() {
        let plan = plan(&["a"]);
        let settings = ControllerSettings::default();
        let at = |phase, later: SignedDuration| {
            steps_at(&plan, &[recorded(&plan, "old", phase)], &settings, &["guest-a"], now() + later)
        };
        assert_eq!(at(Phase::Refused, SignedDuration::from_mins(11)), ["create 1"]);
        assert_eq!(at(Phase::Rejected, SignedDuration::from_mins(11)), [""; 0], "a person said no to exactly this");
        assert_eq!(at(Phase::Rejected, SignedDuration::from_hours(25)), ["create 1"]);
        assert_eq!(at(Phase::Proposed, SignedDuration::from_hours(25)), ["Expired old", "create 1"]);
    }

    #[test]
    fn a_cluster_that_cannot_be_read_supersedes_nothing() {
        let (none, two) = (plan(&[]), plan(&["a", "b"]));
        let proposals = [recorded(&two, "old", Phase::Proposed)];
        let settings = ControllerSettings::default();
        assert_eq!(steps_at(&none, &proposals, &settings, &[], now()), [""; 0]);
        assert_eq!(steps_at(&none, &proposals, &settings, &["guest-a"], now()), ["Superseded old"]);
    }

    #[test]
    fn a_gate_that_blocks_for_now_supersedes_nothing_and_proposes_nothing() {
        let mut plan = plan(&["a"]);
        let open = recorded(&plan, "old", Phase::Proposed);
        plan.actions[0].blocked_by = vec![Blocked { gate: GateName::Freeze, why: "freeze".to_owned() }];
        assert_eq!(steps(&plan, &[open]), [""; 0]);
        assert_eq!(steps(&plan, &[]), [""; 0]);
    }

    #[test]
    fn an_observed_check_proposes_nothing_and_ends_what_was_proposed() {
        let plan = plan(&["a"]);
        let modes = [("hosted-oidc".to_owned(), CheckMode::Observe)].into();
        let settings = ControllerSettings { modes, ..ControllerSettings::default() };
        let of = |proposals: &[Recorded]| steps_at(&plan, proposals, &settings, &["guest-a"], now());
        assert_eq!(of(&[]), [""; 0]);
        assert_eq!(of(&[recorded(&plan, "old", Phase::Proposed)]), ["Superseded old"]);
    }

    #[test]
    fn what_a_rule_covers_is_a_proposal_of_its_own() {
        let mut plan = plan(&["a", "b"]);
        let label = labels(&["c"]);
        plan.findings.extend(label.findings);
        plan.actions.extend(
            label.actions.into_iter().map(|action| trueup_core::engine::Action { id: "a3".to_owned(), ..action }),
        );
        let rule = AutoRule { tier: Tier::T1, verdicts: BTreeSet::new(), classes: BTreeSet::new() };
        let modes = [("hosted-oidc".to_owned(), CheckMode::Auto(rule))].into();
        let settings = ControllerSettings { modes, ..ControllerSettings::default() };
        assert_eq!(steps_at(&plan, &[], &settings, &["guest-a"], now()), ["create 1", "create 2"]);
    }

    #[test]
    fn what_does_not_fit_is_not_proposed_again_and_again() {
        let names: Vec<String> = (0..250).map(|index| format!("s{index:03}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut plan = deletes(&names, RiskClass::Dev);
        for action in &mut plan.actions {
            action.blocked_by.clear();
        }
        for place in 1..plan.actions.len() {
            plan.actions[place].depends_on = vec![plan.actions[place - 1].id.clone()];
        }
        let known = ["guest-a".to_owned()].into();
        let (settings, key) = (ControllerSettings::default(), key());
        let steps = |proposals: &[Recorded]| {
            Now { plan: &plan, known: &known, proposals, settings: &settings, key: &key, now: now() }.steps().steps
        };
        let [Step::Create(spec)] = &steps(&[])[..] else { panic!("one part is proposed") };
        let mut proposal = crate::api::Proposal::new("trueup", "first", (**spec).clone());
        proposal.status = Some(crate::status::created(Phase::Proposed, 0, "", now()));
        let first = Recorded::read(&proposal).unwrap();
        assert_eq!(steps(&[first]), []);
    }
}
