//! One guest: its own cluster, its management cluster, and handles on its objects in both.
//!
//! Invariants: every write takes its time as a parameter, so that a run is reproducible.

use jiff::Timestamp;
use serde_json::Value;

use super::kinds::{CONFIG, HYPERSHIFT};
use super::objects::CLUSTERS;
use super::provider::CopyKind;
use crate::SimCluster;
use crate::api::SEEDER;

/// A guest and its management cluster.
#[derive(Debug, Clone)]
pub struct Guest {
    pub name: String,
    pub management: SimCluster,
    pub sim: SimCluster,
    /// Labels its release puts on copies.
    pub marks: CopyMarks,
    pub config_operator: Operator,
}

/// Labels that a release of the config operator puts on a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyMarks {
    /// The label of every object of the operator, and the label of OIDC copies.
    ManagedAndOidc,
    ManagedOnly,
}

/// Whether an operator runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Working,
    Stuck,
}

impl Guest {
    pub fn control_plane_namespace(&self) -> String {
        format!("{CLUSTERS}-{}", self.name)
    }

    pub fn hosted_cluster(&self) -> ObjectHandle<'_> {
        ObjectHandle { sim: &self.management, api_version: HYPERSHIFT, kind: "HostedCluster", key: self.in_clusters() }
    }

    pub fn control_plane(&self) -> ObjectHandle<'_> {
        let key = format!("{}/{}", self.control_plane_namespace(), self.name);
        ObjectHandle { sim: &self.management, api_version: HYPERSHIFT, kind: "HostedControlPlane", key }
    }

    pub fn authentication(&self) -> ObjectHandle<'_> {
        self.config("Authentication")
    }

    pub fn config(&self, kind: &'static str) -> ObjectHandle<'_> {
        ObjectHandle { sim: &self.sim, api_version: CONFIG, kind, key: "cluster".to_owned() }
    }

    /// Returns the handle of a ConfigMap or Secret in the guest.
    pub fn inside(&self, kind: CopyKind, namespace: &str, name: &str) -> ObjectHandle<'_> {
        ObjectHandle { sim: &self.sim, api_version: "v1", kind: kind.as_str(), key: format!("{namespace}/{name}") }
    }

    /// Returns the handle of a ConfigMap or Secret in the management cluster.
    pub fn outside(&self, kind: CopyKind, namespace: &str, name: &str) -> ObjectHandle<'_> {
        ObjectHandle {
            sim: &self.management,
            api_version: "v1",
            kind: kind.as_str(),
            key: format!("{namespace}/{name}"),
        }
    }

    fn in_clusters(&self) -> String {
        format!("{CLUSTERS}/{}", self.name)
    }
}

/// Handle of an object that may or may not exist.
#[derive(Debug, Clone)]
pub struct ObjectHandle<'s> {
    sim: &'s SimCluster,
    api_version: &'static str,
    kind: &'static str,
    key: String,
}

impl<'s> ObjectHandle<'s> {
    /// Returns a handle; `key` is `namespace/name`, or `name` for a cluster-scoped kind.
    pub fn new(sim: &'s SimCluster, api_version: &'static str, kind: &'static str, key: String) -> Self {
        Self { sim, api_version, kind, key }
    }

    /// Returns the handle of a Secret.
    pub fn secret(sim: &'s SimCluster, namespace: &str, name: &str) -> Self {
        Self::of(sim, ("v1", "Secret"), format!("{namespace}/{name}"))
    }

    /// Returns the handle of an object of any kind.
    pub fn of(sim: &'s SimCluster, (api_version, kind): (&'static str, &'static str), key: String) -> Self {
        Self { sim, api_version, kind, key }
    }

    pub fn get(&self) -> Option<Value> {
        self.sim.object(self.api_version, self.kind, &self.key).ok()
    }

    /// Returns the resourceVersion; empty when the object does not exist.
    pub fn version(&self) -> String {
        let version =
            |object: Value| object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(Into::into);
        self.get().and_then(version).unwrap_or_default()
    }

    /// Changes the object if it exists and returns what happened.
    pub fn edit(&self, at: Timestamp, change: impl FnOnce(&mut Value)) -> Edited {
        self.edit_as(SEEDER, at, change)
    }

    /// The same by this field manager.
    pub fn edit_as(&self, manager: &str, at: Timestamp, change: impl FnOnce(&mut Value)) -> Edited {
        self.sim.with(|server, _| {
            let Ok(before) = server.object(self.api_version, self.kind, &self.key) else { return Edited::Absent };
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Edited::Same;
            }
            let place = (self.api_version, self.kind, self.key.as_str());
            match server.edit_as(manager, at, place, |held| *held = after) {
                Ok(_) => Edited::Changed,
                Err(_) => Edited::Absent,
            }
        })
    }

    pub fn remove(&self) {
        // Another writer may have removed it first, with the same result.
        let _absent = self.sim.remove(self.api_version, self.kind, &self.key);
    }
}

/// Result of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    Absent,
    Same,
    Changed,
}

/// Writes an object to a cluster at time `at`.
pub fn put(sim: &SimCluster, at: Timestamp, object: Value) {
    put_as(SEEDER, sim, at, object);
}

/// The same by this field manager.
pub fn put_as(manager: &str, sim: &SimCluster, at: Timestamp, object: Value) {
    let seeded = sim.with(|server, _| server.seed_as(manager, at, object));
    seeded.expect("kinds are registered before objects are seeded");
}
