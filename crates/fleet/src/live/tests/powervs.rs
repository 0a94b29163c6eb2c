//! Clusters on PowerVS in whichever version their management cluster serves them, beside a simulated account.

use super::*;
use crate::clouds::AccountConnector;
use crate::clouds::ibm::IbmAccount;
use crate::clouds::ibm::client::{self, ApiKey, Endpoints};
use trueup_checks::powervs_tags::{PowerVsTags, Settings};
use trueup_core::world::Provider;
use trueup_net::http::HttpClient;
use trueup_sim::ibm::{IbmSim, IbmSimOptions, Thing, ThingKind};

const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
const KIND: (&str, &str) = ("IBMPowerVSCluster", "ibmpowervsclusters");

/// A management cluster that serves these versions, and in the first of them holds a cluster whose VPC has no tags.
fn mgmt(versions: &[&str]) -> SimCluster {
    let sim = cluster("mgmt", 1);
    let api = |version: &str| format!("infrastructure.cluster.x-k8s.io/{version}");
    for version in versions {
        sim.register(ResourceKind::custom(&api(version), KIND.0, KIND.1).with_status());
    }
    sim.seed(json!({
        "apiVersion": api(versions[0]), "kind": KIND.0,
        "metadata": { "name": "demo", "namespace": "watched" },
        "spec": {},
        "status": { "vpc": { "id": "r006-1", "controllerCreated": true } },
    }))
    .unwrap();
    sim
}

fn account() -> Member {
    let (api_key, start) = ("key".to_owned(), START.parse().unwrap());
    let sim = IbmSim::new(IbmSimOptions { account: ACCOUNT.to_owned(), api_key, seed: 1, start });
    sim.seed(Thing::new(ThingKind::Vpc, "r006-1", "demo-vpc", "us-south", ACCOUNT, start));
    let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
    let key = ApiKey::parse("key").unwrap();
    let client = client::Account::new(HttpClient::in_process(sim.service()), endpoints, key);
    let connector = AccountConnector::new(Arc::new(IbmAccount::new("main", Some(Arc::new(client)))));
    let (account, used_from) = (ACCOUNT.to_owned(), trueup_core::world::MemberRule::default());
    let source = ClusterSource::Cloud { provider: Provider::Ibm, account, used_from };
    Member { source, ..member("ibm:main", connector) }
}

#[tokio::test(start_paused = true)]
async fn clusters_are_read_in_whichever_version_is_served() {
    for versions in [&["v1beta3"][..], &["v1beta2"], &["v1beta1"], &["v1beta2", "v1beta1"]] {
        let mgmt = mgmt(versions);
        let ports = Ports::new(
            Arc::new(PausedClock(tokio::time::Instant::now())),
            Arc::new(FixedJitter),
            Digester::new(&[5; 32]),
        );
        let mut live = Live::new(LiveSetup {
            domains: vec![Box::new(PowerVsTags::new(Settings::default()))],
            members: vec![member("mgmt", FixedConnector(mgmt.client())), account()],
            resolver: Box::new(Guests::default()),
            ports,
            live_max: LIVE_MAX,
        });
        assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes, "{versions:?}");
        let found: Vec<String> =
            live.judgements().iter().map(|(id, held)| format!("{id} {}", held.judgement.verdict)).collect();
        let expected = format!("powervs-tags/ibm:{ACCOUNT}/vpc/r006-1@watched/demo untagged");
        assert_eq!(found, [expected], "{versions:?}");
    }
}
