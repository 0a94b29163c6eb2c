//! Replacing an object: PUT, and the common end of every patch.
//!
//! Invariants:
//! - an update that changes nothing keeps its version and sends no event;
//! - removing the last finalizer of an object that is being deleted removes the object;
//! - uid, creation time and deletionTimestamp never change through a client's update.
//!
//! Elsewhere: building the new object (`patch`, `apply`). The order is that of
//! `registry/generic/registry/store.go` and `registry/rest/update.go` in `k8s.io/apiserver` v0.36.3.

use std::sync::Arc;

use serde_json::Value;

use super::call::{Call, kind_of, match_name, match_namespace, refuse_if_any};
use super::content;
use super::crud::Ownership;
use super::field_error::{FieldError, quoted};
use super::kinds::{Content, Generation};
use super::managed::{self, Managed};
use super::meta;
use super::shape::Shape;
use super::status::{Refused, Status};
use super::store::Stored;
use super::validate;
use super::{Reply, Server};

impl Server {
    pub(super) fn update(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        call.check_options("UpdateOptions")?;
        let mut object = content::decode(&call.kind, call.request)?;
        match_namespace(call, &mut object)?;
        match_name(call, &object)?;
        let existing = self.store.collection(call.collection).get(&call.key()).cloned();
        let Some(existing) = existing else {
            if !call.kind.rules.create_on_update {
                return Err(call.not_found());
            }
            if !meta::uid(&object).is_empty() {
                let why = format!("UID in precondition: {}, UID in object meta: ", meta::uid(&object));
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

    /// Replaces `existing` with `object`: the common end of PUT, patch and apply.
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
        refuse_if_any(&kind_of(call, &object), meta::name(&object), &errors)?;
        meta::set_text(&mut object, "resourceVersion", &existing.version.to_string());
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
        self.before_definition_change(call, &mut object);
        let stored = self.store.put(call.collection, call.key().into(), object, managed);
        call.reply(200, &stored)
    }

    fn check_version(&self, call: &Call<'_>, existing: &Stored, object: &Value) -> Result<(), Refused> {
        let asked = meta::resource_version(object);
        let asked = match asked {
            "" => 0,
            text => text.parse::<u64>().map_err(|_| {
                Status::unexpected(format!("strconv.ParseUint: parsing {}: invalid syntax", quoted(text)))
            })?,
        };
        match asked {
            0 if call.kind.rules.unconditional_update => Ok(()),
            0 => {
                let error = FieldError::invalid("metadata.resourceVersion", "0", "must be specified for an update");
                Err(Status::invalid(&call.kind.of, &call.target.name, &[error]))
            }
            version if version == existing.version => Ok(()),
            _ => Err(Status::modified(&call.kind.of, &call.target.name)),
        }
    }

    /// Removes an object from the store, with what depends on its definition.
    pub(super) fn erase(&mut self, call: &Call<'_>, key: &str) -> Option<Arc<Stored>> {
        let removed = self.store.remove(call.collection, key);
        if let Some(removed) = &removed {
            self.after_definition_removed(call, &removed.value);
        }
        removed
    }
}

/// Takes the managedFields from `object` and computes them after this write.
pub fn next_managed(call: &Call<'_>, existing: Option<&Stored>, object: &mut Value) -> Managed {
    let sent = meta::of_mut(object).remove("managedFields");
    let kept = existing.map(|existing| existing.managed.clone()).unwrap_or_default();
    let mut managed = match sent {
        _ if call.is_status() => kept,
        None => kept,
        Some(sent) if is_reset(&sent) => return Managed::default(),
        Some(sent) if existing.is_some_and(|e| e.value["metadata"].get("managedFields") == Some(&sent)) => kept,
        Some(sent) => Managed::from_json(&sent).filter(|sent| !sent.is_empty()).unwrap_or(kept),
    };
    if managed.is_empty() && existing.is_some() {
        // After a reset the list stays empty until the next apply.
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

/// An empty list, or a list of one empty entry, resets the owners.
fn is_reset(sent: &Value) -> bool {
    sent.as_array().is_some_and(|list| match list.as_slice() {
        [] => true,
        [only] => only.as_object().is_some_and(|entry| entry.is_empty()),
        _ => false,
    })
}

/// Restores fields a writer cannot change, and updates the generation.
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
    let rest =
        |object: &'_ Value| object.as_object().map_or(0, |map| map.len() - usize::from(map.contains_key("metadata")));
    let contained =
        a.as_object().into_iter().flatten().all(|(key, value)| key == "metadata" || b.get(key) == Some(value));
    contained && rest(a) == rest(b)
}

/// Equal in everything but managedFields.
fn same_content(a: &Value, b: &Value) -> bool {
    let without =
        |object: &Value| meta::of(object).map_or(0, |map| map.len() - usize::from(map.contains_key("managedFields")));
    let same_metadata = meta::of(a)
        .into_iter()
        .flatten()
        .all(|(key, value)| key == "managedFields" || meta::of(b).and_then(|b| b.get(key)) == Some(value));
    same_metadata && without(a) == without(b) && same_but_metadata(a, b)
}

fn finishes_delete(call: &Call<'_>, before: &Value, after: &Value) -> bool {
    let namespace_emptied = call.kind.rules.content != Content::Namespace
        || after["spec"]["finalizers"].as_array().is_none_or(Vec::is_empty);
    meta::is_deleting(before)
        && meta::finalizers(after).is_empty()
        && meta::grace_seconds(before).unwrap_or(0) == 0
        && namespace_emptied
}
