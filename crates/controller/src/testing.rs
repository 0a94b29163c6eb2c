//! Builders for the tests of what is decided: one cluster `guest-a`, one check `hosted-oidc`.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::api::{ApprovalSpec, Decision, Phase, Proposal, ProposalSpec};
use crate::approval::GivenApproval;
use crate::recorded::{Recorded, Topic};
use crate::slice;
use crate::status;
use trueup_core::engine::testing::{Given, finding, given, label};
use trueup_core::engine::{MarkKey, Plan};
use trueup_core::world::RiskClass;

pub fn key() -> MarkKey {
    MarkKey::shared(&[7; 32]).unwrap()
}

pub fn topic() -> Topic {
    Topic { cluster: "guest-a".to_owned(), check: "hosted-oidc".to_owned() }
}

/// A minute after the plans of the builders were made.
pub fn now() -> Timestamp {
    trueup_core::engine::testing::now() + jiff::SignedDuration::from_mins(1)
}

/// A plan that deletes these Secrets in a cluster of this class.
pub fn deletes(names: &[&str], class: RiskClass) -> Plan {
    let given = names.iter().fold(given(), |given, name| given.finding(finding(name).deletes()));
    in_class(given, class)
}

/// A plan that labels these Secrets.
pub fn labels(names: &[&str]) -> Plan {
    let one = |name: &str| finding(name).draft(label("guest-a", name));
    in_class(names.iter().fold(given(), |given, name| given.finding(one(name))), RiskClass::Dev)
}

fn in_class(given: Given, class: RiskClass) -> Plan {
    let valid_for = jiff::SignedDuration::from_hours(24);
    given.cluster(|cluster| cluster.class = class).conditions(|conditions| conditions.valid_for = valid_for).plan()
}

/// The one Proposal of a plan.
pub fn proposed(plan: &Plan) -> ProposalSpec {
    let all: BTreeSet<String> = plan.actions.iter().map(|action| action.id.clone()).collect();
    slice::parts(plan, &topic(), &all, &key()).parts.remove(0).spec
}

/// The same as the controller sees it, in this phase.
pub fn recorded(plan: &Plan, name: &str, phase: Phase) -> Recorded {
    let mut proposal = Proposal::new("trueup", name, proposed(plan));
    proposal.status = Some(status::created(phase, 0, "", now()));
    Recorded::read(&proposal).unwrap()
}

/// What a person says to a Proposal.
pub fn approval(proposal: &Recorded, approver: &str, words: &str) -> GivenApproval {
    let spec = ApprovalSpec {
        proposal: proposal.name.clone(),
        plan_id: proposal.plan_id.clone(),
        tier: proposal.tier,
        approver: approver.to_owned(),
        words: words.to_owned(),
        actions: Vec::new(),
        decision: Decision::Approve,
        reason: String::new(),
    };
    GivenApproval { name: format!("by-{approver}"), at: now(), spec }
}
