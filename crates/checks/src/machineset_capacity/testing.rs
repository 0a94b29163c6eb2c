//! The worlds this check is tried on, and its answers as short text.
//!
//! [`given`] is a valid and dull fleet: the cluster `shop` has the MachineSet `workers` of `m6i.8xlarge` in us-east-1,
//! annotated as it should be, and the account `aws:shop` offers that type. A test states only what differs.

#![expect(clippy::unwrap_used, reason = "builders of tests, which fail at the line of the unwrap")]

use serde_json::{Value, json};

use super::{MachineSetCapacity, Settings, Workload};
use crate::testing::{Answer, Fixture, Fleet, Member, now, set_field};
use trueup_core::engine::ActionDraft;
use trueup_core::world::{ClusterSource, Link, Provider};

pub const WORKERS: &str = "MachineSet/openshift-machine-api/workers";
pub const POOL: &str = "MachineDeployment/team-a/pool";

/// A fleet as a test describes it.
#[derive(Clone)]
pub struct Given {
    pub fleet: Fleet,
    pub settings: Settings,
}

/// The cluster `shop` with nothing in it, and the account.
pub fn empty() -> Given {
    let mut given = Given { fleet: Fleet::default(), settings: Settings::default() };
    given.fleet.add_cluster("shop");
    let account = |region: &str| ClusterSource::Cloud {
        provider: Provider::Aws,
        account: region.to_owned(),
        used_from: trueup_core::world::MemberRule::default(),
    };
    given.fleet.add("aws:shop", account("us-east-1"));
    given.offers("m6i.8xlarge", 32, 131_072, &["x86_64"]).offers("m6g.4xlarge", 16, 65_536, &["arm64"])
}

/// The dull fleet.
pub fn given() -> Given {
    empty().object(machine_set("workers", "m6i.8xlarge")).annotated(32, 131_072, 0, "amd64")
}

/// The same with a MachineDeployment in place of the MachineSet.
pub fn deployed() -> Given {
    empty()
        .object(deployment("pool"))
        .object(capi_cluster())
        .object(aws_cluster("us-east-1"))
        .object(template("m6i.8xlarge"))
        .annotate("MachineDeployment", "pool", capacity(32, 131_072, "amd64"))
}

pub fn machine_set(name: &str, instance_type: &str) -> Value {
    json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
        "metadata": { "namespace": "openshift-machine-api", "name": name, "uid": format!("ms-{name}"), "resourceVersion": "7" },
        "spec": { "replicas": 0, "template": { "spec": { "providerSpec": { "value": {
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "AWSMachineProviderConfig",
            "instanceType": instance_type, "placement": { "region": "us-east-1", "availabilityZone": "us-east-1a" },
            "credentialsSecret": { "name": "aws-cloud-credentials" }
        } } } } }
    })
}

pub fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment",
        "metadata": { "namespace": "team-a", "name": name, "uid": format!("md-{name}"), "resourceVersion": "8" },
        "spec": { "clusterName": "demo", "template": { "spec": { "infrastructureRef": {
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachineTemplate", "name": "large"
        } } } }
    })
}

pub fn capi_cluster() -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
        "metadata": { "namespace": "team-a", "name": "demo", "uid": "c-demo", "resourceVersion": "3" },
        "spec": { "infrastructureRef": { "kind": "AWSCluster", "name": "demo" } }
    })
}

pub fn aws_cluster(region: &str) -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSCluster",
        "metadata": { "namespace": "team-a", "name": "demo", "uid": "ac-demo", "resourceVersion": "3" },
        "spec": { "region": region }
    })
}

pub fn template(instance_type: &str) -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachineTemplate",
        "metadata": { "namespace": "team-a", "name": "large", "uid": "t-large", "resourceVersion": "3" },
        "spec": { "template": { "spec": { "instanceType": instance_type } } }
    })
}

pub fn managed_plane(region: &str) -> Value {
    json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedControlPlane",
        "metadata": { "namespace": "team-a", "name": "demo-cp", "uid": "p-demo", "resourceVersion": "3" },
        "spec": { "region": region }
    })
}

