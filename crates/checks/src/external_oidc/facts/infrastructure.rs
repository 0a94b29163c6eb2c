//! Whether a cluster runs its own control plane.

use serde::Deserialize;

use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// `Infrastructure/cluster`.
#[derive(Debug, PartialEq, Eq)]
pub struct Infrastructure {
    pub topology: Topology,
    /// Where people reach the API server.
    pub api_server_url: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// The control plane runs in a management cluster.
    External,
    Own,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    control_plane_topology: Option<String>,
    #[serde(rename = "apiServerURL")]
    api_server_url: Option<Box<str>>,
}

impl Fact for Infrastructure {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<Status> = raw.field("status")?;
        let external = status.control_plane_topology.as_deref() == Some("External");
        let topology = if external { Topology::External } else { Topology::Own };
        Ok(Self { topology, api_server_url: status.api_server_url.unwrap_or_default() })
    }
}
