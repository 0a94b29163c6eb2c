//! How fast an account is judged and planned for: 5,000 resources, 500 clusters, on one core.
//!
//! `cargo bench --bench powervs`.

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};
use support::{cluster, now};
use trueup::domains::Domain;
use trueup::domains::powervs_tags::PowerVsTags;
use trueup::engine::{Conditions, Judged, Observed, PlanInput, PlanScope, build};
use trueup::fleet::recording::{Coverage, KindCoverage, RecordedCluster, RecordedObject};
use trueup::live::{Judgements, explained};
use trueup::observe::{Digester, recorded};
use trueup::world::{ClusterName, ClusterSource, Provider, Served, World};

const CLUSTERS: usize = 500;
/// Of each cluster: a workspace, a network, a VPC, five subnets, a group, a load balancer.
const EACH: usize = 10;

fn main() {
    let (management, account) = (ClusterName::new("mgmt"), ClusterName::new("ibm:main"));
    let recordings: BTreeMap<ClusterName, RecordedCluster> =
        [(management.clone(), recorded_clusters()), (account.clone(), recorded_account())].into();
    let domains: Vec<Box<dyn Domain>> = vec![Box::new(PowerVsTags::default())];
    let mut world = World::default();
    let groups = recordings[&management].groups();
    let mut changes = world.put_cluster(trueup::world::Cluster {
        source: ClusterSource::Snapshot,
        served: Served::Recorded(groups),
        ..cluster("mgmt", None)
    });
    changes.extend(world.put_cluster(trueup::world::Cluster {
        source: ClusterSource::Cloud { provider: Provider::Ibm, account: "acc".to_owned(), used_from: Vec::new() },
        served: Served::Recorded([Provider::Ibm.group().to_owned()].into()),
        ..cluster("ibm:main", None)
    }));
    let began = Instant::now();
    loop {
        let wanted = domains[0].interests(world.view(now()));
        let more = recorded::fill(&mut world, &recordings, &wanted, &Digester::new(&[7; 32]), now());
        let is_settled = more.is_empty();
        changes.extend(more);
        if is_settled {
            break;
        }
    }
    println!("decode {} resources and {CLUSTERS} clusters: {:?}", CLUSTERS * EACH, began.elapsed());
    let mut judgements = Judgements::default();
    let began = Instant::now();
    judgements.follow(&domains, world.view(now()), &changes);
    println!("judge {} subjects: {:?}", judgements.len(), began.elapsed());
    let began = Instant::now();
    let judged: Vec<Judged> = explained(&judgements, &domains, world.view(now()));
    println!("explain: {:?}", began.elapsed());
    let began = Instant::now();
    let view = world.view(now());
    let plan = build(&PlanInput {
        judged: &judged,
        clusters: view.clusters().collect(),
        observed: Observed::all(view),
        accepted: &[],
        scope: &PlanScope::default(),
        conditions: &Conditions::at(now()),
    })
    .expect("its numbers are integers");
    println!("plan {} actions: {:?}", plan.actions.len(), began.elapsed());
}

fn uid(index: usize) -> String {
    format!("{index:08x}-0000-4000-8000-000000000000")
}

/// Every tenth is being deleted.
fn recorded_clusters() -> RecordedCluster {
    let mut recording = RecordedCluster::new(whole());
    for index in 0..CLUSTERS {
        let name = format!("c{index}");
        let made = |what: &str| json!({ "id": format!("{what}-{index}") });
        let subnets: Vec<Value> = (0..5).map(|one| json!({ "id": format!("sub-{index}-{one}") })).collect();
        let mut object = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta3", "kind": "IBMPowerVSCluster",
            "metadata": {
                "namespace": "clusters", "name": name, "uid": uid(index),
                "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": "c" }]
            },
            "spec": { "topology": "LoadBalancer" },
            "status": {
                "workspace": made("ws"), "network": made("net"), "vpc": made("vpc"), "vpcSubnets": subnets,
                "vpcSecurityGroups": [made("sg")], "loadBalancers": [made("lb")]
            }
        });
        if index % 10 == 0 {
            object["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z");
        }
        push(&mut recording, "infrastructure.cluster.x-k8s.io", "IBMPowerVSCluster", "clusters", &name, &object);
    }
    recording
}

fn recorded_account() -> RecordedCluster {
    let mut recording = RecordedCluster::new(whole());
    for index in 0..CLUSTERS {
        let tags = [
            format!("powervs.cluster.x-k8s.io-owner:c{index}"),
            format!("powervs.cluster.x-k8s.io-cluster-uuid:{}", uid(index)),
        ];
        let mut all = vec![
            ("workspace", format!("ws-{index}"), String::new()),
            ("network", format!("net-{index}"), format!("ws-{index}")),
            ("vpc", format!("vpc-{index}"), String::new()),
            ("security-group", format!("sg-{index}"), format!("vpc-{index}")),
            ("load-balancer", format!("lb-{index}"), String::new()),
        ];
        all.extend((0..5).map(|one| ("subnet", format!("sub-{index}-{one}"), format!("vpc-{index}"))));
        for (kind, id, parent) in all {
            let crn = format!("crn:v1:bluemix:public:is:us-south:a/acc::{kind}:{id}");
            let entry = json!({
                "kind": kind, "id": id, "crn": crn, "name": format!("n-{id}"), "state": "available", "tags": tags, "parent": parent
            });
            let name = format!("{kind}/{id}");
            let object = json!({
                "apiVersion": "ibm.cloud.trueup/v1", "kind": "Resource", "metadata": { "name": name }, "resource": entry
            });
            push(&mut recording, "ibm.cloud.trueup", "Resource", "", &name, &object);
        }
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