/// The family every autoscaler reads.
pub fn capacity(cpus: u64, memory: u64, arch: &str) -> Value {
    json!({
        "capacity.cluster-autoscaler.kubernetes.io/cpu": cpus.to_string(),
        "capacity.cluster-autoscaler.kubernetes.io/memory": format!("{memory}Mi"),
        "capacity.cluster-autoscaler.kubernetes.io/labels": format!("kubernetes.io/arch={arch}"),
    })
}

/// The family OpenShift calls deprecated.
pub fn machine(cpus: u64, memory: u64, gpus: u64) -> Value {
    json!({
        "machine.openshift.io/vCPU": cpus.to_string(),
        "machine.openshift.io/memoryMb": memory.to_string(),
        "machine.openshift.io/GPU": gpus.to_string(),
    })
}

pub fn gpu(maker: &str, count: u64, logical: u64) -> Value {
    json!({ "name": "x", "manufacturer": maker, "count": count, "logical_count": logical })
}

impl Given {
    pub fn shop(&mut self) -> &mut Member {
        self.fleet.member("shop")
    }

    pub fn object(self, object: Value) -> Self {
        self.object_in("shop", object)
    }

    /// Puts an object in, in place of one of its name.
    pub fn object_in(mut self, member: &str, object: Value) -> Self {
        self.fleet.member(member).put(object);
        self
    }

    pub fn without(mut self, kind: &str, name: &str) -> Self {
        self.shop().remove(kind, name);
        self
    }

    /// Sets a field (`spec.a.b`) of an object of `shop`.
    pub fn set(mut self, kind: &str, name: &str, field: &str, value: Value) -> Self {
        set_field(self.shop().object(kind, name), field, value);
        self
    }

    /// Sets a field of `workers`.
    pub fn workers(self, field: &str, value: Value) -> Self {
        self.set("MachineSet", "workers", field, value)
    }

    /// Sets a field of the provider spec of `workers`.
    pub fn provider(self, field: &str, value: Value) -> Self {
        self.workers(&format!("spec.template.spec.providerSpec.value.{field}"), value)
    }

    /// Adds annotations to an object; null takes one off.
    pub fn annotate(mut self, kind: &str, name: &str, annotations: Value) -> Self {
        let metadata = &mut self.shop().object(kind, name)["metadata"];
        for (key, value) in annotations.as_object().unwrap() {
            if value.is_null() {
                metadata["annotations"].as_object_mut().unwrap().remove(key);
            } else {
                metadata["annotations"][key] = value.clone();
            }
        }
        self
    }

    /// Adds annotations to `workers`.
    pub fn with(self, annotations: Value) -> Self {
        self.annotate("MachineSet", "workers", annotations)
    }

    /// Annotates `workers` with both families.
    pub fn annotated(self, cpus: u64, memory: u64, gpus: u64, arch: &str) -> Self {
        self.with(machine(cpus, memory, gpus)).with(capacity(cpus, memory, arch))
    }

    pub fn bare(self) -> Self {
        self.workers("metadata.annotations", json!({}))
    }

    pub fn offers(self, name: &str, cpus: u64, memory: u64, architectures: &[&str]) -> Self {
        self.catalogue(
            json!({ "name": name, "vcpu": cpus, "memory_mib": memory, "gpus": [], "architectures": architectures }),
        )
    }

    pub fn catalogue(self, entry: Value) -> Self {
        let name = entry["name"].clone();
        self.object_in(
            "aws:shop",
            json!({
                "apiVersion": "aws.cloud.trueup/v1", "kind": "InstanceType",
                "metadata": { "namespace": "us-east-1", "name": name }, "type": entry
            }),
        )
    }

    /// Says what the annotating process sees.
    pub fn environment(self, variables: Value) -> Self {
        self.object(json!({
            "apiVersion": "aws.cloud.trueup/v1", "kind": "Environment", "metadata": { "name": "pod" }, "variables": variables
        }))
    }

