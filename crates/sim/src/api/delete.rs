//! DELETE, of one object and of many.
//!
//! Invariants:
//! - preconditions are checked before anything is changed;
//! - an object with finalizers is marked and stays until its last finalizer is removed (`crud`);
//! - nothing cascades here (`gc`).
//!
//! Elsewhere: deleting dependents (`gc`). The order is that of `registry/generic/registry/store.go`.

use std::sync::Arc;

use jiff::{Span, Timestamp};
use serde_json::{Value, json};

use super::call::{Call, refuse_if_any};
use super::content;
use super::field_error::{FieldError, quoted};
use super::kinds::{Content, GroupResource};
use super::meta;
use super::proto;
use super::status::{Refused, Status};
use super::store::{self, Stored};
use super::{Reply, Server, list};

pub const ORPHAN: &str = "orphan";
pub const FOREGROUND: &str = "foregroundDeletion";

/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

#[derive(Debug, Clone, Default)]
struct Options {
    uid: Option<String>,
    resource_version: Option<String>,
    propagation: Option<String>,
    orphan_dependents: Option<bool>,
    grace_seconds: Option<i64>,
    dry_run: Vec<String>,
}

/// Result of a delete.
enum Outcome {
    /// The object is removed from the store.
    Gone(Value),
    /// The object waits for its finalizers, or for its grace period.
    Waiting(Value),
    /// A dry run in which the delete would remove the last finalizer and so the object. kube-apiserver replies with an
    /// empty object.
    WouldGo,
}

impl Server {
    pub(super) fn delete(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        let options = Options::read(call)?;
        options.check()?;
        let refused_wait = options.orphan_dependents == Some(false);
        match self.delete_one(call, &call.target.name, &options)? {
            Outcome::Waiting(object) => call.reply_value(if refused_wait { 202 } else { 200 }, &object),
            Outcome::WouldGo => call.reply_value(200, &empty(call)),
            Outcome::Gone(object) if call.kind.rules.returns_deleted => call.reply_value(200, &object),
            Outcome::Gone(object) => Ok(Reply::json(200, store::to_bytes(&success(call, &object)))),
        }
    }

    pub(super) fn delete_collection(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        let form = call.form()?;
        let options = Options::read(call)?;
        options.check()?;
        let page = self.select(call)?;
        for item in &page.items {
            match self.delete_one(call, meta::name(&item.value), &options) {
                Ok(_) => {}
                Err(refused) if refused.code == 404 => {}
                Err(refused) => return Err(refused),
            }
        }
        Ok(Reply::json(200, list::render(call, form, &page)))
    }

    fn delete_one(&mut self, call: &Call<'_>, name: &str, options: &Options) -> Result<Outcome, Refused> {
        let key = store::key(call.namespace(), name);
        let existing = self.store.collection(call.collection).get(&key).cloned();
        let existing = existing.ok_or_else(|| Status::not_found(&call.kind.of, name))?;
        if call.kind.rules.content == Content::Namespace {
            return self.delete_namespace(call, &existing, options);
        }
        options.check_preconditions(call, &existing.value)?;
        let mut object = existing.value.clone();
        let graceful = match call.kind.rules.content {
            Content::Pod => start_grace(&mut object, options, call.now),
            Content::Plain | Content::ConfigMap | Content::Secret | Content::Namespace | Content::Definition => {
                Grace::None
            }
        };
        if graceful == Grace::Pending {
            return Ok(Outcome::Waiting(existing.value.clone()));
        }
        let finalizers = options.finalizers(&object);
        meta::set_finalizers(&mut object, &finalizers);
        match (finalizers.is_empty(), graceful) {
            (true, Grace::None) if options.is_dry_run() && !meta::finalizers(&existing.value).is_empty() => {
                Ok(Outcome::WouldGo)
            }
            (true, Grace::None) => {
                options.refuse_lost_version(call, &existing.value)?;
                Ok(Outcome::Gone(self.finish(call, &key, &existing, options)))
            }
            (false, Grace::None) => {
                mark_deleting(&mut object, call.now);
                Ok(Outcome::Waiting(self.save(call, &key, &existing, object, options)))
            }
            (_, Grace::Started | Grace::Pending) => {
                Ok(Outcome::Waiting(self.save(call, &key, &existing, object, options)))
            }
        }
    }

