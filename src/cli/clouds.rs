//! The cloud providers a command uses: those its checks need, and those of the demo. The one place that names providers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::context::Context;
use super::members::wall_clock;
use crate::config::{CloudAccount, CloudKey, Config};
use trueup_core::world::{ClusterName, ClusterSource, Provider, RiskClass};
use trueup_fleet::clouds::aws::AwsCloud;
use trueup_fleet::clouds::aws::account::{AwsCache, AwsWay};
use trueup_fleet::clouds::ibm::IbmAccount;
use trueup_fleet::clouds::ibm::client::{Account as IbmClient, ApiKey, Endpoints};
use trueup_fleet::clouds::{AccountConnector, AccountSettings, Clouds, KeySource};
use trueup_fleet::connect::Env;
use trueup_fleet::live::Member;
use trueup_net::http::HttpClient;
use trueup_sim::demo::{ACCOUNT, API_KEY, Machines, POWER_HOST, Story};

/// The providers that the enabled checks need.
pub fn needed(context: &Context, config: &Config) -> Clouds {
    Clouds::network(&of_checks(config), &context.env, &wall_clock())
}

/// The providers that the enabled checks need or the configuration names, for `trueup doctor`.
pub fn known(context: &Context, config: &Config) -> Clouds {
    let mut providers = of_checks(config);
    providers.extend(config.clouds.iter().map(|account| account.provider));
    Clouds::network(&providers, &context.env, &wall_clock())
}

fn of_checks(config: &Config) -> BTreeSet<Provider> {
    config.domains.0.iter().flat_map(|check| check.clouds().iter().copied()).collect()
}

/// An account of the configuration, as a provider needs it.
pub fn settings(account: &CloudAccount) -> AccountSettings {
    let CloudAccount { provider, alias, key, endpoints, management_clusters: _ } = account;
    let key = key.as_ref().map(|key| match key {
        CloudKey::File(path) => KeySource::File(path.clone()),
        CloudKey::Env(name) => KeySource::Env(name.clone()),
    });
    AccountSettings { provider: *provider, alias: alias.clone(), key, endpoints: endpoints.clone() }
}

/// The demo's account, in this process.
pub fn demo_account(story: &Story) -> Member {
    let endpoints = Endpoints::at_one_place("https://ibm.demo.invalid").expect("the demo's URL is valid");
    let key = ApiKey::parse(API_KEY).expect("the demo's key is valid");
    let client = IbmClient::new(HttpClient::in_process(story.account.service()), endpoints, key);
    Member {
        name: ClusterName::new(format!("{}:demo", Provider::Ibm.as_str())),
        class: RiskClass::Stage,
        source: ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: ACCOUNT.to_owned(),
            used_from: vec![POWER_HOST.to_owned()],
        },
        hosted_by: None,
        connector: Arc::new(AccountConnector::new(Arc::new(IbmAccount::new("demo", Some(Arc::new(client)))))),
        namespaces: Vec::new(),
    }
}

/// The clouds that the demo's machines run in, in this process.
pub fn demo_clouds(machines: Option<&Machines>) -> Clouds {
    let Some(machines) = machines else { return Clouds::of(Vec::new()) };
    let (way, clock) = (HttpClient::in_process(machines.aws().service()), machines.clone());
    // An empty home folder: the user's own variables and profiles are no part of the demo.
    let env = Env::new([("HOME", "/nonexistent")]);
    let cache = AwsCache::new(AwsWay::InProcess(way), &env, Arc::new(move || clock.now()));
    Clouds::of(vec![Box::new(AwsCloud::new(cache))])
}

/// The demo's account, for people who connect to it from outside.
pub fn demo_account_line(url: &str, api_key: &str) -> String {
    format!("IBM Cloud account: {url} (API key {api_key})")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::parse_config;
    use trueup_checks::registry;

    #[test]
    fn a_provider_is_used_only_where_an_enabled_check_needs_it() {
        let cases = [
            ("all checks", "", vec![Provider::Aws, Provider::Ibm]),
            ("no machine sets", "[domains]\ndisabled = ['machineset-capacity']", vec![Provider::Ibm]),
            ("no tags", "[domains]\ndisabled = ['powervs-tags']", vec![Provider::Aws]),
            ("neither", "[domains]\ndisabled = ['machineset-capacity', 'powervs-tags']", vec![]),
        ];
        for (case, text, expected) in cases {
            let config = parse_config(text, Path::new("."), registry::entries()).unwrap();
            assert_eq!(of_checks(&config), expected.into_iter().collect(), "case: {case}");
        }
    }
}
