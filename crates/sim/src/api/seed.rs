//! Direct writes to a cluster, bypassing the API: for tests and the demo.
//!
//! Invariants:
//! - objects are stored as given: status, uid and creationTimestamp included; missing fields are filled in;
//! - a missing namespace is created;
//! - watches see these writes like any other.
//!
//! Elsewhere: validation and authorisation, which do not apply here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Server;
use super::content;
use super::kinds::{Content, Generation, Served};
use super::managed::{self, Managed, Writer};
use super::meta;
use super::shape::Shape;
use super::store;

/// The field manager of objects that are there from the beginning.
pub const SEEDER: &str = "seed";

/// Why an object could not be seeded.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    #[error("kind {kind} of {api_version} is not registered")]
    UnknownKind { api_version: String, kind: String },
    #[error("malformed object: {0}")]
    Malformed(String),
    #[error("{kind} {key} not found")]
    Missing { kind: String, key: String },
}

impl Server {
    /// Writes an object, replacing an object of the same name. Returns the stored object.
    pub fn seed(&mut self, now: Timestamp, object: Value) -> Result<Value, SeedError> {
        self.seed_as(SEEDER, now, object)
    }

    /// The same by this field manager.
    pub fn seed_as(&mut self, manager: &str, now: Timestamp, mut object: Value) -> Result<Value, SeedError> {
        let served = self.served_kind(&object)?;
        content::settle(&served.kind, &mut object).map_err(SeedError::Malformed)?;
        let namespace = self.home_of(&served, &mut object, now)?;
        if served.kind.rules.content != Content::Namespace || object.get("status").is_none() {
            content::fill_defaults(&served.kind, &mut object);
        }
        let key = store::key(&namespace, meta::name(&object));
        let before = self.store.collection(served.collection).get(&key).cloned();
        if meta::uid(&object).is_empty() {
            let uid = before.as_ref().map_or_else(|| self.minter.uid(), |before| meta::uid(&before.value).to_owned());
            meta::set_text(&mut object, "uid", &uid);
        }
        if meta::text(&object, "creationTimestamp").is_empty() {
            let known = before.as_ref().map(|before| meta::text(&before.value, "creationTimestamp").to_owned());
            meta::set_text(&mut object, "creationTimestamp", &known.unwrap_or_else(|| meta::api_time(now)));
        }
        if served.kind.rules.generation != Generation::Absent && meta::generation(&object) == 0 {
            let moved = before.as_ref().map_or(1, |before| {
                meta::generation(&before.value) + i64::from(before.value.get("spec") != object.get("spec"))
            });
            meta::set_generation(&mut object, moved);
        }
        if served.kind.rules.content == Content::Definition {
            self.serve_definition(&mut object, &meta::api_time(now));
        }
        let managed = self.seed_owner(&served, before.as_deref(), &mut object, (manager, now));
        managed.write_into(&mut object);
        Ok(self.store.put(served.collection, key.into(), object, managed).value.clone())
    }

    /// Changes an object in place. Returns the stored object.
    pub fn edit(
        &mut self,
        now: Timestamp,
        api_version: &str,
        kind: &str,
        key: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Value, SeedError> {
        self.edit_as(SEEDER, now, (api_version, kind, key), change)
    }

    /// The same by this field manager.
    pub fn edit_as(
        &mut self,
        manager: &str,
        now: Timestamp,
        (api_version, kind, key): (&str, &str, &str),
        change: impl FnOnce(&mut Value),
    ) -> Result<Value, SeedError> {
        let mut object = self.object(api_version, kind, key)?;
        change(&mut object);
        meta::of_mut(&mut object).remove("managedFields");
        meta::set_generation(&mut object, 0);
        self.seed_as(manager, now, object)
    }

    /// Returns an object as it is stored; nothing when there is none. `key` as for [`Self::object`].
    pub fn stored(&self, api_version: &str, kind: &str, key: &str) -> Option<&Value> {
        let served = self.registry.find_kind(api_version, kind)?;
        self.store.collection(served.collection).get(key).map(|stored| &stored.value)
    }

    /// Returns an object. `key` is `namespace/name`, or `name` for a cluster-scoped kind.
    pub fn object(&self, api_version: &str, kind: &str, key: &str) -> Result<Value, SeedError> {
        let served = self.served_kind(&json!({ "apiVersion": api_version, "kind": kind }))?;
        let found = self.store.collection(served.collection).get(key);
        let missing = || SeedError::Missing { kind: kind.into(), key: key.into() };
        found.map(|stored| stored.value.clone()).ok_or_else(missing)
    }

    /// Removes an object at once, ignoring finalizers.
    pub fn remove(&mut self, api_version: &str, kind: &str, key: &str) -> Result<Value, SeedError> {
        let served = self.served_kind(&json!({ "apiVersion": api_version, "kind": kind }))?;
        let removed = self.store.remove(served.collection, key);
        let missing = || SeedError::Missing { kind: kind.into(), key: key.into() };
        removed.map(|stored| stored.value.clone()).ok_or_else(missing)
    }

    /// Seeds the objects of an empty cluster.
    pub(super) fn seed_empty_cluster(&mut self, now: Timestamp) {
        // Never parsed; it only has to differ per cluster, because it identifies the cluster.
        let bytes: Vec<u8> = (0..24).flat_map(|_| self.minter.next().to_be_bytes()).collect();
        let body = BASE64.encode(&bytes);
        let certificate = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
        for namespace in ["default", "kube-system"] {
            let root = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": { "name": "kube-root-ca.crt", "namespace": namespace },
                "data": { "ca.crt": certificate },
            });
            self.seed(now, root).expect("the built-in kinds are registered before the first seed");
        }
    }

    fn served_kind(&self, object: &Value) -> Result<Served, SeedError> {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let served = self.registry.find_kind(&api_version, &kind).cloned();
        served.ok_or(SeedError::UnknownKind { api_version, kind })
    }

    /// The namespace of an object; created when missing.
    fn home_of(&mut self, served: &Served, object: &mut Value, now: Timestamp) -> Result<String, SeedError> {
        if !served.kind.namespaced() {
            return Ok(String::new());
        }
        if meta::namespace(object).is_empty() {
            meta::set_text(object, "namespace", "default");
        }
        let namespace = meta::namespace(object).to_owned();
        if self.namespace_object(&namespace).is_none() {
            self.seed(now, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } }))?;
        }
        Ok(namespace)
    }

    fn seed_owner(
        &self,
        served: &Served,
        before: Option<&store::Stored>,
        object: &mut Value,
        (manager, now): (&str, Timestamp),
    ) -> Managed {
        if let Some(given) = meta::of_mut(object).remove("managedFields").as_ref().and_then(Managed::from_json) {
            return given;
        }
        let mut owners = before.map(|before| before.managed.clone()).unwrap_or_default();
        let nothing = managed::nothing(served.kind.rules.custom);
        let base = before.map_or(&nothing, |before| &before.value);
        let changes = managed::changes(base, object, Shape::of(&served.kind), &super::fields::FieldSet::default());
        let writer = Writer {
            manager: manager.into(),
            api_version: served.kind.api_version(),
            subresource: String::new(),
            time: meta::api_time(now),
        };
        owners.record_update(&changes, &writer);
        owners
    }
}
