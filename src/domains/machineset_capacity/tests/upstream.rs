//! Upstream's own cases. Where the answer here is another one on purpose, the row says why.

use serde_json::json;

use super::*;

fn cap(key: &str) -> String {
    format!("capacity.cluster-autoscaler.kubernetes.io/{key}")
}

/// The types upstream tries, as EC2 describes them.
fn types() -> Given {
    let given = given().bare();
    let given = given
        .offers("a1.2xlarge", 8, 16384, &["arm64"])
        .offers("m6h.8xlarge", 32, 131_072, &["wrong-arch"])
        .offers("bare.8xlarge", 32, 131_072, &[])
        .offers("t2.micro", 1, 1024, &["i386", "x86_64"]);
    let p2 = json!({ "name": "p2.16xlarge", "vcpu": 64, "memory_mib": 749_568, "gpus": [gpu("NVIDIA", 16, 16)], "architectures": ["x86_64"] });
    given.catalogue(p2)
}

#[test]
fn each_type_gets_what_ec2_says_of_it() {
    let cases = [
        // Upstream's fake says amd64; EC2 says arm64, and so does this.
        ("a1.2xlarge", Some((8, 16384, 0, "arm64"))),
        ("p2.16xlarge", Some((64, 749_568, 16, "amd64"))),
        ("m6g.4xlarge", Some((16, 65_536, 0, "arm64"))),
        ("m6i.8xlarge", Some((32, 131_072, 0, "amd64"))),
        // Upstream takes the first of the list, which is i386, and falls back to amd64. The whole list says it.
        ("t2.micro", Some((1, 1024, 0, "amd64"))),
        // Upstream falls back to amd64 for both; nodes that do not start would be the result, so nothing is written.
        ("m6h.8xlarge", None),
        ("bare.8xlarge", None),
        // Upstream leaves the annotations alone, and so does this.
        ("invalid", None),
    ];
    for (name, expected) in cases {
        let given = types().provider("instanceType", json!(name));
        let judged = given.judged();
        let remedy = &judged.find(WORKERS).unwrap().explanation.remedy;
        let Some((cpus, memory, gpus, arch)) = expected else {
            assert!(remedy.is_empty(), "{name}: nothing is guessed");
            continue;
        };
        let mut set = machine(cpus, memory, gpus);
        let more = capacity(cpus, memory, arch);
        set.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if gpus > 0 {
            set[cap("gpu-count")] = json!(gpus.to_string());
            set[cap("gpu-type")] = json!("nvidia.com/gpu");
        }
        assert_eq!(remedy[0].change, json!({ "set": set, "remove": [] }), "{name}");
    }
}

#[test]
fn an_empty_type_is_said_to_be_empty_and_not_unknown() {
    assert_eq!(types().provider("instanceType", json!("")).about(WORKERS), "instance-type-empty");
}

/// Upstream keeps the old value, so that a change to a Graviton type never reaches the autoscaler.
#[test]
fn a_stale_architecture_does_not_survive_a_change_of_type() {
    let graviton = given().provider("instanceType", json!("m6g.4xlarge")).annotated(16, 65_536, 0, "amd64");
    assert_eq!(graviton.change(WORKERS), json!({ "set": { cap("labels"): "kubernetes.io/arch=arm64" }, "remove": [] }));
}

/// Upstream refreshes one family; the copies another operator made of it stay as they were, and win.
#[test]
fn copies_of_stale_keys_that_win_in_the_autoscaler_are_found() {
    let copied = given().with(json!({ cap("cpu"): "16", cap("memory"): "68719476736", cap("gpu-type"): "" }));
    assert_eq!(copied.about(WORKERS), "keys-disagree → annotate selected differs");
    assert_eq!(copied.change(WORKERS), json!({ "set": { cap("cpu"): "32", cap("memory"): "131072Mi" }, "remove": [] }));
}

#[test]
fn foreign_annotations_are_neither_judged_nor_touched() {
    let foreign = given().with(json!({ "existing": "annotation", "annotation": "existing", cap("maxPods"): "250" }));
    assert_eq!(foreign.about(WORKERS), "match");
    let change = foreign.with(json!({ cap("cpu"): "1" })).change(WORKERS);
    assert_eq!(change, json!({ "set": { cap("cpu"): "32" }, "remove": [] }));
}

/// Upstream stops at the generic sentence when the Secret is not there either.
#[test]
fn half_a_role_is_called_that_whatever_else_is_missing() {
    let half = given()
        .environment(json!({ "AWS_ROLE_ARN": "arn:aws:iam::1:role/x" }))
        .provider("credentialsSecret", Value::Null);
    let judged = half.judged();
    let summary = &judged.find(WORKERS).unwrap().explanation.summary;
    assert!(summary.contains("AWS_ROLE_ARN is set and AWS_WEB_IDENTITY_TOKEN_FILE is not"), "{summary}");
    assert!(summary.contains("webhook"), "{summary}");
}

#[test]
fn a_role_of_another_partition_is_shown_beside_the_region() {
    let gov =
        json!({ "AWS_ROLE_ARN": "arn:aws-us-gov:iam::123456789012:role/my-role", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" });
    let judged = given().environment(gov).judged();
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    assert!(
        evidence.iter().any(|line| line.says.contains("partition aws-us-gov, and us-east-1 is of aws")),
        "{evidence:?}"
    );
}
