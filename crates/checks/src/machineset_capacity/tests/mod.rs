//! The worlds this check is tried on, and its answers as short text.
//!
//! [`given`] is a valid and dull fleet: the cluster `shop` has the MachineSet `workers` of `m6i.8xlarge` in us-east-1,
//! annotated as it should be, and the account `aws:shop` offers that type. A test states only what differs.
//!
//! Always true: whatever is judged here is also held to what must hold for every world (see [`Judged::new`]).

mod annotations;
mod annotator;
mod cluster_api;
mod edges;
mod following;
mod lookups;
mod rules;

mod secrecy;
mod upstream;

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{MachineSetCapacity, Settings, Workload};
use crate::Check;
use crate::testing::{answer_all, recording};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster};
use trueup_core::engine::{ActionDraft, Explanation, Judgement, SubjectId};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, Provider, RiskClass, Served, World,
};

pub const WORKERS: &str = "MachineSet/openshift-machine-api/workers";
pub const POOL: &str = "MachineDeployment/team-a/pool";

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

/// A fleet as a test describes it.
#[derive(Clone)]
pub struct Given {
    members: BTreeMap<String, Member>,
    settings: Settings,
}

#[derive(Clone)]
struct Member {
    source: ClusterSource,
    link: Link,
    objects: Vec<Value>,
    coverage: Coverage,
    served: Option<Served>,
}

fn member(source: ClusterSource) -> Member {
    let coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
    Member { source, link: Link::Recorded, objects: Vec::new(), coverage, served: None }
}

