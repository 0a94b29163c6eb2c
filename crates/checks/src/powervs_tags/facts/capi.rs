//! The Cluster that owns an IBMPowerVSCluster: whether it is paused.

use serde::Deserialize;

use super::super::names::PAUSED;
use super::cluster::Pause;
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// A Cluster of Cluster API.
#[derive(Debug, PartialEq, Eq)]
pub struct CapiCluster {
    pub pause: Pause,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec {
    paused: Option<bool>,
}

impl Fact for CapiCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let is_paused = spec.paused.unwrap_or(false) || raw.meta.annotation(PAUSED).is_some();
        Ok(Self { pause: if is_paused { Pause::Yes } else { Pause::No } })
    }
}
