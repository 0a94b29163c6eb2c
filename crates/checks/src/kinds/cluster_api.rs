//! Cluster API's Cluster.
//!
//! Invariants: its resourceVersion is not kept. Controllers write its status by the minute, and none of that changes a
//! judgement.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::pause::Pause;
use super::reading::{Odd, at, text, written};
use crate::kubeconfig::content::Server;
use trueup_core::world::{DeletionState, Fact, Interner, Misfit, Obj, RawObject, Uid};

/// The region, where no infrastructure object has one.
pub const REGION_ANNOTATION: &str = "capa.infrastructure.cluster.x-k8s.io/region";

/// An object that another one refers to. The version of the referring object decides whether its group stands in
/// `apiVersion` (v1beta1) or `apiGroup` (v1beta2); neither is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    pub kind: Box<str>,
    /// Empty: the namespace of the referring object.
    pub namespace: Box<str>,
    pub name: Box<str>,
}

impl Reference {
    pub fn read(value: &Value) -> Result<Self, Odd> {
        Ok(Self {
            kind: text(value, &["kind"])?,
            namespace: text(value, &["namespace"])?,
            name: text(value, &["name"])?,
        })
    }

    /// Nothing where there is no reference, or one of another shape.
    fn read_at(spec: &Value, key: &str) -> Option<Self> {
        let value = at(spec, &[key]).ok().flatten()?;
        Self::read(value).ok().filter(|reference| !reference.kind.is_empty() && !reference.name.is_empty())
    }
}

/// How far the creation of a cluster or its control plane is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreationPhase {
    Creating,
    Up,
    Failed,
    /// It says nothing of this.
    NotSaid,
}

/// A Cluster.
#[derive(Debug, PartialEq, Eq)]
pub struct CapiCluster {
    pub uid: Uid,
    pub created: Option<Timestamp>,
    pub creation: CreationPhase,
    pub deletion_state: DeletionState,
    pub pause: Pause,
    /// Nothing until it is known, and again when it is being deleted.
    pub endpoint: Option<Server>,
    pub infrastructure: Option<Reference>,
    pub control_plane: Option<Reference>,
    /// The region its annotation names; empty without one.
    pub region: Arc<str>,
}

/// `spec.controlPlaneEndpoint`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Endpoint {
    host: Option<String>,
    port: Option<i64>,
}

impl Endpoint {
    pub fn server(&self) -> Option<Server> {
        let host = self.host.as_deref().filter(|host| !host.trim().is_empty())?;
        Server::of_endpoint(host, self.port.and_then(|port| u16::try_from(port).ok()))
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    paused: Option<bool>,
    control_plane_endpoint: Obj<Endpoint>,
}

impl Fact for CapiCluster {
    /// Where it is: how a kubeconfig that leads there finds it.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        self.endpoint.iter().for_each(|server| each(server.as_str()));
    }

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let fields: Value = raw.field("spec")?;
        let status: Value = raw.field("status")?;
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            created: created(raw),
            creation: creation(&status),
            deletion_state: DeletionState::of(&raw.meta),
            pause: Pause::of(&raw.meta, spec.paused),
            endpoint: spec.control_plane_endpoint.0.server(),
            infrastructure: Reference::read_at(&fields, "infrastructureRef"),
            control_plane: Reference::read_at(&fields, "controlPlaneRef"),
            region: pool.text(written(raw.meta.annotation(REGION_ANNOTATION).unwrap_or_default())),
        })
    }
}

/// When an object was created; nothing where that is not written or no time.
pub fn created(raw: &RawObject<'_>) -> Option<Timestamp> {
    raw.meta.creation_timestamp.as_ref().and_then(|text| text.parse().ok())
}

/// What the status of a Cluster says, in the fields of v1beta1 and of v1beta2.
fn creation(status: &Value) -> CreationPhase {
    let phase = status["phase"].as_str().unwrap_or_default();
    let failures = [&status["failureReason"], &status["deprecated"]["v1beta1"]["failureReason"]];
    let conditions =
        [&status["conditions"], &status["v1beta2"]["conditions"], &status["deprecated"]["v1beta1"]["conditions"]];
    let mut conditions = conditions.into_iter().filter_map(Value::as_array).flatten();
    let is_up = phase == "Provisioned"
        || status["controlPlaneReady"] == true
        || status["initialization"]["controlPlaneInitialized"] == true
        || conditions.any(|one| one["type"] == "ControlPlaneInitialized" && one["status"] == "True");
    if is_up {
        CreationPhase::Up
    } else if phase == "Failed" || failures.iter().any(|reason| reason.as_str().is_some_and(|text| !text.is_empty())) {
        CreationPhase::Failed
    } else if ["Pending", "Provisioning"].contains(&phase) {
        CreationPhase::Creating
    } else {
        CreationPhase::NotSaid
    }
}
