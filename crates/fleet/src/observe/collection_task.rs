//! One collection's way into the outbox, with what its task needs to know of the outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::ask::{Asker, Lack};
use super::backoff;
use super::outbox::{Epoch, Outbox};
use super::ports::Ports;
use super::request::Part;
use super::version_floor::VersionFloor;
use super::watch::Sink;
use trueup_core::decode::projection::{ProjectedFacts, Projection, Spoilt};
use trueup_core::world::{CollectionId, Delta, FactKind, Gap, Key, Namespace, ResourceVersion};

/// What somebody wants of a collection.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Wanted {
    pub facts: Vec<FactKind>,
    pub read_at_least: Option<ResourceVersion>,
    /// Counts how often somebody asked to look again.
    pub looks: u64,
}

/// What the task of one collection works with.
#[derive(Clone)]
pub(super) struct CollectionTask {
    pub id: CollectionId,
    pub epoch: Epoch,
    pub asker: Asker,
    pub ports: Ports,
    pub marks: VersionFloor,
    pub outbox: Outbox,
    /// Lists on their way at once over this connection.
    pub lists_at_once: Arc<Semaphore>,
    /// Objects listed so far on this connection.
    pub listed: Arc<AtomicU64>,
}

impl CollectionTask {
    /// The collection as a whole, or one namespace of it.
    pub fn part<'a>(&'a self, narrowed_to: Option<&'a Namespace>) -> Part<'a> {
        Part { id: &self.id, narrowed_to }
    }

    pub fn projection(&self, facts: &[FactKind]) -> Projection {
        Projection::new(&self.id, facts, &self.ports.digester)
    }

    pub fn put(&self, fact: FactKind, delta: Delta) {
        self.outbox.put(self.epoch, &self.id, fact, delta);
    }

    /// Says that none of these facts can be relied on any more.
    pub fn lose(&self, facts: &[FactKind], gap: &Gap) {
        for &fact in facts {
            self.put(fact, Delta::Lost { gap: gap.clone() });
        }
    }

    pub fn count_listed(&self, objects: usize) {
        self.listed.fetch_add(objects as u64, Ordering::Relaxed);
    }

    /// How long to wait after this many failures in a row.
    pub fn wait(&self, failures: u32, lack: &Lack) -> Duration {
        backoff::wait(failures, lack.gap.cause, lack.retry_after, self.ports.jitter.fraction())
    }
}

impl Sink for CollectionTask {
    fn changed(&self, changes: ProjectedFacts, removed: Vec<Key>, version: &ResourceVersion, at: Timestamp) {
        self.marks.raise(&self.id, version);
        for row in changes.rows {
            let delta = Delta::Changed { facts: row.facts, removed: removed.clone(), version: version.clone(), at };
            self.put(row.kind, delta);
        }
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
}
