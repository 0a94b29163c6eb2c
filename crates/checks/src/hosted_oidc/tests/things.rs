//! ConfigMaps and Secrets for the tests. They start out as what HyperShift copies, without any label.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::put;

/// A ConfigMap or a Secret.
#[derive(Clone)]
pub struct Thing(Value);

pub fn config_map(name: &str) -> Thing {
    Thing(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name), "data": { "ca-bundle.crt": "PEM\n" }
    }))
}

pub fn secret(name: &str) -> Thing {
    let data = json!({ "clientSecret": STANDARD.encode("hunter2") });
    Thing(json!({ "apiVersion": "v1", "kind": "Secret", "metadata": meta(name), "type": "Opaque", "data": data }))
}

fn meta(name: &str) -> Value {
    json!({ "name": name, "uid": format!("uid-{name}"), "resourceVersion": "100" })
}

impl Thing {
    /// The label that says it was made for an OIDC provider.
    pub fn oidc(self) -> Self {
        self.label("hypershift.openshift.io/oidc-provider-managed", "true")
    }

    /// The label HyperShift puts on everything it writes in a guest.
    pub fn managed(self) -> Self {
        self.label("hypershift.openshift.io/managed", "true")
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["labels"][key] = json!(value);
        self
    }

    pub fn annotated(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["annotations"][key] = json!(value);
        self
    }

    /// A source the user provides in the guest.
    pub fn stub(self) -> Self {
        self.annotated("hypershift.openshift.io/hosted-cluster-sourced", "true").set("data", Value::Null)
    }

    /// Gives a key a value.
    pub fn key(mut self, key: &str, value: &str) -> Self {
        let value = if self.0["kind"] == "Secret" { STANDARD.encode(value) } else { value.to_owned() };
        self.0["data"][key] = json!(value);
        self
    }

    pub fn without_keys(self) -> Self {
        self.set("data", json!({}))
    }

    pub fn owned(self) -> Self {
        let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": true });
        self.set("metadata.ownerReferences", json!([owner]))
    }

    pub fn terminating(self) -> Self {
        self.set("metadata.deletionTimestamp", json!("2026-11-16T09:59:00Z"))
    }

    /// Sets any field.
    pub fn set(mut self, field: &str, value: Value) -> Self {
        put(&mut self.0, field, value);
        self
    }

    pub fn in_namespace(mut self, namespace: &str) -> Value {
        self.0["metadata"]["namespace"] = json!(namespace);
        self.0
    }
}
