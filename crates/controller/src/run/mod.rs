//! The loop of one replica.
//!
//! ```text
//! Leases → my shards → my clusters → judgements → wanted Proposals
//!    Proposals: create, supersede, expire        Approvals: check → recheck → executor → status, Event, journal
//! ```
//!
//! Invariants:
//! - only a shard whose Lease is held is acted for, and every write to a cluster needs a permit of its Lease;
//! - without a durable journal nothing is applied; without the admission policy no Approval counts;
//! - plans are made, admitted, approved and applied by `operate`, as for the other front ends.
//!
//! Elsewhere: one Proposal on its way (`proposals`), what is proposed (`propose`), metrics (`crate::metrics`).

mod apply;
mod proposals;
mod propose;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::Api;
use propose::Again;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::api::{Approval, Proposal};
use crate::approval::GivenApproval;
use crate::held::Held;
use crate::kube_api::KubeApi;
use crate::lease::ReplicaId;
use crate::lease_task::LeaseTask;
use crate::metrics::{Metrics, ProposalCount};
use crate::mirror::{Mirror, Mirrored};
use crate::moment::Moment;
use crate::recorded::{ActionKey, Recorded};
use crate::settings::ControllerSettings;
use crate::shard::{ShardId, shard_of};
use trueup_core::engine::MarkKey;
use trueup_core::world::ClusterIdentity;
use trueup_fleet::live::Update;
use trueup_operate::{Fleet, OperateError};

/// How soon after a change of the fleet plans are made: changes come in bursts.
const PLAN_AFTER_CHANGE: Duration = Duration::from_secs(5);
/// How often plans are made without a change: verdicts settle, windows end, Proposals expire.
const PLAN_EVERY: Duration = Duration::from_secs(60);
/// How long after a verdict has settled plans are made.
const SETTLED_AFTER: Duration = Duration::from_secs(1);
/// How often Approvals and Proposals are looked at without a change of theirs.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What a controller consists of.
pub struct Setup {
    pub fleet: Fleet,
    pub updates: mpsc::Receiver<Update>,
    pub hub: KubeApi,
    pub settings: ControllerSettings,
    /// The key of plan marks that replicas share.
    pub key: Arc<MarkKey>,
    pub journal: JournalPlace,
    /// The hash of the configuration, for what rules apply.
    pub config_hash: String,
    pub replica: ReplicaId,
    pub metrics: Arc<Metrics>,
    pub stop: Arc<Stop>,
}

/// Whether what is applied is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalPlace {
    Durable,
    /// Nothing is applied, and why.
    Missing {
        why: String,
    },
}

/// Ends the loop after the action in flight.
#[derive(Debug, Default)]
pub struct Stop {
    flag: AtomicBool,
    notify: Notify,
}

impl Stop {
    pub fn stop(&self) {
        self.flag.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }
}

/// One replica.
pub struct Controller {
    fleet: Fleet,
    hub: KubeApi,
    settings: ControllerSettings,
    key: Arc<MarkKey>,
    journal: JournalPlace,
    config_hash: String,
    metrics: Arc<Metrics>,
    stop: Arc<Stop>,
    held: Arc<Held>,
    own_name: String,
    proposals: Arc<Mirror<Proposal>>,
    approvals: Arc<Mirror<Approval>>,
    /// What was written to the log about a Proposal and an Approval of it, so that it is written once.
    said: BTreeMap<(String, String), String>,
    /// The deletes that wait for their verdict to settle, since when they are known.
    settling: BTreeMap<ActionKey, Moment>,
    /// When everything was last listed again for them.
    resynced_at: Option<Moment>,
}

/// A Proposal as the mirror keeps it.
#[derive(Debug, Clone)]
pub struct KeptProposal {
    /// Without its plan, which is in `recorded`.
    pub object: Proposal,
    pub recorded: Result<Arc<Recorded>, String>,
}

impl Mirrored for Proposal {
    type Kept = KeptProposal;

    fn keep(mut self) -> KeptProposal {
        let recorded = Recorded::read(&self).map(Arc::new).map_err(|fault| fault.to_string());
        self.spec.plan = String::new();
        KeptProposal { object: self, recorded }
    }
}

impl Mirrored for Approval {
    type Kept = GivenApproval;

    fn keep(self) -> GivenApproval {
        let at = self.metadata.creation_timestamp.map_or(jiff::Timestamp::MAX, |time| time.0);
        GivenApproval { name: self.metadata.name.unwrap_or_default(), at, spec: self.spec }
    }
}

impl KeptProposal {
    /// The shard of its cluster.
    fn shard(&self, shards: NonZeroU32) -> Option<ShardId> {
        shard_of(&ClusterIdentity::from(&self.object.spec.cluster.identity), shards)
    }
}

