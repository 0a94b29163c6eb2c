//! Cloud accounts: the port that every provider implements, and the registry of providers.
//!
//! An account is read like a cluster: it answers Kubernetes-shaped requests, so that lists, watches and three-valued
//! knowledge work for it unchanged.
//!
//! ```text
//! observe ─► kube::Client ─► KubeAdapter (discovery, list, watch) ─► Account ─► provider's API
//! executor ─► ClusterWithAccounts ─► AccountPort ─► provider's API
//! ```
//!
//! Invariants:
//! - a list is complete or fails; what was read before a failure is the beginning of a list that never ends;
//! - a watch sends nothing: it is held until the list is too old and then makes the observer list again. No bookmark
//!   claims that an account was read when it was not;
//! - only an [`AccountPort`] writes, with the executor's token.
//!
//! To add a provider: a folder here, a variant of [`Provider`], a line in [`REGISTRY`].
//!
//! Elsewhere: which resources are expected (`checks`).

pub mod aws;
mod cluster_port;
pub mod ibm;
mod kube_adapter;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::Value;

use crate::connect::{Clock, Connection, Connector, Env, IdleConnections, LinkError, ServerClock, TlsTrust};
use crate::live::{ClusterAccount, Member};
use kube_adapter::KubeAdapter;
use trueup_core::engine::CloudRef;
use trueup_core::engine::executor::{InFlight, Reading, Reply, Write};
use trueup_core::world::{Cluster, ClusterSource, MemberRule, Provider, Resource};
use trueup_net::Egress;

pub use cluster_port::{Accounts, ClusterWithAccounts};

/// Every provider, one line each.
const REGISTRY: [Registration; 2] = [ibm::REGISTRATION, aws::REGISTRATION];

/// What the registry knows of a provider.
pub struct Registration {
    pub provider: Provider,
    /// How a cluster shows that it uses the provider; nothing where accounts come from the configuration alone.
    pub footprint: Option<Footprint>,
    pub build: fn(&Env, Clock, &Egress) -> Box<dyn CloudProvider>,
}

/// How a cluster shows that its machines run at a provider.
#[derive(Debug, Clone, Copy)]
pub struct Footprint {
    pub provider: Provider,
    /// `.status.platformStatus.type` of the cluster's Infrastructure.
    pub platform: &'static str,
    /// The kind of its machine templates in Cluster API.
    pub template: Resource,
}

/// The footprints of all providers.
pub fn footprints() -> impl Iterator<Item = Footprint> {
    REGISTRY.into_iter().filter_map(|registration| registration.footprint)
}

/// A cloud provider.
pub trait CloudProvider: Send + Sync {
    fn provider(&self) -> Provider;

    /// Opens an account of the configuration; nothing where accounts are found through clusters alone.
    fn open(&self, _settings: &AccountSettings) -> Option<OpenedAccount> {
        None
    }

    /// The account a cluster's machines run in, read with what the cluster's own objects say.
    fn account_of(&self, _cluster: &Cluster, _client: &kube::Client) -> Option<Arc<dyn Account>> {
        None
    }

    /// Checks credentials and access, for `trueup doctor`.
    fn examine<'a>(&'a self, accounts: &'a [AccountSettings]) -> BoxFuture<'a, Vec<Examination>>;
}

/// Reads which resources this machine tagged a moment ago, by CRN, in whatever process: a search index lags behind.
#[derive(Clone)]
pub struct RecentTagWrites(Arc<dyn Fn() -> BTreeSet<String> + Send + Sync>);

impl RecentTagWrites {
    pub fn new(read: impl Fn() -> BTreeSet<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub fn read(&self) -> BTreeSet<String> {
        (self.0)()
    }
}

impl Default for RecentTagWrites {
    fn default() -> Self {
        Self::new(BTreeSet::new)
    }
}

impl fmt::Debug for RecentTagWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecentTagWrites")
    }
}

/// An account of the configuration.
#[derive(Debug, Clone)]
pub struct AccountSettings {
    pub provider: Provider,
    pub alias: String,
    pub key: Option<KeySource>,
    /// URLs that replace a service's public endpoint, by the service's name.
    pub endpoints: BTreeMap<String, String>,
    pub recent_tag_writes: RecentTagWrites,
}

/// Where an account's key is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    File(PathBuf),
    /// The name of an environment variable.
    Env(String),
    /// A file with an access token, which another program keeps current.
    TokenFile(PathBuf),
    /// A profile, by name or id, that the machine's own token is exchanged for.
    TrustedProfile(String),
}

/// An account of the configuration, opened.
pub struct OpenedAccount {
    pub account: Arc<dyn Account>,
    /// Why no request can be sent to it; each of its lists then fails.
    pub problem: Option<BadAccount>,
}

/// Settings of an account that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct BadAccount {
    pub cause: String,
    pub remedy: String,
}

/// One line of `trueup doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The section of the line.
    pub name: &'static str,
    pub message: String,
    /// Nothing when the line is good.
    pub remedy: Option<String>,
}

/// The providers that are in use.
#[derive(Clone)]
pub struct Clouds(Arc<Vec<Box<dyn CloudProvider>>>);

impl Clouds {
    /// The wanted ones of the registered providers, over the network.
    pub fn network(wanted: &BTreeSet<Provider>, env: &Env, clock: &Clock, egress: &Egress) -> Self {
        let registered = REGISTRY.into_iter().filter(|registration| wanted.contains(&registration.provider));
        Self::of(registered.map(|registration| (registration.build)(env, clock.clone(), egress)).collect())
    }

