//! Speed of reading, judging and planning an account: 5,000 resources, 500 clusters, on one core.
//!
//! Read twice: from an account in the same process, and over HTTP on this machine; once with a workspace per cluster, as the
//! provider creates them, and once with 20 shared workspaces. Each figure is the median of [`ROUNDS`] rounds.
//!
//! `cargo bench --bench powervs`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{cluster, now};
use trueup_checks::Check;
use trueup_checks::judgements::{Judgements, explained};
use trueup_checks::powervs_tags::PowerVsTags;
use trueup_core::decode::recording::{Coverage, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::decode::{Digester, recorded};
use trueup_core::engine::{Conditions, Judged, Observed, PlanInput, PlanScope, build};
use trueup_core::world::{ChangeSet, ClusterName, ClusterSource, Provider, Served, World};
use trueup_fleet::clouds::ibm::client::{Account, ApiKey, Endpoints, IbmResource, Inventory};
use trueup_net::http::{HttpClient, HttpSettings};
use trueup_sim::ibm::{IbmSim, IbmSimOptions, Thing, ThingKind};

const CLUSTERS: usize = 500;
/// Of each cluster: a workspace, a network, a VPC, five subnets, a group, a load balancer.
const EACH: usize = 10;
const SHARED_WORKSPACES: usize = 20;
const ROUNDS: usize = 5;
const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
const KEY: &str = "a-key-that-opens-the-account";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    for workspaces in [CLUSTERS, SHARED_WORKSPACES] {
        let inventory = runtime.block_on(sync(workspaces));
        println!("  {} resources of {CLUSTERS} clusters", inventory.resources.len());
        judge_and_plan(&inventory, workspaces);
    }
}

/// Reads the account in both ways, and returns its resources.
async fn sync(workspaces: usize) -> Inventory {
    let sim = account(workspaces);
    let listening = sim.listen(([127, 0, 0, 1], 0).into()).await.expect("a port is free");
    let url = format!("http://{}", listening.address);
    let over_http = HttpClient::new(HttpSettings::new(trueup_net::Egress::user_named())).expect("a client");
    let ways = [
        ("in process", HttpClient::in_process(sim.service()), "http://ibm.sim"),
        ("over HTTP", over_http, url.as_str()),
    ];
    println!("an account with {workspaces} workspaces");
    let mut read = None;
    for (way, http, url) in ways {
        let endpoints = Endpoints::at_one_place(url).expect("a URL");
        let account = Account::new(http, endpoints, ApiKey::parse(KEY).expect("a key"));
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let inventory = account.read_inventory().await.expect("the account answers");
            times.push(began.elapsed());
            assert!(inventory.is_complete(), "{:?}", inventory.missing);
            read = Some(inventory);
        }
        let calls = read.as_ref().map_or(0, |inventory: &Inventory| inventory.calls);
        println!("  sync {way}: {:?}, {calls} calls", median(times));
    }
    read.expect("it was read")
}

fn judge_and_plan(inventory: &Inventory, workspaces: usize) {
    let (management, account) = (ClusterName::new("mgmt"), ClusterName::new("ibm:main"));
    let recordings: BTreeMap<ClusterName, RecordedCluster> =
        [(management.clone(), recorded_clusters(workspaces)), (account, recorded_account(&inventory.resources))].into();
    let domains: Vec<Box<dyn Check>> = vec![Box::new(PowerVsTags::default())];
    let (mut decode, mut judge, mut explain, mut plan) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut counted = (0, 0);
    for _ in 0..ROUNDS {
        let mut world = World::default();
        let began = Instant::now();
        let changes = decoded(&mut world, &recordings, domains[0].as_ref());
        decode.push(began.elapsed());
        let mut judgements = Judgements::default();
        let began = Instant::now();
        judgements.follow(&domains, world.view(now()), &changes);
        judge.push(began.elapsed());
        let began = Instant::now();
        let judged: Vec<Judged> = explained(&judgements, &domains, world.view(now()));
        explain.push(began.elapsed());
        let began = Instant::now();
        counted = (judgements.len(), planned(&world, &judged));
        plan.push(began.elapsed());
    }
    let (subjects, actions) = counted;
    println!("  decode: {:?}", median(decode));
    println!("  judge {subjects} subjects: {:?}", median(judge));
    println!("  explain: {:?}", median(explain));
    println!("  plan {actions} actions: {:?}", median(plan));
}

fn decoded(world: &mut World, recordings: &BTreeMap<ClusterName, RecordedCluster>, domain: &dyn Check) -> ChangeSet {
    let groups = recordings[&ClusterName::new("mgmt")].groups();
    let mut changes = world.put_cluster(trueup_core::world::Cluster {
        source: ClusterSource::Snapshot,
        served: Served::Recorded(groups),
        ..cluster("mgmt", None)
    });
    changes.extend(world.put_cluster(trueup_core::world::Cluster {
        source: ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: ACCOUNT.to_owned(),
            used_from: trueup_core::world::MemberRule::default(),
        },
        served: Served::Recorded([Provider::Ibm.group().to_owned()].into()),
        ..cluster("ibm:main", None)
    }));
    loop {
        let wanted = domain.interests(world.view(now()));
        let more = recorded::fill(world, recordings, &wanted, &Digester::new(&[7; 32]), now());
        if more.is_empty() {
            return changes;
        }
        changes.extend(more);
    }
}

