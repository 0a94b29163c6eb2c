//! All observation over one connection to one cluster.
//!
//! Invariants:
//! - a collection requested twice is one task, one list and one watch;
//! - the observer owns its tasks: dropping it ends them, [`Observer::stop`] waits until they have ended;
//! - a task that panics is reported: its collection is lost;
//! - a collection over the cluster's budget has no task: it is unknown, and starts once another one ends.
//!
//! Limits: such a task restarts only with the next change of interests, or the next connection.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::api_client::ApiClient;
use super::collection_task::{CollectionRequest, CollectionTask, TaskConnection};
use super::episode::Episodes;
use super::outbox::{Epoch, Outbox};
use super::ports::{Ports, WatchGate};
use super::reader::ObjectReader;
use super::version_floor::VersionFloor;
use super::watcher::Watcher;
use crate::budgets::Budget;
use trueup_core::world::{CollectionId, FactKind, Gap, GapCause, Interest, Namespace, ResourceVersion, Scope};

/// Concurrent lists per cluster: few enough to spare its API server, and so that clusters that do not answer do not use up
/// the limit of the others.
const LISTS_AT_ONCE_MAX: usize = 4;

/// Inputs of an observer.
pub struct ObserverSetup {
    pub client: kube::Client,
    pub epoch: Epoch,
    pub ports: Ports,
    pub marks: VersionFloor,
    pub outbox: Outbox,
    /// Namespaces to list when a cluster-wide list is forbidden.
    pub fallback_namespaces: Vec<Namespace>,
}

/// Observes one cluster over one connection.
pub struct Observer {
    connection: Arc<TaskConnection>,
    fallback_namespaces: Vec<Namespace>,
    tasks: JoinSet<()>,
    running: BTreeMap<CollectionId, Running>,
    /// Collections over the budget.
    refused: BTreeMap<CollectionId, CollectionRequest>,
}

struct Running {
    requested: watch::Sender<CollectionRequest>,
    task: AbortHandle,
}

impl Observer {
    pub fn new(setup: ObserverSetup) -> Self {
        let ObserverSetup { client, epoch, ports, marks, outbox, fallback_namespaces } = setup;
        let connection = Arc::new(TaskConnection {
            epoch,
            api: ApiClient { client },
            watches: WatchGate::new(ports.watches),
            ports,
            marks,
            outbox,
            lists_at_once: Semaphore::new(LISTS_AT_ONCE_MAX),
            listed: AtomicU64::default(),
            episodes: Episodes::default(),
        });
        let (running, refused) = (BTreeMap::new(), BTreeMap::new());
        Self { connection, fallback_namespaces, tasks: JoinSet::new(), running, refused }
    }

    pub fn epoch(&self) -> Epoch {
        self.connection.epoch
    }

    /// Objects listed so far over this connection.
    pub fn objects_listed(&self) -> u64 {
        self.connection.listed.load(Ordering::Relaxed)
    }

    /// Watches what has been listed, where watches were held back.
    pub fn start_watches(&self) {
        self.connection.watches.open();
    }

    /// Whether collections are watched once they are listed.
    pub fn is_watching(&self) -> bool {
        self.connection.watches.is_open()
    }

    /// Observes what is needed of one collection from now on: starts, changes or ends its task.
    ///
    /// # Assumes
    /// All interests are in this collection, of this observer's cluster. Must be called inside a tokio runtime.
    pub fn change(&mut self, id: &CollectionId, interests: &[Interest]) {
        self.restart_ended();
        if interests.is_empty() {
            self.end(id);
            return;
        }
        let requested = merge(interests);
        match self.running.get(id) {
            Some(running) => {
                running.requested.send_if_modified(|held| {
                    let requested = CollectionRequest { resyncs: held.resyncs, ..requested };
                    let modified = *held != requested;
                    *held = requested;
                    modified
                });
            }
            None if self.is_full() => self.refuse(id.clone(), requested),
            None => {
                self.refused.remove(id);
                self.start(id.clone(), requested);
            }
        }
    }

    /// Ends a task, which may let one start that was over the budget.
    fn end(&mut self, id: &CollectionId) {
        self.refused.remove(id);
        let Some(running) = self.running.remove(id) else { return };
        running.task.abort();
        self.connection.outbox.forget(id);
        if let Some((id, requested)) = self.refused.pop_first() {
            self.start(id, requested);
        }
    }

