//! Everything observed over one connection to one cluster.
//!
//! Always true:
//! - the same collection wanted twice is one task, one list and one watch;
//! - the observer owns its tasks: dropping it ends them, [`Observer::stop`] waits until they have ended;
//! - a task that ends by a bug says so: what it held counts as lost.
//!
//! Limits: such a task starts again only with the next change of interests, or the next connection.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::ask::Asker;
use super::collection_task::{CollectionTask, Wanted};
use super::outbox::{Epoch, Outbox};
use super::ports::Ports;
use super::reader::ObjectReader;
use super::version_floor::VersionFloor;
use super::watcher::Watcher;
use trueup_core::world::{CollectionId, Gap, GapCause, Interest, Namespace, ResourceVersion, Scope};

/// How many lists one cluster is asked for at once: few enough to spare its server, and so that clusters that don't
/// answer leave room for those that do.
const LISTS_AT_ONCE_MAX: usize = 4;

/// What an observer is made of.
pub struct ObserverSetup {
    pub client: kube::Client,
    pub epoch: Epoch,
    pub ports: Ports,
    pub marks: VersionFloor,
    pub outbox: Outbox,
    /// Where to look when looking everywhere is forbidden.
    pub fallback_namespaces: Vec<Namespace>,
}

/// Observes one cluster over one connection.
pub struct Observer {
    setup: ObserverSetup,
    lists_at_once: Arc<Semaphore>,
    listed: Arc<AtomicU64>,
    tasks: JoinSet<()>,
    running: BTreeMap<CollectionId, Running>,
}

struct Running {
    wanted: watch::Sender<Wanted>,
    task: AbortHandle,
}

impl Observer {
    pub fn new(setup: ObserverSetup) -> Self {
        let lists_at_once = Arc::new(Semaphore::new(LISTS_AT_ONCE_MAX));
        Self { setup, lists_at_once, listed: Arc::default(), tasks: JoinSet::new(), running: BTreeMap::new() }
    }

    pub fn epoch(&self) -> Epoch {
        self.setup.epoch
    }

    /// Objects listed so far over this connection.
    pub fn objects_listed(&self) -> u64 {
        self.listed.load(Ordering::Relaxed)
    }

    /// Starts what is new, ends what nobody wants any more, and tells running tasks what is wanted of them now.
    ///
    /// # Assumes
    /// All interests are about the cluster this observer is connected to. Must be called inside a tokio runtime.
    pub fn set_interests(&mut self, interests: &[Interest]) {
        let wanted = by_collection(interests);
        while self.tasks.try_join_next().is_some() {}
        self.running.retain(|id, running| {
            let keep = wanted.contains_key(id);
            if !keep {
                running.task.abort();
                self.setup.outbox.forget(id);
            }
            keep && !running.task.is_finished()
        });
        for (id, wanted) in wanted {
            match self.running.get(&id) {
                Some(running) => {
                    running.wanted.send_if_modified(|held| {
                        let wanted = Wanted { looks: held.looks, ..wanted };
                        let modified = *held != wanted;
                        *held = wanted;
                        modified
                    });
                }
                None => self.start(id, wanted),
            }
        }
    }

    /// Reads everything again, for whoever needs a second look that is newer than the last event.
    pub fn resync(&self) {
        for running in self.running.values() {
            running.wanted.send_modify(|wanted| wanted.looks += 1);
        }
    }

    /// Reads these collections again.
    pub fn resync_collections(&self, collections: &BTreeSet<CollectionId>) {
        for (_, running) in self.running.iter().filter(|(id, _)| collections.contains(id)) {
            running.wanted.send_modify(|wanted| wanted.looks += 1);
        }
    }

    /// Ends all tasks and waits until they have ended.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }

    fn start(&mut self, id: CollectionId, wanted: Wanted) {
        let setup = &self.setup;
        let task = CollectionTask {
            id: id.clone(),
            epoch: setup.epoch,
            asker: Asker { client: setup.client.clone() },
            ports: setup.ports.clone(),
            marks: setup.marks.clone(),
            outbox: setup.outbox.clone(),
            lists_at_once: self.lists_at_once.clone(),
            listed: self.listed.clone(),
        };
        let (sender, receiver) = watch::channel(wanted);
        let mourner = PanicReporter { task: task.clone(), wanted: receiver.clone() };
        let task = match id.scope {
            Scope::Object { .. } => {
                let reader = ObjectReader { task, wanted: receiver };
                self.tasks.spawn(mourned(mourner, reader.run()))
            }
            Scope::All | Scope::Namespace(_) => {
                let fallback_namespaces = setup.fallback_namespaces.clone();
                let watcher = Watcher { task, wanted: receiver, fallback_namespaces };
                self.tasks.spawn(mourned(mourner, watcher.run()))
            }
        };
        self.running.insert(id, Running { wanted: sender, task });
    }
}

/// Reports a collection lost when its task ends by a bug.
struct PanicReporter {
    task: CollectionTask,
    wanted: watch::Receiver<Wanted>,
}

impl Drop for PanicReporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let says = format!("{}: the observer broke down, which is a bug", self.task.part(None).describe());
            self.task.lose(&self.wanted.borrow().facts, &Gap::new(GapCause::NotObserved, says));
        }
    }
}

async fn mourned(mourner: PanicReporter, task: impl Future<Output = ()>) {
    task.await;
    drop(mourner);
}

/// What is wanted of each collection, over all who want it.
fn by_collection(interests: &[Interest]) -> BTreeMap<CollectionId, Wanted> {
    let mut all: BTreeMap<CollectionId, Wanted> = BTreeMap::new();
    for interest in interests {
        let wanted = all.entry(interest.id.clone()).or_default();
        if !wanted.facts.contains(&interest.fact) {
            wanted.facts.push(interest.fact);
        }
        wanted.read_at_least = newer(wanted.read_at_least.take(), interest.read_at_least.clone());
    }
    all
}

fn newer(one: Option<ResourceVersion>, other: Option<ResourceVersion>) -> Option<ResourceVersion> {
    match (one, other) {
        (Some(one), Some(other)) if one.is_older_than(&other) => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}
