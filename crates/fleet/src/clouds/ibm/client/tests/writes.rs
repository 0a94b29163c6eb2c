//! Writes go out once, with a token, to the key's own account.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use tower::ServiceExt as _;

use super::*;
use trueup_core::engine::executor::InFlight;
use trueup_sim::ibm::{IbmEffect, IbmFault};

fn written(sim: &IbmSim) -> Vec<(Method, Option<u16>)> {
    sim.with(|server, _| {
        let writes = server.log().filter(|one| one.method == Method::DELETE || one.path.contains("tags/"));
        writes.map(|one| (one.method.clone(), one.status)).collect()
    })
}

#[tokio::test(start_paused = true)]
async fn tags_are_attached_and_detached_by_name() {
    let given = given();
    let token = InFlight::for_test();
    let names = ["Owner:Demo".to_owned(), "env:x".to_owned()];
    given.account.attach_tags(&token, &vpc_crn(), &names).await.unwrap();
    let tags = || given.sim.with(|server, _| server.thing("r006-1").unwrap().tags.iter().cloned().collect::<Vec<_>>());
    assert_eq!(tags(), ["a:1", "b:2", "env:x", "owner:demo"]);
    given.account.detach_tags(&token, &vpc_crn(), &["env:x".to_owned()]).await.unwrap();
    assert_eq!(tags(), ["a:1", "b:2", "owner:demo"]);
}

/// The search index lags: for ten minutes after a change from here the tagging service itself is asked.
#[tokio::test(start_paused = true)]
async fn tags_changed_from_here_are_read_from_the_tagging_service() {
    let given = given();
    given.account.attach_tags(&InFlight::for_test(), &vpc_crn(), &["env:x".to_owned()]).await.unwrap();
    let asked = || calls_of(&given.sim, IbmPart::Tagging);
    let attached = asked();
    let inventory = given.account.read_inventory().await.unwrap();
    let vpc = inventory.resources.iter().find(|resource| resource.id == "r006-1").unwrap();
    assert!(serde_json::to_value(vpc).unwrap()["tags"].as_array().unwrap().contains(&json!("env:x")));
    let first = asked() - attached;
    tokio::time::advance(Duration::from_secs(10 * 60)).await;
    given.account.read_inventory().await.unwrap();
    let second = asked() - attached - first;
    assert!(second < first, "the index counts again: {first}, then {second}");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_inside_a_200_is_an_error() {
    let given = given();
    let attach = given.account.attach_tags(&InFlight::for_test(), &vpc_crn(), &["a/b:1".to_owned()]).await;
    let error = attach.unwrap_err();
    assert!(matches!(error.problem, Problem::ItemRefused { .. }) && !error.may_have_arrived(), "{error}");
    assert_eq!(written(&given.sim), [(Method::POST, Some(200))]);
}

#[tokio::test(start_paused = true)]
async fn nothing_leaves_for_another_account_or_for_a_wildcard() {
    let given = given();
    let token = InFlight::for_test();
    let other = vpc_crn().replace(ACCOUNT, "ffff");
    let cases = [
        ("another account", other.clone(), "x:1"),
        ("no account", vpc_crn().replace(&format!("a/{ACCOUNT}"), ""), "x:1"),
        ("a star", vpc_crn(), "x:*"),
    ];
    for (case, crn, name) in cases {
        let names = [name.to_owned()];
        assert!(given.account.attach_tags(&token, &crn, &names).await.is_err(), "case: {case}");
        assert!(given.account.detach_tags(&token, &crn, &names).await.is_err(), "case: {case}");
    }
    let mut resource = given.account.read_inventory().await.unwrap().resources.remove(3);
    resource.crn = Some(other);
    let refused = given.account.delete(&token, &resource).await.unwrap_err();
    assert!(matches!(refused.problem, Problem::OtherAccount { .. }), "{refused}");
    assert_eq!(written(&given.sim), []);
}

#[tokio::test(start_paused = true)]
async fn a_write_goes_out_once_and_says_whether_it_may_have_arrived() {
    let refused = |status| IbmEffect::Refused { status, retry_after: None };
    let cases = [
        ("away", refused(503), true),
        ("a gateway gave up", IbmEffect::GatewayTimeout, true),
        ("the answer was lost", IbmEffect::LostAfter, true),
        ("throttled", refused(429), false),
        ("forbidden", refused(403), false),
        ("token refused", refused(401), false),
    ];
    for (case, effect, may) in cases {
        let given = given();
        let inventory = given.account.read_inventory().await.unwrap();
        let group = inventory.resources.iter().find(|resource| resource.id == "r006-3").unwrap();
        given.sim.with(|server, _| server.fault(IbmFault::new(IbmPart::Vpc, effect).on(Method::DELETE, "")));
        let error = given.account.delete(&InFlight::for_test(), group).await.unwrap_err();
        assert_eq!(error.may_have_arrived(), may, "case: {case}");
        assert_eq!(written(&given.sim).len(), 1, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_goes_when_its_turn_has_come() {
    let given = given();
    let order = ["con-2", "con-1", "tg-1", "r006-4", "r006-3", "0717-2", "r006-1", "dhcp-1", "ws-1", "cos-1"];
    for id in order {
        let inventory = given.account.read_inventory().await.unwrap();
        let resource = inventory.resources.iter().find(|resource| resource.id == id).unwrap();
        given.account.delete(&InFlight::for_test(), resource).await.unwrap_or_else(|error| panic!("{id}: {error}"));
        tokio::time::sleep(Duration::from_secs(60)).await;
        let which = Which { kind: resource.kind, id, crn: resource.crn.as_deref(), parent: resource.parent.as_deref() };
        let left = given.account.read_resource(&which).await.unwrap().and_then(|resource| resource.state);
        let expected = (id == "cos-1").then_some("pending_reclamation");
        assert_eq!(left.as_deref(), expected, "id: {id}");
    }
    let left = given.account.read_inventory().await.unwrap();
    assert_eq!(left.resources.len(), 1, "{:?}", left.resources);
}

/// Edge case 25: its keys would keep it, and are of no use without it. Its buckets' names are free for everybody then.
#[tokio::test(start_paused = true)]
async fn edge_25_an_instance_of_object_storage_goes_with_its_keys() {
    let given = given();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let (sim, noted) = (given.sim.clone(), asked.clone());
    let service = tower::service_fn(move |request: http::Request<Full<Bytes>>| {
        if request.method() == Method::DELETE {
            noted.lock().unwrap().push(request.uri().to_string());
        }
        sim.service().oneshot(request)
    });
    let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
    let account = Account::new(HttpClient::in_process(service), endpoints, ApiKey::parse(KEY).unwrap());
    let inventory = account.read_inventory().await.unwrap();
    let cos = inventory.resources.iter().find(|resource| resource.id == "cos-1").unwrap();
    account.delete(&InFlight::for_test(), cos).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["http://ibm.sim/v2/resource_instances/cos-1?recursive=true"]);
}