/// The cluster `shop` with nothing in it, and the account.
pub fn empty() -> Given {
    let mut given = Given { members: BTreeMap::new(), settings: Settings::default() };
    given.members.insert("shop".to_owned(), member(ClusterSource::Snapshot));
    let account = |region: &str| ClusterSource::Cloud {
        provider: Provider::Aws,
        account: region.to_owned(),
        used_from: Vec::new(),
    };
    given.members.insert("aws:shop".to_owned(), member(account("us-east-1")));
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
    pub fn object(self, object: Value) -> Self {
        self.object_in("shop", object)
    }

    /// Puts an object in, in place of one of its name.
    pub fn object_in(mut self, member: &str, object: Value) -> Self {
        let objects = &mut self.members.get_mut(member).unwrap().objects;
        let is_same = |held: &Value| {
            held["apiVersion"] == object["apiVersion"]
                && held["kind"] == object["kind"]
                && held["metadata"]["name"] == object["metadata"]["name"]
                && held["metadata"]["namespace"] == object["metadata"]["namespace"]
        };
        objects.retain(|held| !is_same(held));
        objects.push(object);
        self
    }

    pub fn without(mut self, kind: &str, name: &str) -> Self {
        let objects = &mut self.members.get_mut("shop").unwrap().objects;
        objects.retain(|object| object["kind"] != kind || object["metadata"]["name"] != name);
        self
    }

    /// Sets a field (`spec.a.b`) of an object of `shop`.
    pub fn set(mut self, kind: &str, name: &str, field: &str, value: Value) -> Self {
        let objects = &mut self.members.get_mut("shop").unwrap().objects;
        let object = objects.iter_mut().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
        *field.split('.').fold(object.unwrap(), |place, part| &mut place[part]) = value;
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
        let objects = &mut self.members.get_mut("shop").unwrap().objects;
        let object = objects.iter_mut().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
        let metadata = &mut object.unwrap()["metadata"];
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
        self.members.remove("aws:shop");
        self
    }

    /// The account answers for itself, as one that is asked over the network does.
    pub fn live_account(mut self) -> Self {
        let account = self.members.get_mut("aws:shop").unwrap();
        account.link = Link::Live { since: now() };
        account.source =
            ClusterSource::Cloud { provider: Provider::Aws, account: String::new(), used_from: Vec::new() };
        let served = ["instancetypes", "lookups", "environments"]
            .map(|plural| ("aws.cloud.trueup".to_owned(), plural.to_owned()));
        account.served = Some(Served::Complete(served.into_iter().collect()));
        self
    }

    /// The cluster is asked over the network, and the config says who annotates there.
    pub fn annotated_by(mut self, workload: &str) -> Self {
        let shop = self.members.get_mut("shop").unwrap();
        shop.link = Link::Live { since: now() };
        let served = [
            ("", "secrets"),
            ("", "pods"),
            ("apps", "deployments"),
            ("cluster.x-k8s.io", "clusters"),
            ("cluster.x-k8s.io", "machinedeployments"),
            ("cluster.x-k8s.io", "machinesets"),
            ("infrastructure.cluster.x-k8s.io", "awsmachinetemplates"),
            ("infrastructure.cluster.x-k8s.io", "awsclusters"),
            ("config.openshift.io", "infrastructures"),
            ("machine.openshift.io", "machinesets"),
        ];
        let pair = |(group, plural): (&str, &str)| (group.to_owned(), plural.to_owned());
        shop.served = Some(Served::Complete(served.map(pair).into_iter().collect()));
        let mut parts = workload.split('/').map(str::to_owned);
        let (namespace, deployment) = (parts.next().unwrap(), parts.next().unwrap());
        self.settings.credentials_from = Some(Workload { namespace, deployment, container: parts.next() });
        self
    }

    pub fn lookup(self, outcome: Value) -> Self {
        self.object_in("aws:shop", json!({
            "apiVersion": "aws.cloud.trueup/v1", "kind": "Lookup", "metadata": { "namespace": "us-east-1", "name": "irsa" },
            "outcome": outcome
        }))
    }

    pub fn unreachable(mut self, member: &str, why: &str) -> Self {
        self.members.get_mut(member).unwrap().coverage.unreachable = Some(why.to_owned());
        self
    }

    pub fn seen_only(mut self) -> Self {
        self.members.get_mut("shop").unwrap().coverage.kinds = KindCoverage::SeenOnly;
        self
    }

    pub fn incomplete(mut self, member: &str, entry: &str) -> Self {
        let (path, namespace) = entry.split_once('@').map_or((entry, None), |(path, ns)| (path, Some(ns)));
        let (api_version, plural) = path.rsplit_once('/').unwrap();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let entry =
            Incomplete { group: group.to_owned(), plural: plural.to_owned(), namespace: namespace.map(str::to_owned) };
        self.members.get_mut(member).unwrap().coverage.incomplete.push(entry);
        self
    }

    pub fn judged(&self) -> Judged {
        let mut world = World::default();
        self.fill(&mut world);
        Judged::new(&world, &self.check())
    }

    /// The check with the settings of this fleet.
    pub fn check(&self) -> MachineSetCapacity {
        MachineSetCapacity::new(self.settings.clone())
    }

    /// The answer for one subject of `shop`: `Kind/namespace/name`.
    pub fn about(&self, subject: &str) -> String {
        self.judged().about(subject)
    }

    /// The change of the one action there is.
    pub fn change(&self, subject: &str) -> Value {
        let judged = self.judged();
        let answer = judged.find(subject).unwrap();
        let [action] = answer.explanation.remedy.as_slice() else { panic!("no action: {answer}") };
        action.change.to_json()
    }

    /// Brings the world to this fleet, and says what changed. Asks until nobody wants more.
    pub fn fill(&self, world: &mut World) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let recordings: BTreeMap<ClusterName, RecordedCluster> =
            self.members.iter().map(|(name, member)| (ClusterName::new(name.as_str()), member.recorded())).collect();
        for (name, member) in &self.members {
            let name = ClusterName::new(name.as_str());
            let served = member.served.clone().unwrap_or_else(|| Served::Recorded(recordings[&name].groups()));
            changes.extend(world.put_cluster(member.known_as(&name, served)));
        }
        changes.extend(answer_all(&self.check(), world, &recordings, now()));
        changes
    }
}

impl Member {
    fn known_as(&self, name: &ClusterName, served: Served) -> Cluster {
        Cluster {
            name: name.clone(),
            class: RiskClass::Prod,
            source: self.source.clone(),
            hosted_by: None,
            link: self.link.clone(),
            identity: ClusterIdentity::default(),
            served,
        }
    }

    fn recorded(&self) -> RecordedCluster {
        recording(&self.coverage, &self.objects)
    }
}