    /// Starts tasks again that ended, which only a panic does.
    fn restart_ended(&mut self) {
        let mut has_ended = false;
        while let Some(ended) = self.tasks.try_join_next() {
            has_ended |= !ended.is_err_and(|error| error.is_cancelled());
        }
        if !has_ended {
            return;
        }
        let ended: Vec<_> = self.running.extract_if(.., |_, running| running.task.is_finished()).collect();
        for (id, running) in ended {
            let requested = running.requested.borrow().clone();
            self.start(id, requested);
        }
    }

    /// Observes these collections and no others.
    #[cfg(test)]
    pub fn set_interests(&mut self, interests: &[Interest]) {
        let mut wanted: BTreeMap<CollectionId, Vec<Interest>> = BTreeMap::new();
        for interest in interests {
            wanted.entry(interest.id.clone()).or_default().push(interest.clone());
        }
        let held: BTreeSet<CollectionId> = self.running.keys().chain(self.refused.keys()).cloned().collect();
        held.iter().filter(|id| !wanted.contains_key(*id)).for_each(|id| self.change(id, &[]));
        wanted.iter().for_each(|(id, interests)| self.change(id, interests));
    }

    fn is_full(&self) -> bool {
        self.running.len() as u64 >= self.connection.ports.ledger.budgets().collections_per_cluster
    }

    /// Reports a collection as over the budget, once for each request.
    fn refuse(&mut self, id: CollectionId, requested: CollectionRequest) {
        if self.refused.get(&id) != Some(&requested) {
            self.lose_over_budget(&id, &requested);
            self.refused.insert(id, requested);
        }
    }

    fn lose_over_budget(&self, id: &CollectionId, requested: &CollectionRequest) {
        let task = self.task(id);
        let over = self.connection.ports.ledger.budgets().over(Budget::CollectionsPerCluster);
        task.lose(&requested.facts, &over.gap(&task.part(None).describe()));
    }

    /// Lists everything again, for callers that need data newer than the last event.
    pub fn resync(&self) {
        for running in self.running.values() {
            running.requested.send_modify(|requested| requested.resyncs += 1);
        }
        for (id, requested) in &self.refused {
            self.lose_over_budget(id, requested);
        }
    }

    /// Reads these collections again.
    pub fn resync_collections(&self, collections: &BTreeSet<CollectionId>) {
        for (_, running) in self.running.iter().filter(|(id, _)| collections.contains(id)) {
            running.requested.send_modify(|requested| requested.resyncs += 1);
        }
        for (id, requested) in self.refused.iter().filter(|(id, _)| collections.contains(id)) {
            self.lose_over_budget(id, requested);
        }
    }

    /// Ends all tasks and waits until they have ended.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    fn task(&self, id: &CollectionId) -> CollectionTask {
        CollectionTask { id: id.clone(), connection: self.connection.clone() }
    }

    fn start(&mut self, id: CollectionId, requested: CollectionRequest) {
        let task = self.task(&id);
        let (sender, receiver) = watch::channel(requested);
        let reporter = PanicReporter { task: task.clone(), requested: receiver.clone() };
        let task = match id.scope {
            Scope::Object { .. } => {
                let reader = ObjectReader { task, requested: receiver };
                self.tasks.spawn(report_panics(reporter, reader.run()))
            }
            Scope::All | Scope::Namespace(_) => {
                let fallback_namespaces = self.fallback_namespaces.clone();
                let watcher = Watcher { task, requested: receiver, fallback_namespaces };
                self.tasks.spawn(report_panics(reporter, watcher.run()))
            }
        };
        self.running.insert(id, Running { requested: sender, task });
    }
}

/// Reports a collection lost when its task panics.
struct PanicReporter {
    task: CollectionTask,
    requested: watch::Receiver<CollectionRequest>,
}

impl Drop for PanicReporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let message =
                format!("{}: internal error (please report); other tasks continue", self.task.part(None).describe());
            self.task.lose(&self.requested.borrow().facts, &Gap::new(GapCause::NotObserved, message));
        }
    }
}

async fn report_panics(reporter: PanicReporter, task: impl Future<Output = ()>) {
    task.await;
    drop(reporter);
}

/// Merges the interests of a collection.
fn merge(interests: &[Interest]) -> CollectionRequest {
    let mut requested = CollectionRequest::default();
    for interest in interests {
        if !requested.facts.contains(&interest.fact) {
            requested.facts.push(interest.fact);
        }
        requested.read_at_least = newer(requested.read_at_least.take(), interest.read_at_least.clone());
    }
    // The same facts in another order are no other request.
    requested.facts.sort_by_key(FactKind::type_id);
    requested
}

fn newer(one: Option<ResourceVersion>, other: Option<ResourceVersion>) -> Option<ResourceVersion> {
    match (one, other) {
        (Some(one), Some(other)) if one.is_older_than(&other) => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}
