//! Answers discovery, lists and watches for an account: a tower service under `kube::Client`.

#![expect(clippy::disallowed_methods, reason = "the only clock of the adapter")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use jiff::Timestamp;
use kube::client::Body;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Account, AccountPort, Asked, Listing, NoListing};
use crate::connect::ServerClock;
use trueup_core::world::Resource;

/// How long a watch is held whose client names no limit: about the API server's own default.
const WATCH_MAX: Duration = Duration::from_secs(300);

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Clones share their versions.
#[derive(Clone)]
pub(super) struct KubeAdapter {
    account: Arc<dyn Account>,
    versions: Arc<Mutex<Versions>>,
}

/// The lists that were answered, by their version.
struct Versions {
    last: u64,
    /// When each expires. Expired ones are dropped: a watch from one of them lists again.
    due: BTreeMap<u64, Instant>,
    /// Lists that broke off, by version, with the reason the next page gives.
    broken: BTreeMap<u64, NoListing>,
}

impl KubeAdapter {
    pub fn new(account: Arc<dyn Account>) -> Self {
        // A later adapter of the same account begins with a larger number than any earlier one has reached: no client
        // lists a thousand times a second.
        let last = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(1).max(1);
        let versions = Versions { last, due: BTreeMap::new(), broken: BTreeMap::new() };
        Self { account, versions: Arc::new(Mutex::new(versions)) }
    }

    pub fn server(&self) -> String {
        self.account.server()
    }

    pub fn clock(&self) -> ServerClock {
        self.account.clock()
    }

    pub fn port(&self) -> Option<Arc<dyn AccountPort>> {
        self.account.port()
    }

    async fn answer(self, method: Method, path: String, query: BTreeMap<String, String>) -> Answer {
        if method != Method::GET {
            return status(&NoListing { status: StatusCode::METHOD_NOT_ALLOWED, reason: "", retry_after: None });
        }
        match path.as_str() {
            "/api" => return whole(&core_discovery()),
            "/apis" => return whole(&self.discovery()),
            "/api/v1/namespaces" => return whole(&list("v1", "NamespaceList", self.fresh().to_string(), "", &[])),
            _ => {}
        }
        let Some((resource, namespace)) = self.resource(&path) else {
            return status(&NoListing { status: StatusCode::NOT_FOUND, reason: "NotFound", retry_after: None });
        };
        let asked = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
        if matches!(asked("watch"), "true" | "1") {
            return self.watch(asked("resourceVersion"), asked("timeoutSeconds"));
        }
        if let Some(broken) = asked("continue").parse().ok().and_then(|version| self.broken(version)) {
            return status(&broken);
        }
        let asked = Asked { plural: resource.plural.to_owned(), namespace, fields: fields(asked("fieldSelector")) };
        match self.account.list(&asked).await {
            Ok(listing) => self.listed(&resource, &listing),
            Err(error) => status(&error),
        }
    }

    /// A list, and when it expires. One that was cut short promises a page that never comes.
    fn listed(&self, resource: &Resource, listing: &Listing) -> Answer {
        let Listing { items, cut_short, fresh_for } = listing;
        let version = self.fresh();
        let mut versions = self.lock();
        let now = Instant::now();
        versions.due.retain(|_, due| *due > now);
        versions.due.insert(version, now + *fresh_for);
        let token = match cut_short {
            None => String::new(),
            Some(why) => {
                let kept: Vec<u64> = versions.due.keys().copied().collect();
                versions.broken.retain(|version, _| kept.contains(version));
                versions.broken.insert(version, why.clone());
                version.to_string()
            }
        };
        let (api_version, kind) =
            (format!("{}/{}", resource.group, resource.version), format!("{}List", resource.kind));
        whole(&list(&api_version, &kind, version.to_string(), &token, items))
    }

    /// Holds until the list expires or the requested time is over.
    fn watch(&self, version: &str, timeout: &str) -> Answer {
        let due = version.parse().ok().and_then(|version: u64| self.lock().due.get(&version).copied());
        let limit = timeout.parse().map_or(WATCH_MAX, Duration::from_secs);
        let ends = Instant::now() + limit;
        let due = due.unwrap_or_else(Instant::now);
        let line = async move {
            tokio::time::sleep_until(due.min(ends)).await;
            if due > ends {
                return Ok(Frame::data(Bytes::new()));
            }
            let expired = json!({ "type": "ERROR", "object": { "kind": "Status", "code": 410, "reason": "Expired" } });
            Ok(Frame::data(Bytes::from(format!("{expired}\n"))))
        };
        respond(StatusCode::OK, StreamBody::new(futures::stream::once(line)).boxed_unsync())
    }

    fn fresh(&self) -> u64 {
        let mut versions = self.lock();
        versions.last += 1;
        versions.last
    }

    fn broken(&self, version: u64) -> Option<NoListing> {
        self.lock().broken.get(&version).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Versions> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kind and the namespace a path names.
    fn resource(&self, path: &str) -> Option<(Resource, Option<String>)> {
        let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (group, version, namespace, plural) = match parts[..] {
            ["apis", group, version, plural] => (group, version, None, plural),
            ["apis", group, version, "namespaces", namespace, plural] => {
                (group, version, Some(decoded(namespace)), plural)
            }
            _ => return None,
        };
        let known = self.account.kinds().iter();
        let mut known = known.filter(|kind| kind.group == group && kind.version == version && kind.plural == plural);
        known.next().map(|kind| (*kind, namespace))
    }

    fn discovery(&self) -> Value {
        let kinds = self.account.kinds();
        let Some(first) = kinds.first() else { return json!({ "kind": "APIGroupDiscoveryList", "items": [] }) };
        let resources: Vec<Value> = kinds.iter().map(|kind| json!({ "resource": kind.plural })).collect();
        let versions = json!([{ "version": first.version, "resources": resources }]);
        json!({
            "kind": "APIGroupDiscoveryList",
            "items": [{ "metadata": { "name": first.group }, "versions": versions }],
        })
    }
}

/// Every API server has namespaces, and discovery rejects a response without them. This one has none to list.
fn core_discovery() -> Value {
    let versions = json!([{ "version": "v1", "resources": [{ "resource": "namespaces" }] }]);
    json!({ "kind": "APIGroupDiscoveryList", "items": [{ "metadata": { "name": "" }, "versions": versions }] })
}

fn list(api_version: &str, kind: &str, version: String, token: &str, items: &[Value]) -> Value {
    let metadata = json!({ "resourceVersion": version, "continue": token });
    json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "items": items })
}

fn fields(selector: &str) -> BTreeMap<String, String> {
    let terms = selector.split(',').map(str::trim).filter(|term| !term.is_empty());
    terms.map(|term| term.split_once('=').unwrap_or((term, ""))).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

fn whole(body: &Value) -> Answer {
    respond(StatusCode::OK, Full::new(Bytes::from(body.to_string())).boxed_unsync())
}

fn status(why: &NoListing) -> Answer {
    let NoListing { status, reason, retry_after } = why;
    let body =
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status.as_u16() });
    let mut answer = respond(*status, Full::new(Bytes::from(body.to_string())).boxed_unsync());
    if let Some(wait) = retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, wait.as_secs().into());
    }
    answer
}

fn respond(status: StatusCode, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    answer
}

impl tower::Service<Request<Body>> for KubeAdapter {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let decoded = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = request.uri().query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let query = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let adapter = self.clone();
        Box::pin(async move { Ok(adapter.answer(method, path, query).await) })
    }
}
