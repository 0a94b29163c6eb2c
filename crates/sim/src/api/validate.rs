//! Validation of metadata and of the content of built-in kinds.
//!
//! Invariants: the errors are in the order of kube-apiserver and as often as it repeats them; the caller decides whether
//! an error stops the write.
//!
//! Elsewhere: schemas of custom resources. A custom resource's fields are stored as sent (see `# Limits` in
//! [`super::Server`]).

use serde_json::Value;

use super::field_error::{FieldError, quoted};
use super::kinds::{Content, NameRule, ResourceKind};
use super::meta;
use super::naming;

/// Limit for all annotation keys and values; the same as in kube-apiserver.
const ANNOTATIONS_BYTES_MAX: usize = 256 * 1024;
/// Limit for all values of a ConfigMap or Secret; the same as in kube-apiserver.
const DATA_BYTES_MAX: usize = 1024 * 1024;

/// Errors of an object about to be created.
pub fn on_create(kind: &ResourceKind, object: &Value) -> Vec<FieldError> {
    if kind.rules.custom {
        let mut errors = type_errors(kind, object);
        if errors.is_empty() {
            errors = metadata_errors(kind, object, kind.rules.names);
        }
        return first_non_empty(errors, || metadata_errors(kind, object, NameRule::PathSegment));
    }
    let mut errors = metadata_errors(kind, object, kind.rules.names);
    errors.extend(unqualified_finalizer_errors(object));
    errors.extend(content_errors(kind.rules.content, object));
    first_non_empty(errors, || metadata_errors(kind, object, NameRule::PathSegment))
}

/// Errors of an object about to replace another.
pub fn on_update(kind: &ResourceKind, before: &Value, after: &Value) -> Vec<FieldError> {
    if same_metadata(before, after) {
        // Unchanged metadata was valid when written; this is the common case.
        let mut errors = content_update_errors(kind.rules.content, before, after);
        errors.extend(if kind.rules.custom { type_errors(kind, after) } else { Vec::new() });
        errors.extend(null_errors(kind, after));
        errors.extend(content_errors(kind.rules.content, after));
        return errors;
    }
    let mut errors = metadata_errors(kind, after, NameRule::PathSegment);
    errors.extend(metadata_update_errors(before, after));
    if kind.rules.custom {
        let wrong_type = type_errors(kind, after);
        if wrong_type.is_empty() {
            errors.extend(metadata_update_errors(before, after));
        }
        errors.extend(wrong_type);
        errors.extend(null_errors(kind, after));
        return errors;
    }
    errors.extend(metadata_update_errors(before, after));
    errors.extend(content_update_errors(kind.rules.content, before, after));
    errors.extend(metadata_errors(kind, after, kind.rules.names));
    errors.extend(unqualified_finalizer_errors(after));
    errors.extend(content_errors(kind.rules.content, after));
    errors
}

/// Equal except for fields that every write changes.
fn same_metadata(before: &Value, after: &Value) -> bool {
    let moves = |field: &str| matches!(field, "resourceVersion" | "managedFields" | "generation");
    let contained = |a: &Value, b: &Value| {
        let fields = meta::of(a).into_iter().flatten().filter(|(field, _)| !moves(field));
        fields.into_iter().all(|(field, value)| meta::of(b).and_then(|b| b.get(field)) == Some(value))
    };
    contained(before, after) && contained(after, before)
}

fn first_non_empty(errors: Vec<FieldError>, otherwise: impl FnOnce() -> Vec<FieldError>) -> Vec<FieldError> {
    if errors.is_empty() { otherwise() } else { errors }
}

fn type_errors(kind: &ResourceKind, object: &Value) -> Vec<FieldError> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or("");
    let mut errors = Vec::new();
    if text("kind") != &*kind.kind {
        errors.push(FieldError::invalid("kind", &quoted(text("kind")), &format!("must be {}", kind.kind)));
    }
    let api_version = kind.api_version();
    if text("apiVersion") != api_version {
        errors.push(FieldError::invalid("apiVersion", &quoted(text("apiVersion")), &format!("must be {api_version}")));
    }
    errors
}

