//! What is proposed: a plan of the own clusters, compared with the Proposals that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Controller;
use crate::api::{Phase, Proposal, ProposalSpec, proposal_name};
use crate::metrics::{ClusterState, CredentialPlace, FindingCount};
use crate::mirror::{RequestError, request};
use crate::reconcile::{Now, Step};
use crate::recorded::ActionKey;
use crate::settings::ClusterScope;
use crate::shard::{ShardId, shard_of};
use crate::status;
use trueup_core::engine::{Action, GateName, Plan, PlanScope, SubjectId};
use trueup_core::world::{Cluster, ClusterIdentity, ClusterSource, Completeness, Link};
use trueup_fleet::live::Live;
use trueup_operate::{OperateError, PlanRequest, unread, with_remedy};

/// How often everything is listed again for verdicts that settle, at most.
const RESYNC_EVERY: Duration = Duration::from_secs(600);

/// When plans are made again, where nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Leases or Proposals are not known yet.
    Soon,
    /// When a verdict has settled.
    Settled,
    InTime,
}

/// What of the fleet this replica acts for.
#[derive(Default)]
struct Own {
    subjects: BTreeSet<SubjectId>,
    /// The clusters whose lists are complete.
    known: BTreeSet<String>,
    findings: BTreeMap<FindingCount, u64>,
    clusters: Vec<ClusterState>,
    /// When each credential ends.
    credentials: BTreeMap<CredentialPlace, Timestamp>,
}

impl Controller {
    /// Makes a plan of the clusters of the shards that are held, and creates and ends Proposals.
    ///
    /// Returns when to do so again without a change.
    pub(super) async fn propose(&mut self) -> Result<Again, OperateError> {
        let shards = self.held.open_shards();
        let (count, scopes) = (self.settings.shards, self.settings.clusters.clone());
        let held = shards.clone();
        let own = self.fleet.ask(move |live| {
            let shard = |cluster: &Cluster| shard_of(&ClusterIdentity::of(cluster), count);
            own(live, &|cluster| is_in(cluster, &scopes) && shard(cluster).is_some_and(|one| held.contains(&one)))
        });
        let Own { subjects, known, findings, clusters, credentials } = own.await?;
        self.metrics.findings(findings);
        self.metrics.clusters(clusters);
        self.metrics.credentials(credentials);
        // Without the list of Proposals it is unknown what was proposed already.
        if shards.is_empty() || self.proposals.all().is_none() {
            return Ok(Again::Soon);
        }
        let plan = self.settled_plan(subjects).await?;
        let mut blocked = plan.actions.iter().flat_map(|action| &action.blocked_by);
        let settles = blocked.any(|blocked| blocked.gate == GateName::Settling);
        let proposals = self.recorded(&shards);
        let now = Now {
            plan: &plan,
            known: &known,
            proposals: &proposals,
            settings: &self.settings,
            key: &self.key,
            now: self.held.clocks.wall(),
        };
        let steps = now.steps();
        for (action, why) in steps.left_out {
            tracing::warn!(action, why, "action fits into no Proposal");
        }
        for step in steps.steps {
            let done = match step {
                Step::Create(spec) => self.create(*spec).await,
                Step::End { name, phase, why } => self.end(&name, phase, &why).await,
            };
            if let Err(error) = done {
                tracing::warn!(%error, "cannot write Proposal");
            }
        }
        Ok(if settles { Again::Settled } else { Again::InTime })
    }

    /// Makes a plan. Where deletes have waited for their verdict to settle, everything is listed again first: a verdict
    /// holds between two looks, and not every list is confirmed by a watch.
    async fn settled_plan(&mut self, subjects: BTreeSet<SubjectId>) -> Result<Plan, OperateError> {
        let plan = self.fleet.plan(self.request(subjects.clone())).await?;
        let now = self.held.clocks.monotonic();
        let settles = |action: &&Action| action.blocked_by.iter().any(|blocked| blocked.gate == GateName::Settling);
        let keys: BTreeSet<ActionKey> = plan.actions.iter().filter(settles).map(ActionKey::of).collect();
        self.settling.retain(|key, _| keys.contains(key));
        for key in keys {
            self.settling.entry(key).or_insert(now);
        }
        let has_waited = self.settling.values().any(|since| now.since(*since) >= self.settings.settle);
        let is_due = self.resynced_at.is_none_or(|at| now.since(at) >= self.settings.settle.max(RESYNC_EVERY));
        if !has_waited || !is_due {
            return Ok(plan);
        }
        self.resynced_at = Some(now);
        self.fleet.resync().await?;
        self.fleet.plan(self.request(subjects)).await
    }

    fn request(&self, subjects: BTreeSet<SubjectId>) -> PlanRequest {
        let ttl = SignedDuration::try_from(self.settings.proposal_ttl).unwrap_or(SignedDuration::MAX);
        let ttl_max = self.fleet.session().settings.safety.plans.ttl_max;
        PlanRequest {
            scope: PlanScope { subjects: Some(subjects), ..PlanScope::default() },
            settle: self.settings.settle,
            valid_for: Some(ttl.min(ttl_max)),
            ..PlanRequest::default()
        }
    }

