//! Rechecks of a fleet with an account, and the lists that a recheck reads again or uses twice.

mod lists;

use std::sync::Arc;

use super::*;
use crate::fleet::{Fleet, Made, MakeLive};
use crate::testing::{NoGuests, no_plan, session};
use trueup_core::world::{ClusterSource, Provider, RiskClass};
use trueup_fleet::clouds::AccountConnector;
use trueup_fleet::clouds::ibm::IbmAccount;
use trueup_fleet::clouds::ibm::client::{Account, ApiKey, Endpoints};
use trueup_fleet::live::Member;
use trueup_net::http::HttpClient;
use trueup_sim::ibm::{IbmSim, IbmSimOptions};

fn account_member(key: &str) -> Member {
    let (account, api_key) = ("acc-1".to_owned(), "key".to_owned());
    let start = "2026-11-16T10:00:00Z".parse().unwrap();
    let sim = IbmSim::new(IbmSimOptions { account, api_key, seed: 1, start });
    let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
    let account = Account::new(HttpClient::in_process(sim.service()), endpoints, ApiKey::parse(key).unwrap());
    Member {
        name: ClusterName::new("ibm:live"),
        class: RiskClass::Prod,
        source: ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: "acc-1".to_owned(),
            used_from: trueup_core::world::MemberRule::default(),
        },
        hosted_by: None,
        connector: Arc::new(AccountConnector::new(Arc::new(IbmAccount::new("live", Some(Arc::new(account)))))),
        namespaces: Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_is_identified_by_its_token_whatever_its_name() {
    let names: BTreeMap<String, ClusterName> = [("ibm:prod", "ibm:live"), ("mgmt", "mgmt")]
        .map(|(plan, live)| (plan.to_owned(), ClusterName::new(live)))
        .into();
    let cases = [("its key", "key", "ibm:prod", Some("acc-1")), ("an unknown key", "other", "ibm:prod", None)];
    for (case, key, asked, expected) in cases {
        let session = session();
        let made = crate::fleet::connect_members(&session, Vec::new(), vec![account_member(key)], Box::new(NoGuests));
        let mut made: Option<Made> = made.ok();
        let make: MakeLive = Box::new(move || {
            let made = made.take().ok_or(crate::OperateError::Internal);
            async { made }.boxed()
        });
        let fleet = Fleet::connect(session, make).await.unwrap();
        let mut recheck = Rechecker::new(fleet, names.clone(), no_plan());
        assert_eq!(recheck.read_identity(asked).await, expected.map(ClusterIdentity::of_account), "case: {case}");
        assert_eq!(recheck.read_identity("mgmt").await, None, "case: {case}: not connected");
    }
}
