//! Making plans: one way for every front end.
//!
//! Invariants: a plan is built from one state of the fleet; permissions are asked before, and everything is judged again
//! when the fleet changed meanwhile. Only subjects with a remedy are held with their explanation ([decision 0030]).
//!
//! [decision 0030]: ../../../docs/decisions/0030-findings-are-streamed.md

use std::borrow::Cow;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::error::OperateError;
use crate::fleet::Fleet;
use crate::observe::{backup_check, conditions};
use crate::probe::{self, Probes};
use crate::session::Session;
use crate::state::read_kill_switch;
use crate::{access, own_login, tombstones};
use trueup_checks::judgements::{Explainer, Remedied, remedied};
use trueup_core::engine::{
    AcceptRule, AccessAnswers, Conditions, GateName, Judged, Observed, Plan, PlanInput, PlanScope, ReadOnly,
    StreamedPlan, SubjectId, Tombstone, Unexplained, build, build_streamed,
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

impl Fleet {
    /// Makes a plan from what is known. Where a delete waits for settling or a list is incomplete, everything is listed
    /// again first.
    ///
    /// # Errors
    /// The loop has ended, or what was judged cannot be written as a plan.
    pub async fn plan_settled(&self, request: PlanRequest) -> Result<Plan, OperateError> {
        let first = self.plan(request.clone()).await?;
        let gates = [GateName::Settling, GateName::NotComplete];
        let mut blocked = first.actions.iter().flat_map(|action| &action.blocked_by);
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
    pub async fn plan(&self, request: PlanRequest) -> Result<Plan, OperateError> {
        self.build_from(request, |input| Ok(build(input)?)).await
    }

    /// Makes the same plan for writing, and returns what `write` does. The fleet does not change meanwhile: `write` runs in
    /// its loop.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub async fn plan_streamed<T: Send + 'static>(
        &self,
        request: PlanRequest,
        write: impl FnOnce(StreamedPlan<'_>, Timestamp) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        self.build_from(request, |input| Ok(write(build_streamed(input)?, input.conditions.now))).await
    }

    async fn build_from<T: Send + 'static>(
        &self,
        request: PlanRequest,
        build: impl FnOnce(&PlanInput<'_>) -> Result<T, OperateError> + Send + 'static,
    ) -> Result<T, OperateError> {
        let is_recording = self.ask(Live::is_still).await?;
        let stones = match is_recording {
            true => Vec::new(),
            false => tombstones::read(self.session(), Timestamp::now()),
        };
        let (asked, asked_stones) = (request.clone(), stones.clone());
        let asked = move |live: &Live| {
            let remedied = remedied_with(live, &asked, &asked_stones);
            let covered = remedied.judged.iter().filter(|one| asked.scope.covers(&one.subject));
            (access::questions(live, covered), remedied, live.generation())
        };
        let (questions, first, generation) = self.ask(asked).await?;
        let access = access::ask(questions).await;
        let fleet = self.clone();
        let built = move |live: &Live| {
            let is_current = live.generation() == generation;
            let remedied = if is_current { first } else { remedied_with(live, &request, &stones) };
            fleet.build_now(live, &request, remedied, access, build)
        };
        self.ask(built).await?
    }

    fn build_now<T>(
        &self,
        live: &Live,
        request: &PlanRequest,
        mut remedied: Remedied,
        access: AccessAnswers,
        build: impl FnOnce(&PlanInput<'_>) -> Result<T, OperateError>,
    ) -> Result<T, OperateError> {
        probe::add(&mut remedied.judged, &request.probes);
        // One view for all: explanations say how long something is good for, and id and text need the same ones.
        let (view, judgements) = (live.view(), live.judgements());
        let explain = Explainer { domains: live.domains(), view };
        let others = remedied.others(judgements);
        let found = match live.is_still() {
            // Being a snapshot is not a gate.
            true => Conditions::at(view.now),
            false => Conditions {
                access,
                backup: backup_check(self.session()),
                held: judgements.held_for_some(view, remedied.judged.iter().map(|one| &one.subject)),
                ..conditions(live)
            },
        };
        let unexplained = Unexplained { subjects: &others, explain: &explain };
        let judged = (remedied.judged.as_slice(), unexplained);
        with_input(self.session(), request, &self.accepted(), judged, view, found, build)
    }
}

/// Every subject, explained where a remedy, a probe or a tombstone needs it, with the tombstones of this machine.
fn remedied_with(live: &Live, request: &PlanRequest, stones: &[Tombstone]) -> Remedied {
    let is_needed =
        |subject: &SubjectId| request.probes.contains_key(subject) || stones.iter().any(|stone| stone.is_of(subject));
    let mut remedied = remedied(live.judgements(), live.domains(), live.view(), is_needed);
    tombstones::add(&mut remedied.judged, stones, live.view());
    remedied
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
    let judged = (judged, Unexplained::NONE);
    with_input(session, request, accepted, judged, view, found, |input| Ok(build(input)?))
}

/// Gathers everything a plan is made of: the same for a plan and for the plan an action is judged by again.
pub(crate) fn with_input<T>(
    session: &Session,
    request: &PlanRequest,
    accepted: &[AcceptRule],
    (judged, unexplained): (&[Judged], Unexplained<'_>),
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
    let subjects = || judged.iter().map(|one| &one.subject).chain(unexplained.subjects.iter().map(|(id, _)| *id));
    build(&PlanInput {
        judged: &shown,
        unexplained,
        clusters: view.clusters().filter(|cluster| is_target(cluster, subjects(), &request.scope)).collect(),
        observed: Observed::all(view),
        accepted,
        scope: &request.scope,
        conditions: &conditions,
    })
}

/// Whether a member is a target of the plan. The user's own kubeconfig files are one only with a finding in scope.
fn is_target<'s>(member: &Cluster, mut subjects: impl Iterator<Item = &'s SubjectId>, scope: &PlanScope) -> bool {
    match member.source {
        ClusterSource::Kubeconfig { .. }
        | ClusterSource::Hosted { .. }
        | ClusterSource::Snapshot
        | ClusterSource::Cloud { .. } => true,
        ClusterSource::Local => subjects.any(|subject| subject.cluster == member.name && scope.covers(subject)),
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
