//! Requests to a cluster: the one place in the program that writes to it.
//!
//! Invariants:
//! - a request goes out once, and only with the token of its intent; nothing here tries again;
//! - a delete carries uid, version and a propagation policy; there is no delete of a collection and no force;
//! - a change carries uid and version of the object, and what is applied is never forced on another manager;
//! - a 404 counts as absence only when the server names the very object.
//!
//! Elsewhere: whether to send (`wave`), the class of an answer (`answer`), what it means for an action (`verdict`).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::answer::{Got, names, reply, unanswered};
use super::content::{Addressed, NewObject};
use super::in_flight::InFlight;
use super::ports::{ClusterPort, Reading, Reply, Seen, Write};
use crate::engine::ObjectRef;
use crate::engine::journal::Answer;

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
/// JSON is YAML as well.
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// How long an answer may take. The API server gives up on a request after 60 s; a write that takes a third of that is
/// better looked after than waited for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// What a body may measure: etcd holds objects of 1.5 MiB, and base64 adds a third.
const BODY_MAX: usize = 8 << 20;

/// Objects a page of a list, as kubectl asks for them.
const LIST_PAGE: usize = 500;
/// Pages of a list: 100,000 objects, more users than any cluster has.
const LIST_PAGES_MAX: usize = 200;

const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A cluster behind the real client.
pub struct KubeCluster {
    client: kube::Client,
    /// What discovery said of `(apiVersion, kind)`.
    known: Mutex<BTreeMap<(String, String), Served>>,
}

/// How a kind is addressed.
#[derive(Clone)]
struct Served {
    plural: String,
    namespaced: bool,
}

