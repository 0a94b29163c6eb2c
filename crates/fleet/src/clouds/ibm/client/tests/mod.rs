//! The client against the simulated account: load in `at_once`, good days here, bad ones in `bad_days`, writes in `writes`.

mod at_once;
mod bad_days;
mod writes;

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;

use super::*;
use trueup_core::world::IbmResourceKind;
use trueup_net::http::HttpClient;
use trueup_sim::ibm::{IbmPart, IbmSim, IbmSimOptions, Thing, ThingKind};

pub(super) const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
pub(super) const KEY: &str = "canary-key-5d1f";
const BASE: &str = "http://ibm.sim";

/// An account with one resource of each kind, all of them in place.
pub(super) struct Given {
    pub sim: IbmSim,
    pub account: Account,
}

pub(super) fn given() -> Given {
    let start = "2026-11-16T10:00:00Z".parse().unwrap();
    let sim = IbmSim::new(IbmSimOptions { account: ACCOUNT.into(), api_key: KEY.into(), seed: 7, start });
    let thing = |kind, id: &str, name: &str, location: &str| Thing::new(kind, id, name, location, ACCOUNT, start);
    let workspace = thing(ThingKind::Workspace, "ws-1", "demo-workspace", "dal10").tagged(&["env:prod"]);
    let workspace_crn = workspace.crn.clone();
    let vpc = thing(ThingKind::Vpc, "r006-1", "demo-vpc", "us-south").tagged(&["a:1", "b:2"]);
    let vpc_crn = vpc.crn.clone();
    let mut dhcp = thing(ThingKind::DhcpServer, "dhcp-1", "", "dal10").within("ws-1");
    dhcp.uses = vec!["net-1".into()];
    let mut balancer = thing(ThingKind::LoadBalancer, "r006-4", "demo-lb", "us-south");
    balancer.uses = vec!["0717-2".into()];
    let mut born_with_it = thing(ThingKind::SecurityGroup, "r006-5", "clever-name", "us-south").within("r006-1");
    born_with_it.is_default = true;
    let connection = |id: &str, kind: &str, to: &str| {
        let mut connection = thing(ThingKind::Connection, id, id, "global").within("tg-1");
        (connection.network_type, connection.network_id) = (Some(kind.into()), Some(to.into()));
        connection
    };
    for thing in [
        thing(ThingKind::Network, "net-1", "DHCPSERVERdemo_Private", "dal10").within("ws-1").tagged(&["n:1"]),
        dhcp,
        thing(ThingKind::Subnet, "0717-2", "demo-subnet", "us-south-1").within("r006-1"),
        thing(ThingKind::SecurityGroup, "r006-3", "demo-sg", "us-south").within("r006-1"),
        born_with_it,
        balancer,
        thing(ThingKind::TransitGateway, "tg-1", "demo-tg", "us-south"),
        connection("con-1", "vpc", &vpc_crn),
        connection("con-2", "power_virtual_server", &workspace_crn),
        thing(ThingKind::CosInstance, "cos-1", "demo-cos", "global"),
        workspace,
        vpc,
    ] {
        sim.seed(thing);
    }
    let account = account_of(&sim, KEY);
    Given { sim, account }
}

pub(super) fn account_of(sim: &IbmSim, key: &str) -> Account {
    let endpoints = Endpoints::at_one_place(BASE).unwrap();
    Account::new(HttpClient::in_process(sim.service()), endpoints, ApiKey::parse(key).unwrap())
}

pub(super) fn calls_of(sim: &IbmSim, part: IbmPart) -> usize {
    sim.with(|server, _| server.log().filter(|one| one.part == part).count())
}

