//! Sets of machines in a folder, as a shell sees them.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::fixture::{add, folder, run, transcript};

const CATALOGUE: &str = "\
region: us-east-1
instance_types:
  - { name: m6g.4xlarge, vcpu: 16, memory_mib: 65536, gpus: [], architectures: [arm64] }
  - { name: g4dn.xlarge, vcpu: 4, memory_mib: 16384, gpus: [ { name: T4, manufacturer: NVIDIA, count: 1, logical_count: 1 } ], architectures: [x86_64] }
  - { name: t2.micro, vcpu: 1, memory_mib: 1024, gpus: [], architectures: [i386, x86_64] }
  - { name: mac2.metal, vcpu: 8, memory_mib: 16384, gpus: [], architectures: [arm64_mac] }
";

fn machine_set(name: &str, instance_type: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
        "metadata": {
            "namespace": "openshift-machine-api", "name": name, "uid": format!("u-{name}"), "resourceVersion": "7",
            "annotations": annotations
        },
        "spec": { "template": { "spec": { "providerSpec": { "value": {
            "kind": "AWSMachineProviderConfig", "instanceType": instance_type, "placement": { "region": "us-east-1" },
            "credentialsSecret": { "name": "aws-cloud-credentials" }
        } } } } }
    })
}

fn cap(key: &str) -> String {
    format!("capacity.cluster-autoscaler.kubernetes.io/{key}")
}

/// A cluster with a set of each sort. `secret` stands in its login.
fn fleet(environment: &str, secret: &str) -> TempDir {
    let machine = json!({
        "machine.openshift.io/vCPU": "16", "machine.openshift.io/memoryMb": "65536", "machine.openshift.io/GPU": "0",
    });
    let with = |more: Value| {
        let mut all = machine.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let fine = with(json!({ cap("cpu"): "16", cap("memory"): "64Gi", cap("labels"): "kubernetes.io/arch=arm64" }));
    let torn = with(json!({ cap("cpu"): "8", cap("memory"): "32Gi", cap("labels"): "kubernetes.io/arch=arm64" }));
    let mut azure = machine_set("azure", "", json!({}));
    azure["spec"]["template"]["spec"]["providerSpec"]["value"] = json!({ "kind": "AzureMachineProviderSpec" });
    let mut paused = machine_set("paused", "t2.micro", json!({}));
    paused["spec"]["paused"] = json!(true);
    let objects = [
        json!({
            "apiVersion": "v1", "kind": "Secret", "stringData": { "aws_access_key_id": secret, "aws_secret_access_key": secret },
            "metadata": { "namespace": "openshift-machine-api", "name": "aws-cloud-credentials", "uid": "s", "resourceVersion": "3" }
        }),
        machine_set("bare", "g4dn.xlarge", json!({ "mine": "stays" })),
        machine_set("fine", "m6g.4xlarge", fine),
        machine_set("half", "m6g.4xlarge", machine.clone()),
        machine_set("mac", "mac2.metal", json!({})),
        machine_set("torn", "m6g.4xlarge", torn),
        machine_set("typo", "m6g.4xlrage", json!({})),
        azure,
        paused,
    ];
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    let fleet = format!("now: 2026-11-16T10:00:00Z\nclusters: {{ shop: {{ class: dev }} }}\n{environment}");
    folder(&[("fleet.yaml", &fleet), ("clusters/shop/all.json", &list), ("clouds/aws/main.yaml", CATALOGUE)])
}

#[test]
fn a_plan_says_what_autoscalers_know_and_writes_what_they_do_not() {
    let dir = fleet("", "s3cret");
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc", "--domain", "machineset-capacity"]), @"");
}

#[test]
fn one_finding_in_full_names_every_object_it_was_read_from() {
    let dir = fleet("environment: { AWS_REGION: us-east-1 }\n", "s3cret");
    let finding = "machineset-capacity/shop/MachineSet/openshift-machine-api/torn";
    insta::assert_snapshot!(transcript(&dir, &["explain", finding, "--from", "$TMP", "--utc"]), @"");
}

#[test]
fn a_plan_binds_what_was_judged_and_not_a_version_that_moves_by_itself() {
    let dir = fleet("", "s3cret");
    let plan = |dir: &TempDir| -> Value {
        let output = run(dir, &["plan", "--from", "$TMP", "-o", "json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let before = plan(&dir);
    let bare = |plan: &Value| {
        plan["actions"].as_array().unwrap().iter().find(|one| one["target"]["name"] == "bare").cloned().unwrap()
    };
    assert_eq!(bare(&before)["preconditions"]["uid"], "u-bare");
    assert_eq!(bare(&before)["preconditions"]["resourceVersion"], Value::Null);
    assert_eq!(
        bare(&before)["change"]["set"],
        json!({
            "machine.openshift.io/vCPU": "4", "machine.openshift.io/memoryMb": "16384", "machine.openshift.io/GPU": "1",
            cap("cpu"): "4", cap("memory"): "16384Mi", cap("gpu-count"): "1", cap("gpu-type"): "nvidia.com/gpu",
            cap("labels"): "kubernetes.io/arch=amd64",
        })
    );
    let text = std::fs::read_to_string(dir.path().join("clusters/shop/all.json")).unwrap();
    add(
        dir.path(),
        &[("clusters/shop/all.json", &text.replace(r#""resourceVersion":"7""#, r#""resourceVersion":"8""#))],
    );
    assert_eq!(plan(&dir)["id"], before["id"], "a version alone makes no other plan");
}

#[test]
fn each_step_of_a_login_has_its_own_verdict() {
    let role = "AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/x'";
    let cases = [
        ("nobody says", String::new(), "missing", json!([])),
        (
            "half a role",
            format!("environment: {{ {role} }}\n"),
            "credentials-partial",
            json!(["aws-web-identity-token-file-missing"]),
        ),
        ("a role", format!("environment: {{ {role}, AWS_WEB_IDENTITY_TOKEN_FILE: /t }}\n"), "missing", json!([])),
        ("a Secret", "environment: {}\n".to_owned(), "missing", json!([])),
    ];
    for (case, environment, verdict, codes) in cases {
        let dir = fleet(&environment, "s3cret");
        let output = run(&dir, &["plan", "--from", "$TMP", "-o", "json"]);
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = plan["findings"].as_array().unwrap();
        let bare = all.iter().find(|finding| finding["subject"]["name"] == "bare").unwrap();
        assert_eq!((bare["verdict"].as_str(), &bare["codes"]), (Some(verdict), &codes), "case: {case}");
    }
}

#[test]
fn no_output_holds_a_byte_of_a_login() {
    let dir = fleet("environment: { AWS_SECRET_ACCESS_KEY: c4n4ry-2 }\n", "c4n4ry-1");
    for args in [
        &["plan", "--from", "$TMP"][..],
        &["plan", "--from", "$TMP", "-o", "json"],
        &["plan", "--from", "$TMP", "-o", "markdown"],
        &["explain", "machineset-capacity/shop/MachineSet/openshift-machine-api/bare", "--from", "$TMP"],
    ] {
        let said = transcript(&dir, args);
        assert!(said.contains("bare") && !said.contains("c4n4ry"), "{args:?}: {said}");
    }
}
