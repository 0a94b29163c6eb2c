//! The cloud accounts of the config: how they are reached, and as members of the fleet.
//!
//! Always true: a key is read from where the config says, used, and never shown.

use std::sync::Arc;
use std::time::Duration;

use super::context::Context;
use super::error::CliError;
use crate::config::{CloudAccount, CloudKey, Config};
use trueup_core::engine::Glob;
use trueup_core::world::{ClusterName, ClusterSource, Provider};
use trueup_fleet::account::{AccountConnector, IbmAccount};
use trueup_fleet::ibm::{self, ApiKey, Endpoints, IbmService};
use trueup_fleet::live::Member;
use trueup_net::Proxies;
use trueup_net::http::{HttpClient, HttpSettings};

/// The check that needs to know what is in an account. Where it is off, no account is asked.
const ASKS_IBM: &str = "powervs-tags";

/// How long an account may take to say its id. It is read again, and its trouble told, when it is listed.
const ID_PATIENCE: Duration = Duration::from_secs(10);

/// An account that can be asked, with what people call it.
pub struct Reached {
    pub alias: String,
    /// Empty while IAM does not say it.
    pub id: String,
    /// Patterns for the clusters whose objects may point into it.
    pub used_from: Vec<String>,
    /// Nothing when what the config says of it can't be used, which was told.
    pub account: Option<Arc<ibm::Account>>,
}

/// The accounts with IBM Cloud that the config names.
pub async fn ibm_accounts(context: &Context, config: &Config) -> Vec<Reached> {
    let wanted = config.domains.0.iter().any(|domain| domain.name().0 == ASKS_IBM);
    let is_meant = |account: &&CloudAccount| wanted && account.provider == Provider::Ibm;
    let named: Vec<CloudAccount> = config.clouds.iter().filter(is_meant).cloned().collect();
    let mut reached = Vec::new();
    for named in &named {
        let account = match client(context, named) {
            Ok(account) => Some(Arc::new(account)),
            Err(error) => {
                context.note(&error.to_string());
                None
            }
        };
        let id = match &account {
            Some(account) => tokio::time::timeout(ID_PATIENCE, account.id()).await.ok().and_then(Result::ok),
            None => None,
        };
        let used_from = named.management_clusters.iter().map(Glob::to_string).collect();
        reached.push(Reached { alias: named.alias.clone(), id: id.unwrap_or_default(), used_from, account });
    }
    reached
}

/// The accounts as members of the fleet.
pub async fn members(context: &Context, config: &Config) -> Vec<Member> {
    let reached = ibm_accounts(context, config).await;
    reached.into_iter().map(|reached| member(config, reached)).collect()
}

fn member(config: &Config, reached: Reached) -> Member {
    let name = ClusterName::new(format!("{}:{}", Provider::Ibm.as_str(), reached.alias));
    Member {
        class: config.clusters.class_of(&name, None),
        source: ClusterSource::Cloud { provider: Provider::Ibm, account: reached.id, used_from: reached.used_from },
        hosted_by: None,
        connector: Arc::new(AccountConnector::new(Arc::new(IbmAccount::new(&reached.alias, reached.account)))),
        namespaces: Vec::new(),
        name,
    }
}

/// A client for one account.
///
/// # Errors
/// A key or an endpoint that can't be used.
pub fn client(context: &Context, account: &CloudAccount) -> Result<ibm::Account, CliError> {
    let doing = format!("clouds.ibm.{}", account.alias);
    let key = key(context, account, &doing)?;
    let variable = |name: &str| context.env.text(name).map(str::to_owned);
    let bad = |error: ibm::BadEndpoint| CliError::failed(doing.as_str(), error.to_string(), "write it as https://host");
    let mut endpoints = Endpoints::from_variables(variable).map_err(bad)?;
    for (name, url) in &account.endpoints {
        let Some(service) = IbmService::ALL.into_iter().find(|service| service.key() == name) else {
            let known = IbmService::ALL.map(IbmService::key).join(", ");
            let cause = format!("endpoints: there is no service {name:?}");
            return Err(CliError::failed(doing.as_str(), cause, format!("the services are {known}")));
        };
        endpoints = endpoints.with(service, url).map_err(bad)?;
    }
    let proxies = Proxies::of(|name| context.env.text(name));
    let http = HttpClient::new(HttpSettings { proxies, ..HttpSettings::default() })
        .map_err(|error| CliError::failed(doing.as_str(), error.to_string(), "correct it"))?;
    Ok(ibm::Account::new(http, endpoints, key))
}

fn key(context: &Context, account: &CloudAccount, doing: &str) -> Result<ApiKey, CliError> {
    let text = match &account.key {
        Some(CloudKey::File(path)) => std::fs::read_to_string(path).map(zeroize::Zeroizing::new).map_err(|error| {
            let cause = format!("api_key_file {} can't be read: {}", path.display(), error.kind());
            CliError::failed(doing, cause, "write the key there, readable by you alone")
        })?,
        Some(CloudKey::Env(name)) => match context.env.text(name) {
            Some(value) => zeroize::Zeroizing::new(value.to_owned()),
            None => return Err(CliError::failed(doing, format!("{name} is not set"), "export the API key in it")),
        },
        None => {
            let cause = "there is neither api_key_file nor api_key_env";
            return Err(CliError::failed(doing, cause, "name one of them in the config"));
        }
    };
    ApiKey::parse(&text).map_err(|error| CliError::failed(doing, error.to_string(), "check where the key is kept"))
}
