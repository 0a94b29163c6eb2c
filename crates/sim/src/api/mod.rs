//! The synchronous core: one cluster's API as a pure state machine.
//!
//! Invariants:
//! - the response to a request depends only on the state, the request and `now`;
//! - the same seed and requests give the same responses, uids and generated names included;
//! - a request commits as a whole or not at all; garbage collection runs only when called.
//!
//! Elsewhere: connections, waiting, real time (`cluster`, `listen`).
//!
//! ```text
//! handle ─ faults ─ authn ─ authz ────┬─ discovery
//!                                     ├─ crud ─ content ─ validate ─┐
//!                                     ├─ patch ─ apply ─ managed ───┼─ store ─ log ─ watch
//!                                     ├─ delete ────────────────────┘
//!                                     └─ list / watch ─ table
//! ```

mod apply;
mod builtin;
mod call;
mod compare;
mod content;
mod crd;
mod crud;
mod delete;
mod discovery;
mod faults;
mod field_error;
mod fields;
mod gc;
mod kinds;
mod list;
mod managed;
mod media;
mod meta;
mod minter;
mod naming;
mod openapi;
mod paging;
mod patch;
mod proto;
mod rbac;
mod request;
mod review;
mod seed;
mod selector;
mod shape;
mod status;
mod store;
mod strategic;
mod table;
mod update;
mod validate;
mod watch;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

pub use faults::{Fault, FaultAction, Faults, GroupFault, Matcher};
pub use kinds::{GroupResource, ResourceKind, Scope};
pub use rbac::{Access, Rbac, Rule};
pub use request::{Identity, Query, Request, Verb};
pub use seed::{SEEDER, SeedError};
pub use status::Status;
pub use watch::{WatchId, WatchPoll};

use call::Call;
use kinds::{Registry, Served, Storage};
use minter::Minter;
use request::{Route, Target};
use status::Refused;
use store::Store;
use watch::Watches;

/// Requests the log keeps; older ones are dropped, so that a demo can run for days.
const REQUEST_LOG_MAX: usize = 65_536;

/// Result of a request.
#[derive(Debug)]
pub enum Answer {
    Reply(Reply),
    /// A stream was opened: poll it.
    Watch(WatchId),
    /// The connection breaks without a response. Only the state shows whether the request was executed.
    Lost,
    /// No response follows.
    Silence,
}

/// A complete HTTP response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub retry_after_seconds: Option<u32>,
    pub body: Bytes,
    /// The body stops here although its length announces more.
    pub cut: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, body: Bytes) -> Self {
        Self { status, content_type: media::JSON, retry_after_seconds: None, body, cut: false }
    }

    fn text(status: u16, body: &'static str) -> Self {
        Self { content_type: "text/plain; charset=utf-8", ..Self::json(status, Bytes::from_static(body.as_bytes())) }
    }

    fn refusal(status: &Status) -> Self {
        let retry_after_seconds = status.details.as_ref().and_then(|details| details.retry_after_seconds);
        Self { retry_after_seconds, ..Self::json(status.code, store::to_bytes(&status.to_json())) }
    }
}

/// One line of the request log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    pub at: Timestamp,
    pub method: String,
    pub target: String,
    pub user: String,
    /// None when the client received no status: the connection broke or stalled.
    pub code: Option<u16>,
}

/// One cluster.
///
/// # Limits
/// - Custom resources are stored as sent: no schema validation, pruning or defaulting.
/// - Built-in kinds other than ConfigMap, Secret and Namespace have no defaults and no content validation.
/// - Role and RoleBinding objects have no effect; access is decided by [`Rbac`].
/// - No protobuf, YAML or CBOR responses, no webhooks, no quotas, no `exec` or `proxy`; a pod's log is what
///   [`Server::set_pod_log`] says, whatever a request limits.
#[derive(Debug)]
pub struct Server {
    registry: Registry,
    store: Store,
    minter: Minter,
    rbac: Rbac,
    faults: Faults,
    watches: Watches,
    log: VecDeque<Logged>,
    /// What containers printed, by namespace and pod.
    pod_logs: BTreeMap<(String, String), Bytes>,
}

