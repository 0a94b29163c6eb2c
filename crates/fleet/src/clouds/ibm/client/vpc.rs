//! VPC: networks, subnets, security groups and load balancers of one region.

use serde::Deserialize;

use super::crn::vpc_region;
use super::endpoints::IbmService;
use super::error::{CloudError, Problem};
use super::paging::start_of;
use super::resource::IbmResource;
use super::session::{Ask, Session, escaped};
use trueup_core::world::IbmResourceKind;

/// The version of the API whose answers this file reads, and the only generation there is.
const VERSION: &str = "version=2026-06-01&generation=2";

/// The service's largest page.
const LIMIT: usize = 100;

/// The region that is asked which regions there are.
const FIRST_REGION: &str = "us-south";

/// The kinds of this service.
pub(super) const KINDS: [IbmResourceKind; 4] =
    [IbmResourceKind::Vpc, IbmResourceKind::Subnet, IbmResourceKind::SecurityGroup, IbmResourceKind::LoadBalancer];

/// A row of any of the lists; each kind has some of the fields.
#[derive(Deserialize)]
struct Row {
    id: String,
    crn: String,
    name: String,
    created_at: Option<String>,
    status: Option<String>,
    provisioning_status: Option<String>,
    vpc: Option<Id>,
    #[serde(default)]
    subnets: Vec<Id>,
    default_security_group: Option<Id>,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct Page {
    next: Option<Next>,
    /// The rows, under the plural of their kind.
    #[serde(flatten)]
    lists: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Next {
    href: String,
}

/// What is found, with what only another list explains.
pub(super) struct Found {
    pub resource: IbmResource,
    /// A load balancer's VPC is that of its subnets.
    pub subnets: Vec<String>,
    /// The group a VPC is born with.
    pub default_group: Option<String>,
}

/// Every region that has VPCs. An endpoint without regions answers for all of them.
pub(super) async fn regions(session: &Session) -> Result<Vec<String>, CloudError> {
    #[derive(Deserialize)]
    struct Regions {
        regions: Vec<Region>,
    }
    #[derive(Deserialize)]
    struct Region {
        name: String,
    }
    if !session.endpoints().has_regions(IbmService::Vpc) {
        return Ok(vec![FIRST_REGION.to_owned()]);
    }
    let base = session.endpoints().base(IbmService::Vpc, FIRST_REGION);
    let ask = Ask::get(IbmService::Vpc, "list regions", format!("{base}/v1/regions?{VERSION}"));
    let found: Regions = session.read(&ask).await?;
    Ok(found.regions.into_iter().map(|region| region.name).collect())
}

/// All of one kind in a region.
pub(super) async fn list(session: &Session, region: &str, kind: IbmResourceKind) -> Result<Vec<Found>, CloudError> {
    let (plural, operation) = names(kind);
    let base = session.endpoints().base(IbmService::Vpc, region);
    let ask = Ask::get(IbmService::Vpc, operation, format!("{base}/v1/{plural}?{VERSION}&limit={LIMIT}"));
    let pages = session.read_pages(ask, |page: &Page| start_of(&page.next.as_ref()?.href)).await?;
    let mut all = Vec::new();
    for mut page in pages {
        let rows: Result<Vec<Row>, _> = serde_json::from_value(page.lists.remove(plural).unwrap_or_default());
        let unreadable = |_| Problem::NotUnderstood(format!("no list of {plural}"));
        let rows = rows.map_err(|error| CloudError::new(IbmService::Vpc, operation, unreadable(error)))?;
        all.extend(rows.into_iter().map(|row| found(kind, row)));
    }
    Ok(all)
}

/// One resource; nothing when it does not exist.
pub(super) async fn read(
    session: &Session,
    kind: IbmResourceKind,
    location: &str,
    id: &str,
) -> Result<Option<Found>, CloudError> {
    let ask = Ask::get(IbmService::Vpc, "read a VPC resource", url(session, kind, location, id));
    Ok(session.read_optional(&ask).await?.map(|row| found(kind, row)))
}

pub(super) fn url(session: &Session, kind: IbmResourceKind, location: &str, id: &str) -> String {
    let base = session.endpoints().base(IbmService::Vpc, vpc_region(location));
    format!("{base}/v1/{}/{}?{VERSION}", names(kind).0, escaped(id))
}

fn names(kind: IbmResourceKind) -> (&'static str, &'static str) {
    match kind {
        IbmResourceKind::Subnet => ("subnets", "list subnets"),
        IbmResourceKind::SecurityGroup => ("security_groups", "list security groups"),
        IbmResourceKind::LoadBalancer => ("load_balancers", "list load balancers"),
        IbmResourceKind::Vpc
        | IbmResourceKind::Workspace
        | IbmResourceKind::DhcpServer
        | IbmResourceKind::Network
        | IbmResourceKind::TransitGateway
        | IbmResourceKind::TgConnection
        | IbmResourceKind::CosInstance => ("vpcs", "list VPCs"),
    }
}

fn found(kind: IbmResourceKind, row: Row) -> Found {
    let resource = IbmResource {
        crn: Some(row.crn),
        state: row.status.or(row.provisioning_status),
        created_at: row.created_at,
        parent: row.vpc.map(|vpc| vpc.id),
        ..IbmResource::new(kind, row.id, row.name)
    };
    Found {
        resource,
        subnets: row.subnets.into_iter().map(|subnet| subnet.id).collect(),
        default_group: row.default_security_group.map(|group| group.id),
    }
}
