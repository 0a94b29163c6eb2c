//! A whole object as it may be shown.
//!
//! Invariants: of a Secret, no value and no metadata beyond the listed keys remains, whatever the user asks for; of other
//! objects, values that look like a credential are masked until the user asks for them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::credential::known_shape;
use super::secret_metadata::SECRET;
use super::{CredentialKind, credential_in, credential_under, length_of, metadata_value};

/// Whether values that look like a credential are shown. Secrets are masked in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CredentialValues {
    #[default]
    Masked,
    Shown,
}

/// An object without what must not be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedObject {
    pub object: Value,
    /// How many values look like a credential, masked or not. None in a Secret, which is masked throughout.
    pub credentials: usize,
}

/// A copy of the whole object; on a Secret its length is shown.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Metadata of a Secret that the API server writes or that names other objects.
const SECRET_META: [&str; 12] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
    "finalizers",
    "ownerReferences",
    "selfLink",
];
/// Top-level fields of a Secret that are shown as they are.
const SECRET_FIELDS: [&str; 4] = ["apiVersion", "kind", "type", "immutable"];

/// Returns the object without managed fields, secret values, and, unless asked for, values that look like a credential.
pub fn masked(mut object: Value, values: CredentialValues) -> MaskedObject {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    if object.get("kind").and_then(Value::as_str) == Some(SECRET) {
        mask_secret(&mut object);
        return MaskedObject { object, credentials: 0 };
    }
    if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    let mut found = Found { values, credentials: 0 };
    found.walk("", &mut object, &[]);
    MaskedObject { object, credentials: found.credentials }
}

fn mask_secret(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    for (field, value) in fields {
        match (field.as_str(), value) {
            ("metadata", Value::Object(metadata)) => mask_secret_metadata(metadata),
            ("data", Value::Object(data)) => data.values_mut().for_each(|value| *value = decoded_length(value)),
            ("stringData", Value::Object(data)) => data.values_mut().for_each(mask),
            (shown, Value::String(_) | Value::Bool(_)) if SECRET_FIELDS.contains(&shown) => {}
            (_, value) => mask(value),
        }
    }
}

fn mask_secret_metadata(metadata: &mut Map<String, Value>) {
    for (field, value) in metadata {
        match (field.as_str(), value) {
            ("labels" | "annotations", Value::Object(pairs)) => {
                for (key, value) in pairs {
                    if let Value::String(text) = value {
                        *text = metadata_value(SECRET, key, text).into_owned();
                    } else {
                        mask(value);
                    }
                }
            }
            (shown, _) if SECRET_META.contains(&shown) => {}
            (_, value) => mask(value),
        }
    }
}

fn mask(value: &mut Value) {
    let length = match &*value {
        Value::Null => return,
        Value::String(text) => length_of(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => length_of(&value.to_string()),
    };
    *value = Value::String(length);
}

/// The length of a value of `data` without its base64.
fn decoded_length(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    Value::String(format!("<{} bytes>", (text.len() / 4 * 3).saturating_sub(padding)))
}

/// Looks for credentials in an object that is not a Secret.
struct Found {
    values: CredentialValues,
    credentials: usize,
}

impl Found {
    /// `name` is the key of the value, `path` the keys above.
    fn walk(&mut self, name: &str, value: &mut Value, path: &[&str]) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let path: Vec<&str> = path.iter().copied().chain([name]).collect();
                    self.walk(key, value, &path);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(name, item, path)),
            Value::String(text) => {
                let Some(kind) = credential(name, text, path) else { return };
                self.credentials += 1;
                if self.values == CredentialValues::Masked {
                    *text = format!("<{} bytes, looks like {}>", text.len(), kind.as_str());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// People write files into `data` and annotations; elsewhere only unmistakable shapes count.
fn credential(name: &str, text: &str, path: &[&str]) -> Option<CredentialKind> {
    match path {
        ["", "data"] | ["", "metadata", "annotations"] => credential_under(name, text),
        ["", "binaryData"] => {
            let bytes = STANDARD.decode(text).unwrap_or_default();
            credential_in(&String::from_utf8_lossy(&bytes))
        }
        _ => known_shape(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_shows_names_and_lengths_and_nothing_else() {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
            "metadata": {
                "name": "s", "uid": "u", "managedFields": [{"fieldsV1": {"f:data": {"f:s3cret": {}}}}],
                "labels": {"app.kubernetes.io/name": "shown", "team": "s3cret"},
                "annotations": {
                    LAST_APPLIED: "s3cret", "openshift.io/token-secret.value": "s3cret",
                    "kapp.k14s.io/original": {"s3cret": 1}, "trueup/restored-from": "p/a1",
                },
                "unknown": "s3cret",
            },
            "data": {"token": "czNjcmV0", "empty": "", "number": 1},
            "stringData": {"plain": "s3cret"},
            "dataa": {"plain": "s3cret"},
        });
        for values in [CredentialValues::Masked, CredentialValues::Shown] {
            let MaskedObject { object, credentials } = masked(secret.clone(), values);
            assert!(!object.to_string().contains("s3cret") && !object.to_string().contains("czNjcmV0"), "{object}");
            let expected = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
                "metadata": {
                    "name": "s", "uid": "u",
                    "labels": {"app.kubernetes.io/name": "shown", "team": "<6 bytes>"},
                    "annotations": {
                        LAST_APPLIED: "<6 bytes>", "openshift.io/token-secret.value": "<6 bytes>",
                        "kapp.k14s.io/original": "<12 bytes>", "trueup/restored-from": "p/a1",
                    },
                    "unknown": "<6 bytes>",
                },
                "data": {"token": "<6 bytes>", "empty": "<0 bytes>", "number": "<0 bytes>"},
                "stringData": {"plain": "<6 bytes>"},
                "dataa": "<18 bytes>",
            });
            assert_eq!((object, credentials), (expected, 0));
        }
    }

    #[test]
    fn a_config_map_shows_its_values_but_not_what_looks_like_a_credential() {
        let map = json!({
            "kind": "ConfigMap",
            "metadata": {"name": "c", "annotations": {"kapp.k14s.io/original": "{\"password\":\"hunter2\"}", "team": "a"}},
            "data": {"ca.crt": "pem", "db-password": "hunter2"},
            "binaryData": {"key": STANDARD.encode("-----BEGIN PRIVATE KEY-----")},
        });
        let MaskedObject { object, credentials } = masked(map.clone(), CredentialValues::Masked);
        assert_eq!(object["data"], json!({"ca.crt": "pem", "db-password": "<7 bytes, looks like a password>"}));
        assert_eq!(object["binaryData"]["key"], "<36 bytes, looks like a private key>");
        assert_eq!(object["metadata"]["annotations"]["team"], "a");
        assert!(!object.to_string().contains("hunter2"), "{object}");
        assert_eq!(credentials, 3);
        let shown = masked(map.clone(), CredentialValues::Shown);
        assert_eq!(shown, MaskedObject { object: map, credentials: 3 });
    }

    #[test]
    fn other_kinds_hide_only_unmistakable_shapes() {
        let pod = json!({
            "kind": "Pod", "metadata": {"name": "p"},
            "spec": {"secret": "name-of-a-secret", "env": [{"name": "KEY", "value": "AKIAIOSFODNN7EXAMPLE"}]},
        });
        let MaskedObject { object, credentials } = masked(pod, CredentialValues::Masked);
        assert_eq!(object["spec"]["env"][0]["value"], "<20 bytes, looks like an AWS key>");
        assert_eq!((object["spec"]["secret"].as_str(), credentials), (Some("name-of-a-secret"), 1));
    }
}
