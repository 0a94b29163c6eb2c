//! One guest as its actors see it: its own cluster, its management cluster, and where things lie in each.
//!
//! Always true: every write names its time, so that the past can be told and the present repeats.

use jiff::Timestamp;
use serde_json::Value;

use super::kinds::{CONFIG, HYPERSHIFT};
use super::objects::CLUSTERS;
use super::provider::CopyKind;
use crate::SimCluster;

/// A guest and what surrounds it.
#[derive(Debug, Clone)]
pub struct Guest {
    pub name: String,
    pub management: SimCluster,
    pub sim: SimCluster,
    /// How its release marks copies.
    pub marks: CopyMarks,
    pub config_operator: Operator,
}

/// What a release of the config operator puts on a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyMarks {
    /// The label every object of the operator carries, and the one for OIDC copies.
    ManagedAndOidc,
    ManagedOnly,
}

/// Whether an operator does its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Working,
    Stuck,
}

impl Guest {
    pub fn control_plane_namespace(&self) -> String {
        format!("{CLUSTERS}-{}", self.name)
    }

    pub fn hosted_cluster(&self) -> Place<'_> {
        Place { sim: &self.management, api_version: HYPERSHIFT, kind: "HostedCluster", key: self.in_clusters() }
    }

    pub fn control_plane(&self) -> Place<'_> {
        let key = format!("{}/{}", self.control_plane_namespace(), self.name);
        Place { sim: &self.management, api_version: HYPERSHIFT, kind: "HostedControlPlane", key }
    }

    pub fn authentication(&self) -> Place<'_> {
        self.config("Authentication")
    }

    pub fn config(&self, kind: &'static str) -> Place<'_> {
        Place { sim: &self.sim, api_version: CONFIG, kind, key: "cluster".to_owned() }
    }

    /// A ConfigMap or Secret in the guest.
    pub fn inside(&self, kind: CopyKind, namespace: &str, name: &str) -> Place<'_> {
        Place { sim: &self.sim, api_version: "v1", kind: kind.as_str(), key: format!("{namespace}/{name}") }
    }

    /// A ConfigMap or Secret in the management cluster.
    pub fn outside(&self, kind: CopyKind, namespace: &str, name: &str) -> Place<'_> {
        Place { sim: &self.management, api_version: "v1", kind: kind.as_str(), key: format!("{namespace}/{name}") }
    }

    fn in_clusters(&self) -> String {
        format!("{CLUSTERS}/{}", self.name)
    }
}

/// Where an object is or would be.
#[derive(Debug, Clone)]
pub struct Place<'s> {
    sim: &'s SimCluster,
    api_version: &'static str,
    kind: &'static str,
    key: String,
}

impl<'s> Place<'s> {
    /// A Secret of any cluster.
    pub fn secret(sim: &'s SimCluster, namespace: &str, name: &str) -> Self {
        Self { sim, api_version: "v1", kind: "Secret", key: format!("{namespace}/{name}") }
    }

    pub fn look(&self) -> Option<Value> {
        self.sim.look(self.api_version, self.kind, &self.key).ok()
    }

    /// The version of what is there; empty when nothing is.
    pub fn version(&self) -> String {
        let version =
            |object: Value| object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(Into::into);
        self.look().and_then(version).unwrap_or_default()
    }

    /// Changes what is there. Answers whether there was anything, and whether that made a difference.
    pub fn edit(&self, at: Timestamp, change: impl FnOnce(&mut Value)) -> Edited {
        self.sim.with(|server, _| {
            let Ok(before) = server.look(self.api_version, self.kind, &self.key) else { return Edited::Absent };
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Edited::Same;
            }
            match server.edit(at, self.api_version, self.kind, &self.key, |held| *held = after) {
                Ok(_) => Edited::Changed,
                Err(_) => Edited::Absent,
            }
        })
    }

    pub fn remove(&self) {
        // Somebody else may have removed it first, which comes to the same.
        let _absent = self.sim.remove(self.api_version, self.kind, &self.key);
    }
}

/// What an edit came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    Absent,
    Same,
    Changed,
}

/// Puts an object into a cluster, as of `at`.
pub fn put(sim: &SimCluster, at: Timestamp, object: Value) {
    sim.with(|server, _| server.seed(at, object))
        .expect("the story's kinds are defined before its objects are written");
}
