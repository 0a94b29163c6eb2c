//! Making plans: one way for every front end.
//!
//! Invariants: a plan is built from one state of the fleet; permissions are asked before, and everything is judged again
//! when the fleet changed meanwhile.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::error::OperateError;
use crate::fleet::Fleet;
use crate::observe::{backup_check, conditions, judged};
use crate::probe::{self, Probes};
use crate::session::Session;
use crate::state::read_kill_switch;
use crate::{access, own_login, tombstones};
use trueup_core::engine::{
    AcceptRule, AccessAnswers, Conditions, GateName, Judged, Observed, Plan, PlanInput, PlanScope, ReadOnly, Tombstone,
    build,
};
use trueup_core::world::{Cluster, ClusterSource, View};
use trueup_fleet::live::Live;

/// What a plan is made for.
#[derive(Debug, Clone, Default)]
pub struct PlanRequest {
    pub scope: PlanScope,
    /// `--max-deletes`.
    pub deletes_max: Option<u64>,
    /// How long a verdict must hold before its delete is offered.
    pub settle: Duration,
    /// `--valid-for`. Absent: `[safety] plan_ttl`.
    pub valid_for: Option<SignedDuration>,
    /// Results of probes to show with the findings.
    pub probes: Probes,
}

/// A plan, with what is needed to show it.
#[derive(Debug, Clone)]
pub struct Planned {
    pub plan: Plan,
    /// When the objects of findings were created, by finding.
    pub created: BTreeMap<String, Timestamp>,
    /// The time the plan was made for.
    pub now: Timestamp,
}

impl Fleet {
    /// Makes a plan from what is known. Where a delete waits for settling or a list is incomplete, everything is listed
    /// again first.
    ///
    /// # Errors
    /// The loop has ended, or what was judged cannot be written as a plan.
    pub async fn plan_settled(&self, request: PlanRequest) -> Result<Planned, OperateError> {
        let first = self.plan(request.clone()).await?;
        let gates = [GateName::Settling, GateName::NotComplete];
        let mut blocked = first.plan.actions.iter().flat_map(|action| &action.blocked_by);
        if !blocked.any(|blocked| gates.contains(&blocked.gate)) {
            return Ok(first);
        }
        self.resync().await?;
        self.plan(request).await
    }

    /// Makes a plan from what is known.
    ///
    /// # Errors
    /// The loop has ended, or what was judged cannot be written as a plan.
    pub async fn plan(&self, request: PlanRequest) -> Result<Planned, OperateError> {
        let is_recording = self.ask(Live::is_still).await?;
        let stones = match is_recording {
            true => Vec::new(),
            false => tombstones::read(self.session(), Timestamp::now()),
        };
        let (scope, asked_stones) = (request.scope.clone(), stones.clone());
        let asked = move |live: &Live| {
            let judged = judged_with(live, &asked_stones);
            let covered = judged.iter().filter(|one| scope.covers(&one.subject));
            (access::questions(live, covered), judged, live.generation())
        };
        let (questions, first, generation) = self.ask(asked).await?;
        let access = access::ask(questions).await;
        let fleet = self.clone();
        let build = move |live: &Live| {
            let judged = if live.generation() == generation { first } else { judged_with(live, &stones) };
            fleet.build(live, &request, judged, access)
        };
        self.ask(build).await?
    }

    fn build(
        &self,
        live: &Live,
        request: &PlanRequest,
        mut judged: Vec<Judged>,
        access: AccessAnswers,
    ) -> Result<Planned, OperateError> {
        probe::add(&mut judged, &request.probes);
        let found = match live.is_still() {
            // Being a snapshot is not a gate.
            true => Conditions::at(live.view().now),
            false => Conditions { access, backup: backup_check(self.session()), ..conditions(live) },
        };
        let now = found.now;
        let plan = build_plan(self.session(), request, &self.accepted(), &judged, live.view(), found)?;
        let created = judged.iter().filter_map(|one| Some((one.subject.to_string(), one.explanation.created?)));
        Ok(Planned { plan, created: created.collect(), now })
    }
}

/// Every subject, judged and explained, with the tombstones of this machine.
fn judged_with(live: &Live, stones: &[Tombstone]) -> Vec<Judged> {
    let mut judged = judged(live);
    tombstones::add(&mut judged, stones, live.view());
    judged
}

/// Builds a plan from what was judged and what the clusters add to the gates.
///
/// # Errors
/// A tree holds a number that has no canonical form.
pub fn build_plan(
    session: &Session,
    request: &PlanRequest,
    accepted: &[AcceptRule],
    judged: &[Judged],
    view: View<'_>,
    found: Conditions,
) -> Result<Plan, OperateError> {
    with_input(session, request, accepted, judged, view, found, |input| Ok(build(input)?))
}

/// Gathers everything a plan is made of: the same for a plan and for the plan an action is judged by again.
pub(crate) fn with_input<T>(
    session: &Session,
    request: &PlanRequest,
    accepted: &[AcceptRule],
    judged: &[Judged],
    view: View<'_>,
    found: Conditions,
    build: impl FnOnce(&PlanInput<'_>) -> T,
) -> T {
    let mut conditions = configured(session, request, found);
    let mut shown = Cow::Borrowed(judged);
    if own_login::is_at_stake(judged) {
        own_login::look(session, judged, view, &mut conditions);
        own_login::tell(shown.to_mut(), &conditions);
    }
    build(&PlanInput {
        judged: &shown,
        clusters: view.clusters().filter(|cluster| is_target(cluster, judged, &request.scope)).collect(),
        observed: Observed::all(view),
        accepted,
        scope: &request.scope,
        conditions: &conditions,
    })
}

/// Whether a member is a target of the plan. The user's own kubeconfig files are one only with a finding in scope.
fn is_target(member: &Cluster, judged: &[Judged], scope: &PlanScope) -> bool {
    match member.source {
        ClusterSource::Kubeconfig { .. }
        | ClusterSource::Hosted { .. }
        | ClusterSource::Snapshot
        | ClusterSource::Cloud { .. } => true,
        ClusterSource::Local => {
            judged.iter().any(|one| one.subject.cluster == member.name && scope.covers(&one.subject))
        }
    }
}

/// The conditions of the clusters with those of flags and configuration.
pub(crate) fn configured(session: &Session, request: &PlanRequest, found: Conditions) -> Conditions {
    let safety = &session.settings.safety;
    let read_only = match (session.read_only, safety.read_only) {
        (true, _) => ReadOnly::ByFlag,
        (false, true) => ReadOnly::ByConfig,
        (false, false) => ReadOnly::Off,
    };
    Conditions {
        read_only,
        kill_switch: safety.kill_switch.as_deref().and_then(read_kill_switch),
        freeze: safety.freeze.clone(),
        policy: session.settings.policy.clone(),
        allow_insecure_writes: session.allow_insecure_writes,
        managed_elsewhere: safety.managed_elsewhere,
        settle: request.settle,
        deletes_max: request.deletes_max,
        valid_for: request.valid_for.unwrap_or(safety.plans.ttl),
        ..found
    }
}
