//! Gates: rules that block an action, one function each, with a reason and what to do about it.
//!
//! Invariants:
//! - a gate only ever adds a reason; none takes another one's away;
//! - gates that look at one action come first, then the policy's caps, then the brake (which counts what is left),
//!   and dependencies last, because they follow from everything before them;
//! - nothing here reads a clock, a file or a cluster: what a gate needs is in [`Conditions`].
//!
//! Being recorded in a folder is no gate: identity, freshness, access, TLS, settling and backups are asked of live clusters only.
//! Elsewhere: what only a writer can judge (whether a backup was sealed and read back, whether the plan is still valid),
//! and the gates of the domains.

mod access;
mod backup;
mod brake;
mod clock;
mod cluster;
mod dependency;
mod evidence;
mod freeze;
mod login;
mod managed_elsewhere;
mod policy;
mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

pub use access::{AccessAnswer, AccessAnswers, AccessQuestion, access_questions, undo_access_questions};
pub use backup::BackupCheck;
pub use brake::DELETES_MAX;
pub(super) use brake::{BrakeMode, over_brake};
pub use evidence::{FRESH_FOR, empty_set};
pub use freeze::{BadWindow, FreezeWindow};
pub use login::OwnLogin;
pub use managed_elsewhere::ManagedElsewhere;
pub use policy::{PolicyEffect, PolicyRule};
pub(super) use policy::{PolicySubject, judge_policy};
pub use switch::{KillSwitch, ReadOnly};

use super::action::{ActionDraft, Blocked, GateName, Verb};
use super::finding::{CheckName, SubjectId};
use super::plan::{Action, PLAN_TTL};
use super::tier::{Tier, tier};
use crate::world::{
    ClockSkew, Cluster, ClusterName, ClusterSource, CollectionId, Completeness, Link, Resource, RiskClass,
};

/// What the gates look at besides the actions themselves.
#[derive(Debug, Clone)]
pub struct Conditions {
    pub now: Timestamp,
    pub read_only: ReadOnly,
    /// The kill-switch file, when it is there.
    pub kill_switch: Option<KillSwitch>,
    pub freeze: Vec<FreezeWindow>,
    pub policy: Vec<PolicyRule>,
    /// What the clusters said about the permissions each action needs.
    pub access: AccessAnswers,
    /// How the user is logged in, where that was read.
    pub logins: BTreeMap<ClusterName, OwnLogin>,
    /// Clusters whose certificate was not verified.
    pub unverified_tls: BTreeSet<ClusterName>,
    pub allow_insecure_writes: bool,
    /// The clocks of the clusters that sent a `Date`, compared with the local one.
    pub clocks: BTreeMap<ClusterName, ClockSkew>,
    /// How long a verdict has to hold before its delete is offered.
    pub settle: Duration,
    /// The time between the first and the last observation that gave the present verdict. Absent: seen once.
    pub held: BTreeMap<SubjectId, Duration>,
    /// `--max-deletes`.
    pub deletes_max: Option<u64>,
    pub backup: BackupCheck,
    /// `[safety] managed_elsewhere`.
    pub managed_elsewhere: ManagedElsewhere,
    /// How long the plan may be applied (`--valid-for`).
    pub valid_for: SignedDuration,
}

impl Conditions {
    /// Nothing shut, nothing answered, no settling asked for.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now,
            read_only: ReadOnly::Off,
            kill_switch: None,
            freeze: Vec::new(),
            policy: Vec::new(),
            access: AccessAnswers::default(),
            logins: BTreeMap::new(),
            unverified_tls: BTreeSet::new(),
            allow_insecure_writes: false,
            clocks: BTreeMap::new(),
            settle: Duration::ZERO,
            held: BTreeMap::new(),
            deletes_max: None,
            backup: BackupCheck::NotLooked,
            managed_elsewhere: ManagedElsewhere::Block,
            valid_for: PLAN_TTL,
        }
    }
}

/// An action on its way into a plan.
pub(super) struct Candidate<'a> {
    pub id: String,
    pub subject: &'a SubjectId,
    pub draft: &'a ActionDraft,
    /// By its check, or because the user selects its verdict.
    pub selected: bool,
    pub needs: Vec<Need>,
}

/// What another action has to do first.
pub(super) enum Need {
    /// The candidate at this place.
    Candidate(usize),
    /// Something that is not in the plan.
    NotPlanned { finding: String },
}

