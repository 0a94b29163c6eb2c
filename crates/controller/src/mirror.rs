//! The Proposals and Approvals of the namespace, kept current by list and watch.
//!
//! Invariants: nothing is decided before the first list is complete; every write carries the version that was read, so
//! that what is stale here is refused by the server.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures::StreamExt as _;
use kube::Api;
use kube::api::{ListParams, PostParams, WatchEvent, WatchParams};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use crate::kube_api::{is_conflict, said};

/// Objects a page: a Proposal may have 512 KiB.
const PAGE: u32 = 50;
/// How many pages a list may have: 10,000 Proposals.
const PAGES_MAX: usize = 200;
/// The delays before a list that failed is tried again.
const BACKOFF: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// How long a request that is no watch may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// What is kept of an object.
pub trait Mirrored:
    kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static
{
    type Kept: Clone + Send + Sync + 'static;

    fn keep(self) -> Self::Kept;
}

/// The objects of one kind.
pub struct Mirror<K: Mirrored> {
    api: Api<K>,
    /// By name. None: not listed yet.
    items: RwLock<Option<BTreeMap<String, K::Kept>>>,
    changed: Arc<Notify>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Another writer was faster.
    #[error("the object changed since it was read")]
    Conflict,
    #[error("no answer within {} s", REQUEST_TIMEOUT.as_secs())]
    TimedOut,
    #[error("{0}")]
    Refused(String),
}

/// Bounds a request, and names what came back.
///
/// # Errors
/// No answer, or one that is not a success.
pub async fn request<T>(sent: impl Future<Output = Result<T, kube::Error>>) -> Result<T, RequestError> {
    let answered = tokio::time::timeout(REQUEST_TIMEOUT, sent).await.map_err(|_| RequestError::TimedOut)?;
    answered.map_err(|error| match is_conflict(&error) {
        true => RequestError::Conflict,
        false => RequestError::Refused(said(&error)),
    })
}

impl<K: Mirrored> Mirror<K> {
    pub fn new(api: Api<K>, changed: Arc<Notify>) -> Arc<Self> {
        Arc::new(Self { api, items: RwLock::default(), changed })
    }

    pub fn api(&self) -> &Api<K> {
        &self.api
    }

    /// Everything by name; nothing before the first list.
    pub fn all(&self) -> Option<BTreeMap<String, K::Kept>> {
        self.items.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    pub fn get(&self, name: &str) -> Option<K::Kept> {
        self.items.read().unwrap_or_else(|poisoned| poisoned.into_inner()).as_ref()?.get(name).cloned()
    }

    /// Takes in an object as a write returned it.
    pub fn put(&self, object: K) {
        let name = object.meta().name.clone().unwrap_or_default();
        self.change(|items| drop(items.insert(name, object.keep())));
    }

    /// Keeps the objects current until it is aborted.
    pub async fn follow(self: Arc<Self>) {
        let mut backoff = BACKOFF;
        loop {
            match self.list_and_watch().await {
                Ok(()) => backoff = BACKOFF,
                Err(error) => {
                    tracing::warn!(kind = %K::kind(&()), %error, "cannot list or watch");
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
            }
        }
    }

    /// Lists everything, consistently.
    ///
    /// # Errors
    /// A page did not come, or there are too many.
    pub async fn list(&self) -> Result<(Vec<K>, String), RequestError> {
        let (mut items, mut params) = (Vec::new(), ListParams::default().limit(PAGE));
        for _ in 0..PAGES_MAX {
            let page = request(self.api.list(&params)).await?;
            items.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok((items, page.metadata.resource_version.unwrap_or_default())),
            }
        }
        Err(RequestError::Refused(format!("there are more than {} of them", PAGES_MAX * PAGE as usize)))
    }

    /// Lists, and watches until the watch cannot be continued.
    async fn list_and_watch(&self) -> Result<(), RequestError> {
        let (items, mut version) = self.list().await?;
        let named = |object: K| (object.meta().name.clone().unwrap_or_default(), object.keep());
        *self.items.write().unwrap_or_else(|poisoned| poisoned.into_inner()) =
            Some(items.into_iter().map(named).collect());
        self.changed.notify_one();
        loop {
            let mut events = request(self.api.watch(&WatchParams::default(), &version)).await?.boxed();
            while let Some(event) = events.next().await {
                match event.map_err(|error| RequestError::Refused(said(&error)))? {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                        version = object.meta().resource_version.clone().unwrap_or(version);
                        self.put(object);
                    }
                    WatchEvent::Deleted(object) => {
                        version = object.meta().resource_version.clone().unwrap_or(version);
                        let name = object.meta().name.clone().unwrap_or_default();
                        self.change(|items| drop(items.remove(&name)));
                    }
                    WatchEvent::Bookmark(bookmark) => version = bookmark.metadata.resource_version,
                    // Too old to continue: list again.
                    WatchEvent::Error(_) => return Ok(()),
                }
            }
            // A server that ends every watch at once is not asked again at once.
            tokio::time::sleep(BACKOFF).await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, K::Kept>)) {
        let mut items = self.items.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(items) = items.as_mut() {
            change(items);
            self.changed.notify_one();
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// It is there already, or the server refuses it.
    pub async fn create(&self, object: &K) -> Result<K, RequestError>
    where
        K: serde::Serialize,
    {
        let created = request(self.api.create(&PostParams::default(), object)).await?;
        self.put(created.clone());
        Ok(created)
    }
}