    fn delete_namespace(
        &mut self,
        call: &Call<'_>,
        existing: &Arc<Stored>,
        options: &Options,
    ) -> Result<Outcome, Refused> {
        let name = meta::name(&existing.value).to_owned();
        if IMMORTAL.contains(&name.as_str()) {
            return Err(Status::forbidden(&call.kind.of, &name, "this namespace may not be deleted"));
        }
        options.check_namespace(call, &existing.value)?;
        let waits = existing.value["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty());
        if meta::is_deleting(&existing.value) {
            return Ok(match waits {
                true => Outcome::Waiting(existing.value.clone()),
                false => Outcome::Gone(self.finish(call, &name, existing, options)),
            });
        }
        let mut object = existing.value.clone();
        meta::set_text(&mut object, "deletionTimestamp", &meta::api_time(call.now));
        // A user may have stored any status.
        if !object["status"].is_object() {
            object["status"] = json!({});
        }
        object["status"]["phase"] = "Terminating".into();
        meta::set_finalizers(&mut object, &options.namespace_finalizers(&existing.value));
        Ok(Outcome::Waiting(self.save(call, &name, existing, object, options)))
    }

    fn finish(&mut self, call: &Call<'_>, key: &str, existing: &Stored, options: &Options) -> Value {
        if options.is_dry_run() {
            return existing.value.clone();
        }
        self.erase(call, key).map_or_else(|| existing.value.clone(), |removed| removed.value.clone())
    }

    fn save(&mut self, call: &Call<'_>, key: &str, existing: &Stored, object: Value, options: &Options) -> Value {
        if options.is_dry_run() || object == existing.value {
            return object;
        }
        let stored = self.store.put(call.collection, key.into(), object, existing.managed.clone());
        stored.value.clone()
    }
}

impl Options {
    /// Reproduces a bug of kube-apiserver: when a delete removes the last finalizer, the requested resourceVersion is lost
    /// and the object is compared with none.
    /// <https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go>
    fn refuse_lost_version(&self, call: &Call<'_>, existing: &Value) -> Result<(), Refused> {
        let forgets = self.resource_version.is_some() && !meta::finalizers(existing).is_empty();
        if !forgets || self.is_dry_run() {
            return Ok(());
        }
        let found = meta::resource_version(existing);
        let why = format!("ResourceVersion in precondition: , ResourceVersion in object meta: {found}");
        Err(call.storage_conflict(meta::name(existing), &why))
    }

    /// From the body, or from the query if there is none.
    fn read(call: &Call<'_>) -> Result<Self, Refused> {
        if call.request.body.is_empty() {
            let query = &call.request.query;
            return Ok(Self {
                propagation: query.get("propagationPolicy").map(str::to_owned),
                orphan_dependents: query.get("orphanDependents").map(|_| query.is_set("orphanDependents")),
                grace_seconds: query.get("gracePeriodSeconds").and_then(|text| text.parse().ok()),
                dry_run: query.all("dryRun").into_iter().map(str::to_owned).collect(),
                ..Self::default()
            });
        }
        let body = match call.request.content_type.as_str() {
            proto::MEDIA => proto::decode(&call.request.body).ok_or("the protobuf body can't be read".to_owned()),
            _ => serde_json::from_slice(&call.request.body).map_err(|error| {
                let why = content::go_json_error(&error, &call.request.body);
                format!("couldn't get version/kind; json parse error: {why}")
            }),
        };
        let body: Value = body.map_err(Status::bad_request)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let preconditions = |field: &str| body.get("preconditions").and_then(|all| all.get(field)).and_then(text);
        Ok(Self {
            uid: preconditions("uid"),
            resource_version: preconditions("resourceVersion"),
            propagation: body.get("propagationPolicy").and_then(text),
            orphan_dependents: body.get("orphanDependents").and_then(Value::as_bool),
            grace_seconds: body.get("gracePeriodSeconds").and_then(Value::as_i64),
            dry_run: body.get("dryRun").and_then(Value::as_array).into_iter().flatten().filter_map(text).collect(),
        })
    }

    fn is_dry_run(&self) -> bool {
        self.dry_run.iter().any(|value| value == "All")
    }