/// Nulls from an apply where a custom resource's schema does not allow them. Bodies have none (`content`).
fn null_errors(kind: &ResourceKind, object: &Value) -> Vec<FieldError> {
    let properties = kind.schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
    let of_null = |(name, property): (&String, &Value)| {
        let refused = object.get(name).is_some_and(Value::is_null) && property["nullable"] != true;
        refused.then(|| FieldError::other_type(name, "null", property["type"].as_str().unwrap_or("object")))
    };
    properties.into_iter().flatten().filter_map(of_null).collect()
}

fn metadata_errors(kind: &ResourceKind, object: &Value, rule: NameRule) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let generate = meta::text(object, "generateName");
    if !generate.is_empty() {
        push_all(&mut errors, "metadata.generateName", generate, naming::prefix_errors(rule, generate));
    }
    let name = meta::name(object);
    if name.is_empty() {
        errors.push(FieldError::required("metadata.name", "name or generateName is required"));
    } else {
        push_all(&mut errors, "metadata.name", name, naming::name_errors(rule, name));
    }
    let namespace = meta::namespace(object);
    match (kind.namespaced(), namespace.is_empty()) {
        (true, true) => errors.push(FieldError::required("metadata.namespace", "")),
        (true, false) => push_all(&mut errors, "metadata.namespace", namespace, naming::label_errors(namespace)),
        (false, true) => {}
        (false, false) => errors.push(FieldError::forbidden("metadata.namespace", "not allowed on this type")),
    }
    label_errors(object, &mut errors);
    annotation_errors(object, &mut errors);
    owner_errors(object, &mut errors);
    finalizer_errors(object, &mut errors);
    errors
}

/// Fields that may not change, or only shrink, once an object exists.
fn metadata_update_errors(before: &Value, after: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if meta::is_deleting(before) {
        let known = meta::finalizers(before);
        let mut added: Vec<&str> = meta::finalizers(after).into_iter().filter(|name| !known.contains(name)).collect();
        added.sort_unstable();
        added.dedup();
        if !added.is_empty() {
            let added: Vec<String> = added.into_iter().map(quoted).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", &detail));
        }
    }
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] {
        let (old, new) = (meta::text(before, field), meta::text(after, field));
        if old != new {
            let shown = if new.is_empty() && field.ends_with("Timestamp") { "null".into() } else { quoted(new) };
            errors.push(FieldError::invalid(format!("metadata.{field}"), &shown, "field is immutable"));
        }
    }
    if meta::grace_seconds(before) != meta::grace_seconds(after) {
        let shown = meta::grace_seconds(after).map_or("null".to_owned(), |seconds| seconds.to_string());
        errors.push(FieldError::invalid("metadata.deletionGracePeriodSeconds", &shown, "field is immutable"));
    }
    label_errors(after, &mut errors);
    annotation_errors(after, &mut errors);
    owner_errors(after, &mut errors);
    errors
}

fn label_errors(object: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in meta::string_map(object, "labels").into_iter().flatten() {
        push_all(errors, "metadata.labels", key, naming::qualified_name_errors(key));
        let value = value.as_str().unwrap_or("");
        push_all(errors, "metadata.labels", value, naming::label_value_errors(value));
    }
}

fn annotation_errors(object: &Value, errors: &mut Vec<FieldError>) {
    let mut bytes = 0;
    for (key, value) in meta::string_map(object, "annotations").into_iter().flatten() {
        push_all(errors, "metadata.annotations", key, naming::qualified_name_errors(&key.to_lowercase()));
        bytes += key.len() + value.as_str().map_or(0, str::len);
    }
    if bytes > ANNOTATIONS_BYTES_MAX {
        errors.push(FieldError::too_long("metadata.annotations", ANNOTATIONS_BYTES_MAX));
    }
}

fn owner_errors(object: &Value, errors: &mut Vec<FieldError>) {
    const FIELD: &str = "metadata.ownerReferences";
    let mut controller: Option<String> = None;
    for reference in meta::owner_references(object) {
        let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or("");
        if text("apiVersion").is_empty() {
            errors.push(FieldError::invalid(format!("{FIELD}.apiVersion"), "\"\"", "version must not be empty"));
        }
        for field in ["kind", "name", "uid"] {
            if text(field).is_empty() {
                errors.push(FieldError::invalid(format!("{FIELD}.{field}"), "\"\"", "must not be empty"));
            }
        }
        if reference.get("controller").and_then(Value::as_bool) == Some(true) {
            let current = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                None => controller = Some(current),
                Some(first) => {
                    let all = Value::from(meta::owner_references(object)).to_string();
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {current}"
                    );
                    errors.push(FieldError::invalid(FIELD, &all, &detail));
                }
            }
        }
    }
}

