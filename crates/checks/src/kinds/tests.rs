//! Which version of a kind is read, and that an object says the same in each.

use serde_json::{Value, json};

use super::*;
use crate::testing::{Member, now};
use trueup_core::decode::{Digester, recorded};
use trueup_core::world::{ClusterSource, DeletionState, Fact, Gap, GapCause, Key, Kinds, World};

fn serving(kind: &Kind, versions: &[&str]) -> Served {
    let mut kinds = Kinds::default();
    versions.iter().for_each(|version| kinds.insert(kind.group, kind.plural, version));
    Served::Complete(kinds)
}

fn cluster(served: Served) -> Cluster {
    let member = Member { served: Some(served), ..Member::new(ClusterSource::Snapshot) };
    member.cluster(ClusterName::new("mgmt"))
}

#[test]
fn a_kind_is_read_in_the_newest_version_that_is_served_and_known() {
    let cases = [
        ("Cluster API, both", &CLUSTER, &["v1beta1", "v1beta2"][..], "cluster.x-k8s.io/v1beta2"),
        ("Cluster API, the older", &CLUSTER, &["v1beta1"], "cluster.x-k8s.io/v1beta1"),
        ("Cluster API, the newer", &CLUSTER, &["v1beta2"], "cluster.x-k8s.io/v1beta2"),
        ("Cluster API, one more", &CLUSTER, &["v1beta1", "v1"], "cluster.x-k8s.io/v1beta1"),
        ("MachineDeployment", &MACHINE_DEPLOYMENT, &["v1beta2"], "cluster.x-k8s.io/v1beta2"),
        ("MachineSet of Cluster API", &CAPI_MACHINE_SET, &["v1beta2"], "cluster.x-k8s.io/v1beta2"),
        ("MachineSet of the Machine API", &MACHINE_SET, &["v1beta1"], "machine.openshift.io/v1beta1"),
        ("CAPA, both", &AWS_CLUSTER, &["v1beta1", "v1beta2"], "infrastructure.cluster.x-k8s.io/v1beta2"),
        ("CAPA, the older", &AWS_CLUSTER, &["v1beta1"], "infrastructure.cluster.x-k8s.io/v1beta1"),
        ("CAPA template", &AWS_MACHINE_TEMPLATE, &["v1beta1"], "infrastructure.cluster.x-k8s.io/v1beta1"),
        ("EKS control plane", &AWS_MANAGED_CONTROL_PLANE, &["v1beta1"], "controlplane.cluster.x-k8s.io/v1beta1"),
        ("CAPT", &CAPT_CONTROL_PLANE, &["v1beta1"], "controlplane.cluster.x-k8s.io/v1beta1"),
        ("PowerVS, main", &POWERVS_CLUSTER, &["v1beta2", "v1beta3"], "infrastructure.cluster.x-k8s.io/v1beta3"),
        ("PowerVS, 0.13", &POWERVS_CLUSTER, &["v1beta1", "v1beta2"], "infrastructure.cluster.x-k8s.io/v1beta2"),
        ("PowerVS, the oldest", &POWERVS_CLUSTER, &["v1beta1"], "infrastructure.cluster.x-k8s.io/v1beta1"),
        ("HyperShift, both", &HOSTED_CLUSTER, &["v1alpha1", "v1beta1"], "hypershift.openshift.io/v1beta1"),
        ("HyperShift, the older", &HOSTED_CLUSTER, &["v1alpha1"], "hypershift.openshift.io/v1alpha1"),
        ("its control plane", &HOSTED_CONTROL_PLANE, &["v1alpha1"], "hypershift.openshift.io/v1alpha1"),
    ];
    for (case, kind, versions, expected) in cases {
        let cluster = cluster(serving(kind, versions));
        let read = kind.in_cluster(&cluster);
        assert_eq!((read.api_version().as_str(), kind.api_version(&read)), (expected, expected), "case: {case}");
        assert_eq!(kind.collection(&cluster).resource, read, "case: {case}");
        assert!(kind.is(&read) && !cluster.served.lacks(&read), "case: {case}");
    }
}

