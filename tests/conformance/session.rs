//! One sequence on one server: operations become requests, and answers become steps that can be compared.
//!
//! Always true:
//! - what "right" and "outdated" mean is learnt from this server's own answers alone;
//! - the sequence has a namespace of its own, so that sequences may run side by side;
//! - a watch is followed to an end marker written just before it, so that it brings all events up to then, without waiting.
//!
//! Not here: bodies and patches (`bodies`), symbols (`normal`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use serde_json::{Value, json};

use super::bodies;
use super::normal::Symbols;
use super::ops::{
    DryRun, Force, Identity, Kind, Manager, Name, Op, Propagation, Selector, Sequence, Since,
    Version,
};
use super::targets::Target;
use crate::support::http::{Request, Response, Watched};

/// A version and a uid that no server hands out in a test.
const UNHEARD_VERSION: &str = "987654321987654";
const WRONG_UID: &str = "00000000-dead-beef-0000-000000000000";

/// More than the objects a sequence can have; a server whose pages never end is caught by it.
const PAGES_MAX: usize = 12;

/// One request and its answer, both in symbols.
#[derive(Debug, Clone)]
pub struct Step {
    /// Which operation of the sequence it belongs to.
    pub op: usize,
    /// For people. It may hold the version of a list, which no symbol stands for.
    pub request: String,
    pub answer: Value,
}

/// Runs a sequence in a fresh namespace and returns all its steps.
pub async fn run<T: Target>(target: &T, sequence: &Sequence) -> Vec<Step> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let namespace = format!("sequence-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let made = target
        .send(&Request::post("/api/v1/namespaces", body))
        .await
        .expect("a namespace can be made");
    assert_eq!(made.status, 201, "making a namespace: {}", made.body);

    let mut session = Session::new(target.clone(), sequence.kind, namespace);
    for (index, op) in sequence.ops.iter().enumerate() {
        session.op = index;
        session.perform(op).await;
    }
    session.steps
}

struct Session<T> {
    target: T,
    kind: Kind,
    namespace: String,
    symbols: Symbols,
    seen: BTreeMap<Name, Seen>,
    /// Every version this sequence was told of, in order: where a watch may start.
    remembered: Vec<String>,
    markers: usize,
    op: usize,
    steps: Vec<Step>,
}

/// What the server last said about an object, gone or not.
struct Seen {
    object: Value,
    version: String,
    version_before: Option<String>,
}

impl<T: Target> Session<T> {
    fn new(target: T, kind: Kind, namespace: String) -> Self {
        let symbols = Symbols::new(&namespace);
        let (seen, remembered, steps) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self {
            target,
            kind,
            namespace,
            symbols,
            seen,
            remembered,
            markers: 0,
            op: 0,
            steps,
        }
    }

    async fn perform(&mut self, op: &Op) {
        match op {
            Op::List { selector } => drop(self.list(list_of(self.collection(), *selector)).await),
            Op::ListPages {
                limit,
                selector,
                between,
            } => {
                self.list_pages(*limit, *selector, between.as_deref()).await;
            }
            Op::Watch { since, selector } => self.watch(*since, *selector).await,
            Op::Create { .. }
            | Op::Get { .. }
            | Op::Update { .. }
            | Op::UpdateStatus { .. }
            | Op::MergePatch { .. }
            | Op::JsonPatch { .. }
            | Op::Apply { .. }
            | Op::Delete { .. } => self.single(op).await,
        }
    }

    /// Performs an operation that is one request about one object.
    async fn single(&mut self, op: &Op) {
        let Some((request, dry_run)) = self.request(op) else {
            return;
        };
        let request = match dry_run {
            DryRun::No => request,
            DryRun::All => request.query("dryRun", "All"),
        };
        let answer = self.exchange(&request).await;
        if dry_run == DryRun::No {
            self.learn(&answer);
        }
    }

