//! Transit Gateway: gateways and the connections on them. One list of each covers the account.

use serde::Deserialize;

use super::endpoints::IbmService;
use super::error::CloudError;
use super::paging::start_of;
use super::resource::IbmResource;
use super::session::{Ask, Session, escaped};
use trueup_core::world::IbmResourceKind;

/// The version of the API whose answers this file reads.
const VERSION: &str = "version=2026-06-01";

/// The service's largest page.
const LIMIT: usize = 500;

#[derive(Deserialize)]
struct Page {
    next: Option<Next>,
    #[serde(default)]
    transit_gateways: Vec<Gateway>,
    #[serde(default)]
    connections: Vec<Connection>,
}

#[derive(Deserialize)]
struct Next {
    start: Option<String>,
    href: Option<String>,
}

#[derive(Deserialize)]
struct Gateway {
    id: String,
    crn: String,
    name: String,
    status: Option<String>,
    created_at: Option<String>,
}

#[derive(Deserialize)]
struct Connection {
    id: String,
    name: Option<String>,
    network_type: String,
    network_id: Option<String>,
    status: Option<String>,
    created_at: Option<String>,
    transit_gateway: Option<Id>,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

/// Every gateway.
pub(super) async fn gateways(session: &Session) -> Result<Vec<IbmResource>, CloudError> {
    let pages = pages(session, "transit_gateways", "list gateways").await?;
    Ok(pages.into_iter().flat_map(|page| page.transit_gateways).map(gateway).collect())
}

/// Every connection of every gateway.
pub(super) async fn connections(session: &Session) -> Result<Vec<IbmResource>, CloudError> {
    let pages = pages(session, "connections", "list connections").await?;
    Ok(pages.into_iter().flat_map(|page| page.connections).map(|row| connection(row, None)).collect())
}

async fn pages(session: &Session, plural: &str, operation: &'static str) -> Result<Vec<Page>, CloudError> {
    let base = session.endpoints().base(IbmService::Transit, "");
    let ask = Ask::get(IbmService::Transit, operation, format!("{base}/v1/{plural}?{VERSION}&limit={LIMIT}"));
    let next = |page: &Page| {
        let next = page.next.as_ref()?;
        next.start.clone().or_else(|| next.href.as_deref().and_then(start_of)).filter(|start| !start.is_empty())
    };
    session.read_pages(ask, next).await
}

/// One gateway; nothing when it does not exist.
pub(super) async fn read_gateway(session: &Session, id: &str) -> Result<Option<IbmResource>, CloudError> {
    let ask = Ask::get(IbmService::Transit, "read a gateway", gateway_url(session, id));
    Ok(session.read_optional(&ask).await?.map(gateway))
}

/// One connection; nothing when it does not exist.
pub(super) async fn read_connection(
    session: &Session,
    gateway: &str,
    id: &str,
) -> Result<Option<IbmResource>, CloudError> {
    let ask = Ask::get(IbmService::Transit, "read a connection", connection_url(session, gateway, id));
    Ok(session.read_optional(&ask).await?.map(|row| connection(row, Some(gateway))))
}

pub(super) fn gateway_url(session: &Session, id: &str) -> String {
    let base = session.endpoints().base(IbmService::Transit, "");
    format!("{base}/v1/transit_gateways/{}?{VERSION}", escaped(id))
}

pub(super) fn connection_url(session: &Session, gateway: &str, id: &str) -> String {
    let base = session.endpoints().base(IbmService::Transit, "");
    format!("{base}/v1/transit_gateways/{}/connections/{}?{VERSION}", escaped(gateway), escaped(id))
}

fn gateway(row: Gateway) -> IbmResource {
    let Gateway { id, crn, name, status: state, created_at } = row;
    let kind = IbmResourceKind::TransitGateway;
    IbmResource { crn: Some(crn), state, created_at, ..IbmResource::new(kind, id, name) }
}

fn connection(row: Connection, gateway: Option<&str>) -> IbmResource {
    let name = row.name.unwrap_or_else(|| row.id.clone());
    IbmResource {
        state: row.status,
        created_at: row.created_at,
        parent: row.transit_gateway.map(|gateway| gateway.id).or_else(|| gateway.map(str::to_owned)),
        network_type: Some(row.network_type),
        network_id: row.network_id,
        ..IbmResource::new(IbmResourceKind::TgConnection, row.id, name)
    }
}