impl Server {
    /// A fresh cluster: the namespaces `default` and `kube-system`, each with its `kube-root-ca.crt`.
    pub fn new(seed: u64, now: Timestamp) -> Self {
        let registry = Registry::built_in();
        let store = Store::new(registry.collection_count());
        let mut server = Self {
            registry,
            store,
            minter: Minter::new(seed),
            rbac: Rbac::default(),
            faults: Faults::default(),
            watches: Watches::default(),
            log: VecDeque::new(),
            pod_logs: BTreeMap::new(),
        };
        server.seed_empty_cluster(now);
        server
    }

    /// Registers another kind.
    pub fn register(&mut self, kind: ResourceKind) {
        self.registry.add(kind);
        self.store.grow_to(self.registry.collection_count());
    }

    pub fn rbac(&mut self) -> &mut Rbac {
        &mut self.rbac
    }

    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Sets what a pod printed.
    pub fn set_pod_log(&mut self, namespace: &str, pod: &str, text: &str) {
        self.pod_logs.insert((namespace.to_owned(), pod.to_owned()), Bytes::copy_from_slice(text.as_bytes()));
    }

    pub fn request_log(&self) -> impl Iterator<Item = &Logged> {
        self.log.iter()
    }

    /// The version of the newest write.
    pub fn version(&self) -> u64 {
        self.store.version()
    }

    /// Drops the history up to `version`: older watches and list pages receive a 410.
    pub fn compact(&mut self, version: u64) {
        self.store.compact(version);
    }

    /// Sets how many changes each collection keeps.
    pub fn set_history_max(&mut self, changes: usize) {
        self.store.set_history_max(changes);
    }

    /// Handles one request.
    ///
    /// # Guarantees
    /// A refusal changes nothing. With `Answer::Lost` the write may be committed, by design.
    pub fn handle(&mut self, now: Timestamp, request: &Request) -> Answer {
        let route = request::route(request);
        let fault = self.faults.strike(&route);
        let answer = match fault {
            None => self.answer(now, request, &route, 0),
            Some(action) => self.answer_with(action, now, request, &route),
        };
        self.note(now, request, &answer);
        answer
    }

    /// `lag` is the number of writes a stale replica is behind for reads.
    fn answer(&mut self, now: Timestamp, request: &Request, route: &Route, lag: u64) -> Answer {
        match self.dispatch(now, request, route, lag) {
            Ok(answer) => answer,
            Err(refused) => Answer::Reply(Reply::refusal(&refused)),
        }
    }

    fn dispatch(&mut self, now: Timestamp, request: &Request, route: &Route, lag: u64) -> Result<Answer, Refused> {
        let Some(identity) = &request.identity else {
            return Err(Status::unauthorized());
        };
        let reply = match route {
            Route::Resource(target) => {
                self.rbac.check(identity, &Access::of(target))?;
                return self.resource(now, request, target, lag);
            }
            Route::MethodNotAllowed => return Err(Status::method_not_allowed()),
            Route::Health => Reply::text(200, "ok"),
            Route::Version => discovery::version(),
            Route::Legacy => discovery::legacy(self, request),
            Route::Groups => discovery::groups(self, request),
            Route::Group(group) => discovery::group(self, group),
            Route::GroupVersion { group, version } => discovery::group_version(self, group, version)?,
            Route::OpenApiV2 => openapi::v2(),
            Route::OpenApiV3(path) => openapi::v3(self, path),
            Route::Unknown => not_found_page(),
        };
        Ok(Answer::Reply(reply))
    }

