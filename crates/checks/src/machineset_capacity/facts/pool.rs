//! The objects that are annotated: sets of like machines, of the Machine API and of Cluster API.
//!
//! Invariants: a provider spec of any shape is kept as what it is. One that cannot be read never hides its
//! neighbours.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::names::{
    ANNOTATIONS, AWS_PROVIDER_KIND, DEPLOYMENT, MACHINE_SET, PAUSED_ANNOTATION, PAUSED_CONDITION, REGION_ANNOTATION,
};
use crate::kinds::Reference;
use crate::kinds::{Odd, at, items, text, written};
use trueup_core::engine::judged_digest;
use trueup_core::world::{DeletionState, Fact, Interner, Misfit, RawMeta, RawObject, Uid};

/// A set of machines an autoscaler may grow from none.
#[derive(Debug, PartialEq)]
pub struct Pool {
    pub uid: Uid,
    pub created: Option<Timestamp>,
    pub deletion_state: DeletionState,
    pub pausing: Option<Pausing>,
    /// `status.authoritativeAPI`; empty without a migration.
    pub authority: Box<str>,
    pub provider: Provider,
    /// The annotations this check knows, in the order it knows them.
    pub annotations: Box<[(&'static str, Box<str>)]>,
    /// As the autoscaler's annotation would spell them, sorted.
    pub taints: Box<[Box<str>]>,
    pub own: Own,
    /// A digest of all that a judgement rests on here.
    pub judged: Box<str>,
}

/// The field that pauses an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pausing {
    Annotation,
    Spec,
    Condition,
}

/// Whether another object determines this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    MachineSet,
    /// A MachineDeployment makes it, and is judged in its place.
    OfDeployment,
}

/// Where the machines come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provider {
    /// There is no provider spec.
    Absent,
    /// It cannot be read.
    Unreadable,
    /// Another cloud's.
    Foreign { kind: Arc<str> },
    /// In the object itself.
    Inline { kind: SpecKind, instance_type: Arc<str>, region: Arc<str>, secret: Box<str> },
    /// In an object it names.
    Template { cluster: Box<str>, template: Reference, region: Arc<str> },
}

/// Whether a provider spec says that it is for AWS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecKind {
    Aws,
    Unsaid,
}

impl Pool {
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.iter().find(|(held, _)| *held == key).map(|(_, value)| value.as_ref())
    }
}

/// The parts of a MachineSet of the Machine API that a judgement rests on.
pub const MACHINE_FIELDS: &[&str] = &[
    "/metadata/deletionTimestamp",
    "/metadata/annotations/cluster.x-k8s.io~1paused",
    "/metadata/annotations/machine.openshift.io~1vCPU",
    "/metadata/annotations/machine.openshift.io~1memoryMb",
    "/metadata/annotations/machine.openshift.io~1GPU",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1cpu",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1memory",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1gpu-count",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1gpu-type",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1labels",
    "/spec/paused",
    "/spec/template/spec/providerSpec/value/kind",
    "/spec/template/spec/providerSpec/value/instanceType",
    "/spec/template/spec/providerSpec/value/placement/region",
    "/spec/template/spec/providerSpec/value/credentialsSecret/name",
    "/status/authoritativeAPI",
    "/status/conditions/[type=Paused]/status",
];

/// The same of a MachineDeployment and a MachineSet of Cluster API.
pub const CAPI_FIELDS: &[&str] = &[
    "/metadata/deletionTimestamp",
    "/metadata/annotations/cluster.x-k8s.io~1paused",
    "/metadata/annotations/capa.infrastructure.cluster.x-k8s.io~1region",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1cpu",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1memory",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1gpu-count",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1gpu-type",
    "/metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1labels",
    "/spec/paused",
    "/spec/clusterName",
    "/spec/template/spec/infrastructureRef/kind",
    "/spec/template/spec/infrastructureRef/namespace",
    "/spec/template/spec/infrastructureRef/name",
    "/status/conditions/[type=Paused]/status",
    "/status/v1beta2/conditions/[type=Paused]/status",
];

