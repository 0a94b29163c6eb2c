//! What goes wrong is named, and no part of an account is taken for the whole.

use std::time::Duration;

use super::*;
use trueup_sim::ibm::{IbmEcho, IbmEffect, IbmFault};

fn refused(status: u16) -> IbmEffect {
    IbmEffect::Refused { status, retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn a_part_that_fails_is_named_and_the_rest_is_still_there() {
    let cases = [
        ("no right to list instances", IbmPart::Instances, refused(403), "workspaces and COS instances", 7),
        ("no right on gateways", IbmPart::Transit, refused(403), "connections of transit gateways", 8),
        ("no right in VPC", IbmPart::Vpc, refused(403), "load-balancers in us-south", 7),
        ("no right in PowerVS", IbmPart::Power, refused(403), "DHCP servers of workspace demo-workspace", 9),
        ("search refuses", IbmPart::Search, refused(403), "8 resources whose tags are not known", 3),
        ("broken for good", IbmPart::Transit, refused(503), "connections of transit gateways", 8),
        ("a proxy's page", IbmPart::Transit, IbmEffect::Page { status: 200 }, "connections of transit gateways", 8),
        ("half an answer", IbmPart::Search, IbmEffect::HalfJson, "8 resources whose tags are not known", 3),
        ("cut off", IbmPart::Vpc, IbmEffect::LostBefore, "load-balancers in us-south", 7),
        ("no answer", IbmPart::Power, IbmEffect::Silence, "DHCP servers of workspace demo-workspace", 9),
    ];
    for (case, part, effect, first, left) in cases {
        let given = given();
        given.sim.with(|server, _| server.fault(IbmFault::new(part, effect)));
        let inventory = given.account.read_inventory().await.unwrap();
        assert!(!inventory.is_complete(), "case: {case}");
        assert_eq!(inventory.missing[0].what, first, "case: {case}");
        assert_eq!(inventory.resources.len(), left, "case: {case}: {:?}", inventory.missing);
        assert!(!inventory.missing[0].error.remedy().is_empty(), "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_lead_in_a_circle_end() {
    let given = given();
    given.sim.with(|server, now| {
        for number in 0..150 {
            server.seed(Thing::new(ThingKind::Vpc, &format!("v-{number:03}"), "x", "us-south", ACCOUNT, now));
        }
        server.fault(IbmFault::new(IbmPart::Vpc, IbmEffect::PageLoop));
    });
    let inventory = given.account.read_inventory().await.unwrap();
    let problems: Vec<&Problem> = inventory.missing.iter().map(|missing| &missing.error.problem).collect();
    assert_eq!(problems, [&Problem::PageLoop]);
}

#[tokio::test(start_paused = true)]
async fn a_read_survives_transient_failures_and_honours_retry_after() {
    let date = "Mon, 16 Nov 2026 10:00:40 GMT";
    let cases = [
        ("away for a moment", refused(503), 2, 3),
        ("throttled", refused(429), 1, 1),
        ("throttled, seconds", IbmEffect::Refused { status: 429, retry_after: Some("20".into()) }, 1, 20),
        ("throttled, a date", IbmEffect::Refused { status: 429, retry_after: Some(date.into()) }, 1, 40),
        ("cut off", IbmEffect::LostAfter, 1, 1),
    ];
    for (case, effect, times, seconds) in cases {
        let given = given();
        let before = tokio::time::Instant::now();
        given.sim.with(|server, _| {
            server.fault(IbmFault { left: Some(times), ..IbmFault::new(IbmPart::Search, effect) });
        });
        let inventory = given.account.read_inventory().await.unwrap();
        assert!(inventory.is_complete(), "case: {case}: {:?}", inventory.missing);
        assert_eq!(before.elapsed().as_secs(), seconds, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_ends_in_mid_run_is_replaced() {
    let given = given();
    given.account.id().await.unwrap();
    given.sim.with(|server, _| server.revoke_tokens());
    assert!(given.account.read_inventory().await.unwrap().is_complete());
    assert_eq!(calls_of(&given.sim, IbmPart::Iam), 2);
}

#[tokio::test(start_paused = true)]
async fn without_a_token_there_is_no_inventory_but_iams_own_words() {
    let given = given();
    let error = account_of(&given.sim, "canary-other").read_inventory().await.unwrap_err();
    let said = "IAM: get a token: 400 (BXNIM0415E: Provided API key could not be found.) [request sim-request]";
    assert_eq!(error.to_string(), said);
    assert!(error.remedy().contains("api_key_file"), "{}", error.remedy());
}

#[tokio::test(start_paused = true)]
async fn a_key_of_another_account_sees_nothing_of_this_one() {
    let given = given();
    given.sim.with(|server, _| server.admit("other-key", "ffff"));
    let inventory = account_of(&given.sim, "other-key").read_inventory().await.unwrap();
    assert_eq!((inventory.account.as_str(), inventory.resources.len()), ("ffff", 0));
    assert!(!inventory.is_complete());
}

#[tokio::test(start_paused = true)]
async fn tags_that_nobody_may_list_are_not_known_and_never_empty() {
    let given = given();
    let made = create_vpc(&given.sim).await;
    given.sim.with(|server, _| server.set_tag_lists_max(0));
    let listed = async || given.account.read_inventory().await.unwrap();
    let inventory = listed().await;
    assert!(inventory.resources.iter().all(|resource| resource.id != made), "the index does not know it yet");
    assert_eq!(inventory.missing[0].what, "1 resource whose tags are not known");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let inventory = listed().await;
    assert!(inventory.is_complete() && inventory.resources.iter().any(|resource| resource.id == made));
}

/// Makes a VPC through the API, as its controller would.
async fn create_vpc(sim: &IbmSim) -> String {
    use http_body_util::{BodyExt as _, Full};
    use tower::ServiceExt as _;
    let send = async |uri: &str, authorization: &str, body: String| {
        let request = http::Request::post(uri).header("authorization", authorization);
        let request = request.body(Full::new(bytes::Bytes::from(body))).unwrap();
        let answer = sim.service().oneshot(request).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice::<serde_json::Value>(&body).unwrap()
    };
    let form = format!("grant_type=urn:ibm:params:oauth:grant-type:apikey&apikey={KEY}");
    let token = send("/identity/token", "", form).await["access_token"].as_str().unwrap().to_owned();
    let body = json!({ "name": "fresh" }).to_string();
    let made = send("/v1/vpcs?version=2026-01-01&generation=2", &format!("Bearer {token}"), body).await;
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn neither_key_nor_token_is_in_any_error() {
    for part in [IbmPart::Iam, IbmPart::Search, IbmPart::Vpc, IbmPart::Power, IbmPart::Instances, IbmPart::Transit] {
        let echo = |status| IbmEffect::Echo { status, form: IbmEcho::Plain };
        let effects = [refused(400), refused(401), refused(500), IbmEffect::HalfJson, IbmEffect::Page { status: 200 }];
        for effect in effects.into_iter().chain([400, 401, 403, 500].map(echo)) {
            let given = given();
            given.sim.with(|server, _| server.fault(IbmFault::new(part, effect)));
            let read = given.account.read_inventory().await;
            let shown = format!("{read:?}");
            assert!(!shown.contains("canary") && !shown.contains("eyJ"), "{shown}");
        }
    }
}