/// Every subject with its answer.
pub struct Judged {
    pub answers: BTreeMap<String, Answer>,
}

pub struct Answer {
    pub judgement: Judgement,
    pub explanation: Explanation,
}

impl Judged {
    /// Judges everything, and checks what must hold whatever the world is.
    pub fn new(world: &World, check: &MachineSetCapacity) -> Self {
        let view = world.view(now());
        let mut answers = BTreeMap::new();
        for subject in check.subjects(view) {
            let judgement = check.judge(&subject, view).unwrap_or_else(|| panic!("{subject} is not judged"));
            let explanation = check.explain(&subject, view).unwrap();
            let answer = Answer { judgement, explanation };
            answer.check(&subject);
            answers.insert(subject.to_string(), answer);
        }
        Self { answers }
    }

    pub fn about(&self, subject: &str) -> String {
        self.find(subject).map_or_else(|| "no subject".to_owned(), Answer::to_string)
    }

    pub fn find(&self, subject: &str) -> Option<&Answer> {
        self.answers.get(&format!("machineset-capacity/shop/{subject}"))
    }

    /// All answers as `id: answer`, without the domain's name.
    pub fn all(&self) -> Vec<String> {
        let short = |id: &str| id.strip_prefix("machineset-capacity/").unwrap().to_owned();
        self.answers.iter().map(|(id, answer)| format!("{}: {answer}", short(id))).collect()
    }
}

impl Answer {
    fn check(&self, subject: &SubjectId) {
        let Self { judgement, explanation } = self;
        let codes = &judgement.codes;
        assert!(codes.is_sorted() && codes.windows(2).all(|pair| pair[0] != pair[1]), "{subject}: {codes:?}");
        assert_eq!(judgement.state.as_str(), state_of(judgement.verdict), "{subject}: {}", judgement.verdict);
        assert!(!explanation.summary.is_empty() && !explanation.summary.contains('\n'), "{subject}");
        let wrong = ["missing", "drift", "keys-disagree"].contains(&judgement.verdict);
        assert_eq!(explanation.remedy.len(), usize::from(wrong), "{subject}: what is wrong is set right");
        for draft in &explanation.remedy {
            let ActionDraft { target, judged, change, .. } = draft;
            let change = change.to_json();
            assert_eq!((&target.name, &target.namespace), (&subject.name, &subject.namespace), "{subject}");
            assert!(target.version.is_none() && judged.is_some(), "{subject}: its version moves by itself");
            let is_empty = |part: &Value| part.as_object().is_none_or(|map| map.is_empty());
            let removes = change["remove"].as_array().is_some_and(|list| !list.is_empty());
            assert!(!is_empty(&change["set"]) || removes, "{subject}: an action that changes nothing");
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.judgement.verdict)?;
        for code in &self.judgement.codes {
            write!(f, " {code}")?;
        }
        for draft in &self.explanation.remedy {
            write!(f, " → {}", described(draft))?;
        }
        Ok(())
    }
}

fn described(draft: &ActionDraft) -> String {
    let ticked = if draft.selected { "selected" } else { "offered" };
    let gates: Vec<&str> = draft.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    let blocked = if gates.is_empty() { String::new() } else { format!(" blocked:{}", gates.join(",")) };
    format!("{} {ticked} {}{blocked}", draft.verb().as_str(), draft.reason.as_str())
}

/// The states as the reference lists them, on purpose not taken from the code.
fn state_of(verdict: &str) -> &'static str {
    match verdict {
        "match" | "not-aws" | "skipped" => "match",
        "missing" => "missing",
        "drift" | "keys-disagree" => "drift",
        "unknown" | "transient" => "unknown",
        "invalid-spec"
        | "instance-type-empty"
        | "region-invalid"
        | "credentials-partial"
        | "credentials-none"
        | "secret-missing"
        | "secret-invalid"
        | "token-unreadable"
        | "denied"
        | "instance-type-unknown" => "error",
        other => panic!("{other} is no verdict of this check"),
    }
}

/// Judges each named case about one subject.
pub fn each<const N: usize>(subject: &str, cases: [(&str, Given, &str); N]) {
    for (case, given, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}
