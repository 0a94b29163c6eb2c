//! What leads from a Cluster API kind to its instance type and region, and what platform a cluster runs on.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::super::names::REGION_ANNOTATION;
use super::reading::{Odd, at, items, text, written};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// An object that is named by another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    pub kind: Box<str>,
    /// Empty: the namespace of whoever names it.
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

    /// Nothing where there is no reference, or one of an odd shape.
    fn read_at(spec: &Value, key: &str) -> Option<Self> {
        let value = at(spec, &[key]).ok().flatten()?;
        Self::read(value).ok().filter(|reference| !reference.kind.is_empty() && !reference.name.is_empty())
    }
}

/// A Cluster of Cluster API.
#[derive(Debug, PartialEq, Eq)]
pub struct CapiCluster {
    /// `spec.paused`.
    pub paused: bool,
    pub infrastructure: Option<Reference>,
    pub plane: Option<Reference>,
    /// The region its annotation says; empty without one.
    pub region: Arc<str>,
}

/// An AWSMachineTemplate.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    /// Nothing where the spec has another shape.
    pub instance_type: Option<Arc<str>>,
    /// `status.capacity`, which recent releases of the provider fill themselves: `cpu` and `memory`.
    pub capacity: Option<(Box<str>, Box<str>)>,
}

/// An AWSCluster or AWSManagedControlPlane, by its region.
#[derive(Debug, PartialEq, Eq)]
pub struct Regional {
    pub region: Arc<str>,
}

/// The platform a cluster runs on.
#[derive(Debug, PartialEq, Eq)]
pub struct Infrastructure {
    pub platform: Box<str>,
    /// The services whose address differs from AWS' own, with it.
    pub endpoints: Box<[(Box<str>, Box<str>)]>,
}

impl Fact for CapiCluster {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        Ok(Self {
            paused: spec.get("paused") == Some(&Value::Bool(true)),
            infrastructure: Reference::read_at(&spec, "infrastructureRef"),
            plane: Reference::read_at(&spec, "controlPlaneRef"),
            region: pool.text(written(raw.meta.annotation(REGION_ANNOTATION).unwrap_or_default())),
        })
    }
}

impl Fact for Template {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let status: Value = raw.field("status")?;
        let instance_type = text(&spec, &["template", "spec", "instanceType"]);
        let capacity = |key: &str| text(&status, &["capacity", key]).ok().filter(|text| !text.is_empty());
        Ok(Self {
            instance_type: instance_type.ok().map(|text| pool.text(&text)),
            capacity: capacity("cpu").zip(capacity("memory")),
        })
    }
}

impl Fact for Regional {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        Ok(Self { region: pool.text(&text(&spec, &["region"]).unwrap_or_default()) })
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    platform: Option<String>,
    platform_status: Obj<PlatformStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PlatformStatus {
    r#type: Option<String>,
    aws: Value,
}

impl Fact for Infrastructure {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<Status> = raw.field("status")?;
        let Obj(PlatformStatus { r#type, aws }) = status.platform_status;
        let endpoint = |value: &Value| Some((text(value, &["name"]).ok()?, text(value, &["url"]).ok()?));
        Ok(Self {
            platform: r#type.or(status.platform).unwrap_or_default().into(),
            endpoints: items(&aws, &["serviceEndpoints"]).iter().filter_map(endpoint).collect(),
        })
    }
}
