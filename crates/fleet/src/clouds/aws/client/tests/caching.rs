//! What is asked of AWS, and how often.

use super::*;
use trueup_sim::aws::{AwsFault, SimInstanceType};

fn principal(given: &Given) -> Principal {
    Principal::WebIdentity(given.identity())
}

async fn find(given: &Given, catalogue: &Catalogue, names: &[&str]) -> Vec<bool> {
    let found = catalogue.find(&principal(given), &region("us-east-1"), &wanted(names)).await.unwrap();
    names.iter().map(|name| found.types[*name].is_some()).collect()
}

#[tokio::test]
async fn only_what_is_not_known_is_asked_for() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    assert_eq!(find(&given, &catalogue, &["m5.large", "t2.micro"]).await, [true, true]);
    let first = ["AssumeRoleWithWebIdentity", "GetCallerIdentity", "DescribeInstanceTypes"];
    assert_eq!(given.actions(), first);
    assert_eq!(find(&given, &catalogue, &["m5.large"]).await, [true]);
    assert_eq!(given.actions(), first, "what is known is not asked again");
    find(&given, &catalogue, &["m5.large", "a1.2xlarge"]).await;
    assert_eq!(given.sim.calls().last().unwrap().names, 1, "of two, the one that is new");
}

/// A role of one partition is none in another. Seen: one GovCloud set made the sets of every other region `denied`.
#[tokio::test]
async fn a_failure_in_one_region_says_nothing_about_another() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    let of = async |name: &str| {
        let found = catalogue.find(&principal(&given), &region(name), &wanted(&["m5.large"])).await;
        found.map(|found| found.types["m5.large"].is_some()).map_err(|error| error.code)
    };
    assert_eq!(of("us-gov-west-1").await, Err("role-partition".to_owned()));
    assert_eq!(of("us-east-1").await, Ok(true));
    given.sim.inject(AwsFault::refuse("AssumeRoleWithWebIdentity", 9, "RegionDisabledException"));
    assert_eq!(of("eu-west-1").await, Err("RegionDisabledException".to_owned()));
    assert_eq!(of("us-east-1").await, Ok(true), "the session of a region outlives a failure in another");
}

#[tokio::test]
async fn a_miss_is_asked_for_once_and_then_waits() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    assert_eq!(find(&given, &catalogue, &["x9.new"]).await, [false]);
    given.sim.offer("us-east-1", SimInstanceType::new("x9.new", 2, 8192, &["x86_64"]));
    let asked = given.actions().len();
    assert_eq!(find(&given, &catalogue, &["x9.new"]).await, [false]);
    assert_eq!(given.actions().len(), asked, "not before its time");
    given.pass(Duration::from_secs(601));
    assert_eq!(find(&given, &catalogue, &["x9.new"]).await, [true]);
}

#[tokio::test]
async fn a_type_is_asked_for_again_after_a_day() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    find(&given, &catalogue, &["m5.large"]).await;
    given.pass(Duration::from_secs(24 * 3600 + 1));
    given.write_token(&given.token());
    find(&given, &catalogue, &["m5.large"]).await;
    let lookups = given.actions().iter().filter(|action| *action == "DescribeInstanceTypes").count();
    assert_eq!(lookups, 2);
}

#[tokio::test]
async fn five_regions_and_forty_types_cost_one_call_a_region() {
    let given = Given::new();
    let regions = ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"];
    let names: BTreeSet<String> = (0..40).map(|number| format!("m{number}.large")).collect();
    for name in regions {
        for one in &names {
            given.sim.offer(name, SimInstanceType::new(one, 2, 8192, &["x86_64"]));
        }
    }
    let catalogue = Catalogue::new(given.aws.clone());
    for machine_set in 0..2_000 {
        let name = regions[machine_set % regions.len()];
        catalogue.find(&principal(&given), &region(name), &names).await.unwrap();
    }
    let calls = given.actions();
    let of = |action: &str| calls.iter().filter(|one| *one == action).count();
    assert_eq!(of("DescribeInstanceTypes"), 5);
    assert_eq!((of("AssumeRoleWithWebIdentity"), of("GetCallerIdentity"), calls.len()), (5, 5, 15));
}

