//! Writing to a cluster from behind the API: how tests and the demo set a scene.
//!
//! Always true:
//! - a scene is written as given: status, uid and creationTimestamp included; what is missing is filled in;
//! - a missing namespace is made, so that a scene is a list of what matters;
//! - watchers see these writes like any other.
//!
//! Not here: rules. Nothing is validated, and nobody is asked for permission.

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

/// Why a scene could not be written.
#[derive(Debug, thiserror::Error)]
pub enum StoryError {
    #[error("nobody serves {kind} in {api_version}; register it first")]
    UnknownKind { api_version: String, kind: String },
    #[error("the object is not one of its kind: {0}")]
    Malformed(String),
    #[error("there is no {kind} {key}")]
    Missing { kind: String, key: String },
}

impl Server {
    /// Puts an object into the cluster, replacing what has its name. Answers the object as stored.
    pub fn seed(&mut self, now: Timestamp, mut object: Value) -> Result<Value, StoryError> {
        let served = self.served_kind(&object)?;
        content::settle(&served.kind, &mut object).map_err(StoryError::Malformed)?;
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
        let managed = self.story_owner(&served, before.as_deref(), &mut object, now);
        managed.write_into(&mut object);
        Ok(self.store.put(served.collection, key.into(), object, managed).value.clone())
    }

    /// Changes an object in place. Answers the object as stored.
    pub fn edit(
        &mut self,
        now: Timestamp,
        api_version: &str,
        kind: &str,
        key: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Value, StoryError> {
        let mut object = self.look(api_version, kind, key)?;
        change(&mut object);
        meta::of_mut(&mut object).remove("managedFields");
        meta::set_generation(&mut object, 0);
        self.seed(now, object)
    }

    /// An object as it is. `key` is `namespace/name`, or `name` for a cluster-scoped kind.
    pub fn look(&self, api_version: &str, kind: &str, key: &str) -> Result<Value, StoryError> {
        let served = self.served_kind(&json!({ "apiVersion": api_version, "kind": kind }))?;
        let found = self.store.collection(served.collection).get(key);
        let missing = || StoryError::Missing { kind: kind.into(), key: key.into() };
        found.map(|stored| stored.value.clone()).ok_or_else(missing)
    }

    /// Takes an object away at once, finalizers or not.
    pub fn remove(&mut self, api_version: &str, kind: &str, key: &str) -> Result<Value, StoryError> {
        let served = self.served_kind(&json!({ "apiVersion": api_version, "kind": kind }))?;
        let removed = self.store.remove(served.collection, key);
        let missing = || StoryError::Missing { kind: kind.into(), key: key.into() };
        removed.map(|stored| stored.value.clone()).ok_or_else(missing)
    }

    /// What a cluster has before anybody writes to it.
    pub(super) fn furnish(&mut self, now: Timestamp) {
        // Nobody parses it here; it only has to be another one in every cluster, for that tells clusters apart.
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
            self.seed(now, root).expect("the built-in kinds are registered before anything is furnished");
        }
    }

    fn served_kind(&self, object: &Value) -> Result<Served, StoryError> {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let served = self.registry.find_kind(&api_version, &kind).cloned();
        served.ok_or(StoryError::UnknownKind { api_version, kind })
    }

    /// The namespace an object goes to; one that is missing is made.
    fn home_of(&mut self, served: &Served, object: &mut Value, now: Timestamp) -> Result<String, StoryError> {
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

    fn story_owner(
        &self,
        served: &Served,
        before: Option<&store::Stored>,
        object: &mut Value,
        now: Timestamp,
    ) -> Managed {
        if let Some(given) = meta::of_mut(object).remove("managedFields").as_ref().and_then(Managed::from_json) {
            return given;
        }
        let mut owners = before.map(|before| before.managed.clone()).unwrap_or_default();
        let nothing = managed::nothing(served.kind.rules.custom);
        let base = before.map_or(&nothing, |before| &before.value);
        let changes = managed::changes(base, object, Shape::of(&served.kind), &super::fields::FieldSet::default());
        let writer = Writer {
            manager: "story".into(),
            api_version: served.kind.api_version(),
            subresource: String::new(),
            time: meta::api_time(now),
        };
        owners.record_update(&changes, &writer);
        owners
    }
}
