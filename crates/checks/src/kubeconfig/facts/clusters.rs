//! The objects a kubeconfig belongs to.
//!
//! Invariants: their resourceVersion is not kept. Controllers touch their status by the minute, and none of that
//! changes a judgement here.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::super::content::Server;
use super::super::names::CLUSTER;
use super::crossplane::complaints;
use crate::kinds::{Complaint, Condition, CreationPhase, Endpoint, Pause, created};
use trueup_core::world::{DeletionState, Fact, Interner, Misfit, Obj, RawObject, Uid};

/// A CAPTControlPlane.
#[derive(Debug, PartialEq, Eq)]
pub struct CaptPlane {
    pub uid: Uid,
    pub created: Option<Timestamp>,
    pub creation: CreationPhase,
    /// How long CAPT itself lets a creation take.
    pub creation_timeout: SignedDuration,
    /// What its conditions say against it.
    pub complaints: Box<[Complaint]>,
    /// The Cluster its owner references name.
    pub owner_cluster: Option<Box<str>>,
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
    control_plane_config: Obj<PlaneConfig>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PlaneConfig {
    timeouts: Obj<Timeouts>,
}

/// In minutes.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Timeouts {
    control_plane_timeout: Option<i64>,
    vpc_ready_timeout: Option<i64>,
}

impl Timeouts {
    /// CAPT's defaults where it names none.
    fn sum(&self) -> SignedDuration {
        let minutes = |named: Option<i64>, default: i64| named.filter(|minutes| *minutes > 0).unwrap_or(default);
        let sum = minutes(self.control_plane_timeout, 30).saturating_add(minutes(self.vpc_ready_timeout, 15));
        SignedDuration::from_secs(sum.saturating_mul(60))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PlaneStatus {
    phase: Option<String>,
    ready: Option<bool>,
    initialized: Option<bool>,
    conditions: Option<Vec<Condition>>,
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
    /// Where its cluster is: how a kubeconfig that leads there finds it.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        self.endpoint.iter().for_each(|server| each(server.as_str()));
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let Obj(status): Obj<PlaneStatus> = raw.field("status")?;
        let conditions = status.conditions.as_deref().unwrap_or_default();
        let creation = status.creation();
        let complaints = complaints(conditions, &["Ready", "Initialized"], &["Failed"]);
        let is_cluster =
            |api_version: &str| api_version.split_once('/').is_some_and(|(group, _)| group == CLUSTER.group);
        let owner = raw.meta.owners.iter().find(|owner| owner.kind == CLUSTER.kind && is_cluster(&owner.api_version));
        let said =
            [status.failure_reason, status.failure_message].into_iter().flatten().filter(|text| !text.is_empty());
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            created: created(raw),
            creation,
            creation_timeout: spec.control_plane_config.0.timeouts.0.sum(),
            complaints,
            owner_cluster: owner.map(|owner| owner.name.as_ref().into()),
            deletion_state: DeletionState::of(&raw.meta),
            pause: Pause::of(&raw.meta, spec.paused),
            endpoint: spec.control_plane_endpoint.0.server(),
            failure: said.collect::<Vec<_>>().join(": ").into(),
        })
    }
}

impl PlaneStatus {
    fn creation(&self) -> CreationPhase {
        let phase = self.phase.as_deref().unwrap_or_default();
        let has_failed = self.failure_reason.as_deref().is_some_and(|reason| !reason.is_empty());
        if self.ready == Some(true) || self.initialized == Some(true) {
            CreationPhase::Up
        } else if phase == "Failed" || has_failed {
            CreationPhase::Failed
        } else if phase == "Creating" {
            CreationPhase::Creating
        } else {
            CreationPhase::NotSaid
        }
    }
}

impl Fact for HostedCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<HostedStatus> = raw.field("status")?;
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            created: created(raw),
            kubeconfig: filled(status.kubeconfig.0.name),
            custom: filled(status.custom_kubeconfig.0.name),
        })
    }
}