impl Fact for Pool {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let status: Value = raw.field("status")?;
        let is_machine_api = raw.api_version.split('/').next() == Some(MACHINE_SET.group);
        let provider = if is_machine_api { inline(&spec, pool) } else { named(&spec, &raw.meta, pool) };
        let fields = if is_machine_api { MACHINE_FIELDS } else { CAPI_FIELDS };
        let annotations = ANNOTATIONS.into_iter().filter_map(|key| Some((key, raw.meta.annotation(key)?.into())));
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            created: raw.meta.creation_timestamp.as_ref().and_then(|text| text.parse().ok()),
            deletion_state: DeletionState::of(&raw.meta),
            pausing: pausing(&raw.meta, &spec, &status),
            authority: text(&status, &["authoritativeAPI"]).unwrap_or_default(),
            provider,
            annotations: annotations.collect(),
            taints: taints(&spec),
            own: if is_of_deployment(&raw.meta) { Own::OfDeployment } else { Own::MachineSet },
            judged: judged_digest(&parts(&raw.meta, spec, status), fields).into(),
        })
    }
}

/// The object as far as a judgement looks at it.
fn parts(meta: &RawMeta<'_>, spec: Value, status: Value) -> Value {
    let annotations: serde_json::Map<String, Value> =
        meta.annotations.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
    let metadata = json!({ "deletionTimestamp": meta.deletion_timestamp, "annotations": annotations });
    json!({ "metadata": metadata, "spec": spec, "status": status })
}

fn pausing(meta: &RawMeta<'_>, spec: &Value, status: &Value) -> Option<Pausing> {
    if meta.annotation(PAUSED_ANNOTATION).is_some() {
        return Some(Pausing::Annotation);
    }
    if spec.get("paused") == Some(&Value::Bool(true)) {
        return Some(Pausing::Spec);
    }
    let says_paused = |condition: &Value| condition["type"] == PAUSED_CONDITION && condition["status"] == "True";
    let all = items(status, &["conditions"]).iter().chain(items(status, &["v1beta2", "conditions"]));
    all.into_iter().any(says_paused).then_some(Pausing::Condition)
}

fn is_of_deployment(meta: &RawMeta<'_>) -> bool {
    // Files written by hand leave the version out.
    let group = |text: &str| text.is_empty() || text.split('/').next() == Some(DEPLOYMENT.group);
    meta.owners.iter().any(|owner| owner.kind == DEPLOYMENT.kind && group(&owner.api_version))
}

/// The provider spec of the Machine API.
fn inline(spec: &Value, pool: &mut Interner) -> Provider {
    let value = match at(spec, &["template", "spec", "providerSpec", "value"]) {
        Ok(None) => return Provider::Absent,
        Ok(Some(value @ Value::Object(_))) => value,
        Ok(Some(_)) | Err(Odd) => return Provider::Unreadable,
    };
    let read = || -> Result<_, Odd> {
        let kind = text(value, &["kind"])?;
        if !kind.is_empty() && *kind != *AWS_PROVIDER_KIND {
            return Ok(Err(kind));
        }
        let said = if kind.is_empty() { SpecKind::Unsaid } else { SpecKind::Aws };
        let instance_type = text(value, &["instanceType"])?;
        let region = text(value, &["placement", "region"])?;
        Ok(Ok((said, instance_type, region, text(value, &["credentialsSecret", "name"])?)))
    };
    match read() {
        Err(Odd) => Provider::Unreadable,
        Ok(Err(kind)) => Provider::Foreign { kind: pool.text(&kind) },
        Ok(Ok((kind, instance_type, region, secret))) => {
            Provider::Inline { kind, instance_type: pool.text(&instance_type), region: pool.text(&region), secret }
        }
    }
}

/// The template a kind of Cluster API names. A reference that cannot be read names nothing.
fn named(spec: &Value, meta: &RawMeta<'_>, pool: &mut Interner) -> Provider {
    let template = at(spec, &["template", "spec", "infrastructureRef"]).ok().flatten().map(Reference::read);
    Provider::Template {
        cluster: text(spec, &["clusterName"]).unwrap_or_default(),
        template: template.and_then(Result::ok).unwrap_or_default(),
        region: pool.text(written(meta.annotation(REGION_ANNOTATION).unwrap_or_default())),
    }
}

/// `key=value:Effect`, or `key:Effect` without a value.
fn taints(spec: &Value) -> Box<[Box<str>]> {
    let spelt = |taint: &Value| {
        let (key, value, effect) = (text(taint, &["key"]), text(taint, &["value"]), text(taint, &["effect"]));
        let (key, value, effect) = (key.ok()?, value.ok()?, effect.ok()?);
        let value = if value.is_empty() { String::new() } else { format!("={value}") };
        Some(format!("{key}{value}:{effect}").into_boxed_str())
    };
    let mut all: Vec<Box<str>> = items(spec, &["template", "spec", "taints"]).iter().filter_map(spelt).collect();
    all.sort();
    all.into()
}
