//! Operations as requests, in what a sequence has learnt of its server.
//!
//! Always true: "right" and "outdated" come from this server's own answers; a dry run teaches nothing.
//!
//! Not here: objects and patches (`bodies`), sending (`session`).

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use super::bodies;
use super::ops::{
    DeleteWish, Dependents, DryRun, Force, Form, Identity, Kind, Manager, Name, Op, OptionsPlace, Selector, Since,
    Version,
};
use crate::support::http::{Request, Response};

/// A version and a uid that no server hands out in a test.
const UNHEARD_VERSION: &str = "987654321987654";
const WRONG_UID: &str = "00000000-dead-beef-0000-000000000000";

const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST_ONLY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What one sequence knows.
pub struct Memory {
    kind: Kind,
    namespace: Value,
    seen: BTreeMap<Name, Seen>,
    /// Every version this sequence has seen, in order: where a watch may start, and which states may be listed.
    versions: Vec<String>,
}

/// What the server last said about an object, gone or not.
struct Seen {
    object: Value,
    version: String,
    version_before: Option<String>,
}

impl Memory {
    /// What a sequence knows at its start: its namespace, as the server showed it.
    pub fn new(kind: Kind, namespace: &Value) -> Self {
        Self { kind, namespace: namespace.clone(), seen: BTreeMap::new(), versions: Vec::new() }
    }

    /// Takes in an answer that shows an object.
    pub fn learn(&mut self, answer: &Response) {
        let object = &answer.body;
        if object["kind"] == "Namespace" {
            self.namespace = object.clone();
            return;
        }
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().and_then(Name::parse);
        let (Some(name), Some(version)) = (name, metadata["resourceVersion"].as_str()) else {
            return;
        };
        self.versions.push(version.to_owned());
        let last = self.seen.remove(&name);
        let version_before =
            last.and_then(|last| if last.version == version { last.version_before } else { Some(last.version) });
        self.seen.insert(name, Seen { object: object.clone(), version: version.to_owned(), version_before });
    }

    /// Takes in the version of a list.
    pub fn learn_list(&mut self, list: &Response) {
        self.versions.extend(list.body["metadata"]["resourceVersion"].as_str().map(str::to_owned));
    }

    /// The request of an operation about one object; nothing for those that are made of several.
    pub fn request(&self, op: &Op) -> Option<Request> {
        let request = match *op {
            Op::Get { name, form } => in_form(Request::get(self.path(name)), form),
            Op::Delete { name, wish, dry_run } => {
                let uid = self.seen.get(&name).and_then(|seen| seen.object["metadata"]["uid"].as_str());
                return Some(delete(self.path(name), wish, uid, self.version(name, wish.version), dry_run));
            }
            Op::DeleteNamespace { wish, dry_run } => {
                let metadata = &self.namespace["metadata"];
                let version = match wish.version {
                    Version::Absent => None,
                    Version::Right => metadata["resourceVersion"].as_str().map(str::to_owned),
                    Version::Outdated | Version::Unheard => Some(UNHEARD_VERSION.to_owned()),
                };
                let path = format!("/api/v1/namespaces/{}", self.namespace_name());
                return Some(delete(path, wish, metadata["uid"].as_str(), version, dry_run));
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
            Op::UpdateStatus { name, version, value, .. } => {
                let mut body = self.last_seen(name);
                body["status"] = json!({"phase": value.as_str()});
                self.put(format!("{}/status", self.path(name)), name, version, body)
            }
            Op::MergePatch { name, version, change, .. } => {
                let patch = self.with_version(name, version, bodies::merge_patch(kind, change, WRONG_UID));
                self.patch(name, "application/merge-patch+json", patch)
            }
            Op::JsonPatch { name, version, change, .. } => {
                let test = self.version(name, version);
                let test =
                    test.map(|version| json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}));
                let patch = test.into_iter().chain(bodies::json_patch(kind, change, WRONG_UID)).collect();
                self.patch(name, "application/json-patch+json", patch)
            }
            Op::Apply { name, manager, fields, label, finalizers, force, version, .. } => {
                let body = bodies::apply(kind, name, fields, label, finalizers);
                let body = self.with_version(name, version, body);
                by_manager(self.patch(name, "application/apply-patch+yaml", body), manager, force)
            }
            Op::Get { .. }
            | Op::Delete { .. }
            | Op::DeleteNamespace { .. }
            | Op::List { .. }
            | Op::ListPages { .. }
            | Op::Watch { .. } => return None,
        })
    }

    pub fn list(&self, selector: Option<Selector>, only: Option<Name>, at: Option<u8>, form: Form) -> Request {
        let mut request = self.select(selector);
        if let Some(name) = only {
            request = request.query("fieldSelector", format!("metadata.name={}", name.as_str()));
        }
        if let Some(version) = at.and_then(|nth| self.versions(nth)) {
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
            Since::Remembered(nth) => match self.versions(nth) {
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

    fn versions(&self, nth: u8) -> Option<&str> {
        let index = usize::from(nth).checked_rem(self.versions.len())?;
        self.versions.get(index).map(String::as_str)
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

    fn namespace_name(&self) -> &str {
        self.namespace["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub fn collection(&self) -> String {
        let (base, plural) = match self.kind {
            Kind::ConfigMap => ("/api/v1", "configmaps"),
            Kind::Secret => ("/api/v1", "secrets"),
            Kind::Widget => ("/apis/conformance.trueup.dev/v1", "widgets"),
        };
        format!("{base}/namespaces/{}/{plural}", self.namespace_name())
    }

    fn path(&self, name: Name) -> String {
        format!("{}/{}", self.collection(), name.as_str())
    }
}

/// A delete, with what is known of its target.
fn delete(path: String, wish: DeleteWish, uid: Option<&str>, version: Option<String>, dry_run: DryRun) -> Request {
    let mut options = json!({});
    let (policy, orphan) = match wish.dependents {
        None => (None, None),
        Some(Dependents::Policy(policy)) => (Some(policy), None),
        Some(Dependents::Orphan(orphan)) => (None, Some(orphan)),
        Some(Dependents::Both(policy, orphan)) => (Some(policy), Some(orphan)),
    };
    if let Some(policy) = policy {
        options["propagationPolicy"] = json!(format!("{policy:?}"));
    }
    if let Some(orphan) = orphan {
        options["orphanDependents"] = json!(orphan);
    }
    if let Some(seconds) = wish.grace_seconds {
        options["gracePeriodSeconds"] = json!(seconds);
    }
    let mut request = Request::new(Method::DELETE, path);
    match (wish.place, dry_run) {
        (OptionsPlace::Body, DryRun::All) => options["dryRun"] = json!(["All"]),
        (OptionsPlace::BodyAndQuery | OptionsPlace::Query, DryRun::All) => request = request.query("dryRun", "All"),
        (OptionsPlace::Body | OptionsPlace::BodyAndQuery | OptionsPlace::Query, DryRun::No) => {}
    }
    if wish.place == OptionsPlace::Query {
        let said = options.as_object().into_iter().flatten();
        return said.fold(request, |request, (key, value)| {
            request.query(key, value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
    }
    match wish.uid {
        Identity::Absent => {}
        Identity::Right => options["preconditions"]["uid"] = json!(uid.unwrap_or(WRONG_UID)),
        Identity::Wrong => options["preconditions"]["uid"] = json!(WRONG_UID),
    }
    if let Some(version) = version {
        options["preconditions"]["resourceVersion"] = json!(version);
    }
    options["apiVersion"] = json!("v1");
    options["kind"] = json!("DeleteOptions");
    request.json("application/json", options)
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