/// Runs a replica until it is stopped, and releases its Leases.
///
/// # Errors
/// The fleet is no longer watched.
pub async fn run(setup: Setup) -> Result<(), OperateError> {
    let Setup { fleet, updates, hub, settings, key, journal, config_hash, replica, metrics, stop } = setup;
    let held = Held::new();
    let signals = Arc::new(Signals::default());
    let proposals = Mirror::new(Api::namespaced(hub.client.clone(), &hub.namespace), signals.objects.clone());
    let approvals = Mirror::new(Api::namespaced(hub.client.clone(), &hub.namespace), signals.objects.clone());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(proposals.clone().follow());
    tasks.spawn(approvals.clone().follow());
    tasks.spawn(signals.clone().follow_fleet(updates));
    let (stop_hub, stop_held) = (hub.clone(), held.clone());
    tasks.spawn(async move { stop_hub.follow_stop(stop_held).await });
    let own_name = hub.own_name().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read the own user name, assuming ServiceAccount trueup");
        format!("system:serviceaccount:{}:trueup", hub.namespace)
    });
    let leases = LeaseTask::new(hub.client.clone(), &hub.namespace, &hub.pod, replica, settings.shards, held.clone());
    let (end_leases, leases_ended) = tokio::sync::oneshot::channel::<()>();
    let leases = tokio::spawn(keep_leases(leases, leases_ended));
    let mut controller = Controller {
        fleet,
        hub,
        settings,
        key,
        journal,
        config_hash,
        metrics,
        stop,
        held,
        own_name,
        proposals,
        approvals,
        said: BTreeMap::new(),
        settling: BTreeMap::new(),
        resynced_at: None,
    };
    let result = controller.turn(&signals).await;
    tasks.abort_all();
    let _ended = end_leases.send(());
    if let Ok(mut leases) = leases.await {
        leases.release_all().await;
    }
    result
}

/// Keeps Leases until the loop has ended, and hands them back to be released.
async fn keep_leases(mut leases: LeaseTask, ended: tokio::sync::oneshot::Receiver<()>) -> LeaseTask {
    tokio::select! {
        () = leases.run() => {}
        _ = ended => {}
    }
    leases
}

/// What wakes the loop.
#[derive(Debug, Default)]
struct Signals {
    /// A Proposal or an Approval changed.
    objects: Arc<Notify>,
    /// The fleet changed, or ended.
    fleet: Notify,
    fleet_ended: AtomicBool,
}

impl Signals {
    async fn follow_fleet(self: Arc<Self>, mut updates: mpsc::Receiver<Update>) {
        while updates.recv().await.is_some() {
            self.fleet.notify_one();
        }
        self.fleet_ended.store(true, Ordering::SeqCst);
        self.fleet.notify_one();
    }
}

impl Controller {
    async fn turn(&mut self, signals: &Signals) -> Result<(), OperateError> {
        tokio::select! {
            biased;
            () = self.stop.notify.notified() => return Ok(()),
            listed = self.fleet.wait_listed() => drop(listed?),
        }
        self.settle_interrupted().await;
        self.metrics.ready();
        let mut plan_due = Instant::now();
        loop {
            let stop = self.stop.clone();
            tokio::select! {
                biased;
                () = stop.notify.notified() => return Ok(()),
                () = signals.fleet.notified() => {
                    plan_due = plan_due.min(Instant::now() + PLAN_AFTER_CHANGE);
                }
                () = signals.objects.notified() => {}
                () = tokio::time::sleep_until(plan_due.min(Instant::now() + LOOK_EVERY)) => {}
            }
            if self.stop.is_set() {
                return Ok(());
            }
            if signals.fleet_ended.load(Ordering::SeqCst) {
                return Err(OperateError::Ended);
            }
            self.look().await;
            if Instant::now() >= plan_due {
                self.metrics.lag(plan_due.elapsed());
                let again = self.propose().await.unwrap_or_else(|error| {
                    tracing::warn!(error = %error.cause(), "cannot make a plan");
                    Again::InTime
                });
                let next = match again {
                    Again::Soon => PLAN_AFTER_CHANGE,
                    Again::Settled => self.settings.settle + SETTLED_AFTER,
                    Again::InTime => PLAN_EVERY,
                };
                plan_due = Instant::now() + next.min(PLAN_EVERY);
            }
        }
    }

    /// Looks at every Proposal of the shards that are held.
    async fn look(&mut self) {
        let (Some(proposals), Some(approvals)) = (self.proposals.all(), self.approvals.all()) else { return };
        self.count(&proposals);
        let given: Vec<GivenApproval> = approvals.into_values().collect();
        for (name, proposal) in proposals {
            let open = self.held.open_shards();
            let Some(shard) = proposal.shard(self.settings.shards).filter(|shard| open.contains(shard)) else {
                continue;
            };
            if proposal.object.phase().is_terminal() || self.stop.is_set() {
                continue;
            }
            if let Err(error) = self.advance(shard, &proposal, &given).await {
                self.say(&name, "", &error.to_string());
            }
        }
    }

    fn count(&self, proposals: &BTreeMap<String, KeptProposal>) {
        let mut counts: BTreeMap<ProposalCount, u64> = BTreeMap::new();
        for proposal in proposals.values() {
            let (phase, check) = (proposal.object.phase(), proposal.object.spec.check.clone());
            *counts.entry(ProposalCount { phase, check }).or_default() += 1;
        }
        self.metrics.proposals(counts);
        self.metrics.shards(self.settings.shards, &self.held.open_shards());
    }

    /// The Proposals of these shards, as far as their plans can be read.
    fn recorded(&self, shards: &BTreeSet<ShardId>) -> Vec<Recorded> {
        let all = self.proposals.all().unwrap_or_default().into_values();
        let own = all.filter(|one| one.shard(self.settings.shards).is_some_and(|shard| shards.contains(&shard)));
        own.filter_map(|one| one.recorded.ok()).map(|recorded| Recorded::clone(&recorded)).collect()
    }

    /// Logs a sentence about a Proposal, or about an Approval of it, unless it was the last one.
    fn say(&mut self, name: &str, approval: &str, text: &str) {
        let subject = (name.to_owned(), approval.to_owned());
        if self.said.get(&subject).map(String::as_str) != Some(text) {
            tracing::warn!(proposal = name, why = text, "Proposal waits");
            self.said.insert(subject, text.to_owned());
        }
        let known = self.proposals.all().unwrap_or_default();
        self.said.retain(|(name, _), _| known.get(name).is_some_and(|one| !one.object.phase().is_terminal()));
    }
}
