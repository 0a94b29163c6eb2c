//! PowerVS: networks and DHCP servers of one workspace.

use http::HeaderValue;
use serde::Deserialize;

use super::crn::{Crn, power_region};
use super::endpoints::IbmService;
use super::error::{CloudError, Problem};
use super::resource::IbmResource;
use super::session::{Ask, Session, escaped};
use trueup_core::world::IbmResourceKind;

/// A workspace as its requests address it.
#[derive(Debug, Clone)]
pub(super) struct Workspace {
    pub guid: String,
    pub crn: Crn,
}

#[derive(Deserialize)]
struct Networks {
    #[serde(default)]
    networks: Vec<Network>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Network {
    #[serde(rename = "networkID")]
    network_id: String,
    name: String,
    crn: Option<String>,
    #[serde(default)]
    user_tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Dhcp {
    id: String,
    status: Option<String>,
    /// Absent in state `ERROR`.
    network: Option<DhcpNetwork>,
}

#[derive(Deserialize)]
struct DhcpNetwork {
    id: Option<String>,
    name: Option<String>,
}

impl Workspace {
    pub(super) fn of(resource: &IbmResource) -> Option<Self> {
        let crn = resource.crn.as_deref().and_then(Crn::parse)?;
        Some(Self { guid: resource.id.clone(), crn })
    }

    /// A request about this workspace; `tail` follows its address.
    pub(super) fn ask(&self, session: &Session, operation: &'static str, tail: &str) -> Result<Ask, CloudError> {
        let base = session.endpoints().base(IbmService::Power, power_region(self.crn.location()));
        let url = format!("{base}/pcloud/v1/cloud-instances/{}/{tail}", escaped(&self.guid));
        let mut ask = Ask::get(IbmService::Power, operation, url);
        let crn = HeaderValue::from_str(self.crn.as_str());
        ask.crn =
            Some(crn.map_err(|_| ask.error(Problem::NotUnderstood("the workspace's CRN is not text".to_owned())))?);
        Ok(ask)
    }
}

/// Every network of a workspace.
pub(super) async fn networks(session: &Session, workspace: &Workspace) -> Result<Vec<IbmResource>, CloudError> {
    let ask = workspace.ask(session, "list networks", "networks")?;
    let found: Networks = session.read(&ask).await?;
    Ok(found.networks.into_iter().map(|row| network(row, workspace)).collect())
}

/// Every DHCP server of a workspace.
pub(super) async fn dhcp_servers(session: &Session, workspace: &Workspace) -> Result<Vec<IbmResource>, CloudError> {
    let ask = workspace.ask(session, "list DHCP servers", "services/dhcp")?;
    let found: Vec<Dhcp> = session.read(&ask).await?;
    Ok(found.into_iter().map(|row| dhcp(row, workspace)).collect())
}

/// One network; nothing when it does not exist.
pub(super) async fn read_network(
    session: &Session,
    workspace: &Workspace,
    id: &str,
) -> Result<Option<IbmResource>, CloudError> {
    let ask = workspace.ask(session, "read a network", &format!("networks/{}", escaped(id)))?;
    Ok(session.read_optional(&ask).await?.map(|row| network(row, workspace)))
}

/// One DHCP server; nothing when it does not exist.
pub(super) async fn read_dhcp(
    session: &Session,
    workspace: &Workspace,
    id: &str,
) -> Result<Option<IbmResource>, CloudError> {
    let ask = workspace.ask(session, "read a DHCP server", &format!("services/dhcp/{}", escaped(id)))?;
    Ok(session.read_optional(&ask).await?.map(|row| dhcp(row, workspace)))
}

fn network(row: Network, workspace: &Workspace) -> IbmResource {
    let mut resource = IbmResource::new(IbmResourceKind::Network, row.network_id, row.name);
    resource.crn = row.crn.filter(|crn| !crn.is_empty());
    resource.parent = Some(workspace.guid.clone());
    resource.set_tags(row.user_tags.unwrap_or_default());
    resource
}

fn dhcp(row: Dhcp, workspace: &Workspace) -> IbmResource {
    let (network, name) = row.network.map_or((None, None), |network| (network.id, network.name));
    let name = name.unwrap_or_else(|| row.id.clone());
    let mut resource = IbmResource::new(IbmResourceKind::DhcpServer, row.id, name);
    resource.state = row.status;
    resource.parent = Some(workspace.guid.clone());
    resource.network = network;
    resource
}
