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
fn a_plan_lists_capacity_annotations_and_adds_missing_ones() {
    let dir = fleet("", "s3cret");
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc", "--domain", "machineset-capacity"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

shop  dev  snapshot
  + missing MachineSet  openshift-machine-api/bare  missing                 no capacity annotations for g4dn.xlarge; cannot scale from zero
  ~ drift   MachineSet  openshift-machine-api/half  drift                   one family of annotations for m6g.4xlarge is absent: cpu 16 is not there, and 2 more
  ! error   MachineSet  openshift-machine-api/mac   instance-type-unknown   mac2.metal has no architecture that nodes have: nothing is guessed
  ~ drift   MachineSet  openshift-machine-api/torn  keys-disagree           its two families of annotations disagree about m6g.4xlarge: cpu is 8 and not 16, and 1 more
  ! error   MachineSet  openshift-machine-api/typo  instance-type-unknown   us-east-1 does not offer m6g.4xlrage: name another type, or another region
  = ok      3

  [x] a1 T1 annotate MachineSet openshift-machine-api/bare  missing, undo: remove-what-was-added
  [x] a2 T1 annotate MachineSet openshift-machine-api/half  differs, undo: remove-what-was-added
  [x] a3 T1 annotate MachineSet openshift-machine-api/torn  differs, undo: remove-what-was-added

1 cluster; 8 findings: 3 ok, 1 missing, 2 drift, 2 error; 3 actions: 3 annotate
----- stderr
----- exit 2
"##);
}

#[test]
fn an_explained_finding_names_every_object_of_its_evidence() {
    let dir = fleet("environment: { AWS_REGION: us-east-1 }\n", "s3cret");
    let finding = "machineset-capacity/shop/MachineSet/openshift-machine-api/torn";
    insta::assert_snapshot!(transcript(&dir, &["explain", finding, "--from", "$TMP", "--utc"]), @r##"
MachineSet openshift-machine-api/torn in shop
~ drift, keys-disagree
its two families of annotations disagree about m6g.4xlarge: cpu is 8 and not 16, and 1 more
id: machineset-capacity/shop/MachineSet/openshift-machine-api/torn

EXPECTED
  annotations:
    capacity.cluster-autoscaler.kubernetes.io/cpu: 16
    capacity.cluster-autoscaler.kubernetes.io/labels: kubernetes.io/arch=arm64
    capacity.cluster-autoscaler.kubernetes.io/memory: 65536Mi
    machine.openshift.io/GPU: 0
    machine.openshift.io/memoryMb: 65536
    machine.openshift.io/vCPU: 16
  architecture: arm64

ACTUAL
  annotations:
    capacity.cluster-autoscaler.kubernetes.io/cpu: 8
    capacity.cluster-autoscaler.kubernetes.io/labels: kubernetes.io/arch=arm64
    capacity.cluster-autoscaler.kubernetes.io/memory: 32Gi
    machine.openshift.io/GPU: 0
    machine.openshift.io/memoryMb: 65536
    machine.openshift.io/vCPU: 16
  architecture: arm64
  instanceType: m6g.4xlarge
  region: us-east-1

EVIDENCE
  1 the instance type is m6g.4xlarge
    shop MachineSet openshift-machine-api/torn spec.template.spec.providerSpec.value.instanceType
  2 the region is us-east-1
    shop MachineSet openshift-machine-api/torn spec.template.spec.providerSpec.value.placement.region
  3 holds an access key
    shop Secret openshift-machine-api/aws-cloud-credentials data
  4 cpu 16, memory 65536Mi, GPU 0, arm64
    aws:main InstanceType us-east-1/m6g.4xlarge type
  5 says 16, as it should
    shop MachineSet openshift-machine-api/torn metadata.annotations["machine.openshift.io/vCPU"]
  6 says 65536, as it should
    shop MachineSet openshift-machine-api/torn metadata.annotations["machine.openshift.io/memoryMb"]
  7 says 0, as it should
    shop MachineSet openshift-machine-api/torn metadata.annotations["machine.openshift.io/GPU"]
  8 says 8; 16 is expected
    shop MachineSet openshift-machine-api/torn metadata.annotations["capacity.cluster-autoscaler.kubernetes.io/cpu"]
  9 says 32Gi; 65536Mi is expected
    shop MachineSet openshift-machine-api/torn metadata.annotations["capacity.cluster-autoscaler.kubernetes.io/memory"]
  10 is not there, as it should be
    shop MachineSet openshift-machine-api/torn metadata.annotations["capacity.cluster-autoscaler.kubernetes.io/gpu-count"]
  11 is not there, as it should be
    shop MachineSet openshift-machine-api/torn metadata.annotations["capacity.cluster-autoscaler.kubernetes.io/gpu-type"]
  12 says kubernetes.io/arch=arm64, as it should
    shop MachineSet openshift-machine-api/torn metadata.annotations["capacity.cluster-autoscaler.kubernetes.io/labels"]

REMEDY
  [x] a3 annotate MachineSet openshift-machine-api/torn
      tier T1, reason differs, undo: remove-what-was-added
        metadata:
          annotations:
      -     capacity.cluster-autoscaler.kubernetes.io/cpu: "8"
      +     capacity.cluster-autoscaler.kubernetes.io/cpu: "16"
      -     capacity.cluster-autoscaler.kubernetes.io/memory: "32Gi"
      +     capacity.cluster-autoscaler.kubernetes.io/memory: "65536Mi"
----- stderr
----- exit 0
"##);
}

#[test]
fn a_plan_binds_the_judged_fields_and_not_the_version() {
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
        ("no credentials", String::new(), "missing", json!([])),
        (
            "half a role",
            format!("environment: {{ {role} }}\n"),
            "credentials-partial",
            json!(["aws-web-identity-token-file-missing", "from-catalogue"]),
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
fn no_output_has_a_byte_of_a_credential() {
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