    /// The request of an operation about one object; nothing for those that are made of several.
    fn request(&self, op: &Op) -> Option<(Request, DryRun)> {
        let kind = self.kind;
        Some(match *op {
            Op::Create {
                name,
                label,
                finalizers,
                fields,
                dry_run,
            } => (
                Request::post(
                    self.collection(),
                    bodies::create(kind, name, label, finalizers, fields),
                ),
                dry_run,
            ),
            Op::Get { name } => (Request::get(self.path(name)), DryRun::No),
            Op::Update {
                name,
                version,
                change,
                dry_run,
            } => {
                let mut body = self.last_seen(name);
                bodies::change_object(kind, &mut body, change, WRONG_UID);
                (self.put(self.path(name), name, version, body), dry_run)
            }
            Op::UpdateStatus {
                name,
                version,
                value,
            } => {
                let mut body = self.last_seen(name);
                body["status"] = json!({"phase": value.as_str()});
                (
                    self.put(format!("{}/status", self.path(name)), name, version, body),
                    DryRun::No,
                )
            }
            Op::MergePatch {
                name,
                version,
                change,
                dry_run,
            } => {
                let mut patch = bodies::merge_patch(kind, change, WRONG_UID);
                if let Some(version) = self.version(name, version) {
                    patch["metadata"]["resourceVersion"] = json!(version);
                }
                (
                    self.patch(name, "application/merge-patch+json", patch),
                    dry_run,
                )
            }
            Op::JsonPatch {
                name,
                version,
                change,
            } => {
                let test = self.version(name, version);
                let test = test.map(|version| json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}));
                let patch = test
                    .into_iter()
                    .chain(bodies::json_patch(kind, change, WRONG_UID))
                    .collect();
                (
                    self.patch(name, "application/json-patch+json", patch),
                    DryRun::No,
                )
            }
            Op::Apply {
                name,
                manager,
                fields,
                label,
                force,
                version,
                dry_run,
            } => {
                let mut body = bodies::apply(kind, name, fields, label);
                if let Some(version) = self.version(name, version) {
                    body["metadata"]["resourceVersion"] = json!(version);
                }
                let request = self.patch(name, "application/apply-patch+yaml", body);
                (by_manager(request, manager, force), dry_run)
            }
            Op::Delete {
                name,
                uid,
                version,
                propagation,
                dry_run,
            } => {
                let options = self.delete_options(name, uid, version, propagation);
                (
                    Request::new(Method::DELETE, self.path(name)).json("application/json", options),
                    dry_run,
                )
            }
            Op::List { .. } | Op::ListPages { .. } | Op::Watch { .. } => return None,
        })
    }

    async fn list(&mut self, request: Request) -> Option<Response> {
        let answer = self.exchange(&request).await;
        if let Some(version) = answer
            .as_ref()
            .and_then(|list| list.body["metadata"]["resourceVersion"].as_str())
        {
            self.remembered.push(version.to_owned());
        }
        answer
    }

    async fn list_pages(&mut self, limit: u8, selector: Option<Selector>, between: Option<&Op>) {
        let first = list_of(self.collection(), selector).query("limit", limit.to_string());
        let Some(mut page) = self.list(first.clone()).await else {
            return;
        };
        if let Some(op) = between {
            self.single(op).await;
        }
        let version = page.body["metadata"]["resourceVersion"].clone();
        for _ in 0..PAGES_MAX {
            let Some(token) = page.body["metadata"]["continue"]
                .as_str()
                .filter(|token| !token.is_empty())
            else {
                return;
            };
            let Some(next) = self.list(first.clone().query("continue", token)).await else {
                return;
            };
            let same = next.body["metadata"]["resourceVersion"] == version;
            self.record(
                "(is this page as old as the first?)".to_owned(),
                json!(same),
            );
            page = next;
        }
        self.record("(pages)".to_owned(), json!("they did not end"));
    }

    async fn watch(&mut self, since: Since, selector: Option<Selector>) {
        let request = list_of(self.collection(), selector).query("watch", "true");
        let index = |nth: u8| usize::from(nth) % self.remembered.len().max(1);
        let request = match since {
            Since::Unset => request,
            Since::Remembered(nth) => match self.remembered.get(index(nth)) {
                Some(version) => request.query("resourceVersion", version),
                None => request,
            },
            Since::InitialEvents => request
                .query("sendInitialEvents", "true")
                .query("resourceVersionMatch", "NotOlderThan")
                .query("allowWatchBookmarks", "true"),
        };
        let marker = self.write_marker(selector).await;
        let ends = |event: &Value| {
            let metadata = &event["object"]["metadata"];
            match since {
                Since::InitialEvents => {
                    metadata["annotations"]["k8s.io/initial-events-end"] == "true"
                }
                Since::Unset | Since::Remembered(_) => metadata["name"] == marker.as_str(),
            }
        };
        let watched = self.target.watch(&request, ends).await;
        let answer = match watched {
            Ok(Watched::Refused(answer)) => json!({"status": answer.status, "body": answer.body}),
            Ok(Watched::Reached(events)) => json!({"events": events}),
            Ok(Watched::Ended(events)) => json!({"ended after": events}),
            Ok(Watched::Silent(events)) => json!({"silent after": events}),
            Err(error) => json!({"no answer": format!("{error:#}")}),
        };
        self.record(described(&request), answer);
        let removal = Request::new(Method::DELETE, format!("{}/{marker}", self.collection()));
        drop(self.exchange(&removal).await);
    }

    /// Writes an object that the selector selects, and whose event ends the watch.
    async fn write_marker(&mut self, selector: Option<Selector>) -> String {
        self.markers += 1;
        // Sorts after all other names, as its event comes after all others.
        let marker = format!("z-end-{}", self.markers);
        let body = bodies::marker(self.kind, &marker, selector);
        drop(self.exchange(&Request::post(self.collection(), body)).await);
        marker
    }

    async fn exchange(&mut self, request: &Request) -> Option<Response> {
        let request = request.clone().header("user-agent", "conformance/1.0");
        let answer = self.target.send(&request).await;
        let shown = match &answer {
            Ok(answer) => json!({"status": answer.status, "body": answer.body}),
            Err(error) => json!({"no answer": format!("{error:#}")}),
        };
        self.record(described(&request), shown);
        answer.ok()
    }

    fn record(&mut self, request: String, answer: Value) {
        // The answer first: the request may only repeat what an answer brought.
        let answer = self.symbols.normalise(&answer);
        let request = self
            .symbols
            .normalise(&json!(request))
            .as_str()
            .unwrap_or_default()
            .to_owned();
        self.steps.push(Step {
            op: self.op,
            request,
            answer,
        });
    }

    fn learn(&mut self, answer: &Option<Response>) {
        let Some(object) = answer.as_ref().map(|answer| &answer.body) else {
            return;
        };
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().and_then(Name::parse);
        let (Some(name), Some(version)) = (name, metadata["resourceVersion"].as_str()) else {
            return;
        };
        self.remembered.push(version.to_owned());
        let last = self.seen.remove(&name);
        let version_before = last.and_then(|last| {
            if last.version == version {
                last.version_before
            } else {
                Some(last.version)
            }
        });
        self.seen.insert(
            name,
            Seen {
                object: object.clone(),
                version: version.to_owned(),
                version_before,
            },
        );
    }

    fn version(&self, name: Name, version: Version) -> Option<String> {
        let seen = self.seen.get(&name);
        let known = match version {
            Version::Absent => return None,
            Version::Right => seen.map(|seen| seen.version.clone()),
            Version::Outdated => seen.and_then(|seen| seen.version_before.clone()),
            Version::Unheard => None,
        };
        Some(known.unwrap_or_else(|| UNHEARD_VERSION.to_owned()))
    }

    fn last_seen(&self, name: Name) -> Value {
        self.seen
            .get(&name)
            .map_or_else(|| bodies::bare(self.kind, name), |seen| seen.object.clone())
    }

    fn put(&self, path: String, name: Name, version: Version, mut body: Value) -> Request {
        if let Some(metadata) = body["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
            metadata.extend(
                self.version(name, version)
                    .map(|version| ("resourceVersion".to_owned(), json!(version))),
            );
        }
        Request::new(Method::PUT, path).json("application/json", body)
    }

    fn patch(&self, name: Name, content_type: &str, patch: Value) -> Request {
        Request::new(Method::PATCH, self.path(name)).json(content_type, patch)
    }

    fn delete_options(
        &self,
        name: Name,
        uid: Identity,
        version: Version,
        propagation: Option<Propagation>,
    ) -> Value {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        let known = self
            .seen
            .get(&name)
            .and_then(|seen| seen.object["metadata"]["uid"].as_str());
        match uid {
            Identity::Absent => {}
            Identity::Right => options["preconditions"]["uid"] = json!(known.unwrap_or(WRONG_UID)),
            Identity::Wrong => options["preconditions"]["uid"] = json!(WRONG_UID),
        }
        if let Some(version) = self.version(name, version) {
            options["preconditions"]["resourceVersion"] = json!(version);
        }
        if let Some(propagation) = propagation {
            options["propagationPolicy"] = json!(format!("{propagation:?}"));
        }
        options
    }

    fn collection(&self) -> String {
        let (base, plural) = match self.kind {
            Kind::ConfigMap => ("/api/v1", "configmaps"),
            Kind::Secret => ("/api/v1", "secrets"),
            Kind::Widget => ("/apis/conformance.trueup.dev/v1", "widgets"),
        };
        format!("{base}/namespaces/{}/{plural}", self.namespace)
    }

    fn path(&self, name: Name) -> String {
        format!("{}/{}", self.collection(), name.as_str())
    }
}

fn by_manager(request: Request, manager: Manager, force: Force) -> Request {
    let request = request.query("fieldManager", format!("{manager:?}").to_lowercase());
    match force {
        Force::No => request,
        Force::Yes => request.query("force", "true"),
    }
}

fn list_of(collection: String, selector: Option<Selector>) -> Request {
    let request = Request::get(collection);
    match selector {
        None => request,
        Some(selector) => request.query("labelSelector", selector.as_str()),
    }
}

fn described(request: &Request) -> String {
    let query: Vec<_> = request
        .query
        .iter()
        .filter(|(name, _)| name != "continue")
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    let body = request
        .body
        .as_ref()
        .map(Value::to_string)
        .unwrap_or_default();
    format!(
        "{} {} {} {body}",
        request.method,
        request.path,
        query.join("&")
    )
}
