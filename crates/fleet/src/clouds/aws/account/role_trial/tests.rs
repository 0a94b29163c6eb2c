use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use http::Request;
use http_body_util::Full;
use jiff::Timestamp;
use serde_json::Value;
use tower::ServiceExt as _;

use super::super::AwsWay;
use super::*;
use crate::connect::Env;
use crate::connect::testing::answering_with;
use trueup_net::http::HttpClient;
use trueup_net::{Egress, HostPort};
use trueup_sim::aws::{AwsFault, AwsFaultKind, SimAws};

const NOW: &str = "2026-11-16T10:00:00Z";
const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const ISSUER: &str = "https://oidc.example/c1";
const SUBJECT: &str = "system:serviceaccount:tools:annotator";
const PATH: &str = "/api/v1/namespaces/tools/serviceaccounts/annotator/token";
const INFRASTRUCTURE: &str = "/apis/config.openshift.io/v1/infrastructures/cluster";
const OWN_KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKIASIM"), ("AWS_SECRET_ACCESS_KEY", "canary-secret")];

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A cluster whose annotator has this token, and an AWS that trusts one of them.
struct Given {
    sim: SimAws,
    hosts: Arc<Mutex<BTreeSet<String>>>,
    token: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Given {
    fn new(audience: &str, subject: &str) -> Self {
        let sim = SimAws::new(now);
        sim.add_user("ann", "AKIASIM", "canary-secret");
        sim.trust(ROLE, ISSUER, "sts.amazonaws.com", SUBJECT);
        let token = sim.mint_token(ISSUER, audience, subject, "2026-11-16T10:10:00Z".parse().unwrap());
        Self { sim, hosts: Arc::default(), token, asked: Arc::default() }
    }

    fn cluster(&self, status: u16, infrastructure: Value) -> kube::Client {
        let (token, asked) = (self.token.clone(), self.asked.clone());
        answering_with(move |request| {
            let path = request.uri().path();
            asked.lock().unwrap().push(format!("{} {path}", request.method()));
            match path {
                PATH => (status, json!({ "status": { "token": token, "expirationTimestamp": NOW } })),
                INFRASTRUCTURE if infrastructure.is_object() => (200, infrastructure.clone()),
                _ => (404, json!({})),
            }
        })
    }

    fn cache(&self, env: &[(&str, &str)], egress: Egress) -> AwsCache {
        let (service, hosts) = (self.sim.service(), self.hosts.clone());
        let spy = tower::service_fn(move |request: Request<Full<Bytes>>| {
            hosts.lock().unwrap().insert(request.uri().host().unwrap_or_default().to_owned());
            service.clone().oneshot(request)
        });
        let way = AwsWay::InProcess(HttpClient::in_process(spy));
        AwsCache::new(way, &Env::new(env.iter().copied()), Arc::new(now)).with_egress(egress)
    }

    async fn tried(&self, env: &[(&str, &str)], status: u16) -> RoleTried {
        try_role(&self.cache(env, Egress::default()), &self.cluster(status, Value::Null), &trial()).await
    }

    /// Everything that is shown, free of the token and of keys.
    fn shown(&self, tried: &RoleTried) -> String {
        let shown = [vec![tried.message()], tried.details().to_vec()].concat().join("\n");
        let debug = format!("{tried:?}{shown}");
        let is_leaked = self.token.split('.').skip(1).any(|part| debug.contains(part)) || debug.contains("canary");
        assert!(!is_leaked, "a secret is shown: {debug}");
        shown
    }
}

fn trial() -> RoleTrial<'static> {
    RoleTrial {
        namespace: "tools",
        service_account: "annotator",
        audience: Some("sts.amazonaws.com"),
        role: ROLE,
        region: "eu-west-1",
    }
}