    fn resource(&mut self, now: Timestamp, request: &Request, target: &Target, lag: u64) -> Result<Answer, Refused> {
        let Some(served) = self.serves(target) else {
            let version_served = self.registry.iter().any(|served| {
                !served.kind.rules.custom
                    && served.kind.of.group == target.of.group
                    && *served.kind.version == *target.version
            });
            return match version_served {
                true => Err(Status::no_such_resource()),
                false => Ok(Answer::Reply(not_found_page())),
            };
        };
        let call = Call { now, request, target, kind: served.kind, collection: served.collection, lag };
        if call.kind.namespaced() && target.namespace.is_empty() && !matches!(target.verb, Verb::List | Verb::Watch) {
            return Ok(Answer::Reply(not_found_page()));
        }
        match (target.subresource.as_str(), call.kind.status) {
            ("", _) => {}
            ("log", _) if *call.kind.of.resource == *"pods" && target.verb == Verb::Get => {
                return self.pod_log(&call).map(Answer::Reply);
            }
            ("status", true) if matches!(target.verb, Verb::Get | Verb::Update | Verb::Patch) => {}
            _ if call.kind.rules.custom => return Err(call.not_found()),
            _ => return Err(Status::no_such_resource()),
        }
        match (call.kind.rules.storage, target.verb) {
            (Storage::Answered(review), Verb::Create) => self.review(&call, review).map(Answer::Reply),
            (Storage::Answered(_), verb) => Err(Status::method_not_supported(&call.kind.of, verb.as_str())),
            (Storage::Kept, Verb::Get) => self.get(&call).map(Answer::Reply),
            (Storage::Kept, Verb::List) => self.list(&call).map(Answer::Reply),
            (Storage::Kept, Verb::Watch) => self.watch(&call).map(Answer::Watch),
            (Storage::Kept, Verb::Create) => self.create(&call).map(Answer::Reply),
            (Storage::Kept, Verb::Update) => self.update(&call).map(Answer::Reply),
            (Storage::Kept, Verb::Patch) => self.patch(&call).map(Answer::Reply),
            (Storage::Kept, Verb::Delete) => self.delete(&call).map(Answer::Reply),
            (Storage::Kept, Verb::DeleteCollection) => self.delete_collection(&call).map(Answer::Reply),
        }
    }

    /// What a pod printed: the pod must exist.
    fn pod_log(&self, call: &Call<'_>) -> Result<Reply, Refused> {
        self.get(call)?;
        let key = (call.target.namespace.clone(), call.target.name.clone());
        let body = self.pod_logs.get(&key).cloned().unwrap_or_default();
        Ok(Reply { body, ..Reply::text(200, "") })
    }

    /// The kind of a target, unless it is not served or its group is lost.
    fn serves(&self, target: &Target) -> Option<Served> {
        if self.faults.has_lost(&target.of.group) {
            return None;
        }
        self.registry.find(&target.of.group, &target.version, &target.of.resource).cloned()
    }

    fn note(&mut self, at: Timestamp, request: &Request, answer: &Answer) {
        let code = match answer {
            Answer::Reply(reply) => Some(reply.status),
            Answer::Watch(_) => Some(200),
            Answer::Lost | Answer::Silence => None,
        };
        if self.log.len() == REQUEST_LOG_MAX {
            self.log.pop_front();
        }
        let user = request.identity.as_ref().map_or(String::new(), |identity| identity.user.clone());
        self.log.push_back(Logged { at, method: request.method.to_string(), target: request.target(), user, code });
    }
}

/// kube-apiserver's response to an unknown path: a text page, not a `Status`.
fn not_found_page() -> Reply {
    Reply::text(404, "404 page not found\n")
}

/// Rewrites the version of an object kept under another version of its kind.
fn in_version(object: &Value, api_version: &str) -> Option<Value> {
    let stored = object.get("apiVersion").and_then(Value::as_str)?;
    if stored == api_version {
        return None;
    }
    let mut object = object.clone();
    object["apiVersion"] = api_version.into();
    Some(object)
}
