//! An IBM Cloud account as a member of the fleet: `ibm:<alias>`, which lists everything the account holds.
//!
//! ```text
//! resources    one object per resource, named <kind>/<id>: the entry of a snapshot
//! ```
//!
//! Invariant: a part that could not be read makes the list incomplete, with the failed service as its reason; what was
//! read is still shown.
//!
//! Elsewhere: paging and tokens (`client`), who owns a resource (`checks::powervs_tags`).

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::{Value, json};

use super::client::{self, CloudError, IbmResource, IbmService, Problem};
use crate::clouds::{Account, AccountPort, Asked, Listing, NoListing};
use crate::connect::ServerClock;
use trueup_core::world::{Provider, Resource};

const RESOURCE: Resource =
    Resource { group: "ibm.cloud.trueup", version: "v1", kind: "Resource", plural: "resources", namespaced: false };

/// How long a list counts as fresh. A delete needs lists of at most 90 s.
const GOOD_FOR: Duration = Duration::from_secs(60);
/// How long an incomplete list counts as fresh: the cause may be being repaired.
const BAD_FOR: Duration = Duration::from_secs(30);
/// When to retry after a transient failure.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// One IBM Cloud account.
pub struct IbmAccount {
    alias: String,
    /// Nothing when its settings cannot be used.
    account: Option<Arc<client::Account>>,
}

impl IbmAccount {
    pub fn new(alias: &str, account: Option<Arc<client::Account>>) -> Self {
        Self { alias: alias.to_owned(), account }
    }
}

impl Account for IbmAccount {
    fn server(&self) -> String {
        format!("IBM Cloud, account {}", self.alias)
    }

    fn port(&self) -> Option<Arc<dyn AccountPort>> {
        self.account.clone().map(|account| account as Arc<dyn AccountPort>)
    }

    fn clock(&self) -> ServerClock {
        self.account.as_ref().map(|account| account.clock()).unwrap_or_default()
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

/// A failure as a status the fleet knows. A rejected key is not 401, which would mean an expired login.
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