fn finalizer_errors(object: &Value, errors: &mut Vec<FieldError>) {
    let finalizers = meta::finalizers(object);
    for name in &finalizers {
        push_all(errors, "metadata.finalizers", name, naming::qualified_name_errors(name));
    }
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let all = Value::from(finalizers).to_string();
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid("metadata.finalizers", &all, detail));
    }
}

/// Built-in kinds require qualified names for the finalizers of others.
fn unqualified_finalizer_errors(object: &Value) -> Vec<FieldError> {
    let finalizers = meta::finalizers(object).into_iter().enumerate();
    let unqualified = finalizers
        .filter(|(_, name)| !name.contains('/') && !matches!(*name, "kubernetes" | "orphan" | "foregroundDeletion"));
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    unqualified
        .map(|(at, name)| FieldError::invalid(format!("metadata.finalizers[{at}]"), &quoted(name), detail))
        .collect()
}

fn content_errors(content: Content, object: &Value) -> Vec<FieldError> {
    match content {
        Content::ConfigMap => config_map_errors(object),
        Content::Secret => secret_errors(object),
        Content::Plain | Content::Namespace | Content::Pod | Content::Definition => Vec::new(),
    }
}

fn content_update_errors(content: Content, before: &Value, after: &Value) -> Vec<FieldError> {
    let frozen: &[&str] = match content {
        Content::ConfigMap => &["data", "binaryData"],
        Content::Secret => &["data"],
        Content::Plain | Content::Namespace | Content::Pod | Content::Definition => {
            return Vec::new();
        }
    };
    let mut errors = Vec::new();
    if content == Content::Secret && before.get("type") != after.get("type") {
        let now = after.get("type").and_then(Value::as_str).unwrap_or("");
        errors.push(FieldError::invalid("type", &quoted(now), "field is immutable"));
    }
    let immutable = |object: &Value| object.get("immutable").and_then(Value::as_bool) == Some(true);
    if immutable(before) {
        let detail = "field is immutable when `immutable` is set";
        if !immutable(after) {
            errors.push(FieldError::forbidden("immutable", detail));
        }
        for field in frozen.iter().filter(|field| before.get(**field) != after.get(**field)) {
            errors.push(FieldError::forbidden(*field, detail));
        }
    }
    errors
}

fn config_map_errors(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut bytes = 0;
    let map = |field: &str| object.get(field).and_then(Value::as_object);
    for (key, value) in map("data").into_iter().flatten() {
        push_all(&mut errors, &format!("data[{key}]"), key, naming::config_key_errors(key));
        if map("binaryData").is_some_and(|binary| binary.contains_key(key)) {
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(format!("data[{key}]"), &quoted(key), detail));
        }
        bytes += value.as_str().map_or(0, str::len);
    }
    for (key, value) in map("binaryData").into_iter().flatten() {
        push_all(&mut errors, &format!("binaryData[{key}]"), key, naming::config_key_errors(key));
        bytes += value.as_str().map_or(0, |text| text.len() / 4 * 3);
    }
    if bytes > DATA_BYTES_MAX {
        errors.push(FieldError::too_long("", DATA_BYTES_MAX));
    }
    errors
}

fn secret_errors(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let data = object.get("data").and_then(Value::as_object);
    let mut bytes = 0;
    for (key, value) in data.into_iter().flatten() {
        push_all(&mut errors, &format!("data[{key}]"), key, naming::config_key_errors(key));
        bytes += value.as_str().map_or(0, |text| text.len() / 4 * 3);
    }
    if bytes > DATA_BYTES_MAX {
        errors.push(FieldError::too_long("data", DATA_BYTES_MAX));
    }
    let has = |key: &str| data.is_some_and(|data| data.contains_key(key));
    let required: &[&str] = match object.get("type").and_then(Value::as_str).unwrap_or("") {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => &["username", "password"],
        _ => &[],
    };
    for key in required.iter().filter(|key| !has(key)) {
        errors.push(FieldError::required(format!("data[{key}]"), ""));
    }
    errors
}

fn push_all(errors: &mut Vec<FieldError>, field: &str, value: &str, sentences: Vec<String>) {
    errors.extend(sentences.iter().map(|sentence| FieldError::invalid(field, &quoted(value), sentence)));
}
