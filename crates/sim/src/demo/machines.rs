//! MachineSets of clusters on AWS, with typical mistakes, and the simulated AWS account they are in.
//!
//! Invariants: keys are made up and only the simulated AWS accepts them. Endpoints end in `.invalid`, so another process
//! that reads the demo never reaches a real AWS.
//! Together the sets show broken credentials and wrong annotations; `pool-burst` changes its instance type while the
//! scenario runs. Two other clusters run their own annotator with a hand-written environment.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::guest::put;
use super::kinds::{MACHINE_API, Shape, definition};
use super::objects::{field_mut, namespace, one_key};
use super::provider::CopyKind;
use crate::SimCluster;
use crate::aws::SimAws;

/// The cluster with the MachineSets.
pub const CLUSTER: &str = "ocp-oslo";

/// The cluster whose annotator has only a role ARN, and the one whose annotator reads it from a ConfigMap.
const BY_HAND: &str = "ocp-lisbon";
const FROM_ELSEWHERE: &str = "ocp-paris";

const NAMESPACE: &str = "openshift-machine-api";
/// The Deployment that annotates; the demo's config names it.
const ANNOTATOR: &str = "machine-annotator";
/// The region where a proxy answers in place of AWS.
const REGION_BEHIND_A_PAGE: &str = "eu-west-1";
const REGION: &str = "us-east-1";
/// The Secret with a valid key.
const LOGIN: &str = "aws-cloud-credentials";
const KEY_ID: &str = "AKIATRUEUPDEMO";
const KEY: &str = "demo key without any access";
/// Ticks between two changes of the instance type: long enough to plan, approve and apply.
const TICKS_PER_CHANGE: u64 = 45;
/// The MachineSet whose instance type changes, and its two types.
const BURST: &str = "pool-burst";
const BURST_TYPES: [&str; 2] = ["m5.large", "m6g.4xlarge"];

const CAPACITY: &str = "capacity.cluster-autoscaler.kubernetes.io";

/// The simulated AWS and the cluster whose machines are in it.
#[derive(Clone)]
pub struct Machines {
    sim: SimCluster,
    aws: SimAws,
}

impl fmt::Debug for Machines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Machines(…)")
    }
}

impl Machines {
    /// Seeds a cluster with MachineSets.
    pub fn seed(sim: &SimCluster, since: Timestamp) -> Self {
        open(sim, since);
        logins().into_iter().for_each(|secret| put(sim, since, secret));
        sets().into_iter().for_each(|set| put(sim, since, set));
        // The annotator of this cluster has no role: the Secret of each MachineSet counts.
        put_annotator(sim, since, &json!([]));
        let clock = sim.clone();
        let aws = SimAws::new(move || clock.now());
        aws.add_user("machine-api", KEY_ID, KEY);
        aws.put_behind_a_page(REGION_BEHIND_A_PAGE);
        let machines = Self { sim: sim.clone(), aws };
        machines.seed_aws_endpoints(since);
        machines
    }

    /// Returns the AWS account of the machines.
    pub fn aws(&self) -> &SimAws {
        &self.aws
    }

    /// Returns whether the MachineSets are in this cluster.
    pub fn belong_to(&self, cluster: &str) -> bool {
        cluster == CLUSTER
    }

    pub fn now(&self) -> Timestamp {
        self.sim.now()
    }

    /// Every few ticks changes the instance type and leaves the annotations as they are.
    pub fn tick(&self, ticks: u64) {
        if !ticks.is_multiple_of(TICKS_PER_CHANGE) {
            return;
        }
        let place = usize::from((ticks / TICKS_PER_CHANGE).is_multiple_of(2));
        let instance_type = BURST_TYPES[1 - place];
        let change = |set: &mut Value| {
            let path = ["spec", "template", "spec", "providerSpec", "value", "instanceType"];
            *field_mut(set, &path) = instance_type.into();
        };
        let at = self.sim.now();
        // The MachineSet may have been deleted with kubectl.
        let _gone = self
            .sim
            .with(|server, _| server.edit(at, MACHINE_API, "MachineSet", &format!("{NAMESPACE}/{BURST}"), change));
    }

