//! Reading one object, creating it, replacing it.
//!
//! Always true:
//! - checks run in the order of the real server, so that of several things wrong the same one is reported;
//! - an update that changes nothing keeps its version and makes no event;
//! - an object whose last finalizer goes while it is being deleted is gone, not updated.
//!
//! Not here: patches (`patch`), deletes (`delete`). The order is that of `registry/generic/registry/store.go` and
//! `endpoints/handlers` in `k8s.io/apiserver` v0.36.3.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::content;
use super::fields::FieldSet;
use super::kinds::{CollectionId, Content, Generation, GroupResource, ResourceKind};
use super::managed::{self, Managed, Writer};
use super::media::{self, Form};
use super::meta;
use super::request::{Request, Target};
use super::shape::Shape;
use super::status::{FieldError, Refused, Status, quoted};
use super::store::{self, Stored};
use super::validate;
use super::{Reply, Server, in_version};

/// Attempts at a generated name before giving up. The real server's number.
const NAME_ATTEMPTS_MAX: usize = 8;

/// A request to a kind that is served.
#[derive(Debug)]
pub struct Call<'a> {
    pub now: Timestamp,
    pub request: &'a Request,
    pub target: &'a Target,
    pub kind: Arc<ResourceKind>,
    pub collection: CollectionId,
    /// How many writes behind the newest state reads are answered.
    pub lag: u64,
}

impl Call<'_> {
    /// The namespace objects of this call live in; none for a cluster-scoped kind, whatever the path says.
    pub fn namespace(&self) -> &str {
        if self.kind.namespaced() {
            &self.target.namespace
        } else {
            ""
        }
    }

    pub fn key(&self) -> String {
        store::key(self.namespace(), &self.target.name)
    }

    pub fn form(&self) -> Result<Form, Refused> {
        media::form(self.request, self.kind.rules.custom)
    }

    pub fn is_status(&self) -> bool {
        self.target.subresource == "status"
    }

    pub fn writer(&self) -> Writer {
        Writer {
            manager: self.request.manager(),
            api_version: self.kind.api_version(),
            subresource: self.target.subresource.clone(),
            time: meta::api_time(self.now),
        }
    }

    /// Fields this endpoint does not let a writer touch, and so never makes it own.
    pub fn reset_fields(&self) -> FieldSet {
        let mut set = FieldSet::default();
        match (self.is_status(), self.kind.status) {
            (true, _) => ["metadata", "spec"]
                .map(|field| set.insert(&[field]))
                .into(),
            (false, true) => [set.insert(&["status"])].into(),
            (false, false) => Vec::new(),
        };
        set
    }

    pub fn not_found(&self) -> Refused {
        Status::not_found(&self.kind.of, &self.target.name)
    }

    /// A storage precondition that failed, quoted the way etcd's client code quotes it.
    pub fn storage_conflict(&self, name: &str, why: &str) -> Refused {
        let root = if self.request.is_dry_run() {
            ""
        } else {
            "/registry"
        };
        let key = self.kind.storage_key(self.namespace(), name);
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {root}{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {why}"
        );
        Status::conflict(&self.kind.of, name, &why)
    }

    pub fn check_options(&self, of: &str) -> Result<(), Refused> {
        let mut errors = Vec::new();
        let dry_run = self.request.query.all("dryRun");
        if dry_run.iter().any(|value| *value != "All") {
            errors.push(FieldError::not_supported(
                "dryRun",
                &Value::from(dry_run).to_string(),
                &["All"],
            ));
        }
        let validation = self.request.query.get("fieldValidation").unwrap_or("");
        if !matches!(validation, "" | "Ignore" | "Warn" | "Strict") {
            let supported = ["", "Ignore", "Strict", "Warn"];
            errors.push(FieldError::not_supported(
                "fieldValidation",
                &quoted(validation),
                &supported,
            ));
        }
        refuse_if_any(&GroupResource::new("meta.k8s.io", of), "", &errors)
    }

    pub fn reply(&self, status: u16, object: &Stored) -> Result<Reply, Refused> {
        match (
            self.form()?,
            in_version(&object.value, &self.kind.api_version()),
        ) {
            (Form::Object, None) => Ok(Reply::json(status, object.json().clone())),
            (_, other) => self.reply_value(status, other.as_ref().unwrap_or(&object.value)),
        }
    }

    /// Answers with an object that is not stored as it stands.
    pub fn reply_value(&self, status: u16, object: &Value) -> Result<Reply, Refused> {
        let body = match self.form()? {
            Form::Object => store::to_bytes(object),
            Form::Metadata => store::to_bytes(&media::metadata_only(object)),
            Form::Table(include) => super::table::of_one(&self.kind, object, include, self.now),
        };
        Ok(Reply::json(status, body))
    }
}

