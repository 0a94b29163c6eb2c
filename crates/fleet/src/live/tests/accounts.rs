//! Accounts enter with the clusters whose machines are in them, and machines are judged by what they offer: the loop, the
//! adapter and the client for AWS, on a simulated AWS.

use super::*;
use crate::clouds::Clouds;
use crate::clouds::aws::AwsCloud;
use crate::clouds::aws::account::{AwsCache, AwsWay};
use crate::connect::Env;
use crate::live::ClusterAccount;
use trueup_checks::machineset_capacity::{MachineSetCapacity, Settings, Workload};
use trueup_core::world::Cluster;
use trueup_net::http::HttpClient;
use trueup_sim::aws::{AwsFault, SimAws, SimInstanceType};

pub(super) const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const REGIONS: [&str; 5] = ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"];

/// The way to the simulated AWS, which every cluster has.
struct InAws(Clouds);

impl GuestResolver for InAws {
    fn member(&self, _: &Guest, _: &Connection) -> Member {
        panic!("there are no guests")
    }

    fn account_of(&self, account: &ClusterAccount, cluster: &Cluster, client: &kube::Client) -> Option<Member> {
        self.0.member_of(account, cluster, client)
    }
}

pub(super) struct Machines {
    sim: SimCluster,
    aws: SimAws,
    pub live: Live,
    _folder: tempfile::TempDir,
}

/// The clock of AWS and its client, which goes with the loop's.
fn clock() -> impl Fn() -> Timestamp + Clone + Send + Sync + 'static {
    let began = tokio::time::Instant::now();
    move || PausedClock(began).now()
}

/// A cluster on a platform, with this many MachineSets over five regions and forty types.
fn machines(platform: &str, sets: usize) -> Machines {
    let stage = Stage::new(platform);
    for number in 0..sets {
        put_set(&stage.sim, &format!("set-{number}"), REGIONS[number % 5], &format!("m{}.large", number % 40));
    }
    let env = role_here(&stage.token_file());
    stage.enter(&env)
}

/// The variables of a process that takes a role on.
pub(super) fn role_here(token_file: &str) -> Vec<(String, String)> {
    [("AWS_ROLE_ARN", ROLE), ("AWS_WEB_IDENTITY_TOKEN_FILE", token_file)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// A cluster and an AWS, before anybody looks.
pub(super) struct Stage {
    pub sim: SimCluster,
    pub aws: SimAws,
    pub folder: tempfile::TempDir,
    pub check: MachineSetCapacity,
    /// The clock of the AWS client.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Stage {
    pub fn new(platform: &str) -> Self {
        let sim = cluster("c", 1);
        sim.register(
            ResourceKind::custom("config.openshift.io/v1", "Infrastructure", "infrastructures")
                .cluster_scoped()
                .with_status(),
        );
        sim.register(ResourceKind::custom("machine.openshift.io/v1beta1", "MachineSet", "machinesets").with_status());
        let status = json!({ "platformStatus": { "type": platform } });
        let infrastructure = json!({
            "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster" },
            "status": status,
        });
        sim.seed(infrastructure).unwrap();
        let clock = clock();
        let aws = SimAws::new(clock.clone());
        aws.trust(ROLE, "https://issuer", "openshift", "me");
        for region in REGIONS {
            for number in 0..40 {
                aws.offer(region, SimInstanceType::new(&format!("m{number}.large"), 2, 8192, &["x86_64"]));
            }
        }
        let (folder, check) = (tempfile::tempdir().unwrap(), MachineSetCapacity::default());
        let stage = Self { sim, aws, folder, check, clock: Arc::new(clock) };
        stage.write_token("https://issuer", "openshift", "me", "2026-11-17T10:00:00Z");
        stage
    }

    pub fn token_file(&self) -> String {
        self.folder.path().join("token").to_str().unwrap().to_owned()
    }

    pub fn write_token(&self, issuer: &str, audience: &str, subject: &str, until: &str) {
        let text = self.aws.mint_token(issuer, audience, subject, until.parse().unwrap());
        std::fs::write(self.token_file(), text).unwrap();
    }

    /// Starts looking, with these variables and no others.
    pub fn enter(self, env: &[(String, String)]) -> Machines {
        let Self { sim, aws, folder, check, clock } = self;
        let way = AwsWay::InProcess(HttpClient::in_process(aws.service()));
        let aws_cloud = AwsCloud::new(AwsCache::new(way, &Env::new(env.iter().cloned()), clock));
        let ports = Ports::new(
            Arc::new(PausedClock(tokio::time::Instant::now())),
            Arc::new(FixedJitter),
            Digester::new(&[5; 32]),
        );
        let live = Live::new(LiveSetup {
            domains: vec![Box::new(check)],
            members: vec![member("c", FixedConnector(sim.client()))],
            resolver: Box::new(InAws(Clouds::of(vec![Box::new(aws_cloud)]))),
            ports,
            live_max: LIVE_MAX,
        });
        Machines { sim, aws, live, _folder: folder }
    }
}

pub(super) fn put_set(sim: &SimCluster, name: &str, region: &str, instance_type: &str) {
    let provider = json!({
        "kind": "AWSMachineProviderConfig", "instanceType": instance_type, "placement": { "region": region },
    });
    sim.seed(json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
        "metadata": { "namespace": "watched", "name": name },
        "spec": { "template": { "spec": { "providerSpec": { "value": provider } } } },
    }))
    .unwrap();
}

