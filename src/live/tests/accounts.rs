//! Accounts enter with the clusters whose machines are in them, and machines are judged by what they offer: the loop, the
//! adapter and the client for AWS, on a simulated AWS.

use super::*;
use crate::cloud::http::HttpClient;
use crate::domains::machineset_capacity::MachineSetCapacity;
use crate::fleet::Env;
use crate::fleet::account::{AccountConnector, AwsAccount, AwsShelf, AwsWay};
use crate::sim::aws::{AwsFault, SimAws, SimInstanceType};
use crate::world::{Cluster, Provider};

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const REGIONS: [&str; 5] = ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"];

/// The way to the simulated AWS, which every cluster has.
struct InAws(Arc<AwsShelf>);

impl GuestDoor for InAws {
    fn member(&self, _: &Guest, _: &kube::Client) -> Member {
        panic!("nobody is hosted here")
    }

    fn aws_account(&self, name: &ClusterName, cluster: &Cluster, client: &kube::Client) -> Option<Member> {
        let account = AwsAccount::new(cluster.name.as_str(), client.clone(), self.0.clone());
        let source = ClusterSource::Cloud { provider: Provider::Aws, account: String::new(), used_from: Vec::new() };
        let connector = AccountConnector::new(Arc::new(account));
        Some(Member { source, ..member(name.as_str(), connector) })
    }
}

struct Machines {
    sim: SimCluster,
    aws: SimAws,
    live: Live,
    _token: tempfile::TempDir,
}

/// The clock of AWS and its client, which goes with the loop's.
fn clock() -> impl Fn() -> Timestamp + Clone + Send + Sync + 'static {
    let began = tokio::time::Instant::now();
    move || PausedClock(began).now()
}

/// A cluster on a platform, with this many MachineSets over five regions and forty types.
fn machines(platform: &str, sets: usize) -> Machines {
    let sim = cluster("c", 1);
    sim.register(
        ResourceKind::custom("config.openshift.io/v1", "Infrastructure", "infrastructures")
            .cluster_scoped()
            .with_status(),
    );
    sim.register(ResourceKind::custom("machine.openshift.io/v1beta1", "MachineSet", "machinesets").with_status());
    let status = json!({ "platformStatus": { "type": platform } });
    let infrastructure = json!({
        "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster" }, "status": status,
    });
    sim.seed(infrastructure).unwrap();
    for number in 0..sets {
        put_set(&sim, &format!("set-{number}"), REGIONS[number % 5], &format!("m{}.large", number % 40));
    }

    let clock = clock();
    let aws = SimAws::new(clock.clone());
    aws.trust(ROLE, "https://issuer", "openshift", "me");
    for region in REGIONS {
        for number in 0..40 {
            aws.offer(region, SimInstanceType::new(&format!("m{number}.large"), 2, 8192, &["x86_64"]));
        }
    }
    let token = tempfile::tempdir().unwrap();
    let file = token.path().join("token");
    let text = aws.mint_token("https://issuer", "openshift", "me", "2026-11-17T10:00:00Z".parse().unwrap());
    std::fs::write(&file, text).unwrap();
    let env = [("AWS_ROLE_ARN", ROLE), ("AWS_WEB_IDENTITY_TOKEN_FILE", file.to_str().unwrap())];
    let way = AwsWay::InProcess(HttpClient::in_process(aws.service()));
    let shelf = Arc::new(AwsShelf::new(way, &Env::new(env), Arc::new(clock)));
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(EvenDice), Digester::new(&[5; 32]));
    let live = Live::new(LiveSetup {
        domains: vec![Box::new(MachineSetCapacity::default())],
        members: vec![member("c", FixedConnector(sim.client()))],
        door: Box::new(InAws(shelf)),
        ports,
        live_max: LIVE_MAX,
    });
    Machines { sim, aws, live, _token: token }
}

fn put_set(sim: &SimCluster, name: &str, region: &str, instance_type: &str) {
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
fn verdicts(live: &Live) -> BTreeMap<String, usize> {
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
async fn two_hundred_sets_in_five_regions_cost_one_call_a_region() {
    let mut given = machines("AWS", 200);
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(members(&given.live), ["aws:c", "c"]);
    assert_eq!(verdicts(&given.live), BTreeMap::from([("missing".to_owned(), 200)]));
    let made =
        ["AssumeRoleWithWebIdentity", "GetCallerIdentity", "DescribeInstanceTypes"].map(|one| calls(&given.aws, one));
    assert_eq!(made, [1, 1, 5], "{:?}", given.aws.calls());
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
    given.live.obey(Command::Reconnect(ClusterName::new("c")));
    until(&mut given.live, "connecting anew", |live| link(live, "aws:c") == Link::Connecting).await;
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(verdicts(&given.live), BTreeMap::from([("missing".to_owned(), 5)]));
    assert_eq!(given.aws.calls().len(), before, "what is known of AWS outlives a connection");
}

/// Each class has a verdict of its own, and what passes is judged again without anybody's help.
#[tokio::test(start_paused = true)]
async fn what_aws_refuses_is_told_as_such_and_recovers() {
    let cases = [
        ("policy", AwsFault::refuse("DescribeInstanceTypes", 1, "UnauthorizedOperation"), "denied"),
        ("trust policy", AwsFault::refuse("AssumeRoleWithWebIdentity", 1, "AccessDenied"), "denied"),
        ("throttled", AwsFault::refuse("DescribeInstanceTypes", 4, "Throttling"), "transient"),
    ];
    for (case, fault, expected) in cases {
        let mut given = machines("AWS", 1);
        given.aws.inject(fault);
        given.live.wait_settled(PATIENCE).await;
        assert_eq!(verdicts(&given.live), BTreeMap::from([(expected.to_owned(), 1)]), "case: {case}");
        let recovered = |live: &Live| verdicts(live) == BTreeMap::from([("missing".to_owned(), 1)]);
        until(&mut given.live, case, recovered).await;
    }
}
