//! IBM Cloud as a member of the fleet: `ibm:<alias>`, which answers with everything the account holds.
//!
//! ```text
//! resources    one object a resource, named <kind>/<id>: what a recorded account has as an entry
//! ```
//!
//! Always true: a part that could not be read makes the list one that was cut short, with the service that failed as its
//! reason; what was read is still shown.
//!
//! Not here: paging and tokens (`cloud::ibm`), whose a resource is (`domains::powervs_tags`).

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::{Value, json};

use super::{Account, Asked, Listing, NoListing};
use crate::ibm::{self, CloudError, IbmResource, IbmService, Problem};
use trueup_core::world::{Provider, Resource};

const RESOURCE: Resource =
    Resource { group: "ibm.cloud.trueup", version: "v1", kind: "Resource", plural: "resources", namespaced: false };

/// How long a listing is as good as new. A delete asks for lists of at most 90 s.
const GOOD_FOR: Duration = Duration::from_secs(60);
/// How long one with gaps is: somebody is mending it.
const BAD_FOR: Duration = Duration::from_secs(30);
/// When to ask again after what may pass by itself.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// One account with IBM Cloud.
pub struct IbmAccount {
    alias: String,
    /// Nothing when what the config says of it can't be used.
    account: Option<Arc<ibm::Account>>,
}

impl IbmAccount {
    pub fn new(alias: &str, account: Option<Arc<ibm::Account>>) -> Self {
        Self { alias: alias.to_owned(), account }
    }
}

impl Account for IbmAccount {
    fn server(&self) -> String {
        format!("IBM Cloud, account {}", self.alias)
    }

    fn ibm_account(&self) -> Option<Arc<ibm::Account>> {
        self.account.clone()
    }

    fn kinds(&self) -> &'static [Resource] {
        &[RESOURCE]
    }

    fn list<'a>(&'a self, _: &'a Asked) -> BoxFuture<'a, Result<Listing, NoListing>> {
        Box::pin(async move {
            let Some(account) = &self.account else {
                return Err(NoListing { status: StatusCode::FORBIDDEN, reason: "NoUsableKey", retry_after: None });
            };
            let inventory = account.read_inventory().await.map_err(|error| no_listing(&error))?;
            for missing in &inventory.missing {
                tracing::warn!(account = self.alias, what = missing.what, error = %missing.error, "not read");
            }
            let cut_short = inventory.missing.first().map(|missing| no_listing(&missing.error));
            let fresh_for = if cut_short.is_none() { GOOD_FOR } else { BAD_FOR };
            Ok(Listing { items: inventory.resources.iter().map(object).collect(), cut_short, fresh_for })
        })
    }
}

fn object(resource: &IbmResource) -> Value {
    json!({
        "apiVersion": format!("{}/{}", Provider::Ibm.group(), RESOURCE.version),
        "kind": RESOURCE.kind,
        "metadata": { "name": format!("{}/{}", resource.kind, resource.id) },
        "resource": resource,
    })
}

/// A failure in the words the fleet knows. Not 401 for a key that is refused: that would say that a login has ended.
fn no_listing(error: &CloudError) -> NoListing {
    let (status, retry_after) = match &error.problem {
        Problem::Refused { status: 400 | 401 | 403, .. } => (StatusCode::FORBIDDEN, None),
        Problem::Refused { status: 429, retry_after, .. } => {
            (StatusCode::TOO_MANY_REQUESTS, Some(retry_after.unwrap_or(RETRY_AFTER)))
        }
        Problem::Refused { .. } | Problem::NoAnswer(_) => (StatusCode::SERVICE_UNAVAILABLE, Some(RETRY_AFTER)),
        Problem::NotUnderstood(_) | Problem::PageLoop | Problem::TooManyPages(_) => (StatusCode::BAD_GATEWAY, None),
        Problem::ItemRefused { .. } | Problem::OtherAccount { .. } | Problem::Unaddressed(_) | Problem::NotIndexed => {
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        }
    };
    NoListing { status, reason: reason(error.service), retry_after }
}

/// One plain word that names the service.
fn reason(service: IbmService) -> &'static str {
    match service {
        IbmService::Iam => "IAM",
        IbmService::Tagging => "GlobalTagging",
        IbmService::Search => "GlobalSearch",
        IbmService::ResourceController => "ResourceController",
        IbmService::Vpc => "VPC",
        IbmService::Transit => "TransitGateway",
        IbmService::Power => "PowerVS",
    }
}
