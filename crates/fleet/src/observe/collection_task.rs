//! Context of one collection's task: collection, cluster, outbox and limits.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::api_client::{ApiClient, FailedRead, Failure, Operation};
use super::backoff;
use super::episode::Episodes;
use super::outbox::{Epoch, Outbox};
use super::ports::{Ports, WatchGate};
use super::request::Part;
use super::version_floor::VersionFloor;
use super::watch::Sink;
use crate::budgets::{Budgets, Charge, OverBudget};
use trueup_core::decode::projection::{ProjectedFacts, Projection, Spoilt};
use trueup_core::world::{CollectionId, Delta, FactKind, Gap, GapCause, Key, Namespace, ResourceVersion};

/// What is requested of a collection.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct CollectionRequest {
    pub facts: Vec<FactKind>,
    pub read_at_least: Option<ResourceVersion>,
    /// Counts resync requests.
    pub resyncs: u64,
}

/// Context of the task of one collection.
#[derive(Clone)]
pub(super) struct CollectionTask {
    pub id: CollectionId,
    /// Shared by the tasks of one connection; a fleet has thousands of connections.
    pub connection: Arc<TaskConnection>,
}

/// What the tasks of one connection have in common.
pub(super) struct TaskConnection {
    pub epoch: Epoch,
    pub api: ApiClient,
    pub ports: Ports,
    pub marks: VersionFloor,
    pub outbox: Outbox,
    pub watches: WatchGate,
    /// Concurrent lists over this connection.
    pub lists_at_once: Semaphore,
    /// Objects listed so far over this connection.
    pub listed: AtomicU64,
    /// Time the lists over this connection take.
    pub episodes: Episodes,
}

impl Deref for CollectionTask {
    type Target = TaskConnection;

    fn deref(&self) -> &TaskConnection {
        &self.connection
    }
}

impl CollectionTask {
    /// The collection as a whole, or one namespace of it.
    pub fn part<'a>(&'a self, narrowed_to: Option<&'a Namespace>) -> Part<'a> {
        Part { id: &self.id, narrowed_to }
    }

    pub fn projection(&self, facts: &[FactKind]) -> Projection {
        Projection::new(&self.id, facts, &self.ports.digester)
    }

    /// Queues a report; it counts until its reader takes it.
    pub fn put(&self, fact: FactKind, delta: Delta) {
        let mut charge = self.charge();
        charge.set(delta.bytes());
        self.outbox.put(self.epoch, &self.id, fact, delta, charge);
    }

    /// Reports these facts as lost. Over budget, what is held of them is dropped too: it would stay over.
    pub fn lose(&self, facts: &[FactKind], gap: &Gap) {
        for &fact in facts {
            let delta = match gap.cause {
                GapCause::OverBudget => Delta::Seen { facts: fact.new_batch(), gap: gap.clone() },
                GapCause::NotObserved
                | GapCause::Forbidden
                | GapCause::Unauthorized
                | GapCause::Unreachable
                | GapCause::Discovery
                | GapCause::CutShort
                | GapCause::Silent
                | GapCause::Unreadable
                | GapCause::NotRecorded => Delta::Lost { gap: gap.clone() },
            };
            self.put(fact, delta);
        }
    }

    /// A charge for what this task reads.
    pub fn charge(&self) -> Charge {
        self.ports.ledger.charge(&self.id.cluster)
    }

    /// Whether the cluster may take more memory.
    ///
    /// # Errors
    /// The budget that is exceeded.
    pub fn within_budget(&self) -> Result<(), OverBudget> {
        self.ports.ledger.check(&self.id.cluster)
    }

    pub fn count_listed(&self, objects: usize) {
        self.listed.fetch_add(objects as u64, Ordering::Relaxed);
    }

    /// Returns the backoff after this many failures in a row.
    pub fn wait(&self, failures: u32, failed: &FailedRead) -> Duration {
        backoff::wait(failures, failed.gap.cause, failed.retry_after, self.ports.jitter.fraction())
    }
}

impl Sink for CollectionTask {
    fn changed(
        &self,
        changes: ProjectedFacts,
        removed: Vec<Key>,
        version: &ResourceVersion,
        at: Timestamp,
    ) -> Result<(), Failure> {
        self.marks.raise(&self.id, version);
        for row in changes.rows {
            let delta = Delta::Changed { facts: row.facts, removed: removed.clone(), version: version.clone(), at };
            self.put(row.kind, delta);
        }
        self.within_budget().map_err(|over| Failure::over_budget(&self.part(None), Operation::Watching, &over))
    }

    fn confirmed(&self, facts: &[FactKind], version: &ResourceVersion, at: Timestamp) {
        self.marks.raise(&self.id, version);
        for &fact in facts {
            self.put(fact, Delta::Confirmed { version: version.clone(), at });
        }
    }

    fn spoilt(&self, fact: FactKind, spoilt: &Spoilt) {
        self.put(fact, Delta::Lost { gap: spoilt.gap(&self.part(None).describe()) });
    }

    fn now(&self) -> Timestamp {
        self.ports.clock.now()
    }

    fn budgets(&self) -> Budgets {
        *self.ports.ledger.budgets()
    }
}