#[test]
fn without_discovery_the_assumed_version_is_read() {
    let unsaid: Kinds = [(CLUSTER.group.to_owned(), CLUSTER.plural.to_owned())].into_iter().collect();
    let cases = [
        ("a recording", Served::Recorded([CLUSTER.group.to_owned()].into()), "v1beta1"),
        ("discovery failed", Served::Unknown(Gap::new(GapCause::Discovery, "refused")), "v1beta1"),
        ("no version that is known", serving(&CLUSTER, &["v9"]), "v1beta1"),
        ("no versions said", Served::Complete(unsaid), "v1beta2"),
    ];
    for (case, served, expected) in cases {
        assert_eq!(CLUSTER.in_cluster(&cluster(served)).version, expected, "case: {case}");
    }
    let world = World::default();
    let id = CLUSTER.collection_at(&ClusterName::new("gone"), world.view(now()));
    assert_eq!((id.cluster.as_str(), id.resource.version), ("gone", "v1beta1"));
}

/// The fact of one object, as a cluster that serves its version has it.
fn with_fact<F: Fact>(kind: &Kind, object: Value, check: impl FnOnce(&F)) {
    let version = object["apiVersion"].as_str().unwrap().rsplit_once('/').unwrap().1.to_owned();
    let (namespace, name) = (object["metadata"]["namespace"].clone(), object["metadata"]["name"].clone());
    let mut member = Member { served: Some(serving(kind, &[&version])), ..Member::new(ClusterSource::Snapshot) };
    member.put(object);
    let cluster = member.cluster(ClusterName::new("mgmt"));
    let (mut world, id) = (World::default(), kind.collection(&cluster));
    assert_eq!(id.resource.version, version);
    world.put_cluster(cluster);
    let recordings = [(ClusterName::new("mgmt"), member.recorded())].into();
    recorded::fill(&mut world, &recordings, &[id.clone().interest::<F>()], &Digester::new(&[7; 32]), now());
    let key = Key::new(namespace.as_str(), name.as_str().unwrap());
    let view = world.view(now());
    check(view.read::<F>(&id).get(&key).present().expect("the object is listed"));
}

#[test]
fn a_cluster_says_the_same_in_both_versions() {
    let metadata = json!({ "namespace": "team-a", "name": "demo", "uid": "u-1", "resourceVersion": "3" });
    let endpoint = json!({ "host": "api.demo.example", "port": 6443 });
    let older = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": metadata,
        "spec": {
            "paused": true, "controlPlaneEndpoint": endpoint,
            "controlPlaneRef": {
                "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedControlPlane", "name": "demo-cp"
            },
            "infrastructureRef": {
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedCluster", "name": "demo"
            },
        },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }], "infrastructureReady": true },
    });
    let newer = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": metadata,
        "spec": {
            "paused": true, "controlPlaneEndpoint": endpoint,
            "controlPlaneRef": {
                "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "AWSManagedControlPlane", "name": "demo-cp"
            },
            "infrastructureRef": {
                "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSManagedCluster", "name": "demo"
            },
        },
        "status": {
            "conditions": [{ "type": "Available", "status": "True" }],
            "deprecated": { "v1beta1": { "conditions": [{ "type": "Ready", "status": "True" }] } },
            "initialization": { "infrastructureProvisioned": true },
        },
    });
    with_fact::<CapiCluster>(&CLUSTER, older, |one| {
        assert_eq!((one.pause, one.deletion_state, one.endpoint.is_some()), (Pause::Spec, DeletionState::Active, true));
        assert_eq!(one.control_plane.as_ref().map(|plane| &*plane.name), Some("demo-cp"));
        with_fact::<CapiCluster>(&CLUSTER, newer, |other| assert_eq!(one, other));
    });
}

#[test]
fn a_cluster_is_paused_by_its_spec_or_by_the_annotation() {
    let paused = |spec: Value, annotations: Value| {
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "spec": spec,
            "metadata": { "namespace": "team-a", "name": "demo", "annotations": annotations },
        })
    };
    let annotation = json!({ "cluster.x-k8s.io/paused": "" });
    let cases = [
        ("neither", paused(json!({}), json!({})), Pause::No),
        ("false", paused(json!({ "paused": false }), json!({})), Pause::No),
        ("the spec", paused(json!({ "paused": true }), json!({})), Pause::Spec),
        ("both", paused(json!({ "paused": true }), annotation.clone()), Pause::Spec),
        ("the annotation", paused(json!({}), annotation), Pause::Annotation),
    ];
    for (case, object, expected) in cases {
        with_fact::<CapiCluster>(&CLUSTER, object, |fact| assert_eq!(fact.pause, expected, "case: {case}"));
    }
}