/// Everything around the candidates.
pub(super) struct GateInputs<'a> {
    pub conditions: &'a Conditions,
    pub clusters: BTreeMap<&'a ClusterName, &'a Cluster>,
    pub observed: BTreeMap<&'a CollectionId, &'a Completeness>,
    /// How many subjects a domain manages in a cluster: those with any proof of ownership, shown in the plan or not.
    pub managed: BTreeMap<Group, u64>,
}

/// The deletes the brake looks at together.
pub(super) type Group = (ClusterName, CheckName);

/// The result of the gates for one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gated {
    pub tier: Tier,
    /// Sorted by the gate's word, then by its reason.
    pub blocked_by: Vec<Blocked>,
}

type Gate = fn(&Candidate<'_>, &GateInputs<'_>) -> Option<Blocked>;

/// The gates that look at one action at a time.
const SINGLE_GATES: [Gate; 14] = [
    switch::read_only,
    switch::kill_switch,
    freeze::freeze,
    cluster::identity,
    cluster::insecure,
    clock::clock,
    evidence::not_complete,
    evidence::ownership,
    evidence::settling,
    managed_elsewhere::managed_elsewhere,
    access::access,
    login::own_login,
    backup::backup,
    policy::deny,
];

/// Puts every candidate before every gate. The answers are in the order of the candidates.
pub(super) fn judge(candidates: &[Candidate<'_>], around: &GateInputs<'_>, brake: BrakeMode) -> Vec<Gated> {
    let mut gated: Vec<Gated> = candidates.iter().map(|candidate| judge_single(candidate, around)).collect();
    policy::cap(candidates, around, &mut gated);
    match brake {
        BrakeMode::On => brake::brake(candidates, around, &mut gated),
        BrakeMode::Off => {}
    }
    dependency::dependency(candidates, &mut gated);
    for Gated { tier: _, blocked_by } in &mut gated {
        blocked_by.sort_by(|a, b| (a.gate.as_str(), &a.why).cmp(&(b.gate.as_str(), &b.why)));
        blocked_by.dedup();
    }
    gated
}

fn judge_single(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Gated {
    let mut blocked_by = candidate.draft.blocked_by.clone();
    blocked_by.extend(SINGLE_GATES.iter().filter_map(|gate| gate(candidate, around)));
    let own = tier(candidate.draft, around.class(candidate));
    Gated { tier: policy::raise(own, candidate, around), blocked_by }
}

/// The gates of an undo besides the policy, in a live cluster. Its object is read right before it is sent, so that no list, proof or
/// verdict is needed.
pub(super) fn judge_undo(
    action: &Action,
    cluster: Option<&Cluster>,
    conditions: &Conditions,
    resources: &[Resource],
) -> Vec<Blocked> {
    let mut shut = vec![
        switch::read_only_mode(conditions),
        switch::kill_switch_file(conditions),
        freeze::freeze_window(conditions),
    ];
    if let Some(cluster) = cluster {
        shut.push(cluster::unverified(&cluster.name, conditions));
        if action.is_delete() {
            shut.push(clock::skewed([&cluster.name], conditions));
        }
        shut.push(access::refused(&undo_access_questions(action, &cluster.name, resources), &conditions.access));
    }
    shut.into_iter().flatten().collect()
}

impl Candidate<'_> {
    fn is_delete(&self) -> bool {
        self.draft.verb() == Verb::Delete
    }

    fn cluster(&self) -> &ClusterName {
        &self.draft.target.cluster
    }

    pub(super) fn group(&self) -> Group {
        (self.subject.cluster.clone(), self.draft.domain)
    }
}

impl GateInputs<'_> {
    fn is_live(&self, name: &ClusterName) -> bool {
        // An unknown cluster is treated as the more dangerous sort.
        self.clusters.get(name).is_none_or(|cluster| match cluster.source {
            ClusterSource::Kubeconfig { .. } | ClusterSource::Hosted { .. } | ClusterSource::Local => true,
            ClusterSource::Cloud { .. } => cluster.link != Link::Recorded,
            ClusterSource::Snapshot => false,
        })
    }

    fn class(&self, candidate: &Candidate<'_>) -> RiskClass {
        self.clusters.get(candidate.cluster()).map_or(RiskClass::Prod, |cluster| cluster.class)
    }
}

fn blocked(gate: GateName, why: impl Into<String>) -> Blocked {
    Blocked { gate, why: why.into() }
}

#[cfg(test)]
mod tests;
