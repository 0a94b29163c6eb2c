//! The whole way on a real API server: a token for keys, types from moto, annotations on MachineSets.

use std::path::Path;
use std::process::{Command, Output};

use http::Method;
use serde_json::{Value, json};
use trueup_core::engine::Plan;

use super::server::Moto;
use super::{ROLE, TYPES};
use crate::fleet::{create, furnish_management, inline_kubeconfig};
use crate::support::crds::install_crd;
use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

pub(super) const NAMESPACE: &str = "openshift-machine-api";
const SETS: &str = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machinesets";
const TOKEN: &str = "aGVhZGVy.e30.Y2FuYXJ5LXNpZ25hdHVyZQ";

/// A definition of MachineSets that takes any field, with a status of its own.
pub(super) fn definition() -> String {
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

pub(super) fn machine_set(instance_type: &str) -> Value {
    let provider = json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "AWSMachineProviderConfig",
        "instanceType": instance_type, "placement": { "region": "us-east-1" },
    });
    json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
        "metadata": { "namespace": NAMESPACE, "name": instance_type.replace('.', "-"), "annotations": { "mine": "kept" } },
        "spec": { "replicas": 0, "template": { "spec": { "providerSpec": { "value": provider } } } },
    })
}

pub(super) fn named(kind: &str, namespace: Option<&str>, name: &str, more: Value) -> Value {
    let mut object = json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": namespace } });
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

/// A cluster in AWS that reaches it through endpoints and an authority of its own.
async fn seed(at: &Connection, server: &RealServer, endpoint: &str, authority: &str) {
    furnish_management(at, server).await;
    install_crd(at, &definition()).await;
    create(at, named("Namespace", None, NAMESPACE, json!({}))).await;
    create(at, named("Namespace", None, "openshift-config-managed", json!({}))).await;
    let bundle = json!({ "data": { "ca-bundle.pem": authority } });
    create(at, named("ConfigMap", Some("openshift-config-managed"), "kube-cloud-config", bundle)).await;
    create(
        at,
        json!({
            "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster" },
            "spec": { "platformSpec": { "type": "AWS" } },
        }),
    )
    .await;
    let endpoints = json!([{ "name": "ec2", "url": endpoint }, { "name": "sts", "url": endpoint }]);
    set_platform(at, json!({ "region": "us-east-1", "serviceEndpoints": endpoints })).await;
    for (name, ..) in TYPES {
        create(at, machine_set(name)).await;
    }
}

/// Says in the status of the Infrastructure that the cluster is in AWS.
pub(super) async fn set_platform(at: &Connection, aws: Value) {
    let status = json!({ "status": { "platformStatus": { "type": "AWS", "aws": aws } } });
    let path = "/apis/config.openshift.io/v1/infrastructures/cluster/status";
    let patch = Request::new(Method::PATCH, path).json("application/merge-patch+json", status);
    let patched = at.send(&patch).await.unwrap();
    assert_eq!(patched.status, 200, "{}", patched.body);
}

/// Runs the binary with the variables of an annotating pod, in a folder of its own.
fn trueup(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("XDG_STATE_HOME", folder.join("state")).env("AWS_ROLE_ARN", ROLE);
    command.env("AWS_WEB_IDENTITY_TOKEN_FILE", folder.join("token")).current_dir(folder);
    command.args(args).args(["--kubeconfig", "kubeconfig", "--config", "config.toml", "--log", "log", "-v"]);
    tokio::task::block_in_place(|| command.output().unwrap())
}

pub(super) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn plan(folder: &Path) -> (Plan, Output) {
    let args = ["plan", "--domain", "machineset-capacity", "-o", "json", "--settle", "0s", "--out", "plan.json"];
    let output = trueup(folder, &args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let plan = Plan::read(&text).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    (plan, output)
}

fn verdicts(plan: &Plan) -> Vec<(&str, &str)> {
    plan.findings.iter().map(|finding| (finding.subject.name.as_str(), finding.verdict.as_ref())).collect()
}

/// What the annotations of one of [`TYPES`] should be.
fn annotations(row: &(&str, u64, u64, u64, u64, &[&str])) -> Value {
    let (_, vcpu, memory, gpus, _, architectures) = row;
    let arch = if architectures.contains(&"arm64") { "arm64" } else { "amd64" };
    let mut expected = json!({
        "mine": "kept",
        "machine.openshift.io/vCPU": vcpu.to_string(),
        "machine.openshift.io/memoryMb": memory.to_string(),
        "machine.openshift.io/GPU": gpus.to_string(),
        "capacity.cluster-autoscaler.kubernetes.io/cpu": vcpu.to_string(),
        "capacity.cluster-autoscaler.kubernetes.io/memory": format!("{memory}Mi"),
        "capacity.cluster-autoscaler.kubernetes.io/labels": format!("kubernetes.io/arch={arch}"),
    });
    if *gpus > 0 {
        let family = "capacity.cluster-autoscaler.kubernetes.io";
        expected[format!("{family}/gpu-count")] = json!(gpus.to_string());
        expected[format!("{family}/gpu-type")] = json!("nvidia.com/gpu");
    }
    expected
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_types_are_looked_up_planned_for_and_annotated_over_https() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else { return };
    let Some((moto, authority)) = tokio::task::spawn_blocking(Moto::start_tls).await.unwrap() else { return };
    let at = server.connect(User::Admin);
    seed(&at, &server, &moto.url(), &authority).await;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    std::fs::write(folder.join("kubeconfig"), inline_kubeconfig(&server, "prod", "admin")).unwrap();
    std::fs::write(folder.join("token"), TOKEN).unwrap();
    std::fs::write(folder.join("config.toml"), "").unwrap();
    // The endpoint is the cluster's, and the role this machine's own: nothing is sent there before the user allows it.
    let (_, output) = plan(folder);
    let host = moto.url().trim_start_matches("https://").trim_end_matches('/').to_owned();
    let allow = format!("[egress]\nallow = [\"{host}\"]\n");
    assert!(said(&output).contains(&host), "{}", said(&output));
    std::fs::write(folder.join("config.toml"), allow).unwrap();

    let (planned, output) = plan(folder);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let missing: Vec<(String, &str)> = TYPES.iter().map(|(name, ..)| (name.replace('.', "-"), "missing")).collect();
    let missing: Vec<(&str, &str)> = missing.iter().map(|(name, verdict)| (name.as_str(), *verdict)).collect();
    assert_eq!(verdicts(&planned), missing, "{}", said(&output));

    let applied = trueup(folder, &["apply", "plan.json", "--expect", &planned.id[7..15]]);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    for row in &TYPES {
        let path = format!("{SETS}/{}", row.0.replace('.', "-"));
        let object = at.send(&Request::get(&path)).await.unwrap().body;
        assert_eq!(object["metadata"]["annotations"], annotations(row), "type: {}", row.0);
    }

    let (again, output) = plan(folder);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(verdicts(&again).iter().all(|(_, verdict)| *verdict == "match"), "{}", said(&output));
    let written = std::fs::read_to_string(folder.join("log")).unwrap();
    for (place, text) in [("plan", said(&output)), ("apply", said(&applied)), ("log", written)] {
        assert!(!text.contains("Y2FuYXJ5LXNpZ25hdHVyZQ"), "the token is in the {place}");
    }
}
