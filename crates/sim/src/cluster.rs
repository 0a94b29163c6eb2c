//! Handle of one simulated cluster.
//!
//! Invariants:
//! - handles are cheap and share one state;
//! - now is the start time plus tokio's clock, so a paused clock is virtual time and a running one is real time;
//! - the lock is held for one call of the core and never across an await.
//!
//! Elsewhere: HTTP (`service`), sockets (`listen`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::api::{Fault, Identity, Logged, Rbac, ResourceKind, SeedError, Server};
use super::service::SimService;

/// Initial settings of a cluster.
#[derive(Debug, Clone)]
pub struct SimOptions {
    pub name: String,
    /// Uids, generated names and stream lifetimes derive from it.
    pub seed: u64,
    pub start: Timestamp,
}

/// One simulated cluster; clones share its state.
#[derive(Debug, Clone)]
pub struct SimCluster {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    start: Timestamp,
    began: Instant,
    /// Time added by `advance` to tokio's clock.
    ahead: Mutex<Duration>,
    server: Mutex<Server>,
    changed: Notify,
    /// Every request and every open watch fails.
    disconnect: AtomicBool,
}

impl SimCluster {
    pub fn new(options: SimOptions) -> Self {
        let SimOptions { name, seed, start } = options;
        let server = Mutex::new(Server::new(seed, start));
        let (began, ahead, changed) = (Instant::now(), Mutex::new(Duration::ZERO), Notify::new());
        let disconnect = AtomicBool::new(false);
        Self { inner: Arc::new(Inner { name, start, began, ahead, server, changed, disconnect }) }
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

    /// Returns the admin's service, for `kube::Client::new`.
    pub fn service(&self) -> SimService {
        SimService::new(self.clone(), Some(Identity::admin()))
    }

    pub fn service_as(&self, user: &str, groups: &[&str]) -> SimService {
        SimService::new(self.clone(), Some(Identity::new(user, groups)))
    }

    /// Returns a service without a known identity: every response is 401.
    pub fn service_unauthenticated(&self) -> SimService {
        SimService::new(self.clone(), None)
    }

    /// Returns a kube client on [`SimCluster::service`]. Needs a running tokio runtime.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.service(), "default")
    }

    pub fn client_as(&self, user: &str, groups: &[&str]) -> kube::Client {
        kube::Client::new(self.service_as(user, groups), "default")
    }

    /// Runs `work` on the core, then wakes every watch.
    pub fn with<T>(&self, work: impl FnOnce(&mut Server, Timestamp) -> T) -> T {
        let now = self.now();
        let result = work(&mut self.lock(), now);
        self.inner.changed.notify_waiters();
        result
    }

    pub fn register(&self, kind: ResourceKind) {
        self.with(|server, _| server.register(kind));
    }

    /// Writes an object, replacing an object of the same name.
    pub fn seed(&self, object: Value) -> Result<Value, SeedError> {
        self.with(|server, now| server.seed(now, object))
    }

    /// Changes an object in place. `key` is `namespace/name`, or `name` for a cluster-scoped kind.
    pub fn edit(
        &self,
        api_version: &str,
        kind: &str,
        key: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Value, SeedError> {
        self.with(|server, now| server.edit(now, api_version, kind, key, change))
    }

    pub fn object(&self, api_version: &str, kind: &str, key: &str) -> Result<Value, SeedError> {
        self.lock().object(api_version, kind, key)
    }

    /// Removes an object at once, ignoring finalizers.
    pub fn remove(&self, api_version: &str, kind: &str, key: &str) -> Result<Value, SeedError> {
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

    /// Disconnects the cluster: open watches break, and every request fails until [`SimCluster::reconnect`].
    /// Direct access through the handle (`seed`, `edit`, `get`) still works.
    pub fn disconnect(&self) {
        self.inner.disconnect.store(true, Ordering::SeqCst);
        self.inner.changed.notify_waiters();
    }

    /// Accepts connections again.
    pub fn reconnect(&self) {
        self.inner.disconnect.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_disconnected(&self) -> bool {
        self.inner.disconnect.load(Ordering::SeqCst)
    }

    /// Runs the garbage collector once. Returns the number of objects it changed.
    pub fn collect_garbage(&self) -> usize {
        self.with(|server, now| server.collect_garbage(now))
    }

    pub fn request_log(&self) -> Vec<Logged> {
        self.lock().request_log().cloned().collect()
    }

    pub fn version(&self) -> u64 {
        self.lock().version()
    }

    /// Locks the core without waking watches; a panic elsewhere does not poison the cluster.
    pub(super) fn lock(&self) -> MutexGuard<'_, Server> {
        self.inner.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) -> &Notify {
        &self.inner.changed
    }

    /// The instant at which the cluster's clock shows `time`.
    pub(super) fn instant_of(&self, time: Timestamp) -> Instant {
        let wait = Duration::try_from(time.duration_since(self.now())).unwrap_or(Duration::ZERO);
        // A year exceeds any test and is within the range of `Instant`.
        Instant::now() + wait.min(Duration::from_secs(365 * 24 * 3600))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Empty};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_disconnected_cluster_fails_watches_and_requests_until_it_reconnects() {
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
            cluster.disconnect();
        };
        let (frame, ()) = tokio::join!(watch.frame(), cut);
        assert!(frame.is_some_and(|frame| frame.is_err()), "the watch broke");
        assert!(ask("/version").await.is_err());
        cluster.reconnect();
        assert!(ask("/version").await.is_ok());
    }
}
