//! A handle on one simulated cluster.
//!
//! Always true:
//! - handles are cheap and all see one state;
//! - now is the start plus the time tokio's clock has run, so a paused clock is virtual time and a running one is real;
//! - the lock is held for one call of the core and never across an await.
//!
//! Not here: carrying HTTP (`service`), sockets (`listen`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::api::{Fault, Identity, Logged, Rbac, ResourceKind, Server, StoryError};
use super::service::SimService;

/// How a cluster starts.
#[derive(Debug, Clone)]
pub struct SimOptions {
    pub name: String,
    /// Uids, generated names and stream lifetimes follow from it.
    pub seed: u64,
    pub start: Timestamp,
}

/// One simulated cluster, shared.
#[derive(Debug, Clone)]
pub struct SimCluster {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    start: Timestamp,
    began: Instant,
    /// Time added by `advance`, on top of the clock.
    ahead: Mutex<Duration>,
    server: Mutex<Server>,
    changed: Notify,
    /// Nobody gets through: every request and every open watch breaks.
    cut_off: AtomicBool,
}

impl SimCluster {
    pub fn new(options: SimOptions) -> Self {
        let SimOptions { name, seed, start } = options;
        let server = Mutex::new(Server::new(seed, start));
        let (began, ahead, changed) = (Instant::now(), Mutex::new(Duration::ZERO), Notify::new());
        let cut_off = AtomicBool::new(false);
        Self { inner: Arc::new(Inner { name, start, began, ahead, server, changed, cut_off }) }
    }

    pub fn name(&self) -> &str {
        &self.inner.name
    }

    pub fn now(&self) -> Timestamp {
        let ahead = *self.inner.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = SignedDuration::try_from(self.inner.began.elapsed() + ahead).unwrap_or(SignedDuration::MAX);
        self.inner.start.checked_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// Moves this cluster's clock forward without waiting.
    pub fn advance(&self, by: Duration) {
        *self.inner.ahead.lock().unwrap_or_else(PoisonError::into_inner) += by;
        self.inner.changed.notify_waiters();
    }

    /// A service of the admin, for `kube::Client::new`.
    pub fn service(&self) -> SimService {
        SimService::new(self.clone(), Some(Identity::admin()))
    }

    pub fn service_as(&self, user: &str, groups: &[&str]) -> SimService {
        SimService::new(self.clone(), Some(Identity::new(user, groups)))
    }

    /// A service whose caller nobody knows: every answer is 401.
    pub fn service_unknown(&self) -> SimService {
        SimService::new(self.clone(), None)
    }

    /// The real client on top of [`SimCluster::service`]. Needs a running tokio runtime.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.service(), "default")
    }

    pub fn client_as(&self, user: &str, groups: &[&str]) -> kube::Client {
        kube::Client::new(self.service_as(user, groups), "default")
    }

    /// Works on the core itself, then wakes every watch.
    pub fn with<T>(&self, work: impl FnOnce(&mut Server, Timestamp) -> T) -> T {
        let now = self.now();
        let result = work(&mut self.lock(), now);
        self.inner.changed.notify_waiters();
        result
    }

    pub fn register(&self, kind: ResourceKind) {
        self.with(|server, _| server.register(kind));
    }

    /// Puts an object into the cluster, replacing what has its name.
    pub fn seed(&self, object: Value) -> Result<Value, StoryError> {
        self.with(|server, now| server.seed(now, object))
    }

    /// Changes an object in place. `key` is `namespace/name`, or `name` for a cluster-scoped kind.
    pub fn edit(
        &self,
        api_version: &str,
        kind: &str,
        key: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Value, StoryError> {
        self.with(|server, now| server.edit(now, api_version, kind, key, change))
    }

    pub fn look(&self, api_version: &str, kind: &str, key: &str) -> Result<Value, StoryError> {
        self.lock().look(api_version, kind, key)
    }

    /// Takes an object away at once, finalizers or not.
    pub fn remove(&self, api_version: &str, kind: &str, key: &str) -> Result<Value, StoryError> {
        self.with(|server, _| server.remove(api_version, kind, key))
    }

    pub fn fault(&self, fault: Fault) {
        self.with(|server, _| {
            server.faults().add(fault);
        });
    }

    pub fn clear_faults(&self) {
        self.with(|server, _| server.faults().clear());
    }

    pub fn rbac(&self, change: impl FnOnce(&mut Rbac)) {
        self.with(|server, _| change(server.rbac()));
    }

    /// Breaks the way to the cluster: open watches break, and so does every request until [`SimCluster::join_again`].
    /// Those who hold the cluster itself (`seed`, `edit`, `look`) still reach it.
    pub fn cut_off(&self) {
        self.inner.cut_off.store(true, Ordering::SeqCst);
        self.inner.changed.notify_waiters();
    }

    /// Opens the way to the cluster again.
    pub fn join_again(&self) {
        self.inner.cut_off.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.inner.cut_off.load(Ordering::SeqCst)
    }

    /// One pass of what the controllers would clean up. Answers how many objects it touched.
    pub fn collect_garbage(&self) -> usize {
        self.with(|server, now| server.collect_garbage(now))
    }

    pub fn request_log(&self) -> Vec<Logged> {
        self.lock().request_log().cloned().collect()
    }

    pub fn version(&self) -> u64 {
        self.lock().version()
    }

    /// Locks the core without waking anybody; a panic elsewhere does not lose the cluster.
    pub(super) fn lock(&self) -> MutexGuard<'_, Server> {
        self.inner.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) -> &Notify {
        &self.inner.changed
    }

    /// The instant at which the cluster's clock shows `time`.
    pub(super) fn instant_of(&self, time: Timestamp) -> Instant {
        let wait = Duration::try_from(time.duration_since(self.now())).unwrap_or(Duration::ZERO);
        // A year is for ever here, and far from what an instant can hold.
        Instant::now() + wait.min(Duration::from_secs(365 * 24 * 3600))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Empty};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_cluster_that_is_cut_off_breaks_watches_and_requests_until_it_joins_again() {
        let start = "2026-03-01T12:00:00Z".parse().unwrap();
        let cluster = SimCluster::new(SimOptions { name: "x".into(), seed: 1, start });
        let ask = |target: &str| {
            let request = http::Request::get(target).body(Empty::new()).unwrap();
            cluster.service().oneshot(request)
        };
        let watching = format!("/api/v1/namespaces?watch=true&resourceVersion={}", cluster.version());
        let mut watch = ask(&watching).await.unwrap().into_body();
        let cut = async {
            tokio::task::yield_now().await;
            cluster.cut_off();
        };
        let (frame, ()) = tokio::join!(watch.frame(), cut);
        assert!(frame.is_some_and(|frame| frame.is_err()), "the watch broke");
        assert!(ask("/version").await.is_err());
        cluster.join_again();
        assert!(ask("/version").await.is_ok());
    }
}