    fn seed_aws_endpoints(&self, at: Timestamp) {
        let endpoints = json!([
            { "name": "ec2", "url": "https://ec2.demo.invalid" },
            { "name": "sts", "url": "https://sts.demo.invalid" },
        ]);
        let platform = json!({ "type": "AWS", "aws": { "region": REGION, "serviceEndpoints": endpoints } });
        let change = |found: &mut Value| *field_mut(found, &["status", "platformStatus"]) = platform;
        // Without an Infrastructure object no AWS endpoint is needed.
        let _none =
            self.sim.with(|server, _| server.edit(at, "config.openshift.io/v1", "Infrastructure", "cluster", change));
    }
}

/// Seeds two clusters with a MachineSet and a misconfigured annotator.
pub fn seed_annotators(cluster: &str, sim: &SimCluster, since: Timestamp) {
    let role = "arn:aws:iam::123456789012:role/annotator";
    let (pool, variable) = match cluster {
        BY_HAND => ("pool-by-hand", json!({ "name": "AWS_ROLE_ARN", "value": role })),
        FROM_ELSEWHERE => {
            let from = json!({ "configMapKeyRef": { "name": "aws-settings", "key": "role" } });
            ("pool-from-settings", json!({ "name": "AWS_ROLE_ARN", "valueFrom": from }))
        }
        _ => return,
    };
    open(sim, since);
    put(sim, since, set(pool, "m5.large", &json!({})));
    put_annotator(sim, since, &json!([variable]));
}

/// Seeds an annotator with this environment, and one running pod.
fn put_annotator(sim: &SimCluster, since: Timestamp, env: &Value) {
    let labels = json!({ "app": ANNOTATOR });
    let spec = json!({ "containers": [{ "name": "manager", "image": "annotator:1", "env": env }] });
    let (template, selector) =
        (json!({ "metadata": { "labels": labels }, "spec": spec }), json!({ "matchLabels": labels }));
    put(
        sim,
        since,
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": NAMESPACE, "name": ANNOTATOR },
            "spec": { "replicas": 1, "selector": selector, "template": template },
        }),
    );
    put(
        sim,
        since,
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "namespace": NAMESPACE, "name": format!("{ANNOTATOR}-5d9c7"), "labels": labels },
            "spec": spec, "status": { "phase": "Running" },
        }),
    );
}

/// Seeds the MachineSet kind and its namespace.
fn open(sim: &SimCluster, since: Timestamp) {
    let shape = Shape {
        scope: "Namespaced",
        columns: &[("Desired", ".spec.replicas"), ("Type", ".spec.template.spec.providerSpec.value.instanceType")],
        ..Shape::new(MACHINE_API, "MachineSet", "machinesets")
    };
    put(sim, since, definition(&shape));
    put(sim, since, namespace(NAMESPACE));
}

/// A valid key, a revoked key, a web identity whose token is in a pod, and a Secret without the default profile.
fn logins() -> Vec<Value> {
    let keys = |name: &str, id: &str, key: &str| {
        let text = format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = {key}\n");
        one_key(CopyKind::Secret, NAMESPACE, name, "credentials", &text)
    };
    let role = "[default]\nrole_arn = arn:aws:iam::123456789012:role/annotator\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token\n";
    vec![
        keys(LOGIN, KEY_ID, KEY),
        keys("aws-revoked", "AKIAREVOKED", "revoked"),
        one_key(CopyKind::Secret, NAMESPACE, "aws-web-identity", "credentials", role),
        one_key(CopyKind::Secret, NAMESPACE, "aws-other-profile", "credentials", "[work]\nregion = us-east-1\n"),
    ]
}

