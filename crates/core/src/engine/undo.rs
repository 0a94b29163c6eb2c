//! Undo: the plan that reverses an applied plan. Pure.
//!
//! Invariants:
//! - an undo is a plan like any other: shown, named by its id, approved, journalled;
//! - it creates what was deleted, from its backup, and never overwrites what has the name now;
//! - it puts labels, annotations and patched fields back to what they were, when they still are what the plan made them;
//! - it puts the tags of a cloud resource back when they are those the plan left it with; what was deleted there is gone;
//! - it puts content back from its backup, and deletes what was created, when the object did not change since;
//! - what it cannot restore is listed, with the reason.
//!
//! Elsewhere: reading backups, objects and owners. What was seen of them is in [`Look`]. `inverse`: of one action;
//! `tags`: of one in a cloud.

mod inverse;
mod tags;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

pub use inverse::can_undo;
pub(super) use inverse::is_gone;
pub use tags::reclaimable_days;

use super::canonical::NotCanonical;
use super::gate::{Conditions, PolicySubject, judge_policy, judge_undo};
use super::journal::{ActionEntry, Entry, is_memory};
use super::plan::{Action, PLAN_SCHEMA, Plan, Summary, TargetRecord, TargetSource};
use super::reference::ObjectRef;
use crate::world::{Cluster, Resource, RiskClass};
use inverse::inverse;

/// An undo, and what is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoPlan {
    pub plan: Plan,
    /// One sentence for each action that cannot be undone.
    pub left_out: Vec<String>,
    /// One sentence for each thing that does not come back with what does.
    pub not_restored: Vec<String>,
}

/// What was seen, right before an undo is planned, of what one action was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub object: ObjectNow,
    pub backup: BackupSeen,
    pub owners: OwnersSeen,
}

/// What has the name now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectNow {
    Absent,
    Present {
        uid: String,
        resource_version: String,
        labels: BTreeMap<String, String>,
        annotations: BTreeMap<String, String>,
        /// What stands in the fields the action patched, in the shape of that patch; null for other actions.
        fields: serde_json::Value,
    },
    /// It could not be read, and why.
    Unknown(String),
}

/// What a backup is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupSeen {
    /// It opens. The names of what a restored object does not have from before.
    Opens { lost: Vec<&'static str> },
    /// It cannot be opened, and why.
    Spoiled(String),
    /// The action had none.
    None,
}

/// Which owners of an object live.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnersSeen {
    pub living: Vec<ObjectRef>,
    /// A sentence for each that is gone or could not be read.
    pub dropped: Vec<String>,
}

/// Plans the inverse of what an entry of the journal did; of one action of it, when `only` names it. `looks` holds what
/// was seen, by action; an action whose object was not read is not reversed.
///
/// # Errors
/// Never for what a journal holds: its records have no numbers that are no integers.
pub fn undo(
    entry: &Entry,
    only: Option<&str>,
    looks: &BTreeMap<String, Look>,
    now: Timestamp,
    valid_for: SignedDuration,
) -> Result<UndoPlan, NotCanonical> {
    let mut left_out = Vec::new();
    let mut not_restored = Vec::new();
    let mut actions = Vec::new();
    let is_meant = |action: &&ActionEntry| !is_memory(&action.id) && only.is_none_or(|only| only == action.id);
    for done in entry.actions.iter().filter(is_meant) {
        match inverse(entry, done, looks.get(&done.id)) {
            Ok(inverse) => {
                not_restored.extend(inverse.not_restored.iter().map(|what| format!("{}: {what}", done.id)));
                actions.push(inverse.action);
            }
            Err(why) => left_out.push(format!("{}: {why}", done.id)),
        }
    }
    actions.sort_by(|one, other| one.id.cmp(&other.id));
    let created_at = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        id: String::new(),
        mark: None,
        created_at,
        expires_at: created_at.saturating_add(valid_for).unwrap_or(created_at),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        targets: targets(entry, &actions),
        observations: Vec::new(),
        findings: Vec::new(),
        summary: Summary::of([], &actions),
        actions,
    };
    plan.id = plan.computed_id()?;
    Ok(UndoPlan { plan, left_out, not_restored })
}

impl UndoPlan {
    /// Gates the plan by the current configuration: what a gate shuts is blocked, and tiers rise by policy. `clusters` are the
    /// live clusters behind the journal's names; any other counts as prod. `resources` are the kinds whose access was asked for
    /// ([`super::undo_access_questions`]).
    ///
    /// # Errors
    /// Never for what a journal holds: its records have no numbers that are not integers.
    pub fn under(
        mut self,
        conditions: &Conditions,
        clusters: &BTreeMap<String, Cluster>,
        resources: &[Resource],
    ) -> Result<Self, NotCanonical> {
        let class_of = |cluster: &str| clusters.get(cluster).map_or(RiskClass::Prod, |cluster| cluster.class);
        for target in &mut self.plan.targets {
            target.class = class_of(&target.cluster);
        }
        let actions = self.plan.actions.iter();
        let subjects: Vec<PolicySubject<'_>> =
            actions.map(|action| policy_subject(action, class_of(&action.cluster))).collect();
        let judged = judge_policy(&conditions.policy, &subjects);
        for (action, (mut blocked_by, tier)) in self.plan.actions.iter_mut().zip(judged) {
            blocked_by.extend(judge_undo(action, clusters.get(&action.cluster), conditions, resources));
            blocked_by.sort_by(|a, b| (a.gate.as_str(), &a.why).cmp(&(b.gate.as_str(), &b.why)));
            action.tier = action.tier.max(tier);
            action.blocked_by = blocked_by;
        }
        self.plan.summary = Summary::of([], &self.plan.actions);
        self.plan.id = self.plan.computed_id()?;
        Ok(self)
    }
}

fn policy_subject(action: &Action, class: RiskClass) -> PolicySubject<'_> {
    PolicySubject {
        cluster: &action.cluster,
        class,
        namespace: action.target.namespace.as_deref().unwrap_or_default(),
        kind: &action.target.kind,
        verb: action.verb(),
    }
}

/// The clusters it goes to, as the last approval knew them.
fn targets(entry: &Entry, actions: &[Action]) -> Vec<TargetRecord> {
    let named = |name: &str| actions.iter().any(|action| action.cluster == name);
    let clusters = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let target = |cluster: &super::journal::ApprovedCluster| TargetRecord {
        cluster: cluster.name.clone(),
        source: TargetSource::Journal,
        class: RiskClass::Prod,
        identity: cluster.identity.clone(),
    };
    clusters.iter().filter(|cluster| named(&cluster.name)).map(target).collect()
}