#[tokio::test(start_paused = true)]
async fn an_inventory_has_every_kind_in_the_shape_of_a_recorded_account() {
    let given = given();
    let inventory = given.account.read_inventory().await.unwrap();
    assert_eq!((inventory.is_complete(), inventory.account.as_str()), (true, ACCOUNT));
    let brief = |resource: &IbmResource| {
        format!("{} {} in {}", resource.kind, resource.id, resource.parent.as_deref().unwrap_or("-"))
    };
    let all: Vec<String> = inventory.resources.iter().map(brief).collect();
    assert_eq!(
        all,
        [
            "workspace ws-1 in -",
            "dhcp-server dhcp-1 in ws-1",
            "network net-1 in ws-1",
            "vpc r006-1 in -",
            "subnet 0717-2 in r006-1",
            "security-group r006-3 in r006-1",
            "load-balancer r006-4 in r006-1",
            "transit-gateway tg-1 in -",
            "tg-connection con-1 in tg-1",
            "tg-connection con-2 in tg-1",
            "cos-instance cos-1 in -",
        ]
    );
    let entry = |id: &str| {
        let found = inventory.resources.iter().find(|resource| resource.id == id).unwrap();
        serde_json::to_value(found).unwrap()
    };
    assert_eq!(
        entry("r006-1"),
        json!({
            "kind": "vpc",
            "id": "r006-1",
            "crn": format!("crn:v1:bluemix:public:is:us-south:a/{ACCOUNT}::vpc:r006-1"),
            "name": "demo-vpc",
            "state": "available",
            "created_at": "2026-11-16T10:00:00Z",
            "tags": ["a:1", "b:2"],
            "locked": false,
        })
    );
    assert_eq!(
        entry("con-1"),
        json!({
            "kind": "tg-connection",
            "id": "con-1",
            "name": "con-1",
            "state": "attached",
            "created_at": "2026-11-16T10:00:00Z",
            "tags": [],
            "parent": "tg-1",
            "network_type": "vpc",
            "network_id": format!("crn:v1:bluemix:public:is:us-south:a/{ACCOUNT}::vpc:r006-1"),
            "locked": false,
        })
    );
    assert_eq!((&entry("dhcp-1")["network"], &entry("net-1")["tags"]), (&json!("net-1"), &json!(["n:1"])));
}

#[tokio::test(start_paused = true)]
async fn a_single_resource_is_read_as_in_the_inventory() {
    let given = given();
    let inventory = given.account.read_inventory().await.unwrap();
    for listed in inventory.resources {
        let mut resource = listed.clone();
        let (crn, parent) = (listed.crn.as_deref(), listed.parent.as_deref());
        let which = Which { kind: listed.kind, id: &listed.id, crn, parent };
        let alone = given.account.read_resource(&which).await.unwrap().unwrap();
        if resource.kind == IbmResourceKind::LoadBalancer {
            // Only the list of subnets says in which VPC it is.
            resource.parent = None;
        }
        assert_eq!(alone, resource);
        let gone = Which { id: "nowhere", ..which };
        assert_eq!(given.account.read_resource(&gone).await, Ok(None), "kind: {}", resource.kind);
    }
}

#[tokio::test(start_paused = true)]
async fn what_search_does_not_know_yet_has_its_tags_looked_up() {
    let given = given();
    given.sim.with(|server, now| {
        server.edit(now, "r006-1", |vpc| {
            vpc.tags.insert("late:1".into());
        });
        let made = Thing::new(ThingKind::Vpc, "r006-9", "new", "us-south", ACCOUNT, now).tagged(&["new:1"]);
        server.seed(made);
    });
    let tags = async |id: &str| {
        let inventory = given.account.read_inventory().await.unwrap();
        assert!(inventory.is_complete(), "{:?}", inventory.missing);
        inventory.resources.into_iter().find(|resource| resource.id == id).unwrap().tags
    };
    assert_eq!(tags("r006-1").await, ["a:1", "b:2"], "search is behind");
    let which = Which { kind: IbmResourceKind::Vpc, id: "r006-1", crn: Some(&vpc_crn()), parent: None };
    let now = given.account.read_resource(&which).await.unwrap().unwrap();
    assert_eq!(now.tags, ["a:1", "b:2", "late:1"], "the tagging service is not");
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(tags("r006-1").await, ["a:1", "b:2", "late:1"]);
    assert_eq!(tags("r006-9").await, ["new:1"]);
}

pub(super) fn vpc_crn() -> String {
    format!("crn:v1:bluemix:public:is:us-south:a/{ACCOUNT}::vpc:r006-1")
}

#[tokio::test(start_paused = true)]
async fn instances_in_every_state_are_listed_and_those_removed_are_not() {
    let given = given();
    for (state, listed) in [
        ("active", true),
        ("provisioning", true),
        ("pending_reclamation", true),
        ("pending_removal", true),
        ("failed", true),
        ("inactive", true),
        ("removed", false),
    ] {
        given.sim.with(|server, now| server.edit(now, "cos-1", |cos| cos.state = state.into()));
        let inventory = given.account.read_inventory().await.unwrap();
        let found = inventory.resources.iter().any(|resource| resource.id == "cos-1");
        assert_eq!((found, inventory.is_complete()), (listed, true), "state: {state}");
    }
}