fn sets() -> Vec<Value> {
    let fine = |cpus: u64, memory: u64, arch: &str| both(&machine(cpus, memory, 0), &capacity(cpus, memory, arch));
    let none = json!({});
    let mut paused = set("pool-paused", "m5.large", &none);
    paused["spec"]["paused"] = true.into();
    let mut migrated = set("pool-migrated", "m5.large", &none);
    migrated["status"] = json!({ "authoritativeAPI": "ClusterAPI" });
    let mut azure = set("pool-from-azure", "", &none);
    azure["spec"]["template"]["spec"]["providerSpec"]["value"] =
        json!({ "kind": "AzureMachineProviderSpec", "vmSize": "Standard_D4s_v5" });
    let mut empty = set("pool-half-made", "", &none);
    empty["spec"]["template"]["spec"]["providerSpec"] = json!({});
    let gpu = both(&machine(4, 16_384, 1), &json!({ format!("{CAPACITY}/labels"): "kubernetes.io/arch=amd64" }));
    vec![
        set("pool-web", "m5.large", &fine(2, 8_192, "amd64")),
        set(BURST, BURST_TYPES[0], &fine(2, 8_192, "amd64")),
        set("pool-new", "m6i.8xlarge", &none),
        set("pool-gpu", "g4dn.xlarge", &gpu),
        set("pool-arm", "m6g.4xlarge", &both(&machine(16, 65_536, 0), &capacity(8, 32_768, "amd64"))),
        set("pool-slice", "g6f.large", &fine(2, 8_192, "amd64")),
        set("pool-mac", "mac2.metal", &none),
        set("pool-typo", "m5.lrage", &none),
        set("pool-unset", "", &none),
        placed(set("pool-zone", "m5.large", &none), "us-east-1a"),
        placed(set("pool-overseas", "m5.large", &none), REGION_BEHIND_A_PAGE),
        signed(set("pool-revoked", "m5.large", &none), "aws-revoked"),
        signed(set("pool-sts", "m5.large", &none), "aws-web-identity"),
        signed(set("pool-profile", "m5.large", &none), "aws-other-profile"),
        signed(set("pool-secretless", "m5.large", &none), "aws-deleted-last-week"),
        signed(set("pool-anonymous", "m5.large", &none), ""),
        paused,
        migrated,
        azure,
        empty,
    ]
}

fn set(name: &str, instance_type: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "metadata": { "namespace": NAMESPACE, "name": name, "annotations": annotations },
        "spec": {
            "replicas": 0,
            "template": { "spec": { "providerSpec": { "value": {
                "apiVersion": MACHINE_API,
                "kind": "AWSMachineProviderConfig",
                "instanceType": instance_type,
                "placement": { "region": REGION },
                "credentialsSecret": { "name": LOGIN },
            } } } },
        },
    })
}

fn placed(mut set: Value, region: &str) -> Value {
    set["spec"]["template"]["spec"]["providerSpec"]["value"]["placement"]["region"] = region.into();
    set
}

fn signed(mut set: Value, secret: &str) -> Value {
    set["spec"]["template"]["spec"]["providerSpec"]["value"]["credentialsSecret"]["name"] = secret.into();
    set
}

/// Annotations that the Machine API's annotator writes.
fn machine(cpus: u64, memory: u64, gpus: u64) -> Value {
    json!({
        "machine.openshift.io/vCPU": cpus.to_string(),
        "machine.openshift.io/memoryMb": memory.to_string(),
        "machine.openshift.io/GPU": gpus.to_string(),
    })
}

/// Annotations that the autoscaler operator derives from them.
fn capacity(cpus: u64, memory: u64, arch: &str) -> Value {
    json!({
        format!("{CAPACITY}/cpu"): cpus.to_string(),
        format!("{CAPACITY}/memory"): format!("{memory}Mi"),
        format!("{CAPACITY}/labels"): format!("kubernetes.io/arch={arch}"),
    })
}

fn both(one: &Value, other: &Value) -> Value {
    let pairs = [one, other].into_iter().filter_map(Value::as_object).flatten();
    Value::Object(pairs.map(|(key, value)| (key.clone(), value.clone())).collect())
}
