//! The parts of an object that a judgement rests on, for kinds whose version their controllers move.
//!
//! A kind with a status that its controllers write every few seconds has a new resourceVersion each time, so that a plan
//! bound to one would be stale before anybody has read it. Such a plan names the fields that were judged, and a digest of
//! what they held; the executor reads the object again, compares, and binds the request to the version it read.
//!
//! A field is a JSON pointer. A part in brackets picks the item of a list by one of its keys:
//! `/status/conditions/[type=Paused]/status`.
//!
//! Invariants: a field that is not there, one that is null and one that leads through something else are the same.
//! Elsewhere: content of Secrets. No digest of a secret is ever in a plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Which fields were judged, and what they held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedFields {
    pub fields: Vec<String>,
    pub digest: String,
}

impl JudgedFields {
    /// The fields as this object has them.
    pub fn of(object: &Value, fields: &[impl AsRef<str>]) -> Self {
        let digest = judged_digest(object, fields);
        Self { fields: fields.iter().map(|field| field.as_ref().to_owned()).collect(), digest }
    }

    /// Whether an object, as JSON text, holds in these fields what was judged.
    pub fn are_in(&self, json: &[u8]) -> bool {
        serde_json::from_slice::<Value>(json).is_ok_and(|object| judged_digest(&object, &self.fields) == self.digest)
    }
}

/// A digest of what an object holds in these fields.
pub fn judged_digest(object: &Value, fields: &[impl AsRef<str>]) -> String {
    let held: BTreeMap<&str, &Value> =
        fields.iter().map(|field| (field.as_ref(), held(object, field.as_ref()).unwrap_or(&Value::Null))).collect();
    let text = serde_json::to_vec(&held).expect("JSON that was read can be written");
    let digest = Sha256::digest(&text);
    digest.iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// What an object holds in a field.
fn held<'o>(object: &'o Value, field: &str) -> Option<&'o Value> {
    field.split('/').skip(1).try_fold(object, |place, part| {
        let picked =
            part.strip_prefix('[').and_then(|part| part.strip_suffix(']')).and_then(|part| part.split_once('='));
        match (picked, place) {
            (Some((key, value)), Value::Array(items)) => items.iter().find(|item| item[key] == value),
            (Some(_), _) => None,
            (None, Value::Object(map)) => map.get(&part.replace("~1", "/").replace("~0", "~")),
            (None, _) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FIELDS: [&str; 3] =
        ["/metadata/annotations/a.io~1b", "/spec/paused", "/status/conditions/[type=Paused]/status"];

    fn object() -> Value {
        json!({
            "metadata": { "resourceVersion": "7", "annotations": { "a.io/b": "1", "c": "2" } },
            "spec": { "paused": false },
            "status": { "conditions": [ { "type": "Ready", "status": "True" }, { "type": "Paused", "status": "False" } ] },
        })
    }

    /// What changes, and whether it still is what was judged.
    type Case = (&'static str, fn(&mut Value), bool);

    #[test]
    fn only_a_change_of_a_judged_field_is_noticed() {
        let cases: [Case; 9] = [
            ("nothing", |_| {}, true),
            ("the version", |object| object["metadata"]["resourceVersion"] = json!("8"), true),
            ("another annotation", |object| object["metadata"]["annotations"]["c"] = json!("3"), true),
            ("another condition", |object| object["status"]["conditions"][0]["status"] = json!("False"), true),
            ("a condition before it", |object| object["status"]["conditions"].as_array_mut().unwrap().reverse(), true),
            ("the annotation", |object| object["metadata"]["annotations"]["a.io/b"] = json!("3"), false),
            ("the annotation is gone", |object| object["metadata"]["annotations"] = json!({}), false),
            ("the field", |object| object["spec"]["paused"] = json!(true), false),
            ("the condition", |object| object["status"]["conditions"][1]["status"] = json!("True"), false),
        ];
        let judged = JudgedFields::of(&object(), &FIELDS);
        for (case, change, expected) in cases {
            let mut object = object();
            change(&mut object);
            assert_eq!(judged.are_in(object.to_string().as_bytes()), expected, "case: {case}");
        }
        assert!(!judged.are_in(b"{"), "no JSON");
    }

    #[test]
    fn what_is_not_there_is_what_is_null() {
        let none = json!({});
        let null = json!({ "metadata": { "annotations": null }, "spec": { "paused": null }, "status": "x" });
        assert_eq!(judged_digest(&none, &FIELDS), judged_digest(&null, &FIELDS));
    }
}
