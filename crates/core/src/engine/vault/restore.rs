//! Which fields of a backup are restored.
//!
//! Invariants: fields that the API server sets (uid, versions, times, status) are left out; an owner that no longer
//! exists is left out, because the garbage collector would delete the object at once.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::engine::ObjectRef;

pub use crate::world::RESTORED_FROM;

/// What the API server sets itself.
const SET_BY_SERVER: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// The object as it can be created again. `origin` names plan and action, as in `1a2b3c4d/a1`.
#[must_use]
pub fn restorable(mut object: Value, living_uids: &BTreeSet<String>, origin: &str) -> Value {
    let Some(fields) = object.as_object_mut() else { return object };
    fields.remove("status");
    let metadata = table(fields, "metadata");
    for name in SET_BY_SERVER {
        metadata.remove(name);
    }
    keep_living_owners(metadata, living_uids);
    table(metadata, "annotations").insert(RESTORED_FROM.to_owned(), Value::from(origin));
    object
}

/// The owners an object names, each where it would be: an owner has no namespace of its own in a reference.
#[must_use]
pub fn owners(object: &Value) -> Vec<ObjectRef> {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let owner = |owner: &Value| {
        Some(ObjectRef {
            api_version: text(&owner["apiVersion"])?,
            kind: text(&owner["kind"])?,
            namespace: text(&metadata["namespace"]),
            name: text(&owner["name"])?,
            uid: Some(text(&owner["uid"])?),
            cloud: None,
        })
    };
    metadata["ownerReferences"].as_array().into_iter().flatten().filter_map(owner).collect()
}

fn keep_living_owners(metadata: &mut Map<String, Value>, living_uids: &BTreeSet<String>) {
    let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") else { return };
    owners.retain(|owner| owner["uid"].as_str().is_some_and(|uid| living_uids.contains(uid)));
    if owners.is_empty() {
        metadata.remove("ownerReferences");
    }
}

/// The table under a key. What stands there and is none (`annotations: null`) is replaced.
fn table<'f>(fields: &'f mut Map<String, Value>, key: &str) -> &'f mut Map<String, Value> {
    let value = fields.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it was made a table just now")
}
