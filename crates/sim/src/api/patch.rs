//! PATCH in its three older forms: JSON patch, merge patch and strategic merge patch.
//!
//! Invariants: a patch is applied to the newest object and then handled like a PUT; a patch that fails changes nothing.
//!
//! Elsewhere: server-side apply (`apply`), the list rules of strategic merge (`strategic`).

#![expect(clippy::wildcard_enum_match_arm, reason = "JSON has six types and a match needs one or two")]

use serde_json::{Map, Value};

use super::call::{Call, match_name, match_namespace, refuse_if_any};
use super::content;
use super::field_error::{FieldError, quoted};
use super::kinds::GroupResource;
use super::shape::Shape;
use super::status::{Refused, Status};
use super::strategic;
use super::update::next_managed;
use super::{Reply, Server};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// Operations in one JSON patch; the same limit as in kube-apiserver.
const OPERATIONS_MAX: usize = 10_000;

impl Server {
    pub(super) fn patch(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        let media = call.request.content_type.split(';').next().unwrap_or("").trim();
        let accepted: &[&str] = if call.kind.rules.custom {
            &[JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
        } else {
            &[JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH]
        };
        if !accepted.contains(&media) {
            return Err(match call.kind.rules.custom {
                true => Status::unsupported_media_type(accepted),
                false => Status::unroutable_media_type(),
            });
        }
        call.form()?;
        check_patch_options(call, media)?;
        if media == APPLY_PATCH {
            return self.apply(call);
        }
        let existing = self.store.collection(call.collection).get(&call.key()).cloned();
        let existing = existing.ok_or_else(|| call.not_found())?;
        let mut object = patched(call, media, &existing.value)?;
        match_namespace(call, &mut object)?;
        match_name(call, &object)?;
        let managed = next_managed(call, Some(&existing), &mut object);
        self.replace(call, &existing, object, managed)
    }
}

fn check_patch_options(call: &Call<'_>, media: &str) -> Result<(), Refused> {
    let of = GroupResource::new("meta.k8s.io", "PatchOptions");
    let query = &call.request.query;
    if media == APPLY_PATCH && query.get("fieldManager").unwrap_or("").is_empty() {
        let error = FieldError::required("fieldManager", "is required for apply patch");
        return refuse_if_any(&of, "", &[error]);
    }
    if media != APPLY_PATCH && query.get("force").is_some() {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        return refuse_if_any(&of, "", &[error]);
    }
    call.check_options("PatchOptions")
}

fn patched(call: &Call<'_>, media: &str, existing: &Value) -> Result<Value, Refused> {
    let patch: Value = serde_json::from_slice(&call.request.body).map_err(|error| {
        let why = content::go_json_error(&error, &call.request.body);
        Status::bad_request(format!("error decoding patch: {why}"))
    })?;
    let mut object = match media {
        JSON_PATCH => json_patch(existing, &patch)?,
        MERGE_PATCH => {
            let Value::Object(fields) = &patch else {
                return Err(not_a_map(&patch, "error decoding patch: "));
            };
            let mut object = existing.clone();
            merge_patch(&mut object, fields);
            object
        }
        _ => {
            let Value::Object(fields) = &patch else {
                return Err(not_a_map(&patch, ""));
            };
            strategic::merge(existing, fields, Shape::of(&call.kind))
        }
    };
    if !object.is_object() {
        return Err(unreadable(&object, "json: cannot unmarshal into the object"));
    }
    content::drop_forbidden_nulls(&call.kind, &mut object);
    content::settle(&call.kind, &mut object).map_err(|why| unreadable(&object, &why))?;
    Ok(object)
}

fn not_a_map(patch: &Value, prefix: &str) -> Refused {
    let found = match patch {
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
        Value::Null | Value::Object(_) => "null",
    };
    Status::bad_request(format!(
        "{prefix}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
    ))
}

/// The patched object is no longer valid for its kind.
fn unreadable(object: &Value, why: &str) -> Refused {
    let error = FieldError::invalid("patch", &quoted(&object.to_string()), why);
    Status::invalid(&GroupResource::default(), "", &[error])
}

/// RFC 7386: null removes, maps are merged recursively, everything else is replaced.
pub fn merge_patch(object: &mut Value, patch: &Map<String, Value>) {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Some(map) = object.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        match value {
            Value::Null => {
                map.remove(key);
            }
            Value::Object(deeper) => merge_patch(map.entry(key.clone()).or_insert(Value::Null), deeper),
            other => {
                map.insert(key.clone(), other.clone());
            }
        }
    }
}

/// RFC 6902.
fn json_patch(existing: &Value, patch: &Value) -> Result<Value, Refused> {
    let Some(operations) = patch.as_array() else {
        let found = if patch.is_object() { "object" } else { "string" };
        let message = format!(
            "error decoding patch: json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
        );
        return Err(Status::bad_request(message));
    };
    if operations.len() > OPERATIONS_MAX {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
            operations.len()
        );
        let mut refused = Status::bad_request(message);
        (refused.code, refused.reason) = (413, "RequestEntityTooLarge");
        return Err(refused);
    }
    let mut object = existing.clone();
    for operation in operations {
        step(&mut object, operation).ok_or_else(Status::patch_does_not_fit)?;
    }
    Ok(object)
}

fn step(object: &mut Value, operation: &Value) -> Option<()> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let path = text("path")?;
    let value = operation.get("value").cloned();
    match text("op")? {
        "add" => add(object, path, value?),
        "replace" => {
            object.pointer(path)?;
            *object.pointer_mut(path)? = value?;
            Some(())
        }
        "remove" => remove(object, path).map(|_| ()),
        "test" => {
            let expected = value.unwrap_or(Value::Null);
            let actual = object.pointer(path).cloned().unwrap_or(Value::Null);
            (expected == actual).then_some(())
        }
        "move" => {
            let moved = remove(object, text("from")?)?;
            add(object, path, moved)
        }
        "copy" => {
            let copied = object.pointer(text("from")?)?.clone();
            add(object, path, copied)
        }
        _ => None,
    }
}

fn add(object: &mut Value, path: &str, value: Value) -> Option<()> {
    let (parent, last) = split(object, path)?;
    match parent {
        Value::Object(map) => {
            map.insert(last, value);
            Some(())
        }
        Value::Array(list) => {
            let index = if last == "-" { list.len() } else { last.parse().ok()? };
            (index <= list.len()).then(|| list.insert(index, value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn remove(object: &mut Value, path: &str) -> Option<Value> {
    let (parent, last) = split(object, path)?;
    match parent {
        Value::Object(map) => map.remove(&last),
        Value::Array(list) => {
            let index: usize = last.parse().ok()?;
            (index < list.len()).then(|| list.remove(index))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The container of a path's last step, and that step.
fn split<'a>(object: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    object.pointer_mut(parent).map(|parent| (parent, last))
}
