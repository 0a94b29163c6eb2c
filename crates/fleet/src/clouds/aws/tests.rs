//! The adapter alone, and with AWS behind it: what the observer receives.

use std::collections::BTreeSet;
use std::sync::Mutex;

use bytes::Bytes;
use http_body_util::Full;
use jiff::Timestamp;
use serde_json::json;
use tower::ServiceExt as _;

use super::account::{AwsAccount, AwsCache, AwsWay};
use crate::clouds::*;
use crate::connect::Env;
use crate::connect::testing::{answering, answering_with};
use crate::connect::{discovery, send};
use trueup_core::world::Served;
use trueup_net::http::HttpClient;
use trueup_net::{Egress, HostPort};
use trueup_sim::aws::{AwsFault, SimAws};

const NOW: &str = "2026-11-16T10:00:00Z";
const SECRET: &str = "/api/v1/namespaces/openshift-machine-api/secrets/aws-cloud-credentials";
const CLOUD_CONFIG: &str = "/api/v1/namespaces/openshift-config-managed/configmaps/kube-cloud-config";
const INFRASTRUCTURE: &str = "/apis/config.openshift.io/v1/infrastructures/cluster";
const NAMED: &str = "credentials=secret/openshift-machine-api/aws-cloud-credentials";

type Answers = Vec<(&'static str, u16, Value)>;

fn packed(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn keys_secret() -> Value {
    other_keys("AKIASIM")
}

fn other_keys(id: &str) -> Value {
    let data = json!({ "aws_access_key_id": packed(id), "aws_secret_access_key": packed("canary-secret") });
    json!({ "metadata": { "uid": "u", "resourceVersion": id }, "data": data })
}

struct Given {
    sim: SimAws,
    client: kube::Client,
}

async fn given(cluster: Answers, env: &[(&str, &str)]) -> Given {
    let now = || NOW.parse::<Timestamp>().unwrap();
    let sim = SimAws::new(now);
    sim.add_user("ann", "AKIASIM", "canary-secret");
    let way = AwsWay::InProcess(HttpClient::in_process(sim.service()));
    // An empty home folder: the real one must not decide tests.
    let env = Env::new(env.iter().copied().chain([("HOME", "/nonexistent")]));
    let cache = Arc::new(AwsCache::new(way, &env, Arc::new(now)));
    let account = AwsAccount::new("prod", answering(cluster), cache);
    let connector = AccountConnector::new(Arc::new(account));
    let connection = connector.connect().await.unwrap();
    Given { sim, client: connection.client }
}

async fn ask(client: &kube::Client, path: &str, fields: &str) -> (u16, Value) {
    let selector = percent_encoding::utf8_percent_encode(fields, percent_encoding::NON_ALPHANUMERIC);
    let url = format!("/apis/aws.cloud.trueup/v1/{path}?limit=1000&fieldSelector={selector}");
    let (code, body) = send::get_bytes(client, &url, send::JSON).await.unwrap();
    (code.as_u16(), serde_json::from_slice(&body).unwrap())
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_account_serves_its_own_kinds_and_nothing_else() {
    let given = given(vec![], &[]).await;
    let Served::Complete(kinds) = discovery::read(&given.client).await else { panic!("discovery is whole") };
    let expected = [("", "namespaces"), ("aws.cloud.trueup", "instancetypes"), ("aws.cloud.trueup", "lookups")];
    assert_eq!(kinds.names().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn only_the_wanted_types_are_listed_and_asked_for() {
    let given = given(vec![(SECRET, 200, keys_secret())], &[]).await;
    let fields = format!("{NAMED},types=m5.large+x9.none+t2.micro");
    let (code, list) = ask(&given.client, "namespaces/eu-west-1/instancetypes", &fields).await;
    assert_eq!((code, names(&list)), (200, vec!["m5.large", "t2.micro"]));
    let expected = json!({
        "apiVersion": "aws.cloud.trueup/v1", "kind": "InstanceType",
        "metadata": { "name": "m5.large", "namespace": "eu-west-1" },
        "type": { "name": "m5.large", "vcpu": 2, "memory_mib": 8192, "gpus": [], "architectures": ["x86_64"] },
    });
    assert_eq!(list["items"][0], expected);
    let (_, lookups) = ask(&given.client, "namespaces/eu-west-1/lookups", &fields).await;
    assert_eq!(names(&lookups), ["secret/openshift-machine-api/aws-cloud-credentials"]);
    let outcome = &lookups["items"][0]["outcome"];
    let found = (outcome["class"].as_str(), outcome["identity"].as_str());
    assert_eq!(found, (Some("ok"), Some("arn:aws:iam::123456789012:user/ann")));
    let calls: Vec<String> = given.sim.calls().into_iter().map(|call| call.action).collect();
    assert_eq!(calls, ["GetCallerIdentity", "DescribeInstanceTypes", "DescribeInstanceTypes"], "one more for x9.none");
}

#[tokio::test(start_paused = true)]
async fn a_lookup_waits_for_the_list_it_is_about() {
    let given = given(vec![(SECRET, 200, keys_secret())], &[]).await;
    given.sim.inject(AwsFault::refuse("DescribeInstanceTypes", 9, "UnauthorizedOperation"));
    let types = format!("{NAMED},types=m5.large");
    let lookup = ask(&given.client, "namespaces/us-east-1/lookups", NAMED);
    let list = ask(&given.client, "namespaces/us-east-1/instancetypes", &types);
    let ((_, lookups), (status, _)) = futures::join!(lookup, list);
    assert_eq!((status, lookups["items"][0]["outcome"]["code"].as_str()), (403, Some("UnauthorizedOperation")));
    assert_eq!(given.sim.calls().iter().filter(|call| call.action.starts_with("Describe")).count(), 1);
    let (_, elsewhere) = ask(&given.client, "namespaces/eu-west-1/lookups", NAMED).await;
    assert_eq!(elsewhere["items"], json!([]), "no types were requested there");
}

#[tokio::test]
async fn without_names_everything_is_listed() {
    let given = given(vec![(SECRET, 200, keys_secret())], &[]).await;
    let (_, list) = ask(&given.client, "namespaces/us-east-1/instancetypes", NAMED).await;
    assert_eq!(names(&list).len(), 14);
}

/// Injected failure → what the list of types answers → what the lookup says.
#[tokio::test(start_paused = true)]
async fn a_failed_lookup_is_reported_by_class_and_never_as_an_empty_list() {
    let secret = || vec![(SECRET, 200, keys_secret())];
    let with = |more: (&'static str, u16, Value)| vec![(SECRET, 200, keys_secret()), more];
    let denied = AwsFault::refuse("DescribeInstanceTypes", 9, "UnauthorizedOperation");
    let throttled = AwsFault::refuse("DescribeInstanceTypes", 99, "Throttling");
    let sts_cluster = json!({ "metadata": {}, "data": {
        "credentials": packed("[default]\nrole_arn = arn:aws:iam::123456789012:role/x\nweb_identity_token_file = /nowhere/token\n"),
    } });
    let bad_bundle = json!({ "data": { "ca-bundle.pem": "hello" } });
    let http_endpoint = json!({ "status": { "platformStatus": { "aws": { "serviceEndpoints": [{ "name": "ec2", "url": "http://x" }] } } } });
    let role = [("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/x")];
    type Variables = Vec<(&'static str, &'static str)>;
    type Case = (&'static str, Answers, Variables, Option<AwsFault>, u16, &'static str, &'static str);
    let cases: Vec<Case> = vec![
        ("not allowed by EC2", secret(), vec![], Some(denied), 403, "denied", "UnauthorizedOperation"),
        ("throttled for good", secret(), vec![], Some(throttled), 503, "transient", "Throttling"),
        (
            "an STS cluster's Secret",
            vec![(SECRET, 200, sts_cluster)],
            vec![],
            None,
            422,
            "token-unreadable",
            "token-elsewhere",
        ),
        (
            "a wrong key beside half of IRSA",
            vec![(SECRET, 200, other_keys("AKIANOBODY"))],
            role.to_vec(),
            None,
            403,
            "denied",
            "InvalidClientTokenId",
        ),
        ("no Secret", vec![], vec![], None, 403, "denied", "secret-missing"),
        ("the Secret may not be read", vec![(SECRET, 403, json!({}))], vec![], None, 403, "denied", "secret-forbidden"),
        ("the cluster does not answer", vec![(SECRET, 500, json!({}))], vec![], None, 503, "transient", "cluster"),
        ("a bundle that is not PEM", with((CLOUD_CONFIG, 200, bad_bundle)), vec![], None, 403, "denied", "ca-bundle"),
        ("an endpoint over http", with((INFRASTRUCTURE, 200, http_endpoint)), vec![], None, 403, "denied", "endpoint"),
        (
            "Infrastructure may not be read",
            with((INFRASTRUCTURE, 403, json!({}))),
            vec![],
            None,
            403,
            "denied",
            "cluster-forbidden",
        ),
    ];
    for (case, cluster, env, fault, status, class, code) in cases {
        let given = given(cluster, &env).await;
        let fields = format!("{NAMED},types=m5.large");
        if let Some(fault) = fault {
            given.sim.inject(fault);
        }
        let (http, _) = ask(&given.client, "namespaces/us-east-1/instancetypes", &fields).await;
        assert_eq!(http, status, "case: {case}");
        let (http, lookups) = ask(&given.client, "namespaces/us-east-1/lookups", &fields).await;
        let outcome = &lookups["items"][0]["outcome"];
        assert_eq!(http, 200, "case: {case}");
        assert_eq!((outcome["class"].as_str(), outcome["code"].as_str()), (Some(class), Some(code)), "case: {case}");
        assert!(!lookups.to_string().contains("canary"), "case: {case}");
    }
}

/// The hosts AWS was asked at through a cluster that names endpoints of its own, and what the lookup says.
async fn hosts_asked(
    cluster: Answers,
    env: &[(&str, &str)],
    egress: Egress,
    credentials: &str,
) -> (BTreeSet<String>, String) {
    let now = || NOW.parse::<Timestamp>().unwrap();
    let sim = SimAws::new(now);
    sim.add_user("ann", "AKIASIM", "canary-secret");
    let hosts: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let (service, log) = (sim.service(), hosts.clone());
    let spy = tower::service_fn(move |request: http::Request<Full<Bytes>>| {
        log.lock().unwrap().insert(request.uri().host().unwrap_or_default().to_owned());
        service.clone().oneshot(request)
    });
    let endpoints = json!([{ "name": "sts", "url": "https://sts.attacker.example" },
        { "name": "ec2", "url": "https://ec2.attacker.example" }]);
    let status = json!({ "status": { "platformStatus": { "aws": { "serviceEndpoints": endpoints } } } });
    let cluster = [vec![(INFRASTRUCTURE, 200, status)], cluster].concat();
    let env = Env::new(env.iter().copied());
    let cache = AwsCache::new(AwsWay::InProcess(HttpClient::in_process(spy)), &env, Arc::new(now)).with_egress(egress);
    let account = AwsAccount::new("prod", answering(cluster), Arc::new(cache));
    let client = AccountConnector::new(Arc::new(account)).connect().await.unwrap().client;
    let (_, lookups) = ask(&client, "namespaces/us-east-1/lookups", &format!("{credentials},types=m5.large")).await;
    let asked = hosts.lock().unwrap().clone();
    (asked, lookups["items"][0]["outcome"].to_string())
}

#[tokio::test(start_paused = true)]
async fn this_machines_own_identity_is_not_sent_to_endpoints_a_cluster_names() {
    let home = tempfile::tempdir().unwrap();
    let token = home.path().join("token");
    std::fs::write(&token, "header.eyJhdWQiOiJzdHMifQ.canary").unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let profile = "[default]\naws_access_key_id = AKIASIM\naws_secret_access_key = canary-secret\n";
    std::fs::write(home.path().join(".aws/credentials"), profile).unwrap();
    let (home, token) = (home.path().to_str().unwrap(), token.to_str().unwrap());
    let role = "arn:aws:iam::123456789012:role/x";
    let irsa = [("HOME", "/nonexistent"), ("AWS_ROLE_ARN", role), ("AWS_WEB_IDENTITY_TOKEN_FILE", token)];
    let own_profile = [("HOME", home)];
    let planted = format!("[default]\nrole_arn = {role}\nweb_identity_token_file = {token}\n");
    let planted = vec![(SECRET, 200, json!({ "metadata": {}, "data": { "credentials": packed(&planted) } }))];
    let keys = vec![(SECRET, 200, keys_secret())];
    let allowed =
        || Egress::new(["sts", "ec2"].map(|name| HostPort::parse(&format!("{name}.attacker.example")).unwrap()));
    type Variables<'a> = &'a [(&'a str, &'a str)];
    type Case<'a> = (&'a str, &'a str, Answers, Variables<'a>, Egress, &'a [&'a str]);
    let (theirs, aws) = (["ec2.attacker.example", "sts.attacker.example"], ["sts.us-east-1.amazonaws.com"]);
    let both_aws = ["ec2.us-east-1.amazonaws.com", "sts.us-east-1.amazonaws.com"];
    const OWN: &str = "credentials=own";
    let cases: [Case<'_>; 7] = [
        ("the role of this process", OWN, Vec::new(), &irsa, Egress::default(), &aws),
        ("the user's own profile", OWN, Vec::new(), &own_profile, Egress::default(), &both_aws),
        ("a Secret with a role", NAMED, planted.clone(), &own_profile, Egress::default(), &both_aws),
        (
            "a token file that a Secret names",
            NAMED,
            planted.clone(),
            &[("HOME", "/nonexistent")],
            Egress::default(),
            &[],
        ),
        ("keys out of the same cluster", NAMED, keys, &[("HOME", "/nonexistent")], Egress::default(), &theirs),
        ("the user's own profile, allowed by name", OWN, Vec::new(), &own_profile, allowed(), &theirs),
        ("the same file, allowed by name", NAMED, planted, &[("HOME", "/nonexistent")], allowed(), &[]),
    ];
    for (case, credentials, cluster, env, egress, expected) in cases {
        let refuses = egress == Egress::default();
        let (hosts, outcome) = hosts_asked(cluster, env, egress, credentials).await;
        assert_eq!(hosts.iter().map(String::as_str).collect::<Vec<_>>(), expected, "case: {case}: {outcome}");
        let names_line = outcome.contains("[egress] allow = [\\\"sts.attacker.example:443\\\"]");
        let is_own = expected.iter().any(|host| host.ends_with("amazonaws.com"));
        assert_eq!(names_line, refuses && is_own, "case: {case}: {outcome}");
        assert!(!outcome.contains("canary"), "case: {case}: {outcome}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_users_own_endpoints_take_the_place_of_those_a_cluster_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".aws")).unwrap();
    let keys = "[default]\naws_access_key_id = AKIASIM\naws_secret_access_key = canary-secret\n";
    std::fs::write(folder.path().join(".aws/credentials"), keys).unwrap();
    let config = folder.path().join(".aws/config");
    let home = ("HOME", folder.path().to_str().unwrap());
    let of_pod = "[default]\nrole_arn = arn:aws:iam::123456789012:role/x\nweb_identity_token_file = /nowhere\n";
    let cluster = vec![(SECRET, 200, json!({ "metadata": {}, "data": { "credentials": packed(of_pod) } }))];
    let (own, profile) =
        (("AWS_ENDPOINT_URL", "https://aws.mine.example"), "[default]\nendpoint_url = https://p.example\n");
    let aws = ["ec2.us-east-1.amazonaws.com", "sts.us-east-1.amazonaws.com"];
    let off = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    type Variables<'a> = Vec<(&'a str, &'a str)>;
    let cases: [(&str, &str, Variables<'_>, &[&str]); 4] = [
        ("neither", "", vec![home], &aws),
        ("the environment", profile, vec![home, own], &["aws.mine.example"]),
        ("the profile", profile, vec![home], &["p.example"]),
        ("both turned off", profile, vec![home, own, off], &aws),
    ];
    for (case, profile, env, expected) in cases {
        std::fs::write(&config, profile).unwrap();
        let (hosts, outcome) = hosts_asked(cluster.clone(), &env, Egress::default(), NAMED).await;
        assert_eq!(hosts.iter().map(String::as_str).collect::<Vec<_>>(), expected, "case: {case}: {outcome}");
        assert!(outcome.contains("[egress] allow = [\\\"sts.attacker.example:443\\\"]"), "case: {case}: {outcome}");
    }
}

#[tokio::test]
async fn an_empty_bundle_is_none() {
    for (case, data) in
        [("empty", json!({ "ca-bundle.pem": "" })), ("another key", json!({ "x": "y" })), ("none", json!(null))]
    {
        let cluster = vec![(SECRET, 200, keys_secret()), (CLOUD_CONFIG, 200, json!({ "data": data }))];
        let (status, list) = ask(
            &given(cluster, &[]).await.client,
            "namespaces/us-east-1/instancetypes",
            &format!("{NAMED},types=m5.large"),
        )
        .await;
        assert_eq!((status, names(&list)), (200, vec!["m5.large"]), "case: {case}");
    }
}

/// A Secret is used as it is: what this process would use for itself is not looked at.
#[tokio::test]
async fn a_secret_is_used_beside_no_environment_and_the_own_login_is_asked_for_by_name() {
    let role = ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/x");
    let both = [role, ("AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere/token")];
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&str, Variables<'_>, &str, &str, &str); 5] = [
        ("a Secret beside half a role here", &[role], NAMED, "ok", ""),
        ("a Secret beside a role here", &both, NAMED, "ok", ""),
        ("no own login", &[], "credentials=own", "denied", "own-login-none"),
        ("half an own role", &[role], "credentials=own", "denied", "aws-web-identity-token-file-missing"),
        ("an unknown form", &[], "credentials=pod/x", "denied", "credentials"),
    ];
    for (case, env, credentials, class, code) in cases {
        let given = given(vec![(SECRET, 200, keys_secret())], env).await;
        let fields = format!("{credentials},types=m5.large");
        let (_, lookups) = ask(&given.client, "namespaces/us-east-1/lookups", &fields).await;
        let outcome = &lookups["items"][0]["outcome"];
        assert_eq!((outcome["class"].as_str(), outcome["code"].as_str()), (Some(class), Some(code)), "case: {case}");
    }
}

/// Keys are read again once when AWS refuses them: they may have been replaced in between.
#[tokio::test(start_paused = true)]
async fn replaced_keys_are_read_again_once() {
    let reads = |keys: [&'static str; 3]| {
        let left = Arc::new(Mutex::new(keys.to_vec()));
        let answer = move |request: &http::Request<kube::client::Body>| {
            if request.uri().path() != SECRET {
                return (404, json!({}));
            }
            let mut left = left.lock().unwrap();
            let id = if left.len() > 1 { left.remove(0) } else { left[0] };
            (200, other_keys(id))
        };
        answering_with(answer)
    };
    let cases = [
        ("replaced", ["AKIAOLD", "AKIASIM", "AKIASIM"], "ok", ""),
        ("not replaced", ["AKIAOLD", "AKIAOLD", "AKIASIM"], "denied", "InvalidClientTokenId"),
        ("replaced by another wrong one", ["AKIAOLD", "AKIANEW", "AKIASIM"], "denied", "InvalidClientTokenId"),
    ];
    for (case, keys, class, code) in cases {
        let now = || NOW.parse::<Timestamp>().unwrap();
        let sim = SimAws::new(now);
        sim.add_user("ann", "AKIASIM", "canary-secret");
        let way = AwsWay::InProcess(HttpClient::in_process(sim.service()));
        let cache = Arc::new(AwsCache::new(way, &Env::new([("HOME", "/nonexistent")]), Arc::new(now)));
        let account = AwsAccount::new("prod", reads(keys), cache);
        let client = AccountConnector::new(Arc::new(account)).connect().await.unwrap().client;
        let (_, lookups) = ask(&client, "namespaces/us-east-1/lookups", &format!("{NAMED},types=m5.large")).await;
        let outcome = &lookups["items"][0]["outcome"];
        assert_eq!((outcome["class"].as_str(), outcome["code"].as_str()), (Some(class), Some(code)), "case: {case}");
    }
}

#[tokio::test]
async fn a_region_that_is_none_is_not_asked() {
    let given = given(vec![(SECRET, 200, keys_secret())], &[]).await;
    let (code, _) = ask(&given.client, "namespaces/mars-north-1/instancetypes", NAMED).await;
    assert_eq!((code, given.sim.calls().len()), (403, 0));
}

#[tokio::test]
async fn the_adapter_writes_nothing() {
    let given = given(vec![], &[]).await;
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let request = http::Request::builder().method(method).uri("/apis/aws.cloud.trueup/v1/lookups");
        let answer = given.client.send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap();
        assert_eq!(answer.status().as_u16(), 405, "method: {method}");
    }
}

/// An account with one thing, which may be cut short.
struct Plain {
    listing: Mutex<Listing>,
}

const THINGS: [Resource; 1] =
    [Resource { group: "ibm.cloud.trueup", version: "v1", kind: "Resource", plural: "resources", namespaced: false }];

impl Account for Plain {
    fn server(&self) -> String {
        "plain".to_owned()
    }

    fn clock(&self) -> ServerClock {
        ServerClock::default()
    }

    fn kinds(&self) -> &'static [Resource] {
        &THINGS
    }

    fn list<'a>(&'a self, _: &'a Asked) -> BoxFuture<'a, Result<Listing, NoListing>> {
        let listing = self.listing.lock().unwrap().clone();
        Box::pin(async move { Ok(listing) })
    }
}

async fn plain(cut_short: Option<NoListing>) -> kube::Client {
    let items = vec![json!({ "metadata": { "name": "vpc/1" } })];
    let listing = Mutex::new(Listing { items, cut_short, fresh_for: Duration::from_secs(60) });
    AccountConnector::new(Arc::new(Plain { listing })).connect().await.unwrap().client
}

async fn get(client: &kube::Client, query: &str) -> (u16, Value) {
    let (code, body) =
        send::get_bytes(client, &format!("/apis/ibm.cloud.trueup/v1/resources?{query}"), send::JSON).await.unwrap();
    (code.as_u16(), serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_held_until_the_list_is_old_and_then_asks_for_a_new_one() {
    let client = plain(None).await;
    let (_, list) = get(&client, "limit=5").await;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let began = tokio::time::Instant::now();
    let cases = [
        ("the client's time is over first", version.clone(), 20, 20, Value::Null),
        ("the list is old", version, 240, 40, json!(410)),
        ("a list that does not exist", "17".to_owned(), 240, 0, json!(410)),
    ];
    for (case, version, timeout, held, code) in cases {
        let before = began.elapsed();
        let query = format!("watch=true&resourceVersion={version}&timeoutSeconds={timeout}");
        let response =
            send::stream(&client, &format!("/apis/ibm.cloud.trueup/v1/resources?{query}"), send::JSON).await.unwrap();
        let body = send::collect(response.into_body(), send::BODY_MAX).await.unwrap();
        let line: Value = serde_json::from_slice(&body).unwrap_or_default();
        assert_eq!(line["object"]["code"], code, "case: {case}");
        assert_eq!((began.elapsed() - before).as_secs(), held, "case: {case}");
    }
}

#[tokio::test]
async fn a_list_that_was_cut_short_is_never_finished() {
    let why = NoListing { status: StatusCode::FORBIDDEN, reason: "Denied", retry_after: None };
    let client = plain(Some(why)).await;
    let (code, first) = get(&client, "limit=5").await;
    let token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    assert_eq!((code, names(&first), token.is_empty()), (200, vec!["vpc/1"], false));
    let (code, _) = get(&client, &format!("limit=5&continue={token}")).await;
    assert_eq!(code, 403);
}

#[tokio::test(start_paused = true)]
async fn the_date_of_every_answer_of_aws_is_compared_with_the_local_clock() {
    let start: Timestamp = NOW.parse().unwrap();
    for (case, ahead, expected) in [("agrees", 0, false), ("nine days ahead", 9 * 86_400, true)] {
        let date = jiff::fmt::rfc2822::DateTimePrinter::new();
        let date = date.timestamp_to_rfc9110_string(&(start + jiff::SignedDuration::from_secs(ahead))).unwrap();
        let service = tower::service_fn(move |_: http::Request<Full<Bytes>>| {
            let answer = http::Response::builder().status(503).header(http::header::DATE, date.clone());
            std::future::ready(answer.body(Full::new(Bytes::new())))
        });
        let way = AwsWay::InProcess(HttpClient::in_process(service));
        let cache = Arc::new(AwsCache::new(way, &Env::new([("HOME", "/nonexistent")]), Arc::new(move || start)));
        let account = AwsAccount::new("prod", answering(vec![(SECRET, 200, keys_secret())]), cache);
        let connection = AccountConnector::new(Arc::new(account)).connect().await.unwrap();
        assert!(connection.clock.skew().is_none(), "case: {case}: nothing was received yet");
        let types = format!("{NAMED},types=m5.large");
        let (status, _) = ask(&connection.client, "namespaces/eu-west-1/instancetypes", &types).await;
        assert_ne!(status, 200, "case: {case}");
        let skew = connection.clock.skew().unwrap();
        assert_eq!(skew.is_excessive(), expected, "case: {case}: {skew}");
    }
}
