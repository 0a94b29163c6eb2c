//! Reading, renewing, acquiring and releasing Leases.
//!
//! Invariants:
//! - every write carries the version that was read, so that of two replicas one is refused;
//! - a Lease counts from before its request was sent; what was not answered in time does not count at all;
//! - a Lease is released only when nothing is under way in its shard.
//!
//! Elsewhere: what to do with each (`balance`), what a held Lease permits (`fence`).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::{ListParams, PostParams};
use kube::core::ObjectMeta;

use crate::api::SHARD_LEASE_PREFIX;
use crate::balance::{Balance, LeaseStep};
use crate::held::Held;
use crate::kube_api::{is_conflict, said};
use crate::lease::{LEASE_DURATION, LeaseRecord, LeaseTable, RETRY_PERIOD, ReplicaId};
use crate::shard::ShardId;

/// Followed by the name of the pod: the Lease by which a replica without shards is seen.
const REPLICA_LEASE_PREFIX: &str = "trueup-replica-";
/// Says with how many shards the holder was configured.
const SHARDS_ANNOTATION: &str = "trueup.dev/shards";
const LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", "trueup");
/// How long a request about Leases may take: what takes longer has cost a quarter of the Lease.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

/// Keeps the Leases of one replica.
pub struct LeaseTask {
    api: Api<Lease>,
    me: ReplicaId,
    /// The name of this replica's own Lease.
    announced_as: String,
    shards: NonZeroU32,
    table: LeaseTable,
    leaving: BTreeSet<ShardId>,
    held: Arc<Held>,
    /// The version of this replica's own Lease.
    announced: Option<String>,
    /// Other than at the last round, for the log.
    said: String,
}

/// Why a Lease was not written.
#[derive(Debug, thiserror::Error)]
enum LeaseError {
    #[error("the Lease changed since it was read")]
    Conflict,
    #[error("no answer within {} s", REQUEST_TIMEOUT.as_secs())]
    TimedOut,
    #[error("the API server refused it: {0}")]
    Refused(String),
}

impl LeaseTask {
    /// `pod`: the name of the pod; `me`: the pod and something that tells its processes apart.
    pub fn new(
        client: kube::Client,
        namespace: &str,
        pod: &str,
        me: ReplicaId,
        shards: NonZeroU32,
        held: Arc<Held>,
    ) -> Self {
        Self {
            api: Api::namespaced(client, namespace),
            me,
            announced_as: format!("{REPLICA_LEASE_PREFIX}{pod}"),
            shards,
            table: LeaseTable::default(),
            leaving: BTreeSet::new(),
            held,
            announced: None,
            said: String::new(),
        }
    }

    /// Keeps the Leases until it is aborted.
    pub async fn run(&mut self) {
        loop {
            self.round().await;
            tokio::time::sleep(RETRY_PERIOD).await;
        }
    }

    /// Reads every Lease once, and writes what follows.
    pub async fn round(&mut self) {
        if let Err(error) = self.read().await {
            self.say(format!("cannot read Leases: {error}"));
            return;
        }
        self.announce().await;
        let now = self.held.clocks.monotonic();
        let cautious = self.held.clocks.cautious();
        let mut own = self.held.fence(|fence| fence.held(cautious));
        // Another replica holds what was thought to be held here.
        let lost: Vec<ShardId> =
            own.iter().copied().filter(|shard| self.table.lease(*shard, now) != self.own_lease()).collect();
        for shard in lost {
            own.remove(&shard);
            self.lose(shard);
        }
        let balance =
            Balance { me: &self.me, shards: self.shards, table: &self.table, held: &own, leaving: &self.leaving, now };
        let (steps, other) = balance.steps();
        match other {
            Some(other) => self.say(other.to_string()),
            None => self.say(String::new()),
        }
        self.carry_out(steps).await;
        self.release_idle().await;
    }

    /// Releases everything. What is under way has ended by now.
    pub async fn release_all(&mut self) {
        let now = self.held.clocks.cautious();
        for shard in self.held.fence(|fence| fence.held(now)) {
            self.held.fence(|fence| fence.leave(shard));
            self.leaving.insert(shard);
        }
        self.release_idle().await;
        if let Some(version) = self.announced.take() {
            let lease = self.lease(&self.announced_as.clone(), None, Some(version));
            let _released = self.write(lease).await;
        }
    }

    fn own_lease(&self) -> crate::lease::ShardLease {
        crate::lease::ShardLease::Held { holder: self.me.clone() }
    }

    fn lose(&mut self, shard: ShardId) {
        tracing::warn!(shard = shard.0, "lost Lease");
        self.held.fence(|fence| fence.lost(shard));
        self.leaving.remove(&shard);
    }

    fn say(&mut self, text: String) {
        if !text.is_empty() && text != self.said {
            tracing::warn!(why = %text, "Leases are not kept as usual");
        }
        self.said = text;
    }

