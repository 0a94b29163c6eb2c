//! Operations as requests, in what a sequence has learnt of its server.
//!
//! Always true: "right" and "outdated" come from this server's own answers; a dry run teaches nothing.
//!
//! Not here: objects and patches (`bodies`), sending (`session`).

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use super::bodies;
use super::ops::{DryRun, Force, Form, Identity, Kind, Manager, Name, Op, Propagation, Selector, Since, Version};
use crate::support::http::{Request, Response};

/// A version and a uid that no server hands out in a test.
const UNHEARD_VERSION: &str = "987654321987654";
const WRONG_UID: &str = "00000000-dead-beef-0000-000000000000";

const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST_ONLY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What one sequence knows.
pub struct Memory {
    kind: Kind,
    namespace: String,
    seen: BTreeMap<Name, Seen>,
    /// Every version this sequence was told of, in order: where a watch may start, and which states may be listed.
    told: Vec<String>,
}

/// What the server last said about an object, gone or not.
struct Seen {
    object: Value,
    version: String,
    version_before: Option<String>,
}

impl Memory {
    pub fn new(kind: Kind, namespace: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), seen: BTreeMap::new(), told: Vec::new() }
    }

    /// Takes in an answer that shows an object.
    pub fn learn(&mut self, answer: &Response) {
        let object = &answer.body;
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().and_then(Name::parse);
        let (Some(name), Some(version)) = (name, metadata["resourceVersion"].as_str()) else {
            return;
        };
        self.told.push(version.to_owned());
        let last = self.seen.remove(&name);
        let version_before =
            last.and_then(|last| if last.version == version { last.version_before } else { Some(last.version) });
        self.seen.insert(name, Seen { object: object.clone(), version: version.to_owned(), version_before });
    }

    /// Takes in the version of a list.
    pub fn learn_list(&mut self, list: &Response) {
        self.told.extend(list.body["metadata"]["resourceVersion"].as_str().map(str::to_owned));
    }

    /// The request of an operation about one object; nothing for those that are made of several.
    pub fn request(&self, op: &Op) -> Option<Request> {
        let request = match *op {
            Op::Get { name, form } => in_form(Request::get(self.path(name)), form),
            Op::Delete { name, uid, version, propagation, .. } => {
                let options = self.delete_options(name, uid, version, propagation);
                Request::new(Method::DELETE, self.path(name)).json("application/json", options)
            }
            Op::Create { .. }
            | Op::CreateWrong { .. }
            | Op::Update { .. }
            | Op::UpdateStatus { .. }
            | Op::MergePatch { .. }
            | Op::JsonPatch { .. }
            | Op::Apply { .. } => self.write(op)?,
            Op::List { .. } | Op::ListPages { .. } | Op::Watch { .. } => return None,
        };
        Some(match op.dry_run() {
            DryRun::No => request,
            DryRun::All => request.query("dryRun", "All"),
        })
    }

    fn write(&self, op: &Op) -> Option<Request> {
        let kind = self.kind;
        Some(match *op {
            Op::Create { name, label, finalizers, fields, .. } => {
                Request::post(self.collection(), bodies::create(kind, name, label, finalizers, fields))
            }
            Op::CreateWrong { wrong } => Request::post(self.collection(), bodies::wrong(kind, wrong, UNHEARD_VERSION)),
            Op::Update { name, version, change, .. } => {
                let mut body = self.last_seen(name);
                bodies::change_object(kind, &mut body, change, WRONG_UID);
                self.put(self.path(name), name, version, body)
            }
            Op::UpdateStatus { name, version, value } => {
                let mut body = self.last_seen(name);
                body["status"] = json!({"phase": value.as_str()});
                self.put(format!("{}/status", self.path(name)), name, version, body)
            }
            Op::MergePatch { name, version, change, .. } => {
                let patch = self.with_version(name, version, bodies::merge_patch(kind, change, WRONG_UID));
                self.patch(name, "application/merge-patch+json", patch)
            }
            Op::JsonPatch { name, version, change } => {
                let test = self.version(name, version);
                let test =
                    test.map(|version| json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}));
                let patch = test.into_iter().chain(bodies::json_patch(kind, change, WRONG_UID)).collect();
                self.patch(name, "application/json-patch+json", patch)
            }
            Op::Apply { name, manager, fields, label, force, version, .. } => {
                let body = self.with_version(name, version, bodies::apply(kind, name, fields, label));
                by_manager(self.patch(name, "application/apply-patch+yaml", body), manager, force)
            }
            Op::Get { .. } | Op::Delete { .. } | Op::List { .. } | Op::ListPages { .. } | Op::Watch { .. } => {
                return None;
            }
        })
    }

    pub fn list(&self, selector: Option<Selector>, only: Option<Name>, at: Option<u8>, form: Form) -> Request {
        let mut request = self.select(selector);
        if let Some(name) = only {
            request = request.query("fieldSelector", format!("metadata.name={}", name.as_str()));
        }
        if let Some(version) = at.and_then(|nth| self.told(nth)) {
            request = request.query("resourceVersion", version).query("resourceVersionMatch", "Exact");
        }
        match form {
            Form::Whole => request,
            Form::MetadataOnly => request.header("accept", METADATA_LIST_ONLY),
        }
    }

    pub fn watch(&self, since: Since, selector: Option<Selector>) -> Request {
        let request = self.select(selector).query("watch", "true");
        match since {
            Since::Unset => request,
            Since::Remembered(nth) => match self.told(nth) {
                Some(version) => request.query("resourceVersion", version),
                None => request,
            },
            Since::InitialEvents => request
                .query("sendInitialEvents", "true")
                .query("resourceVersionMatch", "NotOlderThan")
                .query("allowWatchBookmarks", "true"),
        }
    }

    fn select(&self, selector: Option<Selector>) -> Request {
        let request = Request::get(self.collection());
        match selector {
            None => request,
            Some(selector) => request.query("labelSelector", selector_text(selector)),
        }
    }

    fn told(&self, nth: u8) -> Option<&str> {
        let index = usize::from(nth).checked_rem(self.told.len())?;
        self.told.get(index).map(String::as_str)
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
        self.seen.get(&name).map_or_else(|| bodies::bare(self.kind, name), |seen| seen.object.clone())
    }

    fn with_version(&self, name: Name, version: Version, mut body: Value) -> Value {
        if let Some(version) = self.version(name, version) {
            body["metadata"]["resourceVersion"] = json!(version);
        }
        body
    }

    fn put(&self, path: String, name: Name, version: Version, mut body: Value) -> Request {
        drop(body["metadata"].as_object_mut().map(|metadata| metadata.remove("resourceVersion")));
        let body = self.with_version(name, version, body);
        Request::new(Method::PUT, path).json("application/json", body)
    }

    fn patch(&self, name: Name, content_type: &str, patch: Value) -> Request {
        Request::new(Method::PATCH, self.path(name)).json(content_type, patch)
    }

    fn delete_options(&self, name: Name, uid: Identity, version: Version, propagation: Option<Propagation>) -> Value {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        let known = self.seen.get(&name).and_then(|seen| seen.object["metadata"]["uid"].as_str());
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

    pub fn collection(&self) -> String {
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

fn selector_text(selector: Selector) -> &'static str {
    match selector {
        Selector::Red => "app=red",
        Selector::NotRed => "app!=red",
        Selector::AnyApp => "app",
        Selector::NoApp => "!app",
        Selector::InRedOrBlue => "app in (red,blue)",
    }
}

fn in_form(request: Request, form: Form) -> Request {
    match form {
        Form::Whole => request,
        Form::MetadataOnly => request.header("accept", METADATA_ONLY),
    }
}

fn by_manager(request: Request, manager: Manager, force: Force) -> Request {
    let request = request.query("fieldManager", format!("{manager:?}").to_lowercase());
    match force {
        Force::No => request,
        Force::Yes => request.query("force", "true"),
    }
}