impl KubeCluster {
    pub fn new(client: kube::Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    async fn read_object(&self, target: &ObjectRef) -> Result<Reading, String> {
        let served = self.served(target).await?;
        let got = self.ask(Method::GET, &path(target, &served, Part::Object), JSON, Zeroizing::default()).await?;
        match got.status {
            StatusCode::OK => seen(target, got.body).map(|seen| Reading::Present(Box::new(seen))),
            StatusCode::NOT_FOUND if names(&got.body, &served.plural, &target.name) => Ok(Reading::Absent),
            other => Err(format!("the server answered {}", other.as_u16())),
        }
    }

    /// Sends a request as a dry run: the server checks everything and changes nothing. What it answers is dropped but
    /// for its class: it may hold the whole object.
    pub async fn dry_run(&self, write: Write<'_>) -> Reply {
        self.send_write(&write, SendMode::DryRun).await.unwrap_or_else(|_| unanswered(Answer::Ambiguous))
    }

    async fn send_write(&self, write: &Write<'_>, mode: SendMode) -> Result<Reply, String> {
        let target = match write {
            Write::Delete { target, .. }
            | Write::Change { target, .. }
            | Write::Apply { target, .. }
            | Write::Create { target, .. } => target,
        };
        // Nothing was sent when the kind is not known; only a request that may have arrived is ambiguous.
        let Ok(served) = self.served(target).await else { return Ok(unanswered(Answer::Throttled)) };
        let object_path = path(target, &served, Part::Object) + mode.query();
        let got = match write {
            Write::Delete { uid, resource_version, .. } => {
                let options = json!({
                    "kind": "DeleteOptions",
                    "apiVersion": "v1",
                    "preconditions": { "uid": uid, "resourceVersion": resource_version },
                    "propagationPolicy": "Background",
                    // A server that gets options in the body does not look at the query: said there alone, it deletes.
                    "dryRun": mode.dry_run(),
                });
                let options = Zeroizing::new(options.to_string().into_bytes());
                self.ask(Method::DELETE, &object_path, JSON, options).await?
            }
            Write::Change { uid, resource_version, patch, .. } => {
                let bound = Addressed::ByPath { uid, resource_version };
                let body = patch.body(&target.kind, bound, NewObject::default());
                self.ask(Method::PATCH, &object_path, MERGE_PATCH, body).await?
            }
            Write::Apply { bound, patch, .. } => {
                let addressed = Addressed::InBody { target, bound: *bound };
                let body = patch.body(&target.kind, addressed, NewObject::default());
                let path = path(target, &served, Part::Object) + mode.applied();
                self.ask(Method::PATCH, &path, APPLY_PATCH, body).await?
            }
            Write::Create { object, .. } => {
                let collection = path(target, &served, Part::Collection) + mode.query();
                self.ask(Method::POST, &collection, JSON, Zeroizing::new(object.to_vec())).await?
            }
        };
        Ok(reply(&got, &served.plural, &target.name))
    }

    /// Every object of a kind, page by page.
    async fn read_list(&self, api_version: &str, kind: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow, default)]
            items: Option<Vec<&'a RawValue>>,
            #[serde(default)]
            metadata: PageMetadata,
        }
        #[derive(Deserialize, Default)]
        struct PageMetadata {
            #[serde(default, rename = "continue")]
            token: String,
        }
        let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
        let any = ObjectRef { api_version, kind, namespace: None, name: String::new(), uid: None, cloud: None };
        let served = self.served(&any).await?;
        let (mut token, mut items) = (String::new(), Zeroizing::new(Vec::new()));
        for _ in 0..LIST_PAGES_MAX {
            let next = utf8_percent_encode(&token, UNRESERVED).to_string();
            let path = format!("{}?limit={LIST_PAGE}&continue={next}", path(&any, &served, Part::Collection));
            let got = self.ask(Method::GET, &path, JSON, Zeroizing::default()).await?;
            if got.status != StatusCode::OK {
                return Err(format!("the server answered {}", got.status.as_u16()));
            }
            let page: Page<'_> = serde_json::from_slice(&got.body).map_err(|_| "the list cannot be read".to_owned())?;
            for item in page.items.unwrap_or_default() {
                if !items.is_empty() {
                    items.push(b',');
                }
                items.extend_from_slice(item.get().as_bytes());
            }
            token = page.metadata.token;
            if token.is_empty() {
                let head = json!({ "apiVersion": any.api_version, "kind": format!("{}List", any.kind) }).to_string();
                let mut list = Zeroizing::new(Vec::with_capacity(head.len() + items.len() + 16));
                list.extend_from_slice(head.trim_end_matches('}').as_bytes());
                list.extend_from_slice(b",\"items\":[");
                list.extend_from_slice(&items);
                list.extend_from_slice(b"]}");
                return Ok(list);
            }
        }
        Err(format!("there are more than {} of them", LIST_PAGES_MAX * LIST_PAGE))
    }

    async fn served(&self, target: &ObjectRef) -> Result<Served, String> {
        #[derive(Deserialize)]
        struct List {
            resources: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            name: String,
            kind: String,
            namespaced: bool,
        }
        let key = (target.api_version.clone(), target.kind.clone());
        if let Some(served) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(served.clone());
        }
        let got = self.ask(Method::GET, &root(&target.api_version), JSON, Zeroizing::default()).await?;
        if got.status != StatusCode::OK {
            return Err(format!("asking for the kinds of {} gave {}", target.api_version, got.status.as_u16()));
        }
        let list: List =
            serde_json::from_slice(&got.body).map_err(|_| "the list of kinds cannot be read".to_owned())?;
        let entry = list.resources.into_iter().find(|one| one.kind == target.kind && !one.name.contains('/'));
        let entry = entry.ok_or_else(|| format!("{} has no kind {}", target.api_version, target.kind))?;
        let served = Served { plural: entry.name, namespaced: entry.namespaced };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, served.clone());
        Ok(served)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Zeroizing<Vec<u8>>,
    ) -> Result<Got, String> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, JSON)
            .header(header::CONTENT_TYPE, content_type)
            .body(Body::from(Bytes::from_owner(body)))
            .map_err(|_| "the request cannot be put into words".to_owned())?;
        let asking = async {
            let response = self.client.send(request).await.map_err(|_| "the request failed".to_owned())?;
            let (head, mut body) = response.into_parts();
            let mut bytes = Zeroizing::new(Vec::new());
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| "the answer broke off".to_owned())?;
                let Ok(data) = frame.into_data() else { continue };
                if bytes.len() + data.len() > BODY_MAX {
                    return Err("the answer is too large".to_owned());
                }
                bytes.extend_from_slice(&data);
            }
            Ok(Got { status: head.status, headers: head.headers, body: bytes })
        };
        tokio::time::timeout(ANSWER_TIMEOUT, asking).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }
}

