//! A Proposal as the controller decides on it: its plan read, compared and reduced.
//!
//! Invariants: a Proposal whose plan is not what its spec says is a fault, never a plan.
//!
//! Elsewhere: the objects (`api`), what follows (`reconcile`, `auto`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::{ActionRecord, ApprovalRecord, Phase, Proposal, ProposalFault};
use trueup_core::engine::{Action, Plan, Tier, canonical_digest};

/// What an action does, whatever the plan it is in: equal for the same write of the same object in the same state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActionKey(String);

/// A cluster and a check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic {
    pub cluster: String,
    pub check: String,
}

/// One action of a Proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAction {
    pub key: ActionKey,
    pub is_delete: bool,
}

/// A Proposal, reduced to what is decided by.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub name: String,
    pub topic: Topic,
    pub plan_id: String,
    pub tier: Tier,
    pub expires_at: Timestamp,
    pub phase: Phase,
    pub shard: Option<u32>,
    /// By their ids.
    pub actions: BTreeMap<String, RecordedAction>,
    pub approvals: Vec<ApprovalRecord>,
    pub ended: Vec<ActionRecord>,
    /// When it became what it is.
    pub changed_at: Option<Timestamp>,
    pub plan: Arc<Plan>,
}

/// The approver of what a rule applies.
pub const AUTO: &str = "auto";
/// The type of the condition that says why a Proposal is what it is.
pub const READY: &str = "Ready";

impl ActionKey {
    /// The key of an action.
    ///
    /// # Panics
    /// Never for an action of a plan that has an id: its numbers are integers.
    pub fn of(action: &Action) -> Self {
        let Action { cluster, domain, change, target, preconditions, tier, reason, .. } = action;
        let finding = action.finding();
        let parts = serde_json::json!({
            "cluster": cluster, "domain": domain, "verb": action.verb(), "change": change, "target": target,
            "preconditions": preconditions, "tier": tier, "reason": reason, "finding": finding,
        });
        Self(canonical_digest(&parts).expect("the numbers of a plan are integers"))
    }
}

impl Topic {
    pub fn of(action: &Action) -> Self {
        Self { cluster: action.cluster.clone(), check: action.domain.clone() }
    }
}

impl Recorded {
    /// Reads a Proposal.
    ///
    /// # Errors
    /// Its plan cannot be relied on.
    pub fn read(proposal: &Proposal) -> Result<Self, ProposalFault> {
        let plan = proposal.spec.read_plan()?;
        let action = |action: &Action| {
            (action.id.clone(), RecordedAction { key: ActionKey::of(action), is_delete: action.is_delete() })
        };
        let status = proposal.status.as_ref();
        let ready = status.and_then(|status| status.conditions.iter().find(|condition| condition.type_ == READY));
        let changed_at = ready.map(|condition| condition.last_transition_time.0);
        Ok(Self {
            name: proposal.metadata.name.clone().unwrap_or_default(),
            topic: Topic { cluster: proposal.spec.cluster.name.clone(), check: proposal.spec.check.clone() },
            plan_id: plan.id.clone(),
            tier: proposal.spec.tier,
            expires_at: plan.expires_at,
            phase: proposal.phase(),
            shard: status.and_then(|status| status.shard),
            actions: plan.actions.iter().map(action).collect(),
            approvals: status.map(|status| status.approvals.clone()).unwrap_or_default(),
            ended: status.map(|status| status.actions.clone()).unwrap_or_default(),
            changed_at,
            plan: Arc::new(plan),
        })
    }

    pub fn keys(&self) -> BTreeSet<&ActionKey> {
        self.actions.values().map(|action| &action.key).collect()
    }

    /// How many deletes it has.
    pub fn deletes(&self) -> u64 {
        self.actions.values().filter(|action| action.is_delete).count() as u64
    }

    /// When a rule approved it.
    pub fn by_rule_at(&self) -> Option<Timestamp> {
        self.approvals.iter().filter(|approval| approval.approver == AUTO).map(|approval| approval.at).max()
    }
}