#[tokio::test]
async fn everything_a_region_offers_is_asked_for_once_and_answers_for_every_name() {
    let given = Given::new();
    given.sim.set_page(5);
    let catalogue = Catalogue::new(given.aws.clone());
    let east = region("us-east-1");
    let all = catalogue.find_all(&principal(&given), &east).await.unwrap();
    assert_eq!(all.types.len(), 14);
    assert_eq!(find(&given, &catalogue, &["m5.large", "x9.new"]).await, [true, false]);
    let lookups = given.actions().iter().filter(|action| *action == "DescribeInstanceTypes").count();
    assert_eq!(lookups, 3, "fourteen types on pages of five");
}

#[tokio::test]
async fn concurrent_requests_share_one_answer() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    let asked = (0..50).map(|_| find(&given, &catalogue, &["m5.large"]));
    futures::future::join_all(asked).await;
    assert_eq!(given.actions().len(), 3);
}

#[tokio::test]
async fn keys_are_renewed_before_they_end_and_after_they_ended_unseen() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    find(&given, &catalogue, &["m5.large"]).await;
    given.pass(Duration::from_secs(3600 - 200));
    given.write_token(&given.token());
    find(&given, &catalogue, &["t2.micro"]).await;
    let exchanges = |given: &Given| given.actions().iter().filter(|one| *one == "AssumeRoleWithWebIdentity").count();
    assert_eq!(exchanges(&given), 2, "five minutes before the end");
    given.sim.end_sessions();
    assert_eq!(find(&given, &catalogue, &["a1.2xlarge"]).await, [true]);
    assert_eq!(exchanges(&given), 3, "ended by somebody else");
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_not_tried_again_before_its_time() {
    let cases = [
        ("denied", AwsFault::refuse("DescribeInstanceTypes", 1, "UnauthorizedOperation"), 61),
        ("throttled", AwsFault::refuse("DescribeInstanceTypes", 4, "Throttling"), 11),
        ("denied by STS", AwsFault::refuse("AssumeRoleWithWebIdentity", 1, "AccessDenied"), 61),
    ];
    for (case, fault, seconds) in cases {
        let given = Given::new();
        let catalogue = Catalogue::new(given.aws.clone());
        given.sim.inject(fault);
        let find = || async { catalogue.find(&principal(&given), &region("us-east-1"), &wanted(&["m5.large"])).await };
        let first = find().await.unwrap_err();
        let asked = given.actions().len();
        assert_eq!(find().await.unwrap_err(), first, "case: {case}");
        assert_eq!(given.actions().len(), asked, "case: {case}");
        given.pass(Duration::from_secs(seconds));
        assert!(find().await.is_ok(), "case: {case}");
    }
}

#[tokio::test]
async fn cached_results_of_one_principal_are_not_given_to_another() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    find(&given, &catalogue, &["m5.large"]).await;
    let secret =
        |version: &str, keys: Keys| Principal::SecretKeys { uid: "u".to_owned(), version: version.to_owned(), keys };
    let wrong = Keys { secret_access_key: SecretText::new("another"), ..user_keys() };
    let east = region("us-east-1");
    assert!(catalogue.find(&secret("1", wrong), &east, &wanted(&["m5.large"])).await.is_err());
    let mended = catalogue.find(&secret("2", user_keys()), &east, &wanted(&["m5.large"])).await.unwrap();
    assert_eq!(mended.caller, "arn:aws:iam::123456789012:user/ann", "a new version of the Secret is tried at once");
}

#[tokio::test]
async fn an_unknown_region_is_distinguished_from_a_network_failure() {
    let given = Given::new();
    let catalogue = Catalogue::new(given.aws.clone());
    let keys = || Principal::SecretKeys { uid: "u".to_owned(), version: "1".to_owned(), keys: user_keys() };
    let cases = [
        ("made up", keys(), "us-east-9", "region-unknown"),
        ("not enabled", keys(), "af-south-1", "region-not-opted-in"),
        ("made up, with a role that is taken on there", principal(&given), "us-east-9", "region-unknown"),
    ];
    for (case, principal, name, expected) in cases {
        let error = catalogue.find(&principal, &region(name), &wanted(&["m5.large"])).await.unwrap_err();
        assert_eq!((error.class, error.code.as_str()), (Class::Denied, expected), "case: {case}");
    }
}
