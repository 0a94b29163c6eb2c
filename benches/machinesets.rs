//! Speed of reading MachineSets from a snapshot and judging them.
//!
//! `cargo bench --bench machinesets`: 2,000 MachineSets over 5 regions and 40 types, on one core.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};
use support::now;
use trueup_checks::Check;
use trueup_checks::machineset_capacity::MachineSetCapacity;
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{Coverage, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::engine::SubjectId;
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, Provider, RiskClass, Served};
use trueup_fleet::live::recorded;

const SETS: usize = 2_000;
const REGIONS: [&str; 5] = ["us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-southeast-2"];
const TYPES: usize = 40;

fn main() {
    let mut clusters = vec![member("shop", ClusterSource::Snapshot, "machine.openshift.io")];
    let mut recordings = BTreeMap::from([(ClusterName::new("shop"), shop())]);
    for region in REGIONS {
        let source = ClusterSource::Cloud {
            provider: Provider::Aws,
            account: region.to_owned(),
            used_from: trueup_core::world::MemberRule::default(),
        };
        let name = format!("aws:{region}");
        clusters.push(member(&name, source, "aws.cloud.trueup"));
        recordings.insert(ClusterName::new(name), catalogue(region));
    }
    let check = MachineSetCapacity::default();
    let domains: Vec<Box<dyn Check>> = vec![Box::new(check.clone())];
    let start = Instant::now();
    let (world, _) = recorded(&domains, clusters, &recordings, &Digester::new(&[7; 32]), now());
    println!("{SETS} sets read, judged and laid out in {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    let view = world.view(now());
    let asked = check.interests(view);
    let of_accounts = asked.iter().filter(|one| one.id.resource.plural == "instancetypes").count();
    println!("{of_accounts} questions to AWS for {} regions and {TYPES} types", REGIONS.len());
    let subjects: Vec<SubjectId> = check.subjects(view).into_iter().collect();
    let start = Instant::now();
    let pass = check.pass(view);
    let judged: Vec<_> = subjects.iter().map(|subject| Some(pass.rule(subject)?.judgement())).collect();
    let spent = start.elapsed();
    let right = judged.iter().flatten().filter(|judgement| judgement.verdict == "match").count();
    println!("{} sets judged in {:.1} ms ({right} match)", subjects.len(), spent.as_secs_f64() * 1000.0);
    let start = Instant::now();
    let pass = check.pass(view);
    let explained = subjects.iter().filter_map(|subject| Some(pass.rule(subject)?.explanation())).count();
    println!("{explained} sets explained in {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
}

fn member(name: &str, source: ClusterSource, group: &str) -> Cluster {
    Cluster {
        name: ClusterName::new(name),
        class: RiskClass::Prod,
        source,
        hosted_by: None,
        link: Link::Recorded,
        identity: ClusterIdentity::default(),
        served: Served::Recorded([group.to_owned()].into()),
    }
}

fn recording() -> RecordedCluster {
    RecordedCluster::new(Coverage { kinds: KindCoverage::All, ..Coverage::default() })
}

fn put(recording: &mut RecordedCluster, group: &str, kind: &str, namespace: &str, name: &str, object: &Value) {
    recording.push(RecordedObject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        json: object.to_string().into(),
    });
}

/// Half of the sets have correct annotations.
fn shop() -> RecordedCluster {
    let mut shop = recording();
    for index in 0..SETS {
        let name = format!("set-{index:04}");
        let cpus = (index % TYPES + 1).to_string();
        let annotations = json!({
            "machine.openshift.io/vCPU": cpus, "machine.openshift.io/memoryMb": "8192", "machine.openshift.io/GPU": "0",
            "capacity.cluster-autoscaler.kubernetes.io/cpu": if index % 2 == 0 { cpus.as_str() } else { "99" },
            "capacity.cluster-autoscaler.kubernetes.io/memory": "8Gi",
            "capacity.cluster-autoscaler.kubernetes.io/labels": "kubernetes.io/arch=amd64,team=shop",
        });
        let value = json!({
            "kind": "AWSMachineProviderConfig", "instanceType": format!("m{}.large", index % TYPES),
            "placement": { "region": REGIONS[index % REGIONS.len()] }, "credentialsSecret": { "name": "aws" },
        });
        let object = json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
            "metadata": { "namespace": "machines", "name": name, "uid": name, "resourceVersion": "1", "annotations": annotations },
            "spec": { "template": { "spec": { "providerSpec": { "value": value } } } },
        });
        put(&mut shop, "machine.openshift.io", "MachineSet", "machines", &name, &object);
    }
    shop
}

fn catalogue(region: &str) -> RecordedCluster {
    let mut account = recording();
    for index in 0..TYPES {
        let name = format!("m{index}.large");
        let entry =
            json!({ "name": name, "vcpu": index + 1, "memory_mib": 8192, "gpus": [], "architectures": ["x86_64"] });
        let metadata = json!({ "namespace": region, "name": name });
        let object =
            json!({ "apiVersion": "aws.cloud.trueup/v1", "kind": "InstanceType", "metadata": metadata, "type": entry });
        put(&mut account, "aws.cloud.trueup", "InstanceType", region, &name, &object);
    }
    account
}