/// How often each verdict was given.
pub(super) fn verdicts(live: &Live) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for (_, held) in live.judgements().iter() {
        *counted.entry(held.judgement.verdict.to_string()).or_default() += 1;
    }
    counted
}

fn members(live: &Live) -> Vec<String> {
    live.view().clusters().map(|cluster| cluster.name.to_string()).collect()
}

fn calls(aws: &SimAws, action: &str) -> usize {
    aws.calls().iter().filter(|call| call.action == action).count()
}

#[tokio::test(start_paused = true)]
async fn two_thousand_sets_in_five_regions_cost_one_call_a_region() {
    let mut given = machines("AWS", 2_000);
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(members(&given.live), ["aws:c", "c"]);
    assert_eq!(verdicts(&given.live), BTreeMap::from([("missing".to_owned(), 2_000)]));
    let made =
        ["AssumeRoleWithWebIdentity", "GetCallerIdentity", "DescribeInstanceTypes"].map(|one| calls(&given.aws, one));
    assert_eq!(made, [5, 5, 5], "{:?}", given.aws.calls());
    assert_eq!(given.aws.calls().len(), 15, "and nothing else");
}

#[tokio::test(start_paused = true)]
async fn pages_cost_a_call_each_and_no_more() {
    let stage = Stage::new("AWS");
    stage.aws.set_page(3);
    for number in 0..400 {
        put_set(&stage.sim, &format!("set-{number}"), REGIONS[number % 5], &format!("m{}.large", number % 40));
    }
    let env = role_here(&stage.token_file());
    let mut given = stage.enter(&env);
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(verdicts(&given.live), BTreeMap::from([("missing".to_owned(), 400)]));
    // 40 types over 5 regions: 8 a region, 3 a page.
    assert_eq!(calls(&given.aws, "DescribeInstanceTypes"), 5 * 3, "{:?}", given.aws.calls());
}

