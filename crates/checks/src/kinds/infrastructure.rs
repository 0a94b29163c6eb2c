//! `Infrastructure/cluster` of an OpenShift cluster.

use serde::Deserialize;
use serde_json::Value;

use super::reading::{items, text};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// What a cluster says of itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Infrastructure {
    pub topology: Topology,
    pub infra_id: Box<str>,
    /// Where users reach the API server.
    pub api_server_url: Box<str>,
    /// The cloud; empty where it is not set.
    pub platform: Box<str>,
    /// The region on AWS; empty elsewhere.
    pub aws_region: Box<str>,
    /// The AWS services with an endpoint of their own, and its URL.
    pub endpoints: Box<[(Box<str>, Box<str>)]>,
}

/// Where the control plane runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// In a management cluster.
    External,
    Own,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    control_plane_topology: Option<String>,
    infrastructure_name: Option<Box<str>>,
    #[serde(rename = "apiServerURL")]
    api_server_url: Option<Box<str>>,
    platform: Option<Box<str>>,
    platform_status: Obj<PlatformStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PlatformStatus {
    r#type: Option<Box<str>>,
    aws: Value,
}

impl Infrastructure {
    /// The infraID of a cluster whose control plane runs elsewhere.
    pub fn hosted_infra_id(&self) -> Option<&str> {
        match self.topology {
            Topology::External => Some(&*self.infra_id).filter(|id| !id.is_empty()),
            Topology::Own => None,
        }
    }
}

impl Fact for Infrastructure {
    /// How its HostedCluster finds it.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        self.hosted_infra_id().into_iter().for_each(each);
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<Status> = raw.field("status")?;
        let Obj(PlatformStatus { r#type, aws }) = status.platform_status;
        let is_external = status.control_plane_topology.as_deref() == Some("External");
        let endpoint = |value: &Value| Some((text(value, &["name"]).ok()?, text(value, &["url"]).ok()?));
        Ok(Self {
            topology: if is_external { Topology::External } else { Topology::Own },
            infra_id: status.infrastructure_name.unwrap_or_default(),
            api_server_url: status.api_server_url.unwrap_or_default(),
            platform: r#type.or(status.platform).unwrap_or_default(),
            aws_region: text(&aws, &["region"]).unwrap_or_default(),
            endpoints: items(&aws, &["serviceEndpoints"]).iter().filter_map(endpoint).collect(),
        })
    }
}