/// Who owns the fields of a new object.
pub enum Ownership {
    /// The writer owns all it set.
    Writer,
    /// An apply worked it out already.
    Applied(Managed),
}

pub fn refuse_if_any(
    kind: &GroupResource,
    name: &str,
    errors: &[FieldError],
) -> Result<(), Refused> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Status::invalid(kind, name, errors))
    }
}

impl Server {
    pub(super) fn get(&self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        self.check_not_ahead(call.request.query.get("resourceVersion").unwrap_or(""))?;
        let collection = self.store.collection(call.collection);
        let key = call.key();
        let found = match call.lag {
            0 => collection.get(&key),
            lag => collection.get_at(&key, self.lagging(lag, collection.forgotten())),
        };
        call.reply(200, found.ok_or_else(|| call.not_found())?)
    }

    pub(super) fn create(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        call.check_options("CreateOptions")?;
        let mut object = content::decode(&call.kind, call.request)?;
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            meta::of_mut(&mut object).remove(field);
        }
        match_namespace(call, &mut object)?;
        let stored = self.create_object(call, object, Ownership::Writer)?;
        call.reply_value(201, &stored)
    }

    /// Creates, with a generated name if that is asked for.
    pub(super) fn create_object(
        &mut self,
        call: &Call<'_>,
        object: Value,
        ownership: Ownership,
    ) -> Result<Value, Refused> {
        self.admit_create(call, &object)?;
        let generated =
            meta::name(&object).is_empty() && !meta::text(&object, "generateName").is_empty();
        let attempts = if generated { NAME_ATTEMPTS_MAX } else { 1 };
        let mut taken = String::new();
        for _ in 0..attempts {
            let mut candidate = object.clone();
            if generated {
                let name = self.minter.name(meta::text(&object, "generateName"));
                meta::set_text(&mut candidate, "name", &name);
            }
            let name = meta::name(&candidate).to_owned();
            self.complete_new(call, &mut candidate);
            refuse_if_any(
                &call.kind.group_kind(),
                &name,
                &validate::on_create(&call.kind, &candidate),
            )?;
            let key = store::key(call.namespace(), &name);
            match self.store.collection(call.collection).get(&key) {
                None => return self.commit_new(call, key, candidate, ownership),
                Some(existing) if !generated => return Err(already_exists(call, &name, existing)),
                Some(_) => taken = name,
            }
        }
        Err(Status::generated_name_taken(&call.kind.of, &taken))
    }

    fn complete_new(&mut self, call: &Call<'_>, object: &mut Value) {
        content::fill_defaults(&call.kind, object);
        if call.kind.status && call.kind.rules.content != Content::Namespace {
            object.as_object_mut().map(|map| map.remove("status"));
        }
        match call.kind.rules.generation {
            Generation::Absent => meta::set_generation(object, 0),
            Generation::Spec | Generation::Content => meta::set_generation(object, 1),
        }
        meta::set_text(object, "uid", &self.minter.uid());
        meta::set_text(object, "creationTimestamp", &meta::api_time(call.now));
    }

    fn commit_new(
        &mut self,
        call: &Call<'_>,
        key: String,
        mut object: Value,
        ownership: Ownership,
    ) -> Result<Value, Refused> {
        let managed = match ownership {
            Ownership::Writer => next_managed(call, None, &mut object),
            Ownership::Applied(managed) => managed,
        };
        managed.write_into(&mut object);
        if call.request.is_dry_run() {
            return Ok(object);
        }
        if !matches!(meta::resource_version(&object), "" | "0") {
            return Err(Status::unexpected(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        self.before_definition_change(call, Some(&mut object));
        let stored = self.store.put(call.collection, key.into(), object, managed);
        Ok(stored.value.clone())
    }

    /// The namespace must be there, and not on its way out.
    fn admit_create(&self, call: &Call<'_>, object: &Value) -> Result<(), Refused> {
        let namespace = call.namespace();
        if namespace.is_empty() {
            return Ok(());
        }
        let Some(found) = self.namespace_object(namespace) else {
            return Err(Status::not_found(
                &GroupResource::new("", "namespaces"),
                namespace,
            ));
        };
        if found.value["status"]["phase"] != "Terminating" {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut refused = Status::forbidden(&call.kind.of, meta::name(object), &why);
        if let Some(details) = &mut refused.details {
            details.causes.push(super::status::Cause {
                reason: "NamespaceTerminating",
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".into(),
            });
        }
        Err(refused)
    }

    pub(super) fn namespace_object(&self, name: &str) -> Option<&Arc<Stored>> {
        let namespaces = self.registry.find("", "v1", "namespaces")?;
        self.store.collection(namespaces.collection).get(name)
    }

    pub(super) fn update(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        call.check_options("UpdateOptions")?;
        let mut object = content::decode(&call.kind, call.request)?;
        match_namespace(call, &mut object)?;
        match_name(call, &object)?;
        let existing = self
            .store
            .collection(call.collection)
            .get(&call.key())
            .cloned();
        let Some(existing) = existing else {
            if !call.kind.rules.create_on_update {
                return Err(call.not_found());
            }
            if !meta::uid(&object).is_empty() {
                let why = format!(
                    "UID in precondition: {}, UID in object meta: ",
                    meta::uid(&object)
                );
                return Err(call.storage_conflict(&call.target.name, &why));
            }
            self.rbac.check_create(call)?;
            let created = self.create_object(call, object, Ownership::Writer)?;
            return call.reply_value(201, &created);
        };
        if !meta::uid(&object).is_empty() && meta::uid(&object) != meta::uid(&existing.value) {
            let (asked, found) = (meta::uid(&object), meta::uid(&existing.value));
            let why = format!("UID in precondition: {asked}, UID in object meta: {found}");
            return Err(call.storage_conflict(&call.target.name, &why));
        }
        let managed = next_managed(call, Some(&existing), &mut object);
        self.replace(call, &existing, object, managed)
    }

    /// Puts `object` in the place of `existing`: the common end of PUT, patch and apply.
    pub(super) fn replace(
        &mut self,
        call: &Call<'_>,
        existing: &Arc<Stored>,
        mut object: Value,
        managed: Managed,
    ) -> Result<Reply, Refused> {
        self.check_version(call, existing, &object)?;
        prepare_update(call, &existing.value, &mut object);
        let errors = validate::on_update(&call.kind, &existing.value, &object);
        refuse_if_any(&call.kind.group_kind(), meta::name(&object), &errors)?;
        meta::set_text(
            &mut object,
            "resourceVersion",
            &existing.version.to_string(),
        );
        if same_content(&existing.value, &object) && managed.same_but_times(&existing.managed) {
            return call.reply(200, existing);
        }
        managed.write_into(&mut object);
        if finishes_delete(call, &existing.value, &object) {
            if !call.request.is_dry_run() {
                self.erase(call, &call.key());
            }
            return call.reply_value(200, &object);
        }
        if call.request.is_dry_run() {
            return call.reply_value(200, &object);
        }
        self.before_definition_change(call, Some(&mut object));
        let stored = self
            .store
            .put(call.collection, call.key().into(), object, managed);
        call.reply(200, &stored)
    }

    fn check_version(
        &self,
        call: &Call<'_>,
        existing: &Stored,
        object: &Value,
    ) -> Result<(), Refused> {
        let asked = meta::resource_version(object);
        let asked = match asked {
            "" => 0,
            text => text.parse::<u64>().map_err(|_| {
                Status::unexpected(format!(
                    "strconv.ParseUint: parsing {}: invalid syntax",
                    quoted(text)
                ))
            })?,
        };
        match asked {
            0 if call.kind.rules.unconditional_update => Ok(()),
            0 => {
                let error = FieldError::invalid(
                    "metadata.resourceVersion",
                    "0",
                    "must be specified for an update",
                );
                Err(Status::invalid(&call.kind.of, &call.target.name, &[error]))
            }
            version if version == existing.version => Ok(()),
            _ => Err(Status::modified(&call.kind.of, &call.target.name)),
        }
    }

    /// Takes an object out of the store, with what hangs on it.
    pub(super) fn erase(&mut self, call: &Call<'_>, key: &str) -> Option<Arc<Stored>> {
        let removed = self.store.remove(call.collection, key);
        if let Some(removed) = &removed {
            self.after_definition_removed(call, &removed.value);
        }
        removed
    }
}

fn already_exists(call: &Call<'_>, name: &str, existing: &Stored) -> Refused {
    let mut refused = Status::already_exists(&call.kind.of, name);
    if meta::is_deleting(&existing.value) {
        refused.message = format!("object is being deleted: {}", refused.message);
    }
    refused
}

/// The namespace in the body is the one in the path, or left out.
pub fn match_namespace(call: &Call<'_>, object: &mut Value) -> Result<(), Refused> {
    let expected = call.namespace();
    let found = meta::namespace(object);
    if found == expected {
        return Ok(());
    }
    if found.is_empty() || expected.is_empty() {
        meta::set_text(object, "namespace", expected);
        return Ok(());
    }
    let message =
        "the namespace of the provided object does not match the namespace sent on the request";
    Err(Status::bad_request(message))
}

pub fn match_name(call: &Call<'_>, object: &Value) -> Result<(), Refused> {
    let (asked, found) = (&call.target.name, meta::name(object));
    if found.is_empty() {
        let message = format!(
            "the name of the object ({asked} based on URL) was undeterminable: name must be provided"
        );
        return Err(Status::bad_request(message));
    }
    if found != asked {
        let message = format!(
            "the name of the object ({found}) does not match the name on the URL ({asked})"
        );
        return Err(Status::bad_request(message));
    }
    Ok(())
}

/// Takes the managedFields out of `object` and works out what they are after this write.
pub fn next_managed(call: &Call<'_>, existing: Option<&Stored>, object: &mut Value) -> Managed {
    let sent = meta::of_mut(object).remove("managedFields");
    let kept = existing
        .map(|existing| existing.managed.clone())
        .unwrap_or_default();
    let mut managed = match sent {
        _ if call.is_status() => kept,
        None => kept,
        Some(sent) if is_reset(&sent) => return Managed::default(),
        Some(sent)
            if existing
                .is_some_and(|e| e.value["metadata"].get("managedFields") == Some(&sent)) =>
        {
            kept
        }
        Some(sent) => Managed::from_json(&sent)
            .filter(|sent| !sent.0.is_empty())
            .unwrap_or(kept),
    };
    if managed.0.is_empty() && existing.is_some() {
        // Once somebody reset the list, it stays empty until the next apply.
        return managed;
    }
    let nothing;
    let before = match existing {
        Some(existing) => &existing.value,
        None => {
            nothing = managed::nothing(call.kind.rules.custom);
            &nothing
        }
    };
    let changes = managed::changes(before, object, Shape::of(&call.kind), &call.reset_fields());
    managed.record_update(&changes, &call.writer());
    managed
}

/// An empty list, or a list of one empty entry, asks for the owners to be forgotten.
fn is_reset(sent: &Value) -> bool {
    sent.as_array().is_some_and(|list| match list.as_slice() {
        [] => true,
        [only] => only.as_object().is_some_and(|entry| entry.is_empty()),
        _ => false,
    })
}

/// Puts back what a writer may not change, and counts the generation.
fn prepare_update(call: &Call<'_>, before: &Value, after: &mut Value) {
    if call.is_status() {
        let status = after.get("status").cloned();
        let version = meta::resource_version(after).to_owned();
        *after = before.clone();
        meta::set_text(after, "resourceVersion", &version);
        set_or_remove(after, "status", status);
    } else if call.kind.status {
        set_or_remove(after, "status", before.get("status").cloned());
    }
    if call.kind.rules.content == Content::Secret && after.get("type").is_none() {
        set_or_remove(after, "type", before.get("type").cloned());
    }
    if call.kind.rules.content == Content::Namespace && !call.is_status() {
        set_or_remove(after, "spec", before.get("spec").cloned());
    }
    let moved = match call.kind.rules.generation {
        Generation::Absent => false,
        Generation::Spec => before.get("spec") != after.get("spec"),
        Generation::Content => !call.is_status() && !same_but_metadata(before, after),
    };
    meta::set_generation(after, meta::generation(before) + i64::from(moved));
    if meta::uid(after).is_empty() {
        meta::copy_field(after, before, "uid");
    }
    meta::copy_field(after, before, "creationTimestamp");
    if meta::is_deleting(before) {
        meta::copy_field(after, before, "deletionTimestamp");
    }
    if meta::grace_seconds(after).is_none() {
        meta::copy_field(after, before, "deletionGracePeriodSeconds");
    }
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    if let Some(map) = object.as_object_mut() {
        match value {
            Some(value) => map.insert(field.into(), value),
            None => map.remove(field),
        };
    }
}

fn same_but_metadata(a: &Value, b: &Value) -> bool {
    let rest = |object: &'_ Value| {
        object.as_object().map_or(0, |map| {
            map.len() - usize::from(map.contains_key("metadata"))
        })
    };
    let contained = a
        .as_object()
        .into_iter()
        .flatten()
        .all(|(key, value)| key == "metadata" || b.get(key) == Some(value));
    contained && rest(a) == rest(b)
}

/// Equal in everything but managedFields.
fn same_content(a: &Value, b: &Value) -> bool {
    let without = |object: &Value| {
        meta::of(object).map_or(0, |map| {
            map.len() - usize::from(map.contains_key("managedFields"))
        })
    };
    let same_metadata = meta::of(a).into_iter().flatten().all(|(key, value)| {
        key == "managedFields" || meta::of(b).and_then(|b| b.get(key)) == Some(value)
    });
    same_metadata && without(a) == without(b) && same_but_metadata(a, b)
}

fn finishes_delete(call: &Call<'_>, before: &Value, after: &Value) -> bool {
    let namespace_emptied = call.kind.rules.content != Content::Namespace
        || after["spec"]["finalizers"]
            .as_array()
            .is_none_or(Vec::is_empty);
    meta::is_deleting(before)
        && meta::finalizers(after).is_empty()
        && meta::grace_seconds(before).unwrap_or(0) == 0
        && namespace_emptied
}
