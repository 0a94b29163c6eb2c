//! Resource Controller: PowerVS workspaces and COS instances, and what waits for its reclamation.
//!
//! Invariant: an instance in any state but `removed` is listed. The service leaves most states out unless asked.

use serde::Deserialize;

use super::endpoints::IbmService;
use super::error::CloudError;
use super::paging::start_of;
use super::resource::IbmResource;
use super::session::{Ask, Session, escaped};
use trueup_core::world::IbmResourceKind;

/// The catalogue's ids of the services whose instances matter here.
const POWER: &str = "abd259f0-9990-11e8-acc8-b9f54a8f1661";
const OBJECT_STORAGE: &str = "dff97f5c-bc5e-4455-b470-411c3edbe49c";

/// The service's largest page.
const LIMIT: usize = 100;

/// States that a list without a wish leaves out.
const OTHER_STATES: [&str; 4] = ["pending_reclamation", "pending_removal", "inactive", "failed"];

#[derive(Deserialize)]
struct Page {
    next_url: Option<String>,
    resources: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    guid: String,
    crn: String,
    name: String,
    state: Option<String>,
    resource_id: Option<String>,
    created_at: Option<String>,
    #[serde(default)]
    locked: Option<bool>,
}

/// Every workspace and COS instance of the account.
pub(super) async fn list(session: &Session) -> Result<Vec<IbmResource>, CloudError> {
    let mut wishes: Vec<String> = [POWER, OBJECT_STORAGE].iter().map(|id| format!("resource_id={id}")).collect();
    wishes.extend(OTHER_STATES.iter().map(|state| format!("state={state}")));
    let mut instances: Vec<IbmResource> = Vec::new();
    for wish in wishes {
        for row in pages(session, &wish).await? {
            let found = instance(row);
            // An instance may change its state between two of the lists.
            instances.extend(found.filter(|new| instances.iter().all(|old| old.id != new.id)));
        }
    }
    Ok(instances)
}

async fn pages(session: &Session, wish: &str) -> Result<Vec<Row>, CloudError> {
    let base = session.endpoints().base(IbmService::ResourceController, "");
    let first = format!("{base}/v2/resource_instances?{wish}&limit={LIMIT}");
    let ask = Ask::get(IbmService::ResourceController, "list resource instances", first);
    let pages = session.read_pages(ask, |page: &Page| page.next_url.as_deref().and_then(start_of)).await?;
    Ok(pages.into_iter().flat_map(|page| page.resources).collect())
}

/// One instance; nothing when it is gone for good.
pub(super) async fn read(session: &Session, guid: &str) -> Result<Option<IbmResource>, CloudError> {
    let ask = Ask::get(IbmService::ResourceController, "read a resource instance", url(session, guid));
    let row: Option<Row> = session.read_optional(&ask).await?;
    Ok(row.filter(|row| row.state.as_deref() != Some("removed")).and_then(instance))
}

pub(super) fn url(session: &Session, guid: &str) -> String {
    let base = session.endpoints().base(IbmService::ResourceController, "");
    format!("{base}/v2/resource_instances/{}", escaped(guid))
}

fn instance(row: Row) -> Option<IbmResource> {
    let kind = match row.resource_id.as_deref() {
        Some(POWER) => IbmResourceKind::Workspace,
        Some(OBJECT_STORAGE) => IbmResourceKind::CosInstance,
        Some(_) | None => return None,
    };
    let Row { guid, crn, name, state, resource_id: _, created_at, locked } = row;
    let locked = locked.unwrap_or(false);
    Some(IbmResource { crn: Some(crn), state, created_at, locked, ..IbmResource::new(kind, guid, name) })
}