#[tokio::test]
async fn a_token_of_the_service_account_is_accepted_or_refused_with_the_trust_policy_beside_it() {
    let needed = "the trust policy of arn:aws:iam::123456789012:role/annotator has to allow sts:AssumeRoleWithWebIdentity \
                  to arn:aws:iam::123456789012:oidc-provider/oidc.example/c1, with oidc.example/c1:aud sts.amazonaws.com \
                  and oidc.example/c1:sub system:serviceaccount:tools:other";
    let good = Given::new("sts.amazonaws.com", SUBJECT);
    let tried = good.tried(&[], 201).await;
    assert_eq!(
        good.shown(&tried),
        "tried: STS accepts a token of the ServiceAccount as \
         arn:aws:sts::123456789012:assumed-role/annotator/trueup-probe (the token has aud sts.amazonaws.com, iss \
         https://oidc.example/c1, sub system:serviceaccount:tools:annotator, exp 2026-11-16T10:10:00Z)"
    );
    assert_eq!(good.asked.lock().unwrap().iter().filter(|one| one.starts_with("POST")).count(), 1);
    let actions: Vec<String> = good.sim.calls().into_iter().map(|call| call.action).collect();
    assert_eq!(actions, ["AssumeRoleWithWebIdentity"], "the keys are not used");

    let other = Given::new("sts.amazonaws.com", "system:serviceaccount:tools:other");
    let tried = other.tried(&OWN_KEYS, 201).await;
    assert!(matches!(tried, RoleTried::Refused { .. }), "{tried:?}");
    let shown = other.shown(&tried);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("AccessDenied") && lines[0].contains("sub system:serviceaccount:tools:other"), "{shown}");
    assert_eq!(lines[1], needed);
    assert_eq!(
        lines[2..],
        [
            "trust policy: Principal.Federated arn:aws:iam::123456789012:oidc-provider/oidc.example/c1; the token has iss \
             https://oidc.example/c1: agrees",
            "trust policy: StringEquals oidc.example/c1:aud sts.amazonaws.com; the token has aud sts.amazonaws.com: agrees",
            "trust policy: StringEquals oidc.example/c1:sub system:serviceaccount:tools:annotator; the token has sub \
             system:serviceaccount:tools:other: differs",
        ]
    );
}

#[tokio::test]
async fn without_a_login_of_its_own_the_machine_says_what_the_trust_policy_needs() {
    let given = Given::new("openshift", SUBJECT);
    let tried = given.tried(&[("AWS_EC2_METADATA_DISABLED", "true")], 201).await;
    let shown = given.shown(&tried);
    assert!(shown.contains("Incorrect token audience") && shown.contains("oidc.example/c1:aud openshift"), "{shown}");
    assert!(shown.ends_with(
        "trust policy: not read with this machine's own login: this machine has no AWS credentials of its own"
    ));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_a_refusal_of_sts_says_nothing_about_the_role() {
    let lost = AwsFault::new("AssumeRoleWithWebIdentity", 9, AwsFaultKind::Lost);
    let of_gov = RoleTrial { region: "us-gov-west-1", ..trial() };
    let odd = RoleTrial { service_account: "../x", ..trial() };
    let cases = [
        ("no right", 403, None, trial(), "forbidden (403); grant create on serviceaccounts/token"),
        ("no ServiceAccount", 404, None, trial(), "requesting a token of ServiceAccount tools/annotator"),
        ("STS away", 201, Some(lost), trial(), "this says nothing about the role"),
        ("another partition", 201, None, of_gov, "is of another partition than us-gov-west-1"),
        ("no name", 201, None, odd, "its ServiceAccount has no valid name"),
    ];
    for (case, status, fault, trial, expected) in cases {
        let given = Given::new("sts.amazonaws.com", SUBJECT);
        let is_sent = fault.is_some();
        fault.into_iter().for_each(|fault| given.sim.inject(fault));
        let tried = try_role(&given.cache(&[], Egress::default()), &given.cluster(status, Value::Null), &trial).await;
        assert!(matches!(&tried, RoleTried::NotTried(why) if why.contains(expected)), "case: {case}: {tried:?}");
        given.shown(&tried);
        assert_eq!(!given.sim.calls().is_empty(), is_sent, "case: {case}");
    }
}

#[tokio::test]
async fn the_token_goes_to_aws_or_to_hosts_that_the_user_allows() {
    let endpoints = json!([{ "name": "sts", "url": "https://sts.attacker.example" }]);
    let status = json!({ "status": { "platformStatus": { "aws": { "serviceEndpoints": endpoints } } } });
    let allowed = Egress::new([HostPort::parse("sts.attacker.example").unwrap()]);
    let user = [("AWS_ENDPOINT_URL_STS", "https://sts.mine.example")];
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&str, Variables<'_>, Egress, &str); 3] = [
        ("a cluster's endpoint", &[], Egress::default(), "sts.eu-west-1.amazonaws.com"),
        ("the user's", &user, Egress::default(), "sts.mine.example"),
        ("a cluster's, allowed by name", &[], allowed, "sts.attacker.example"),
    ];
    for (case, env, egress, expected) in cases {
        let given = Given::new("sts.amazonaws.com", SUBJECT);
        let tried = try_role(&given.cache(env, egress), &given.cluster(201, status.clone()), &trial()).await;
        assert!(matches!(tried, RoleTried::Accepted { .. }), "case: {case}: {tried:?}");
        assert_eq!(*given.hosts.lock().unwrap(), BTreeSet::from([expected.to_owned()]), "case: {case}");
    }
}
