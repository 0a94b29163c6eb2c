//! The objects a kubeconfig belongs to.
//!
//! Invariants: their resourceVersion is not kept. Controllers touch their status by the minute, and none of that
//! changes a judgement here.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::content::Server;
use crate::kinds::{Endpoint, Pause};
use trueup_core::world::{DeletionState, Fact, Interner, Misfit, Obj, RawObject, Uid};

/// A CAPTControlPlane.
#[derive(Debug, PartialEq, Eq)]
pub struct CaptPlane {
    pub uid: Uid,
    pub deletion_state: DeletionState,
    pub pause: Pause,
    pub endpoint: Option<Server>,
    /// Why it says that it failed.
    pub failure: Box<str>,
}

/// A HostedCluster's kubeconfigs.
#[derive(Debug, PartialEq, Eq)]
pub struct HostedCluster {
    pub uid: Uid,
    pub created: Option<Timestamp>,
    /// `.status.kubeconfig.name`, once the control plane has one.
    pub kubeconfig: Option<Box<str>>,
    /// `.status.customKubeconfig.name`.
    pub custom: Option<Box<str>>,
}

impl HostedCluster {
    /// Whether its status names the Secret.
    pub fn names(&self, secret: &str) -> bool {
        [&self.kubeconfig, &self.custom].into_iter().any(|name| name.as_deref() == Some(secret))
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    paused: Option<bool>,
    control_plane_endpoint: Obj<Endpoint>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PlaneStatus {
    failure_reason: Option<String>,
    failure_message: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct HostedStatus {
    kubeconfig: Obj<Reference>,
    custom_kubeconfig: Obj<Reference>,
}

fn filled(text: Option<String>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty()).map(Into::into)
}

impl Fact for CaptPlane {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let Obj(status): Obj<PlaneStatus> = raw.field("status")?;
        let said =
            [status.failure_reason, status.failure_message].into_iter().flatten().filter(|text| !text.is_empty());
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            deletion_state: DeletionState::of(&raw.meta),
            pause: Pause::of(&raw.meta, spec.paused),
            endpoint: spec.control_plane_endpoint.0.server(),
            failure: said.collect::<Vec<_>>().join(": ").into(),
        })
    }
}

impl Fact for HostedCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<HostedStatus> = raw.field("status")?;
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            created: raw.meta.creation_timestamp.as_ref().and_then(|text| text.parse().ok()),
            kubeconfig: filled(status.kubeconfig.0.name),
            custom: filled(status.custom_kubeconfig.0.name),
        })
    }
}