/// Number of actions of its plan.
fn planned(world: &World, judged: &[Judged]) -> usize {
    let view = world.view(now());
    let plan = build(&PlanInput {
        judged,
        unexplained: trueup_core::engine::Unexplained::NONE,
        clusters: view.clusters().collect(),
        observed: Observed::all(view),
        accepted: &[],
        scope: &PlanScope::default(),
        conditions: &Conditions::at(now()),
    });
    plan.expect("its numbers are integers").actions.len()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn uid(index: usize) -> String {
    format!("{index:08x}-0000-4000-8000-000000000000")
}

/// Subnet ids of a cluster.
fn subnets(index: usize) -> impl Iterator<Item = String> {
    (0..5).map(move |one| format!("sub-{index:03}-{one}"))
}

/// Every tenth is being deleted.
fn recorded_clusters(workspaces: usize) -> RecordedCluster {
    let mut recording = RecordedCluster::new(whole());
    for index in 0..CLUSTERS {
        let name = format!("c{index}");
        let made = |what: &str| json!({ "id": format!("{what}-{index:03}") });
        let subnets: Vec<Value> = subnets(index).map(|id| json!({ "id": id })).collect();
        let mut object = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta3", "kind": "IBMPowerVSCluster",
            "metadata": {
                "namespace": "clusters", "name": name, "uid": uid(index),
                "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": "c" }]
            },
            "spec": { "topology": "LoadBalancer" },
            "status": {
                "workspace": { "id": workspace_of(index, workspaces) }, "network": made("net"), "vpc": made("vpc"),
                "vpcSubnets": subnets, "vpcSecurityGroups": [made("sg")], "loadBalancers": [made("lb")]
            }
        });
        if workspaces < CLUSTERS {
            object["spec"]["workspace"] =
                json!({ "type": "Reference", "reference": { "id": workspace_of(index, workspaces) } });
        }
        if index % 10 == 0 {
            object["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z");
        }
        push(&mut recording, "infrastructure.cluster.x-k8s.io", "IBMPowerVSCluster", "clusters", &name, &object);
    }
    recording
}

fn workspace_of(index: usize, workspaces: usize) -> String {
    format!("ws-{:03}", index % workspaces)
}

/// The account with all resources of every cluster. Shared workspaces have no owner.
fn account(workspaces: usize) -> IbmSim {
    let options = IbmSimOptions { account: ACCOUNT.to_owned(), api_key: KEY.to_owned(), seed: 1, start: now() };
    let sim = IbmSim::new(options);
    let make = |kind, id: &str, location: &str| Thing::new(kind, id, &format!("n-{id}"), location, ACCOUNT, now());
    if workspaces < CLUSTERS {
        (0..workspaces).for_each(|one| sim.seed(make(ThingKind::Workspace, &workspace_of(one, workspaces), "dal10")));
    }
    for index in 0..CLUSTERS {
        let tags = [
            format!("powervs.cluster.x-k8s.io-owner:c{index}"),
            format!("powervs.cluster.x-k8s.io-cluster-uuid:{}", uid(index)),
        ];
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let own = |kind, id: &str, location: &str| make(kind, id, location).tagged(&tags);
        let (vpc, workspace) = (format!("vpc-{index:03}"), workspace_of(index, workspaces));
        let mut all = vec![
            own(ThingKind::Network, &format!("net-{index:03}"), "dal10").within(&workspace),
            own(ThingKind::Vpc, &vpc, "us-south"),
            own(ThingKind::SecurityGroup, &format!("sg-{index:03}"), "us-south").within(&vpc),
            own(ThingKind::LoadBalancer, &format!("lb-{index:03}"), "us-south").within(&vpc),
        ];
        all.extend(subnets(index).map(|id| own(ThingKind::Subnet, &id, "us-south-1").within(&vpc)));
        if workspaces == CLUSTERS {
            all.push(own(ThingKind::Workspace, &workspace, "dal10"));
        } else {
            // As many resources as with a workspace each.
            all.push(own(ThingKind::CosInstance, &format!("cos-{index:03}"), "global"));
        }
        assert_eq!(all.len(), EACH);
        all.into_iter().for_each(|thing| sim.seed(thing));
    }
    sim
}

fn recorded_account(resources: &[IbmResource]) -> RecordedCluster {
    let mut recording = RecordedCluster::new(whole());
    for resource in resources {
        let name = format!("{}/{}", resource.kind, resource.id);
        let object = json!({
            "apiVersion": "ibm.cloud.trueup/v1", "kind": "Resource", "metadata": { "name": name }, "resource": resource
        });
        push(&mut recording, "ibm.cloud.trueup", "Resource", "", &name, &object);
    }
    recording
}

fn whole() -> Coverage {
    Coverage { kinds: KindCoverage::All, ..Coverage::default() }
}

fn push(recording: &mut RecordedCluster, group: &str, kind: &str, namespace: &str, name: &str, object: &Value) {
    recording.push(RecordedObject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        json: object.to_string().into(),
    });
}