    fn check(&self) -> Result<(), Refused> {
        let mut errors = Vec::new();
        if let Some(policy) = &self.propagation {
            if self.orphan_dependents.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid("propagationPolicy", &quoted(policy), detail));
            }
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            if !supported[..3].contains(&policy.as_str()) {
                errors.push(FieldError::not_supported("propagationPolicy", &quoted(policy), &supported));
            }
        }
        if self.dry_run.iter().any(|value| value != "All") {
            let shown = Value::from(self.dry_run.clone()).to_string();
            errors.push(FieldError::not_supported("dryRun", &shown, &["All"]));
        }
        refuse_if_any(&GroupResource::new("meta.k8s.io", "DeleteOptions"), "", &errors)
    }

    fn check_preconditions(&self, call: &Call<'_>, existing: &Value) -> Result<(), Refused> {
        let name = meta::name(existing);
        let found = meta::uid(existing);
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != found) {
            let why = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({found}). The object might have been deleted and then recreated"
            );
            return Err(Status::conflict(&call.kind.group_kind(), name, &why));
        }
        let found = meta::resource_version(existing);
        if let Some(version) = self.resource_version.as_deref().filter(|version| *version != found) {
            let why = format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({found}). The object might have been modified"
            );
            return Err(Status::conflict(&call.kind.group_kind(), name, &why));
        }
        Ok(())
    }

    /// Namespaces have their own check and messages.
    fn check_namespace(&self, call: &Call<'_>, existing: &Value) -> Result<(), Refused> {
        let pairs = [
            ("UID", &self.uid, meta::uid(existing)),
            ("ResourceVersion", &self.resource_version, meta::resource_version(existing)),
        ];
        for (what, asked, found) in pairs {
            if let Some(asked) = asked.as_deref().filter(|asked| *asked != found) {
                let why =
                    format!("Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}");
                return Err(Status::conflict(&call.kind.of, meta::name(existing), &why));
            }
        }
        Ok(())
    }

    /// Finalizers of a namespace that may not orphan its contents.
    fn namespace_finalizers(&self, existing: &Value) -> Vec<String> {
        match self.orphan_dependents {
            Some(false) => {
                let foreground =
                    Self { orphan_dependents: None, propagation: Some("Foreground".into()), ..self.clone() };
                foreground.finalizers(existing)
            }
            Some(true) | None => self.finalizers(existing),
        }
    }

    /// The finalizers after this delete: the two of the garbage collector are added or removed as requested.
    fn finalizers(&self, object: &Value) -> Vec<String> {
        let present = meta::finalizers(object);
        let asked = match (self.orphan_dependents, self.propagation.as_deref()) {
            (Some(true), _) | (None, Some("Orphan")) => Some(ORPHAN),
            (None, Some("Foreground")) => Some(FOREGROUND),
            (Some(false), _) | (None, Some(_)) => None,
            (None, None) => present.iter().copied().find(|name| matches!(*name, ORPHAN | FOREGROUND)),
        };
        let mut wanted: Vec<String> = present
            .iter()
            .filter(|name| !matches!(**name, ORPHAN | FOREGROUND))
            .map(|name| (*name).to_owned())
            .collect();
        wanted.extend(asked.map(str::to_owned));
        let same = wanted.len() == present.len() && wanted.iter().all(|name| present.contains(&name.as_str()));
        if same { present.into_iter().map(str::to_owned).collect() } else { wanted }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grace {
    /// Removed at once.
    None,
    /// Marked now, removed later.
    Started,
    /// Was marked before.
    Pending,
}

/// A pod on a node gets its grace period; the node (here: `gc`) removes it.
fn start_grace(pod: &mut Value, options: &Options, now: Timestamp) -> Grace {
    let scheduled = pod["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let finished = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    let seconds = options.grace_seconds.or_else(|| pod["spec"]["terminationGracePeriodSeconds"].as_i64()).unwrap_or(30);
    if !scheduled || finished || seconds <= 0 {
        return Grace::None;
    }
    if meta::is_deleting(pod) {
        return Grace::Pending;
    }
    let end = now.checked_add(Span::new().seconds(seconds)).unwrap_or(now);
    meta::set_text(pod, "deletionTimestamp", &meta::api_time(end));
    meta::of_mut(pod).insert("deletionGracePeriodSeconds".into(), seconds.into());
    Grace::Started
}

/// Marks an object that waits for finalizers.
pub fn mark_deleting(object: &mut Value, now: Timestamp) {
    if !meta::is_deleting(object) {
        if meta::generation(object) > 0 {
            meta::set_generation(object, meta::generation(object) + 1);
        }
        meta::set_text(object, "deletionTimestamp", &meta::api_time(now));
    }
    meta::of_mut(object).insert("deletionGracePeriodSeconds".into(), 0.into());
}

/// An object with only its kind.
fn empty(call: &Call<'_>) -> Value {
    let object = json!({ "kind": &*call.kind.kind, "apiVersion": call.kind.api_version() });
    match call.kind.rules.custom {
        true => object,
        false => {
            let mut object = object;
            object["metadata"] = json!({});
            object
        }
    }
}

fn success(call: &Call<'_>, object: &Value) -> Value {
    let mut details = json!({ "name": meta::name(object), "kind": &*call.kind.of.resource, "uid": meta::uid(object) });
    if !call.kind.of.group.is_empty() {
        details["group"] = (&*call.kind.of.group).into();
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}