#[tokio::test(start_paused = true)]
async fn edge_29_what_the_index_still_has_and_no_list_does_is_gone() {
    let given = given();
    let which = given.sim.with(|server, _| server.thing("r006-3").map(|group| group.crn.clone())).unwrap();
    given.sim.with(|server, now| server.remove(now, "r006-3"));
    let inventory = given.account.read_inventory().await.unwrap();
    let is_listed = inventory.resources.iter().any(|resource| resource.id == "r006-3");
    assert_eq!((is_listed, inventory.is_complete()), (false, true), "the index is behind, the lists are not");
    let which = Which { kind: IbmResourceKind::SecurityGroup, id: "r006-3", crn: Some(&which), parent: None };
    assert_eq!(given.account.read_resource(&which).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn five_thousand_resources_take_a_call_for_every_hundred() {
    let given = given();
    given.sim.with(|server, now| {
        for number in 0..5000 {
            let kind =
                [ThingKind::Vpc, ThingKind::SecurityGroup, ThingKind::Subnet, ThingKind::TransitGateway][number % 4];
            let id = format!("many-{number:05}");
            server.seed(Thing::new(kind, &id, &id, "us-south", ACCOUNT, now).within("r006-1").tagged(&["x:1"]));
        }
    });
    let inventory = given.account.read_inventory().await.unwrap();
    assert!(inventory.is_complete());
    let count = inventory.resources.len();
    assert!(count > 5000 && inventory.resources.iter().filter(|resource| resource.tags == ["x:1"]).count() == 5000);
    // 38 pages of VPC resources, 3 of gateways, 11 of search, and what an empty account takes: 10.
    assert!(inventory.calls as usize <= count / 100 + 15, "{} calls for {count} resources", inventory.calls);
    let small = super::tests::given().account.read_inventory().await.unwrap();
    assert!(small.calls < 20, "{} calls", small.calls);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_requested_once_and_renewed_after_four_fifths_of_its_lifetime() {
    let given = given();
    let (one, other) = tokio::join!(given.account.read_inventory(), given.account.read_inventory());
    assert!(one.unwrap().is_complete() && other.unwrap().is_complete());
    assert_eq!(calls_of(&given.sim, IbmPart::Iam), 1);
    for (minutes, bought) in [(47, 1), (2, 2), (47, 2), (70, 3)] {
        tokio::time::sleep(Duration::from_secs(minutes * 60)).await;
        assert!(given.account.read_inventory().await.unwrap().is_complete());
        assert_eq!(calls_of(&given.sim, IbmPart::Iam), bought, "after {minutes} minutes more");
    }
}

#[tokio::test(start_paused = true)]
async fn every_region_is_asked_at_its_own_endpoint() {
    let given = given();
    given.sim.seed(Thing::new(ThingKind::Vpc, "r010-1", "far", "eu-de", ACCOUNT, given.sim.now()));
    let endpoints = Endpoints::at_one_place(BASE).unwrap();
    let endpoints = endpoints.with(IbmService::Vpc, "http://ibm.sim/is/{region}/v1").unwrap();
    let http = HttpClient::in_process(given.sim.service());
    let account = Account::new(http, endpoints, ApiKey::parse(KEY).unwrap());
    let inventory = account.read_inventory().await.unwrap();
    let vpcs: Vec<&str> =
        inventory.resources.iter().filter(|one| one.kind == IbmResourceKind::Vpc).map(|one| one.id.as_str()).collect();
    assert_eq!((vpcs, inventory.is_complete()), (vec!["r006-1", "r010-1"], true));
}

#[tokio::test]
async fn the_date_of_every_answer_is_compared_with_the_local_clock() {
    let start: jiff::Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
    for (case, ahead, expected) in [("agrees", 0, false), ("nine days ahead", 9 * 86_400, true)] {
        let date = jiff::fmt::rfc2822::DateTimePrinter::new();
        let date = date.timestamp_to_rfc9110_string(&(start + jiff::SignedDuration::from_secs(ahead))).unwrap();
        let service = tower::service_fn(move |_: http::Request<Full<Bytes>>| {
            let answer = http::Response::builder().status(503).header(http::header::DATE, date.clone());
            std::future::ready(answer.body(Full::new(Bytes::new())))
        });
        let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
        let local: crate::connect::Clock = std::sync::Arc::new(move || start);
        let key = ApiKey::parse(KEY).unwrap();
        let account = Account::with_clock(HttpClient::in_process(service), endpoints, key, local);
        assert!(account.clock().skew().is_none(), "case: {case}: nothing was received yet");
        assert!(account.id().await.is_err(), "case: {case}");
        let skew = account.clock().skew().unwrap();
        assert_eq!(skew.is_excessive(), expected, "case: {case}: {skew}");
    }
}
