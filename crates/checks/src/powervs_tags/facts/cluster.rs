//! An IBMPowerVSCluster, both shapes of it read by the fields that are there: the same version has been both.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::super::names::{
    ATTACHED_TAGS, CAPI_CLUSTER, CREATE_INFRA, LOAD_BALANCER_TOPOLOGY, USER_TAGS, VELERO_RESTORE,
};
use super::super::tags::folded;
use super::sheet::{Misfits, Sheet};
use super::slots::{Slot, read};
use crate::kinds::Pause;
use trueup_core::world::{DeletionState, Fact, Interner, Misfit, RawMeta, RawObject, Uid};

/// Whether the provider makes and removes the infrastructure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Infra {
    Managed,
    NotManaged,
}

/// Which of the two shapes an object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `serviceInstance`, maps, `controllerCreated`.
    Older,
    /// `workspace`, lists, a `type` that says who makes what.
    Newer,
}

/// The Cluster that owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerRef {
    pub name: Box<str>,
}

/// What the user wants on the resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserTags {
    /// Keys and values, as they are written.
    Given(Vec<(String, String)>),
    /// The annotation is not JSON, so what is wanted is not known.
    NotKnown,
}

/// The user tags that were attached from here, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    /// By the id of the resource.
    PerResource(BTreeMap<String, Vec<String>>),
    /// The older form: one list, which counts for the cluster's own resources alone.
    ForOwned(Vec<String>),
    /// The annotation is neither.
    NotKnown,
}

/// Whether a backup tool made the object again, so that its creationTimestamp says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    Yes,
    No,
}

/// Where the user's tags are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserTagsIn {
    Spec,
    Annotation,
}

/// What is kept of an IBMPowerVSCluster.
#[derive(Debug, PartialEq, Eq)]
pub struct PowerVsCluster {
    pub uid: Uid,
    pub deletion_state: DeletionState,
    pub pause: Pause,
    pub infra: Infra,
    pub shape: Shape,
    pub owner: Option<OwnerRef>,
    pub slots: Vec<Slot>,
    pub user_tags: UserTags,
    pub user_tags_in: UserTagsIn,
    pub attached: Attached,
    pub created: Option<Timestamp>,
    pub restored: Restored,
    pub finalizers: Vec<Box<str>>,
}

impl PowerVsCluster {
    /// The uid as uuid tags hold it. Files written by hand may have none, and then no tag is ours.
    pub fn uid_text(&self) -> Option<String> {
        (!self.uid.is_empty()).then(|| self.uid.to_string().to_lowercase())
    }

    pub fn is_going(&self) -> bool {
        self.deletion_state == DeletionState::Terminating
    }
}

impl Fact for PowerVsCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let (spec, status): (Value, Value) = (raw.field("spec")?, raw.field("status")?);
        parts(&spec, &status, raw).map_err(|what| raw.misfit(what))
    }
}

fn parts(spec: &Value, status: &Value, raw: &RawObject<'_>) -> Misfits<PowerVsCluster> {
    let (spec, status, meta) = (Sheet::of(spec, "spec")?, Sheet::of(status, "status")?, &raw.meta);
    let is_managed =
        meta.annotation(CREATE_INFRA) == Some("true") || spec.text("topology")? == Some(LOAD_BALANCER_TOPOLOGY);
    let owner = meta.owners.iter().find(|owner| {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        owner.kind == CAPI_CLUSTER.kind && group == CAPI_CLUSTER.group
    });
    Ok(PowerVsCluster {
        uid: Uid::parse(&meta.uid),
        deletion_state: DeletionState::of(meta),
        pause: Pause::of(meta, None),
        infra: if is_managed { Infra::Managed } else { Infra::NotManaged },
        shape: shape(&spec, &status)?,
        owner: owner.map(|owner| OwnerRef { name: owner.name.as_ref().into() }),
        slots: read(&meta.name, &spec, &status)?,
        user_tags: user_tags(&spec, meta)?,
        user_tags_in: if spec.has("tags") { UserTagsIn::Spec } else { UserTagsIn::Annotation },
        attached: attached(meta),
        created: meta.creation_timestamp.as_ref().and_then(|text| text.parse().ok()),
        restored: if meta.label(VELERO_RESTORE).is_some() { Restored::Yes } else { Restored::No },
        finalizers: meta.finalizers.iter().map(|name| name.as_ref().into()).collect(),
    })
}

/// The newer shape, if any field says so.
fn shape(spec: &Sheet<'_>, status: &Sheet<'_>) -> Misfits<Shape> {
    let words = ["type", "reference", "provision"];
    let mut is_newer = spec.has("workspace") || spec.has("topology") || spec.has("subnets") || status.has("workspace");
    for key in ["network", "vpc", "transitGateway", "cosInstance"] {
        let part = spec.part(key)?;
        is_newer |= words.iter().any(|word| part.has(word));
    }
    for key in ["loadBalancers", "vpcSecurityGroups"] {
        is_newer |= spec.parts(key)?.iter().any(|entry| words.iter().any(|word| entry.sheet.has(word)));
    }
    is_newer |= ["vpcSubnets", "vpcSecurityGroups", "loadBalancers"].iter().any(|key| status.is_list(key));
    is_newer |= status.part("network")?.has("dhcpServer");
    Ok(if is_newer { Shape::Newer } else { Shape::Older })
}

fn user_tags(spec: &Sheet<'_>, meta: &RawMeta<'_>) -> Misfits<UserTags> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    if spec.has("tags") {
        for entry in spec.parts("tags")? {
            let text = |key: &str| entry.sheet.text(key).map(|text| text.unwrap_or_default().to_owned());
            pairs.push((text("key")?, text("value")?));
        }
    } else if let Some(text) = meta.annotation(USER_TAGS) {
        match serde_json::from_str::<BTreeMap<String, Option<String>>>(text) {
            Ok(map) => pairs.extend(map.into_iter().map(|(key, value)| (key, value.unwrap_or_default()))),
            Err(_) => return Ok(UserTags::NotKnown),
        }
    }
    Ok(UserTags::Given(pairs))
}

fn attached(meta: &RawMeta<'_>) -> Attached {
    let Some(text) = meta.annotation(ATTACHED_TAGS) else { return Attached::PerResource(BTreeMap::new()) };
    let sorted = |tags: Vec<String>| {
        let mut tags: Vec<String> = tags.iter().map(|tag| folded(tag)).collect();
        tags.sort();
        tags.dedup();
        tags
    };
    if let Ok(tags) = serde_json::from_str::<Vec<String>>(text) {
        return Attached::ForOwned(sorted(tags));
    }
    match serde_json::from_str::<BTreeMap<String, Vec<String>>>(text) {
        Ok(map) => Attached::PerResource(map.into_iter().map(|(id, tags)| (id, sorted(tags))).collect()),
        Err(_) => Attached::NotKnown,
    }
}
