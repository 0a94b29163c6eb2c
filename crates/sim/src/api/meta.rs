//! Reading and writing `metadata` of an object held as JSON.
//!
//! Invariants: a missing field and an empty one read the same; writing an empty one removes it.
//!
//! Elsewhere: validating the values (`validate`).

use jiff::Timestamp;
use serde_json::{Map, Value};

pub fn of(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// The metadata for writing; created empty when absent.
///
/// # Assumes
/// `object` is a JSON object: every entry point checks that before anything else.
pub fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    let object = object.as_object_mut().expect("an API object is a JSON object; the decoder checked it");
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut().expect("set to an object above")
}

pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    of(object).and_then(|metadata| metadata.get(field)).and_then(Value::as_str).unwrap_or("")
}

pub fn name(object: &Value) -> &str {
    text(object, "name")
}

pub fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

pub fn uid(object: &Value) -> &str {
    text(object, "uid")
}

pub fn resource_version(object: &Value) -> &str {
    text(object, "resourceVersion")
}

pub fn generation(object: &Value) -> i64 {
    of(object).and_then(|metadata| metadata.get("generation")).and_then(Value::as_i64).unwrap_or(0)
}

pub fn is_deleting(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

pub fn grace_seconds(object: &Value) -> Option<i64> {
    of(object)?.get("deletionGracePeriodSeconds")?.as_i64()
}

/// Finalizers, in order.
pub fn finalizers(object: &Value) -> Vec<&str> {
    let list = of(object).and_then(|metadata| metadata.get("finalizers")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

pub fn owner_references(object: &Value) -> &[Value] {
    let list = of(object).and_then(|metadata| metadata.get("ownerReferences")).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Labels or annotations.
pub fn string_map<'a>(object: &'a Value, field: &str) -> Option<&'a Map<String, Value>> {
    of(object)?.get(field)?.as_object()
}

pub fn set_text(object: &mut Value, field: &str, text: &str) {
    let metadata = of_mut(object);
    if text.is_empty() {
        metadata.remove(field);
    } else {
        metadata.insert(field.into(), text.into());
    }
}

pub fn set_finalizers(object: &mut Value, finalizers: &[String]) {
    let metadata = of_mut(object);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".into(), finalizers.into());
    }
}

pub fn set_generation(object: &mut Value, generation: i64) {
    let metadata = of_mut(object);
    if generation == 0 {
        metadata.remove("generation");
    } else {
        metadata.insert("generation".into(), generation.into());
    }
}

/// Copies one metadata field from another object, absence included.
pub fn copy_field(to: &mut Value, from: &Value, field: &str) {
    match of(from).and_then(|metadata| metadata.get(field)).cloned() {
        Some(value) => of_mut(to).insert(field.into(), value),
        None => of_mut(to).remove(field),
    };
}

/// A time as the API writes it: UTC, whole seconds.
pub fn api_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
