//! The cloud accounts of the configuration as members of the fleet.
//!
//! Invariants: an API key is read from where the configuration says, used, and never shown.

use std::sync::Arc;
use std::time::Duration;

use crate::error::OperateError;
use crate::event::Notice;
use crate::session::Session;
use crate::settings::{CloudAccount, CloudKey};
use trueup_checks::Check;
use trueup_core::engine::Glob;
use trueup_core::world::{ClusterName, ClusterSource, Provider};
use trueup_fleet::account::{AccountConnector, IbmAccount};
use trueup_fleet::ibm::{self, ApiKey, Endpoints, IbmService};
use trueup_fleet::live::Member;
use trueup_net::Proxies;
use trueup_net::http::{HttpClient, HttpSettings};

/// The check that needs the accounts. Where it is disabled, no account is read.
const NEEDS_IBM: &str = "powervs-tags";

/// How long an account may take to return its id. It is read again, and its error reported, when it is listed.
const ID_TIMEOUT: Duration = Duration::from_secs(10);

/// The accounts as members of the fleet.
pub async fn members(session: &Session, checks: &[Box<dyn Check>]) -> Vec<Member> {
    if !checks.iter().any(|check| check.name().0 == NEEDS_IBM) {
        return Vec::new();
    }
    let mut members = Vec::new();
    for account in session.settings.clouds.iter().filter(|account| account.provider == Provider::Ibm) {
        members.push(member(session, account).await);
    }
    members
}

async fn member(session: &Session, account: &CloudAccount) -> Member {
    let client = match client(session, account) {
        Ok(client) => Some(Arc::new(client)),
        Err(error) => {
            let says = format!("clouds.ibm.{}: {}; {}", account.alias, error.cause(), error.advice());
            session.events.notice(Notice::Account(says));
            None
        }
    };
    // Empty while IAM does not return it.
    let id = match &client {
        Some(client) => tokio::time::timeout(ID_TIMEOUT, client.id()).await.ok().and_then(Result::ok),
        None => None,
    };
    let name = ClusterName::new(format!("{}:{}", Provider::Ibm.as_str(), account.alias));
    let used_from = account.management_clusters.iter().map(Glob::to_string).collect();
    Member {
        class: session.settings.clusters.class_of(&name, None),
        source: ClusterSource::Cloud { provider: Provider::Ibm, account: id.unwrap_or_default(), used_from },
        hosted_by: None,
        connector: Arc::new(AccountConnector::new(Arc::new(IbmAccount::new(&account.alias, client)))),
        namespaces: Vec::new(),
        name,
    }
}

/// A client for one account.
///
/// # Errors
/// A key or an endpoint that cannot be used.
pub fn client(session: &Session, account: &CloudAccount) -> Result<ibm::Account, OperateError> {
    let failed = |cause: String, advice: &str| OperateError::Account {
        account: format!("clouds.ibm.{}", account.alias),
        cause,
        advice: advice.to_owned(),
    };
    let key = key(session, account, &failed)?;
    let variable = |name: &str| session.env.text(name).map(str::to_owned);
    let bad = |error: ibm::BadEndpoint| failed(error.to_string(), "write it as https://host");
    let mut endpoints = Endpoints::from_variables(variable).map_err(bad)?;
    for (name, url) in &account.endpoints {
        let Some(service) = IbmService::ALL.into_iter().find(|service| service.key() == name) else {
            let known = IbmService::ALL.map(IbmService::key).join(", ");
            return Err(failed(format!("endpoints: unknown service {name:?}"), &format!("the services are {known}")));
        };
        endpoints = endpoints.with(service, url).map_err(bad)?;
    }
    let proxies = Proxies::of(|name| session.env.text(name));
    let http = HttpClient::new(HttpSettings { proxies, ..HttpSettings::default() })
        .map_err(|error| failed(error.to_string(), "correct it"))?;
    Ok(ibm::Account::new(http, endpoints, key))
}

fn key(
    session: &Session,
    account: &CloudAccount,
    failed: &dyn Fn(String, &str) -> OperateError,
) -> Result<ApiKey, OperateError> {
    let text = match &account.key {
        Some(CloudKey::File(path)) => std::fs::read_to_string(path).map(zeroize::Zeroizing::new).map_err(|error| {
            let cause = format!("api_key_file {} cannot be read: {}", path.display(), error.kind());
            failed(cause, "write the key to it, with mode 600")
        })?,
        Some(CloudKey::Env(name)) => match session.env.text(name) {
            Some(value) => zeroize::Zeroizing::new(value.to_owned()),
            None => return Err(failed(format!("{name} is not set"), "export the API key in it")),
        },
        None => {
            let cause = "neither api_key_file nor api_key_env is set";
            return Err(failed(cause.to_owned(), "set one of them in the config"));
        }
    };
    ApiKey::parse(&text).map_err(|error| failed(error.to_string(), "check the stored key"))
}