    async fn read(&mut self) -> Result<(), LeaseError> {
        let (label, value) = LABEL;
        let params = ListParams::default().labels(&format!("{label}={value}"));
        let listed = tokio::time::timeout(REQUEST_TIMEOUT, self.api.list(&params)).await;
        let listed = listed.map_err(|_| LeaseError::TimedOut)?.map_err(refused)?;
        let now = self.held.clocks.monotonic();
        let (mut shards, mut replicas) = (BTreeMap::new(), BTreeMap::new());
        for lease in listed.items {
            let name = lease.metadata.name.clone().unwrap_or_default();
            let record = record(&lease);
            if let Some(number) = name.strip_prefix(SHARD_LEASE_PREFIX).and_then(|number| number.parse().ok()) {
                shards.insert(ShardId(number), record);
            } else if let (true, Some(holder)) = (name.starts_with(REPLICA_LEASE_PREFIX), record.holder.clone()) {
                if name == self.announced_as {
                    self.announced = Some(record.resource_version.clone());
                }
                replicas.insert(holder, record);
            } else if name == self.announced_as {
                self.announced = Some(record.resource_version);
            }
        }
        self.table.observe(shards, replicas, now);
        Ok(())
    }

    async fn announce(&mut self) {
        let lease = self.lease(&self.announced_as.clone(), Some(&self.me), self.announced.clone());
        match self.write(lease).await {
            Ok(record) => self.announced = Some(record.resource_version),
            Err(error) => tracing::debug!(%error, "cannot announce this replica"),
        }
    }

    async fn carry_out(&mut self, steps: Vec<LeaseStep>) {
        let (mut writes, mut leave) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                LeaseStep::Renew(shard) | LeaseStep::Acquire(shard) => writes.push((shard, step)),
                LeaseStep::Leave(shard) => leave.push(shard),
            }
        }
        let written = writes.into_iter().map(|(shard, step)| {
            let version = self.table.resource_version(shard).map(str::to_owned);
            let lease = self.lease(&shard_lease(shard), Some(&self.me), version);
            let task = &*self;
            async move {
                let sent_at = task.held.clocks.cautious();
                (step, shard, sent_at, task.write(lease).await)
            }
        });
        for (step, shard, sent_at, written) in join_all(written).await {
            match written {
                Ok(record) => {
                    self.held.fence(|fence| fence.renewed(shard, sent_at));
                    self.table.wrote(shard, record, self.held.clocks.monotonic());
                    if step == LeaseStep::Acquire(shard) {
                        tracing::info!(shard = shard.0, "acquired Lease");
                    }
                }
                Err(LeaseError::Conflict) if step == LeaseStep::Renew(shard) => self.lose(shard),
                Err(error) => tracing::debug!(shard = shard.0, %error, "cannot write Lease"),
            }
        }
        for shard in leave {
            tracing::info!(shard = shard.0, "releasing Lease, other replicas have fewer shards");
            self.held.fence(|fence| fence.leave(shard));
            self.leaving.insert(shard);
        }
    }

    async fn release_idle(&mut self) {
        let idle: Vec<ShardId> = self.leaving.iter().copied().filter(|shard| !self.held.is_busy(*shard)).collect();
        for shard in idle {
            // Before the request: nothing may be sent while another replica may acquire the Lease.
            self.held.fence(|fence| fence.lost(shard));
            self.leaving.remove(&shard);
            let version = self.table.resource_version(shard).map(str::to_owned);
            match self.write(self.lease(&shard_lease(shard), None, version)).await {
                Ok(record) => self.table.wrote(shard, record, self.held.clocks.monotonic()),
                Err(error) => tracing::debug!(shard = shard.0, %error, "cannot release Lease, it expires"),
            }
        }
    }

    /// A Lease to write: created where no version is known.
    fn lease(&self, name: &str, holder: Option<&ReplicaId>, version: Option<String>) -> Lease {
        let now = Some(MicroTime(self.held.clocks.wall()));
        let seconds = i32::try_from(LEASE_DURATION.as_secs()).ok();
        Lease {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                resource_version: version,
                labels: Some([(LABEL.0.to_owned(), LABEL.1.to_owned())].into()),
                annotations: Some([(SHARDS_ANNOTATION.to_owned(), self.shards.to_string())].into()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: holder.map(|holder| holder.as_str().to_owned()),
                lease_duration_seconds: seconds,
                acquire_time: None,
                renew_time: now,
                ..LeaseSpec::default()
            }),
        }
    }

    async fn write(&self, lease: Lease) -> Result<LeaseRecord, LeaseError> {
        let params = PostParams::default();
        let name = lease.metadata.name.clone().unwrap_or_default();
        let writing = async {
            match lease.metadata.resource_version {
                Some(_) => self.api.replace(&name, &params, &lease).await,
                None => self.api.create(&params, &lease).await,
            }
        };
        let written = tokio::time::timeout(REQUEST_TIMEOUT, writing).await;
        written.map_err(|_| LeaseError::TimedOut)?.map(|lease| record(&lease)).map_err(refused)
    }
}

fn shard_lease(shard: ShardId) -> String {
    format!("{SHARD_LEASE_PREFIX}{shard}")
}

fn refused(error: kube::Error) -> LeaseError {
    if is_conflict(&error) { LeaseError::Conflict } else { LeaseError::Refused(said(&error)) }
}

fn record(lease: &Lease) -> LeaseRecord {
    let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
    let annotations = lease.metadata.annotations.as_ref();
    let shards = annotations.and_then(|all| all.get(SHARDS_ANNOTATION)?.parse().ok()).unwrap_or(0);
    LeaseRecord {
        holder: holder.filter(|holder| !holder.is_empty()).map(ReplicaId::new),
        resource_version: lease.metadata.resource_version.clone().unwrap_or_default(),
        shards,
    }
}