impl ClusterPort for KubeCluster {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading> {
        async move { self.read_object(target).await.unwrap_or_else(Reading::Unknown) }.boxed()
    }

    fn list<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, String>> {
        self.read_list(api_version, kind).boxed()
    }

    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply> {
        async move {
            tracing::debug!(action = token.action(), attempt = token.attempt(), "sending a request");
            self.send_write(&write, SendMode::Yes).await.unwrap_or_else(|_| unanswered(Answer::Ambiguous))
        }
        .boxed()
    }
}

/// Whether a request is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendMode {
    Yes,
    DryRun,
}

impl SendMode {
    fn query(self) -> &'static str {
        match self {
            Self::Yes => "",
            Self::DryRun => "?dryRun=All",
        }
    }

    /// The same in the options of a delete.
    fn dry_run(self) -> &'static [&'static str] {
        match self {
            Self::Yes => &[],
            Self::DryRun => &["All"],
        }
    }

    /// For what is applied: who manages the fields from then on. Nobody else's are taken.
    fn applied(self) -> &'static str {
        match self {
            Self::Yes => "?fieldManager=trueup",
            Self::DryRun => "?fieldManager=trueup&dryRun=All",
        }
    }
}

fn seen(target: &ObjectRef, json: Zeroizing<Vec<u8>>) -> Result<Seen, String> {
    #[derive(Deserialize)]
    struct Object {
        kind: String,
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        name: String,
        uid: String,
        resource_version: String,
        deletion_timestamp: Option<Value>,
        #[serde(default)]
        labels: Option<BTreeMap<String, String>>,
        #[serde(default)]
        annotations: Option<BTreeMap<String, String>>,
    }
    let object: Object = serde_json::from_slice(&json).map_err(|_| "the answer is no object".to_owned())?;
    if object.kind != target.kind || object.metadata.name != target.name {
        return Err("the answer is another object than was asked for".to_owned());
    }
    let Metadata { name: _, uid, resource_version, deletion_timestamp, labels, annotations } = object.metadata;
    Ok(Seen {
        uid,
        resource_version,
        deleting: deletion_timestamp.is_some(),
        labels: labels.unwrap_or_default(),
        annotations: annotations.unwrap_or_default(),
        json,
    })
}

/// What a path leads to.
enum Part {
    Object,
    Collection,
}

fn path(target: &ObjectRef, served: &Served, part: Part) -> String {
    let escaped = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
    let mut path = root(&target.api_version);
    if let Some(namespace) = target.namespace.as_deref().filter(|_| served.namespaced) {
        path.push_str(&format!("/namespaces/{}", escaped(namespace)));
    }
    path.push_str(&format!("/{}", escaped(&served.plural)));
    match part {
        Part::Object => path + "/" + &escaped(&target.name),
        Part::Collection => path,
    }
}

fn root(api_version: &str) -> String {
    let parts: Vec<String> =
        api_version.split('/').map(|part| utf8_percent_encode(part, UNRESERVED).to_string()).collect();
    let prefix = if parts.len() == 1 { "/api" } else { "/apis" };
    format!("{prefix}/{}", parts.join("/"))
}