/// The whole way with an annotator of the cluster's own: its pods are found by its labels, and say what it sees.
#[tokio::test(start_paused = true)]
async fn a_named_deployment_is_followed_and_its_token_never_asked_for() {
    let mut stage = Stage::new("AWS");
    let (namespace, deployment) = ("watched".to_owned(), "annotator".to_owned());
    let named = Workload { namespace, deployment, container: None };
    stage.check = MachineSetCapacity::new(Settings { credentials_from: Some(named) });
    put_set(&stage.sim, "set", "us-east-1", "m1.large");
    let labels = json!({ "app": "annotator" });
    let spec = |env: serde_json::Value| json!({ "containers": [{ "name": "manager", "image": "x", "env": env }] });
    let role = json!({ "name": "AWS_ROLE_ARN", "value": ROLE });
    let template = json!({ "metadata": { "labels": labels }, "spec": spec(json!([role])) });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "watched", "name": "annotator" },
        "spec": { "selector": { "matchLabels": labels }, "template": template },
    });
    let pod = |name: &str, env: serde_json::Value| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "watched", "name": name, "labels": labels },
            "spec": spec(env), "status": { "phase": "Running" },
        })
    };
    stage.sim.seed(deployment).unwrap();
    let mut given = stage.enter(&[]);
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(verdicts(&given.live), BTreeMap::from([("credentials-partial".to_owned(), 1)]), "by its template");
    let token = json!({ "name": "AWS_WEB_IDENTITY_TOKEN_FILE", "value": "/var/run/token" });
    given.sim.seed(pod("annotator-1", json!([role, token]))).unwrap();
    // Nothing is mounted where the pod looks for its token.
    let judged = |live: &Live| verdicts(live) == BTreeMap::from([("token-unreadable".to_owned(), 1)]);
    until(&mut given.live, "judged by the pod", judged).await;
    assert_eq!(given.aws.calls().len(), 0, "nobody asked AWS");
}

#[tokio::test(start_paused = true)]
async fn a_type_that_comes_up_later_is_asked_for_alone() {
    let mut given = machines("AWS", 10);
    given.live.wait_settled(PATIENCE).await;
    let before = given.aws.calls().len();
    given.aws.offer("us-east-1", SimInstanceType::new("x9.large", 4, 8192, &["arm64"]));
    put_set(&given.sim, "late", "us-east-1", "x9.large");
    let judged = |live: &Live| verdicts(live).get("missing") == Some(&11);
    until(&mut given.live, "judged the new set", judged).await;
    let after = given.aws.calls();
    let names: Vec<usize> = after[before..].iter().map(|call| call.names).collect();
    assert_eq!(names, [1], "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_elsewhere_has_no_account() {
    let mut given = machines("Azure", 0);
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!((members(&given.live), given.aws.calls().len()), (vec!["c".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn a_new_connection_to_the_cluster_gives_its_account_a_new_way_in() {
    let mut given = machines("AWS", 5);
    given.live.wait_settled(PATIENCE).await;
    let before = given.aws.calls().len();
    given.live.handle(Command::Reconnect(ClusterName::new("c")));
    until(&mut given.live, "reconnecting", |live| link(live, "aws:c") == Link::Connecting).await;
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(verdicts(&given.live), BTreeMap::from([("missing".to_owned(), 5)]));
    assert_eq!(given.aws.calls().len(), before, "what is known of AWS outlives a connection");
}

/// A failure of this machine's own login is never the set's, and what passes is judged again without anybody's help.
#[tokio::test(start_paused = true)]
async fn an_aws_refusal_is_reported_and_recovers() {
    let cases = [
        ("policy", AwsFault::refuse("DescribeInstanceTypes", 1, "UnauthorizedOperation"), "own-login-failed"),
        ("trust policy", AwsFault::refuse("AssumeRoleWithWebIdentity", 1, "AccessDenied"), "own-login-failed"),
        ("throttled", AwsFault::refuse("DescribeInstanceTypes", 4, "Throttling"), "own-login-failed"),
    ];
    for (case, fault, expected) in cases {
        let mut given = machines("AWS", 1);
        given.aws.inject(fault);
        given.live.wait_settled(PATIENCE).await;
        assert_eq!(verdicts(&given.live), BTreeMap::from([("unknown".to_owned(), 1)]), "case: {case}");
        let has_code = given.live.judgements().iter().all(|(_, held)| held.judgement.codes.contains(&expected));
        assert!(has_code, "case: {case}");
        let recovered = |live: &Live| verdicts(live) == BTreeMap::from([("missing".to_owned(), 1)]);
        until(&mut given.live, case, recovered).await;
    }
}
