//! What leads from a Cluster API kind to its instance type and region, and what platform a cluster runs on.

use std::sync::Arc;

use serde_json::Value;

use crate::kinds::text;
use trueup_core::world::{Fact, Interner, Misfit, RawObject};

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
