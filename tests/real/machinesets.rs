//! Sets of machines on a real API server, with an AWS in memory behind a port: from a Secret's key to annotations, and
//! back, while a controller keeps writing status.

use std::collections::BTreeMap;
use std::process::Output;

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use trueup_core::engine::Plan;
use trueup_sim::LocalServer;
use trueup_sim::aws::SimAws;

use super::desk::Desk;
use super::fleet::{create, furnish_management, inline_kubeconfig};
use crate::support::crds::install_crd;
use crate::support::http::Request;
use crate::support::killed::said;
use crate::support::real::{Connection, RealServer, User};

const NAMESPACE: &str = "openshift-machine-api";
const CANARY: &str = "canary-of-the-access-key";
const CAPACITY: &str = "capacity.cluster-autoscaler.kubernetes.io";

/// Type, CPUs, mebibytes, GPUs, architecture.
const TYPES: [(&str, u64, u64, u64, &str); 10] = [
    ("a1.2xlarge", 8, 16_384, 0, "arm64"),
    ("g4dn.xlarge", 4, 16_384, 1, "amd64"),
    ("g5g.xlarge", 4, 8_192, 1, "arm64"),
    ("inf1.xlarge", 4, 8_192, 0, "amd64"),
    ("m1.small", 1, 1_740, 0, "amd64"),
    ("m6g.4xlarge", 16, 65_536, 0, "arm64"),
    ("m6i.8xlarge", 32, 131_072, 0, "amd64"),
    ("p4d.24xlarge", 96, 1_179_648, 8, "amd64"),
    ("p5.48xlarge", 192, 2_097_152, 8, "amd64"),
    ("t2.micro", 1, 1_024, 0, "amd64"),
];

fn machine_sets() -> String {
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "machinesets.machine.openshift.io" },
        "spec": {
            "group": "machine.openshift.io", "scope": "Namespaced",
            "names": { "kind": "MachineSet", "plural": "machinesets" },
            "versions": [{
                "name": "v1beta1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": any, "status": any } } }
            }]
        }
    })
    .to_string()
}

fn name_of(instance_type: &str) -> String {
    instance_type.replace('.', "-")
}

fn path_of(instance_type: &str) -> String {
    format!("/apis/machine.openshift.io/v1beta1/namespaces/{NAMESPACE}/machinesets/{}", name_of(instance_type))
}

async fn merge(at: &Connection, path: &str, patch: Value) {
    let request = Request::new(Method::PATCH, path).json("application/merge-patch+json", patch);
    let answer = at.send(&request).await.unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
}

async fn annotations(at: &Connection, instance_type: &str) -> BTreeMap<String, String> {
    let object = at.send(&Request::get(path_of(instance_type))).await.unwrap().body;
    serde_json::from_value(object["metadata"]["annotations"].clone()).unwrap_or_default()
}

/// A cluster on AWS with a set of each type; AWS is at the port that comes back.
async fn seed(at: &Connection, server: &RealServer) -> LocalServer {
    furnish_management(at, server).await;
    install_crd(at, &machine_sets()).await;
    let aws = SimAws::new(Timestamp::now);
    aws.add_user("machine-api", "AKIASIM", CANARY);
    let listening = aws.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let infrastructure = json!({
        "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster" },
        "spec": { "platformSpec": { "type": "AWS" } }
    });
    create(at, infrastructure).await;
    let platform = json!({ "type": "AWS", "aws": { "region": "us-east-1" } });
    let status = json!({ "status": { "platformStatus": platform } });
    merge(at, "/apis/config.openshift.io/v1/infrastructures/cluster/status", status).await;
    create(at, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } })).await;
    let keys = json!({ "aws_access_key_id": "AKIASIM", "aws_secret_access_key": CANARY });
    let login = json!({ "namespace": NAMESPACE, "name": "aws-cloud-credentials" });
    create(at, json!({ "apiVersion": "v1", "kind": "Secret", "metadata": login, "stringData": keys })).await;
    for (instance_type, ..) in TYPES {
        let value = json!({
            "kind": "AWSMachineProviderConfig", "instanceType": instance_type, "placement": { "region": "us-east-1" },
            "credentialsSecret": { "name": "aws-cloud-credentials" },
        });
        let metadata =
            json!({ "namespace": NAMESPACE, "name": name_of(instance_type), "annotations": { "mine": "1" } });
        create(
            at,
            json!({
                "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "metadata": metadata,
                "spec": { "template": { "spec": { "providerSpec": { "value": value } } } },
            }),
        )
        .await;
    }
    listening
}

