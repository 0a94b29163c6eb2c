//! A cloud account as a member of the fleet: it answers Kubernetes-shaped questions, so that lists, watches and
//! three-valued knowledge work for it unchanged.
//!
//! ```text
//! observe ─► kube::Client ─► door (discovery, list, watch) ─► Account (AWS, IBM) ─► cloud
//! ```
//!
//! Always true:
//! - a list is whole or fails; what was read before a failure is shown as the beginning of a list that is never finished;
//! - a watch tells nothing: it is held until what was listed is too old, and then sends the observer to list again. No
//!   bookmark claims that an account was looked at when it was not;
//! - only lists and watches are answered: nothing can be written through this door.
//!
//! Not here: what a cloud's API is like (`cloud`), what is expected there (`domains`).

mod aws;
mod ibm;
mod kube_adapter;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::Value;

use crate::connect::{Connection, TlsTrust};
use crate::connect::{Connector, LinkError};
use crate::ibm as ibm_cloud;
use trueup_core::world::Resource;

pub use crate::ibm::Account as IbmClient;
pub use aws::{AwsAccount, AwsCache, AwsSource, AwsWay, End as ExaminedEnd, Examined, examine as examine_aws};
pub use ibm::IbmAccount;

/// A cloud account, as far as it can be listed.
pub trait Account: Send + Sync {
    /// Who answers, for people: `ec2.amazonaws.com for cluster prod`.
    fn server(&self) -> String;

    /// The account with IBM Cloud that answers, when it is one.
    fn ibm_account(&self) -> Option<Arc<ibm_cloud::Account>> {
        None
    }

    /// The kinds it serves, all of its own group.
    fn kinds(&self) -> &'static [Resource];

    /// Everything of a kind that is asked for.
    ///
    /// Dropping the future is safe at any point.
    fn list<'a>(&'a self, asked: &'a Asked) -> BoxFuture<'a, Result<Listing, NoListing>>;
}

/// What a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub plural: String,
    pub namespace: Option<String>,
    /// The terms of the field selector. A term without a value has an empty one.
    pub fields: BTreeMap<String, String>,
}

/// What an account holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Whole objects: `apiVersion`, `kind`, `metadata` and content.
    pub items: Vec<Value>,
    /// Why the rest could not be read, when it could not.
    pub cut_short: Option<NoListing>,
    /// How long this is as good as new.
    pub fresh_for: Duration,
}

/// Why a list did not come about, in the words `fleet::classify` knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoListing {
    pub status: StatusCode,
    /// One plain word, or nothing.
    pub reason: &'static str,
    pub retry_after: Option<Duration>,
}

/// Connects to an account. Made once a member: versions of lists only ever grow.
pub struct AccountConnector {
    door: kube_adapter::KubeAdapter,
}

impl AccountConnector {
    pub fn new(account: Arc<dyn Account>) -> Self {
        Self { door: kube_adapter::KubeAdapter::new(account) }
    }
}

impl Connector for AccountConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        let connection = Connection {
            client: kube::Client::new(self.door.clone(), "default"),
            // The way to the cloud is verified by the cloud's own client; this door never leaves the process.
            tls: TlsTrust::InProcess,
            server: self.door.server(),
            proxy: None,
        };
        Box::pin(std::future::ready(Ok(connection)))
    }

    fn ibm_account(&self) -> Option<Arc<ibm_cloud::Account>> {
        self.door.ibm_account()
    }
}

impl fmt::Debug for AccountConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountConnector").field("server", &self.door.server()).finish()
    }
}
