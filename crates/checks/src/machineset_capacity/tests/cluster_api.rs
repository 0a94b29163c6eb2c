//! Kinds of Cluster API: from their template and cluster to a machine, and what their annotations say.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::json;

use super::*;

const MATCH: &str = "match";

fn set(field: &str, value: Value) -> Given {
    deployed().set("MachineDeployment", "pool", field, value)
}

fn cluster(field: &str, value: Value) -> Given {
    deployed().set("Cluster", "demo", field, value)
}

fn own_region(region: &str) -> Value {
    json!({ "capa.infrastructure.cluster.x-k8s.io/region": region })
}

#[test]
fn only_what_runs_on_aws_and_is_nobody_elses_is_judged() {
    let reference = |kind: &str| json!({ "kind": kind, "name": "large" });
    let capi_set = |owners: Value| {
        let mut set = deployment("set");
        (set["kind"], set["metadata"]["ownerReferences"]) = (json!("MachineSet"), owners);
        deployed().object(set)
    };
    let owner = json!([{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "name": "pool", "uid": "md-pool" }]);
    let other = json!([{ "apiVersion": "example.com/v1", "kind": "MachineDeployment", "name": "pool", "uid": "x" }]);
    let cases = [
        ("AWS", deployed(), POOL, MATCH),
        (
            "another cloud",
            set("spec.template.spec.infrastructureRef", reference("DockerMachineTemplate")),
            POOL,
            "no subject",
        ),
        (
            "nothing named, in a cluster on AWS",
            set("spec.template.spec.infrastructureRef", Value::Null),
            POOL,
            "invalid-spec",
        ),
        (
            "nothing named, in a cluster elsewhere",
            set("spec.template.spec.infrastructureRef", Value::Null).set(
                "Cluster",
                "demo",
                "spec.infrastructureRef.kind",
                json!("DockerCluster"),
            ),
            POOL,
            "no subject",
        ),
        ("a set of its own", capi_set(json!([])), "MachineSet/team-a/set", "missing → annotate selected missing"),
        ("a set a deployment makes", capi_set(owner), "MachineSet/team-a/set", "no subject"),
        ("a set another kind makes", capi_set(other), "MachineSet/team-a/set", "missing → annotate selected missing"),
    ];
    for (case, given, subject, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}

#[test]
fn a_reference_that_does_not_resolve_is_a_fault_of_the_spec() {
    each(
        POOL,
        [
            ("all resolve", deployed(), MATCH),
            ("no template", deployed().without("AWSMachineTemplate", "large"), "invalid-spec"),
            ("an unnamed template", set("spec.template.spec.infrastructureRef.name", json!("")), "invalid-spec"),
            (
                "a template elsewhere",
                set("spec.template.spec.infrastructureRef.namespace", json!("team-b")),
                "invalid-spec",
            ),
            (
                "templates not known",
                deployed().incomplete("shop", "infrastructure.cluster.x-k8s.io/v1beta2/awsmachinetemplates"),
                MATCH,
            ),
            (
                "a template that may be there",
                deployed()
                    .without("AWSMachineTemplate", "large")
                    .incomplete("shop", "infrastructure.cluster.x-k8s.io/v1beta2/awsmachinetemplates"),
                "unknown",
            ),
            ("no cluster", deployed().without("Cluster", "demo"), "invalid-spec"),
            ("an unnamed cluster", set("spec.clusterName", json!("")), "invalid-spec"),
            (
                "a cluster that may be there",
                deployed().without("Cluster", "demo").incomplete("shop", "cluster.x-k8s.io/v1beta1/clusters"),
                "unknown",
            ),
            (
                "no cluster, and another namespace is not known",
                deployed().without("Cluster", "demo").incomplete("shop", "cluster.x-k8s.io/v1beta1/clusters@team-b"),
                "invalid-spec",
            ),
            (
                "no template, and another namespace is not known",
                deployed()
                    .without("AWSMachineTemplate", "large")
                    .incomplete("shop", "infrastructure.cluster.x-k8s.io/v1beta2/awsmachinetemplates@team-b"),
                "invalid-spec",
            ),
            (
                "no AWSCluster, and its own namespace is not known",
                deployed()
                    .without("AWSCluster", "demo")
                    .incomplete("shop", "infrastructure.cluster.x-k8s.io/v1beta2/awsclusters@team-a"),
                "unknown",
            ),
            (
                "no AWSCluster, and another namespace is not known",
                deployed()
                    .without("AWSCluster", "demo")
                    .incomplete("shop", "infrastructure.cluster.x-k8s.io/v1beta2/awsclusters@team-b"),
                "invalid-spec",
            ),
            ("no AWSCluster", deployed().without("AWSCluster", "demo"), "invalid-spec"),
            (
                "no AWSCluster, whatever an annotation says",
                deployed().without("AWSCluster", "demo").annotate("MachineDeployment", "pool", own_region("us-east-1")),
                "invalid-spec",
            ),
            ("a cluster made of nothing", cluster("spec", json!({})), "invalid-spec"),
            (
                "a cluster made of nothing, annotated",
                cluster("spec", json!({})).annotate("MachineDeployment", "pool", own_region("us-east-1")),
                MATCH,
            ),
            (
                "a number for a type",
                deployed().set("AWSMachineTemplate", "large", "spec.template.spec.instanceType", json!(1)),
                "invalid-spec",
            ),
            (
                "no type",
                deployed().set("AWSMachineTemplate", "large", "spec.template.spec", json!({})),
                "instance-type-empty",
            ),
        ],
    );
}

#[test]
fn the_region_comes_from_what_the_cluster_is_made_of_else_from_an_annotation() {
    let managed = |infrastructure: &str, plane: Value| {
        deployed()
            .without("AWSCluster", "demo")
            .object(managed_plane("us-east-1"))
            .set("Cluster", "demo", "spec.infrastructureRef", json!({ "kind": infrastructure, "name": "demo-cp" }))
            .set("Cluster", "demo", "spec.controlPlaneRef", plane)
    };
    let plane = json!({ "kind": "AWSManagedControlPlane", "name": "demo-cp" });
    each(
        POOL,
        [
            ("EKS, old shape", managed("AWSManagedControlPlane", Value::Null), MATCH),
            ("EKS, new shape", managed("AWSManagedCluster", plane.clone()), MATCH),
            (
                "EKS without its control plane",
                managed("AWSManagedCluster", json!({ "kind": "AWSManagedControlPlane", "name": "x" })),
                "invalid-spec",
            ),
            (
                "EKS, infrastructure not named",
                managed("AWSManagedCluster", plane).set("Cluster", "demo", "spec.infrastructureRef", Value::Null),
                MATCH,
            ),
            ("something without a region", managed("DockerCluster", Value::Null), "invalid-spec"),
            ("no region", deployed().object(aws_cluster("")), "region-invalid"),
            (
                "no region, annotated",
                deployed().object(aws_cluster("")).annotate("MachineDeployment", "pool", own_region("us-east-1")),
                MATCH,
            ),
            (
                "no region, cluster annotated",
                deployed().object(aws_cluster("")).annotate("Cluster", "demo", own_region("us-east-1")),
                MATCH,
            ),
            (
                "a region, whatever an annotation says",
                deployed().annotate("MachineDeployment", "pool", own_region("eu-west-1")),
                MATCH,
            ),
            ("a made-up region", deployed().object(aws_cluster("moon-base-1")), "region-invalid"),
        ],
    );
}

#[test]
fn newer_versions_of_the_objects_read_the_same() {
    let reference =
        json!({ "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate", "name": "large" });
    let paused = json!([{ "type": "Paused", "status": "True" }]);
    each(
        POOL,
        [
            (
                "a reference by group",
                set("apiVersion", json!("cluster.x-k8s.io/v1beta2")).set(
                    "MachineDeployment",
                    "pool",
                    "spec.template.spec.infrastructureRef",
                    reference,
                ),
                MATCH,
            ),
            (
                "an older template",
                deployed().set(
                    "AWSMachineTemplate",
                    "large",
                    "apiVersion",
                    json!("infrastructure.cluster.x-k8s.io/v1beta1"),
                ),
                MATCH,
            ),
            ("a condition", set("status.conditions", paused.clone()), "skipped paused"),
            ("a condition in its old place", set("status.v1beta2.conditions", paused), "skipped paused"),
        ],
    );
}

#[test]
fn a_paused_cluster_pauses_its_machines() {
    each(
        POOL,
        [
            ("the set", set("spec.paused", json!(true)), "skipped paused"),
            ("the cluster", cluster("spec.paused", json!(true)), "skipped paused"),
            (
                "an annotation",
                deployed().annotate("MachineDeployment", "pool", json!({ "cluster.x-k8s.io/paused": "true" })),
                "skipped paused",
            ),
            (
                "an annotation of the cluster",
                deployed().annotate("Cluster", "demo", json!({ "cluster.x-k8s.io/paused": "true" })),
                MATCH,
            ),
            (
                "clusters not known",
                deployed().without("Cluster", "demo").incomplete("shop", "cluster.x-k8s.io/v1beta1/clusters"),
                "unknown",
            ),
        ],
    );
}

#[test]
fn no_secret_is_named_so_that_only_a_role_can_log_in() {
    each(
        POOL,
        [
            ("nobody says what the process sees", deployed(), MATCH),
            ("nothing", deployed().environment(json!({})), "credentials-none"),
            (
                "a role",
                deployed().environment(
                    json!({ "AWS_ROLE_ARN": "arn:aws:iam::1:role/x", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" }),
                ),
                MATCH,
            ),
        ],
    );
}

/// What HyperShift shipped once: keys that this autoscaler does not read.
#[test]
fn the_deprecated_family_means_nothing_here() {
    let bare = || set("metadata.annotations", json!({}));
    let wrong_keys = bare().annotate("MachineDeployment", "pool", machine(32, 131_072, 0));
    each(
        POOL,
        [
            ("the wrong keys alone", wrong_keys.clone(), "missing → annotate selected missing"),
            (
                "stale wrong keys beside right ones",
                deployed().annotate("MachineDeployment", "pool", machine(2, 2, 0)),
                MATCH,
            ),
            (
                "right wrong keys beside stale ones",
                wrong_keys.clone().annotate("MachineDeployment", "pool", capacity(2, 2, "amd64")),
                "drift → annotate selected differs",
            ),
        ],
    );
    assert_eq!(
        wrong_keys.change(POOL),
        json!({ "set": capacity(32, 131_072, "amd64"), "remove": [] }),
        "only what is read is written"
    );
    let judged = wrong_keys.judged();
    let evidence = &judged.find(POOL).unwrap().explanation.evidence;
    assert!(evidence.iter().any(|line| line.message.contains("do not read machine.openshift.io/")), "{evidence:?}");
}

#[test]
fn capacity_the_provider_says_itself_is_worth_a_word_and_no_more() {
    let native =
        deployed().set("AWSMachineTemplate", "large", "status.capacity", json!({ "cpu": "32", "memory": "131072Mi" }));
    assert_eq!(native.about(POOL), MATCH);
    let judged = native.judged();
    let evidence = &judged.find(POOL).unwrap().explanation.evidence;
    assert!(evidence.iter().any(|line| line.field == "status.capacity"), "{evidence:?}");
}

/// A cluster that migrates has a MachineSet of each API for the same machines.
#[test]
fn copies_of_both_apis_are_judged_each_by_its_own_rules() {
    let mut copy = deployment("workers");
    copy["kind"] = json!("MachineSet");
    copy["metadata"]["namespace"] = json!("team-a");
    let both = deployed().object(machine_set("workers", "m6i.8xlarge")).object(copy);
    let migrated = both.set("MachineSet", "workers", "status.authoritativeAPI", json!("ClusterAPI"));
    assert_eq!(
        migrated.judged().all(),
        [
            "shop/MachineDeployment/team-a/pool: match",
            "shop/MachineSet/openshift-machine-api/workers: skipped authoritative-api",
            "shop/MachineSet/team-a/workers: missing → annotate selected missing",
        ]
    );
}
