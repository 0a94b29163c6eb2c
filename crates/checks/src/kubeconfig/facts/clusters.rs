//! The objects a kubeconfig belongs to.
//!
//! Always true: their resourceVersion is not kept. Controllers touch their status by the minute, and none of that
//! changes a judgement here.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::content::Server;
use super::super::names::PAUSED_ANNOTATION;
use trueup_core::world::{Fact, Interner, Life, Misfit, Obj, RawMeta, RawObject, Uid};

/// Whether controllers are told to leave it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    No,
    Yes,
}

/// The control plane a Cluster names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaneRef {
    pub kind: Box<str>,
    pub name: Box<str>,
}

/// A Cluster of Cluster API.
#[derive(Debug, PartialEq, Eq)]
pub struct CapiCluster {
    pub uid: Uid,
    pub life: Life,
    pub pause: Pause,
    /// Nothing while it is not known yet, and again when it is being deleted.
    pub endpoint: Option<Server>,
    pub plane: Option<PlaneRef>,
}

/// A CAPTControlPlane.
#[derive(Debug, PartialEq, Eq)]
pub struct CaptPlane {
    pub uid: Uid,
    pub life: Life,
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
    control_plane_ref: Obj<Reference>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Endpoint {
    host: Option<String>,
    port: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    kind: Option<String>,
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

impl Spec {
    fn endpoint(&self) -> Option<Server> {
        let Endpoint { host, port } = &self.control_plane_endpoint.0;
        let host = host.as_deref().filter(|host| !host.trim().is_empty())?;
        Server::of_endpoint(host, port.and_then(|port| u16::try_from(port).ok()))
    }

    fn pause(&self, meta: &RawMeta<'_>) -> Pause {
        let paused = self.paused.unwrap_or(false) || meta.annotation(PAUSED_ANNOTATION).is_some();
        if paused { Pause::Yes } else { Pause::No }
    }
}

fn life(meta: &RawMeta<'_>) -> Life {
    if meta.deletion_timestamp.is_some() { Life::Terminating } else { Life::Living }
}

fn filled(text: Option<String>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty()).map(Into::into)
}

impl Fact for CapiCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let Reference { kind, name } = &spec.control_plane_ref.0;
        let plane = filled(kind.clone()).zip(filled(name.clone()));
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            life: life(&raw.meta),
            pause: spec.pause(&raw.meta),
            endpoint: spec.endpoint(),
            plane: plane.map(|(kind, name)| PlaneRef { kind, name }),
        })
    }
}

impl Fact for CaptPlane {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let Obj(status): Obj<PlaneStatus> = raw.field("status")?;
        let said =
            [status.failure_reason, status.failure_message].into_iter().flatten().filter(|text| !text.is_empty());
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            life: life(&raw.meta),
            pause: spec.pause(&raw.meta),
            endpoint: spec.endpoint(),
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