    async fn create(&self, spec: ProposalSpec) -> Result<(), RequestError> {
        let name = proposal_name(&spec.cluster.name, &spec.check, &spec.plan_id);
        let shard = shard_of(&ClusterIdentity::from(&spec.cluster.identity), self.settings.shards);
        let Some(ShardId(shard)) = shard else { return Ok(()) };
        let proposal = Proposal::new(&self.hub.namespace, &name, spec);
        let created = self.proposals.create(&proposal).await?;
        let (at, check) = (self.held.clocks.wall(), created.spec.check.clone());
        let created_status = status::created(Phase::Proposed, shard, "waiting for approval", at);
        let created = self.write_status(&created, &created_status).await?;
        tracing::info!(proposal = name, check, actions = created.spec.action_count, "created Proposal");
        self.hub.event(&created, "Proposed", &format!("{} actions of {check}", created.spec.action_count), true).await;
        Ok(())
    }

    /// Ends a Proposal that is not applied.
    pub(super) async fn end(&self, name: &str, phase: Phase, why: &str) -> Result<(), RequestError> {
        let Some(kept) = self.proposals.get(name) else { return Ok(()) };
        let ended = self.enter(&kept.object, phase, why, |_| {}).await?;
        tracing::info!(proposal = name, phase = phase.as_str(), why, "ended Proposal");
        self.hub.event(&ended, phase.as_str(), why, phase != Phase::Refused).await;
        Ok(())
    }
}

/// The subjects with a remedy, and what is known, of the clusters that this replica acts for.
fn own(live: &Live, is_own: &dyn Fn(&Cluster) -> bool) -> Own {
    let mut own = Own::default();
    let mut names = BTreeSet::new();
    for cluster in live.view().clusters().filter(|cluster| is_own(cluster)) {
        names.insert(cluster.name.clone());
        let is_live = matches!(cluster.link, Link::Live { .. });
        if is_live && unread(live.view(), &cluster.name).is_empty() {
            own.known.insert(cluster.name.to_string());
        }
        let confirmed = live.view().observations_of(&cluster.name).into_iter();
        let confirmed_at = confirmed.filter_map(|(_, completeness, _)| confirmed_at(completeness)).min();
        let (name, link) = (cluster.name.to_string(), link_word(&cluster.link));
        own.clusters.push(ClusterState { cluster: name, link, confirmed_at });
    }
    for (subject, held) in live.judgements().iter().filter(|(subject, _)| names.contains(&subject.cluster)) {
        let (cluster, check) = (subject.cluster.to_string(), subject.domain.0);
        *own.findings.entry(FindingCount { cluster, check, state: held.judgement.state }).or_default() += 1;
        let expiries = held.outline.iter().flat_map(|outline| &outline.expiries);
        if let Some(until) = expiries.filter_map(|expiry| expiry.until()).min() {
            own.credentials.insert(place(subject), until);
        }
    }
    for judged in with_remedy(live) {
        // Where it would be written decides, not where it was found.
        if judged.explanation.remedy.iter().all(|draft| names.contains(&draft.target.cluster)) {
            own.subjects.insert(judged.subject);
        }
    }
    own
}

/// When the server last confirmed a complete list.
fn confirmed_at(completeness: &Completeness) -> Option<Timestamp> {
    match completeness {
        Completeness::Complete { version: _, at } => Some(*at),
        Completeness::Partial { gap: _ } | Completeness::Unknown { gap: _ } => None,
    }
}

fn place(subject: &SubjectId) -> CredentialPlace {
    CredentialPlace {
        cluster: subject.cluster.to_string(),
        namespace: subject.namespace.as_deref().unwrap_or_default().to_owned(),
        name: subject.name.to_string(),
    }
}

fn is_in(cluster: &Cluster, scopes: &BTreeSet<ClusterScope>) -> bool {
    match cluster.source {
        ClusterSource::Kubeconfig { .. } | ClusterSource::Cloud { .. } => scopes.contains(&ClusterScope::Own),
        ClusterSource::Hosted { .. } => scopes.contains(&ClusterScope::Guests),
        ClusterSource::Snapshot | ClusterSource::Local => false,
    }
}

fn link_word(link: &Link) -> &'static str {
    match link {
        Link::Idle => "idle",
        Link::Connecting => "connecting",
        Link::Listing { .. } => "listing",
        Link::Live { .. } => "live",
        Link::Degraded { .. } => "degraded",
        Link::AuthExpired { .. } => "auth-expired",
        Link::Failed { .. } => "failed",
        Link::Recorded => "recorded",
    }
}

/// Reads an object again, for a write that must not rest on what was seen before.
pub(super) async fn fresh<K>(api: &kube::Api<K>, name: &str) -> Result<Option<K>, RequestError>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    request(api.get_opt(name)).await
}
