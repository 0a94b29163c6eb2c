//! The cloud providers of the demo: the one place in the front ends that names providers.

use std::sync::Arc;

use trueup_core::world::{ClusterName, ClusterSource, Declaration, Glob, MemberRule, Provider, RiskClass};
use trueup_fleet::clouds::aws::AwsCloud;
use trueup_fleet::clouds::aws::account::{AwsCache, AwsWay};
use trueup_fleet::clouds::ibm::IbmAccount;
use trueup_fleet::clouds::ibm::client::{Account as IbmClient, ApiKey, Endpoints};
use trueup_fleet::clouds::{AccountConnector, Clouds};
use trueup_fleet::connect::Env;
use trueup_fleet::live::Member;
use trueup_net::http::HttpClient;
use trueup_sim::demo::{ACCOUNT, API_KEY, Machines, POWER_HOSTS, Scenario};

/// The demo's account, in this process.
pub fn demo_account(scenario: &Scenario) -> Member {
    let endpoints = Endpoints::at_one_place("https://ibm.demo.invalid").expect("the demo's URL is valid");
    let key = ApiKey::parse(API_KEY).expect("the demo's key is valid");
    let client = IbmClient::new(HttpClient::in_process(scenario.account.service()), endpoints, key);
    Member {
        name: ClusterName::new(format!("{}:demo", Provider::Ibm.as_str())),
        class: RiskClass::Stage,
        source: ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: ACCOUNT.to_owned(),
            used_from: MemberRule {
                patterns: Glob::parse(POWER_HOSTS).into_iter().collect(),
                declaration: Declaration::Declared,
                not_opened: Vec::new(),
            },
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
    // An empty home folder: the demo does not read the user's variables and profiles.
    let env = Env::new([("HOME", "/nonexistent")]);
    let cache = AwsCache::new(AwsWay::InProcess(way), &env, Arc::new(move || clock.now()));
    Clouds::of(vec![Box::new(AwsCloud::new(cache))])
}

/// Address and key of the demo's account.
pub fn demo_account_line(url: &str, api_key: &str) -> String {
    format!("IBM Cloud account: {url} (API key {api_key})")
}