    /// These providers: tests and the demo.
    pub fn of(providers: Vec<Box<dyn CloudProvider>>) -> Self {
        Self(Arc::new(providers))
    }

    /// Opens an account of the configuration; nothing where its provider is not in use.
    pub fn open(&self, settings: &AccountSettings) -> Option<OpenedAccount> {
        self.get(settings.provider)?.open(settings)
    }

    /// The account a cluster's machines run in, as a member of the fleet.
    pub fn member_of(&self, account: &ClusterAccount, cluster: &Cluster, client: &kube::Client) -> Option<Member> {
        let ClusterAccount { provider, cluster: _, name } = account;
        let account = self.get(*provider)?.account_of(cluster, client)?;
        Some(Member {
            name: name.clone(),
            class: cluster.class,
            source: ClusterSource::Cloud {
                provider: *provider,
                account: String::new(),
                used_from: MemberRule::default(),
            },
            hosted_by: None,
            connector: Arc::new(AccountConnector::new(account)),
            namespaces: Vec::new(),
        })
    }

    /// Checks credentials and access of each provider, for `trueup doctor`.
    pub async fn examine(&self, accounts: &[AccountSettings]) -> Vec<Examination> {
        let mut lines = Vec::new();
        for provider in self.0.iter() {
            let own: Vec<AccountSettings> =
                accounts.iter().filter(|account| account.provider == provider.provider()).cloned().collect();
            lines.extend(provider.examine(&own).await);
        }
        lines
    }

    fn get(&self, provider: Provider) -> Option<&dyn CloudProvider> {
        self.0.iter().find(|one| one.provider() == provider).map(AsRef::as_ref)
    }
}

/// A cloud account, as far as it can be listed.
pub trait Account: Send + Sync {
    /// Who answers, for people: `ec2.amazonaws.com for cluster prod`.
    fn server(&self) -> String;

    /// The port that writes to it; nothing for an account that is only read.
    fn port(&self) -> Option<Arc<dyn AccountPort>> {
        None
    }

    /// The clock of its servers, compared with every response.
    fn clock(&self) -> ServerClock;

    /// The kinds it serves, all of its own group.
    fn kinds(&self) -> &'static [Resource];

    /// Every object of the requested kind.
    ///
    /// Dropping the future is safe at any point.
    fn list<'a>(&'a self, asked: &'a Asked) -> BoxFuture<'a, Result<Listing, NoListing>>;
}

/// Reads and writes single resources of an account, for the executor.
pub trait AccountPort: Send + Sync {
    /// The account's id, as the provider says it. The error is one line.
    fn id(&self) -> BoxFuture<'_, Result<String, String>>;

    /// A resource as it is now.
    fn read<'a>(&'a self, cloud: &'a CloudRef) -> BoxFuture<'a, Reading>;

    /// Reads the resource again, compares its tags with those the write is bound to, and sends the write once.
    fn send<'a>(&'a self, token: &'a InFlight, cloud: &'a CloudRef, write: Write<'a>) -> BoxFuture<'a, Reply>;
}

/// The list that is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub plural: String,
    pub namespace: Option<String>,
    /// The terms of the field selector. A term without a value has an empty one.
    pub fields: BTreeMap<String, String>,
}

/// The content of an account.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Whole objects: `apiVersion`, `kind`, `metadata` and content.
    pub items: Vec<Value>,
    /// Why the rest could not be read, if it could not.
    pub cut_short: Option<NoListing>,
    /// How long the list counts as fresh.
    pub fresh_for: Duration,
}

/// Why there is no list, as a status that `connect::classify` knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoListing {
    pub status: StatusCode,
    /// One plain word, or nothing.
    pub reason: &'static str,
    pub retry_after: Option<Duration>,
}

/// Connects to an account. Made once per member: versions of lists only ever grow.
pub struct AccountConnector {
    adapter: KubeAdapter,
}

impl AccountConnector {
    pub fn new(account: Arc<dyn Account>) -> Self {
        Self { adapter: KubeAdapter::new(account) }
    }
}

impl Connector for AccountConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        let connection = Connection {
            client: kube::Client::new(self.adapter.clone(), "default"),
            // The connection to the cloud is verified by the provider's client; this one never leaves the process.
            tls: TlsTrust::InProcess,
            server: self.adapter.server(),
            proxy: None,
            clock: self.adapter.clock(),
            idle: IdleConnections::default(),
        };
        Box::pin(std::future::ready(Ok(connection)))
    }

    fn account_port(&self) -> Option<Arc<dyn AccountPort>> {
        self.adapter.port()
    }
}

impl fmt::Debug for AccountConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountConnector").field("server", &self.adapter.server()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_is_registered_once() {
        let mut registered: Vec<Provider> = REGISTRY.iter().map(|registration| registration.provider).collect();
        registered.sort_unstable();
        assert_eq!(registered, Provider::ALL);
    }

    #[test]
    fn only_wanted_providers_are_in_use() {
        let clock: Clock = Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        for wanted in Provider::ALL {
            let clouds = Clouds::network(&[wanted].into(), &Env::default(), &clock, &Egress::default());
            let in_use: Vec<Provider> = Provider::ALL.into_iter().filter(|one| clouds.get(*one).is_some()).collect();
            assert_eq!(in_use, [wanted]);
        }
    }
}