/// Runs the binary where the user's own variables say where AWS is.
fn run(desk: &Desk, aws: &str, args: &[&str]) -> Output {
    let mut command = desk.command(&[args, &["--kubeconfig", "$TMP/kubeconfig"]].concat());
    tokio::task::block_in_place(|| command.env("AWS_ENDPOINT_URL", aws).output().unwrap())
}

fn expected((_, cpus, memory, gpus, arch): (&str, u64, u64, u64, &str)) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([
        ("mine".to_owned(), "1".to_owned()),
        ("machine.openshift.io/vCPU".to_owned(), cpus.to_string()),
        ("machine.openshift.io/memoryMb".to_owned(), memory.to_string()),
        ("machine.openshift.io/GPU".to_owned(), gpus.to_string()),
        (format!("{CAPACITY}/cpu"), cpus.to_string()),
        (format!("{CAPACITY}/memory"), format!("{memory}Mi")),
        (format!("{CAPACITY}/labels"), format!("kubernetes.io/arch={arch}")),
    ]);
    if gpus > 0 {
        all.insert(format!("{CAPACITY}/gpu-count"), gpus.to_string());
        all.insert(format!("{CAPACITY}/gpu-type"), "nvidia.com/gpu".to_owned());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn machine_sets_are_annotated_and_undone_while_their_status_changes() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else {
        return;
    };
    let at = server.connect(User::Admin);
    let listening = seed(&at, &server).await;
    let aws = format!("http://{}", listening.address);
    let desk = Desk::with(&inline_kubeconfig(&server, "mgmt", "admin"));
    let args = ["plan", "--settle", "0s", "--domain", "machineset-capacity", "--out", "$TMP/plan.json"];
    let planned = run(&desk, &aws, &args);
    let plan =
        Plan::read(&std::fs::read_to_string(desk.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&planned))))
            .unwrap();
    let verdicts: Vec<&str> = plan.findings.iter().map(|finding| finding.verdict.as_str()).collect();
    assert_eq!(verdicts, ["missing"; 10], "{}", said(&planned));

    // A controller writes its status after the plan was made.
    for (instance_type, ..) in TYPES {
        merge(&at, &format!("{}/status", path_of(instance_type)), json!({ "status": { "replicas": 0 } })).await;
    }
    // Pause one of them.
    merge(&at, &path_of("t2.micro"), json!({ "metadata": { "annotations": { "cluster.x-k8s.io/paused": "" } } })).await;
    let apply = ["apply", "$TMP/plan.json", "--expect", &plan.id[7..15]];
    let applied = run(&desk, &aws, &apply);
    assert_eq!(applied.status.code(), Some(2), "all but the one that was paused: {}", said(&applied));
    for one in TYPES {
        let held = annotations(&at, one.0).await;
        if one.0 == "t2.micro" {
            assert_eq!(held.len(), 2, "a paused set is left alone: {held:?}");
        } else {
            assert_eq!(held, expected(one), "{}", one.0);
        }
    }

    merge(&at, &format!("{}/status", path_of("m1.small")), json!({ "status": { "replicas": 1 } })).await;
    let action = plan.actions.iter().find(|action| action.target.name == "m1-small").unwrap();
    let entry = format!("{}/{}", &plan.id[7..15], action.id);
    let undone = run(&desk, &aws, &["undo", &entry, "--out", "$TMP/undo.json"]);
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    let undo = Plan::read(&std::fs::read_to_string(desk.path("undo.json")).unwrap()).unwrap();
    merge(&at, &format!("{}/status", path_of("m1.small")), json!({ "status": { "replicas": 2 } })).await;
    let back = run(&desk, &aws, &["apply", "$TMP/undo.json", "--expect", &undo.id[7..15]]);
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
    assert_eq!(annotations(&at, "m1.small").await, BTreeMap::from([("mine".to_owned(), "1".to_owned())]));

    let everything = format!("{}{}{}{}", said(&planned), said(&applied), said(&undone), said(&back));
    assert!(!everything.contains(CANARY), "a key was said");
    for (path, bytes) in desk.state_files() {
        let holds = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
        assert!(!holds, "a key is in {}", path.display());
    }
}