    pub fn secret(self, data: Value) -> Self {
        self.object(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "namespace": "openshift-machine-api", "name": "aws-cloud-credentials", "uid": "s-1", "resourceVersion": "4" },
            "stringData": data
        }))
    }

    pub fn infrastructure(self, platform: &str) -> Self {
        self.object(json!({
            "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster", "uid": "i-1" },
            "status": { "platformStatus": { "type": platform } }
        }))
    }

    pub fn without_account(mut self) -> Self {
        self.fleet.members.remove("aws:shop");
        self
    }

    /// The account answers for itself, as one that is asked over the network does.
    pub fn live_account(mut self) -> Self {
        let account = self.fleet.member("aws:shop");
        account.link = Link::Live { since: now() };
        account.source = ClusterSource::Cloud {
            provider: Provider::Aws,
            account: String::new(),
            used_from: trueup_core::world::MemberRule::default(),
        };
        account.serve(&["instancetypes", "lookups"].map(|plural| ("aws.cloud.trueup", plural)));
        self
    }

    /// The config says who annotates.
    pub fn annotated_by(mut self, workload: &str) -> Self {
        let mut parts = workload.split('/').map(str::to_owned);
        let (namespace, deployment) = (parts.next().unwrap(), parts.next().unwrap());
        self.settings.credentials_from = Some(Workload { namespace, deployment, container: parts.next() });
        self
    }

    /// The cluster is asked over the network.
    pub fn live(mut self) -> Self {
        let shop = self.shop();
        shop.link = Link::Live { since: now() };
        shop.serve(&[
            ("", "secrets"),
            ("", "pods"),
            ("", "serviceaccounts"),
            ("apps", "deployments"),
            ("cluster.x-k8s.io", "clusters"),
            ("cluster.x-k8s.io", "machinedeployments"),
            ("cluster.x-k8s.io", "machinesets"),
            ("infrastructure.cluster.x-k8s.io", "awsmachinetemplates"),
            ("infrastructure.cluster.x-k8s.io", "awsclusters"),
            ("config.openshift.io", "infrastructures"),
            ("config.openshift.io", "authentications"),
            ("machine.openshift.io", "machinesets"),
        ]);
        self
    }

    pub fn lookup(self, outcome: Value) -> Self {
        self.object_in("aws:shop", json!({
            "apiVersion": "aws.cloud.trueup/v1", "kind": "Lookup", "metadata": { "namespace": "us-east-1", "name": "irsa" },
            "outcome": outcome
        }))
    }

    pub fn unreachable(mut self, member: &str, why: &str) -> Self {
        self.fleet.member(member).coverage.unreachable = Some(why.to_owned());
        self
    }

    pub fn seen_only(mut self) -> Self {
        self.shop().seen_only();
        self
    }

    pub fn incomplete(mut self, member: &str, entry: &str) -> Self {
        self.fleet.member(member).incomplete(entry);
        self
    }

    /// The change of the one action there is.
    pub fn change(&self, subject: &str) -> Value {
        let judged = self.judged();
        let answer = judged.find(subject).unwrap();
        let [action] = answer.explanation.remedy.as_slice() else { panic!("no action: {answer}") };
        action.change.to_json()
    }
}

impl Fixture for Given {
    type Check = MachineSetCapacity;

    fn check(&self) -> MachineSetCapacity {
        MachineSetCapacity::new(self.settings.clone())
    }

    fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// `Kind/namespace/name` of `shop`.
    fn ids(subject: &str) -> Vec<String> {
        vec![format!("machineset-capacity/shop/{subject}")]
    }

    fn assert_answer(Answer { subject, judgement, explanation, .. }: &Answer) {
        let wrong = ["missing", "drift", "keys-disagree"].contains(&judgement.verdict)
            || judgement.codes.contains(&"from-catalogue");
        assert_eq!(explanation.remedy.len(), usize::from(wrong), "{subject}: each wrong annotation has a fix");
        for draft in &explanation.remedy {
            let ActionDraft { target, judged, change, .. } = draft;
            assert_eq!((&target.name, &target.namespace), (&subject.name, &subject.namespace), "{subject}");
            assert!(
                target.version.is_none() && judged.is_some(),
                "{subject}: its version changes without a change of the spec"
            );
            let is_empty = |part: &Value| part.as_object().is_none_or(|map| map.is_empty());
            let change = change.to_json();
            let removes = change["remove"].as_array().is_some_and(|list| !list.is_empty());
            assert!(!is_empty(&change["set"]) || removes, "{subject}: an action that changes nothing");
        }
    }
}
