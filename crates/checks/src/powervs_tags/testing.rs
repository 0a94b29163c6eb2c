//! The worlds this check is tried on, and its answers as short text.
//!
//! [`older`] and [`newer`] are valid and dull fleets, one for each shape of the object: the management cluster `mgmt` runs
//! `clusters/demo`, which made everything it has, and all of it carries its tags. A test states only what differs.

#![expect(clippy::unwrap_used, reason = "builders of tests, which fail at the line of the unwrap")]

use serde_json::{Value, json};

use super::{PowerVsTags, Settings};
use crate::testing::{Answer, Fixture, Fleet, Judged, set_field};
use trueup_core::engine::{ActionDraft, Evidence, State, SubjectId};
use trueup_core::world::{ClusterSource, Declaration, Glob, MemberRule, Provider, Served};

pub const ACCOUNT: &str = "acc";
pub const UID: &str = "11111111-1111-1111-1111-111111111111";
pub const OTHER: &str = "22222222-2222-2222-2222-222222222222";
/// When the clusters were created, and when their resources were.
pub const CLUSTER_CREATED: &str = "2026-11-01T00:00:00Z";
pub const RESOURCE_CREATED: &str = "2026-11-01T00:05:00Z";
pub const DEAD: &str = "99999999-9999-9999-9999-999999999999";

pub fn owner(name: &str) -> String {
    format!("powervs.cluster.x-k8s.io-owner:{name}")
}

pub fn uuid(uid: &str) -> String {
    format!("powervs.cluster.x-k8s.io-cluster-uuid:{uid}")
}

pub fn connects(uid: &str, side: &str) -> String {
    format!("powervs.cluster.x-k8s.io-tgconn:{uid}.{side}")
}

/// Both tags of `clusters/demo`.
pub fn ours() -> Vec<String> {
    vec![owner("demo"), uuid(UID)]
}

/// Both tags of a cluster that is gone.
pub fn dead() -> Vec<String> {
    vec![owner("old"), uuid(DEAD)]
}

/// A fleet as a test describes it.
#[derive(Clone)]
pub struct Given {
    pub fleet: Fleet,
    pub settings: Settings,
}

/// `mgmt` and the account, and nothing in them.
pub fn empty() -> Given {
    Given { fleet: Fleet::default(), settings: Settings::default() }.cluster("mgmt").account("main", ACCOUNT)
}

/// A cluster as releases up to 0.14 write it.
pub fn older_cluster(name: &str, uid: &str) -> Value {
    let made = |id: &str| json!({ "id": id, "controllerCreated": true });
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "IBMPowerVSCluster",
        "metadata": {
            "namespace": "clusters", "name": name, "uid": uid, "resourceVersion": "5", "creationTimestamp": CLUSTER_CREATED,
            "annotations": { "powervs.cluster.x-k8s.io/create-infra": "true" },
            "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "name": name, "uid": "c" }]
        },
        "spec": { "vpc": { "region": "us-south" }, "cosInstance": {} },
        "status": {
            "serviceInstance": made("ws"), "network": made("net"), "dhcpServer": made("dhcp"), "vpc": made("vpc"),
            "vpcSubnet": { "demo-vpcsubnet-us-south-1": made("sub") }, "vpcSecurityGroups": { "demo-sg": made("sg") },
            "loadBalancers": { "demo-loadbalancer": made("lb") }, "cosInstance": made("cos"),
            "transitGateway": {
                "id": "tg", "controllerCreated": true, "vpcConnection": made("con-v"), "powerVSConnection": made("con-p")
            }
        }
    })
}

/// A cluster as the main branch writes it: it makes everything.
pub fn newer_cluster(name: &str, uid: &str) -> Value {
    let make = || json!({ "type": "Provision" });
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta3", "kind": "IBMPowerVSCluster",
        "metadata": {
            "namespace": "clusters", "name": name, "uid": uid, "resourceVersion": "5", "creationTimestamp": CLUSTER_CREATED,
            "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name, "uid": "c" }]
        },
        "spec": {
            "topology": "LoadBalancer", "workspace": make(), "network": make(),
            "vpc": { "type": "Provision", "region": "us-south" }, "cosInstance": make(),
            "transitGateway": { "type": "Provision", "vpcConnection": make(), "powerVSConnection": make() }
        },
        "status": {
            "workspace": { "id": "ws" }, "network": { "id": "net", "dhcpServer": { "id": "dhcp" } }, "vpc": { "id": "vpc" },
            "vpcSubnets": [{ "id": "sub", "name": "demo-subnet-us-south-1" }],
            "vpcSecurityGroups": [{ "id": "sg", "name": "demo-sg" }],
            "loadBalancers": [{ "id": "lb", "name": "demo-loadbalancer-public" }], "cosInstance": { "id": "cos" },
            "transitGateway": { "id": "tg", "vpcConnection": { "id": "con-v" }, "powerVSConnection": { "id": "con-p" } }
        }
    })
}

/// A resource of the account, as its file writes it.
pub fn resource(kind: &str, id: &str) -> Value {
    json!({
        "kind": kind, "id": id, "crn": crn(kind, id), "name": format!("demo-{id}"), "state": "available", "tags": [],
        "created_at": RESOURCE_CREATED
    })
}

pub fn crn(kind: &str, id: &str) -> String {
    match kind {
        "workspace" => format!("crn:v1:bluemix:public:power-iaas:dal10:a/{ACCOUNT}:{id}::"),
        "transit-gateway" => format!("crn:v1:bluemix:public:transit:us-south:a/{ACCOUNT}::gateway:{id}"),
        other => format!("crn:v1:bluemix:public:is:us-south:a/{ACCOUNT}::{other}:{id}"),
    }
}

/// Everything `clusters/demo` has, with its tags.
fn furnished(given: Given) -> Given {
    let mut given = given;
    for (kind, id, parent) in [
        ("workspace", "ws", ""),
        ("network", "net", "ws"),
        ("vpc", "vpc", ""),
        ("subnet", "sub", "vpc"),
        ("security-group", "sg", "vpc"),
        ("load-balancer", "lb", ""),
        ("transit-gateway", "tg", ""),
        ("cos-instance", "cos", ""),
    ] {
        let mut one = resource(kind, id);
        one["tags"] = json!(ours());
        if !parent.is_empty() {
            one["parent"] = json!(parent);
        }
        given = given.has(one);
    }
    given
        .has(json!({ "kind": "dhcp-server", "id": "dhcp", "state": "ACTIVE", "parent": "ws", "network": "net" }))
        .has(connection("con-v", "tg", "vpc", &crn("vpc", "vpc")))
        .has(connection("con-p", "tg", "power_virtual_server", &crn("workspace", "ws")))
}

pub fn connection(id: &str, gateway: &str, network_type: &str, leads_to: &str) -> Value {
    json!({
        "kind": "tg-connection", "id": id, "name": format!("c-{id}"), "state": "attached", "parent": gateway,
        "network_type": network_type, "network_id": leads_to, "created_at": RESOURCE_CREATED
    })
}

pub fn older() -> Given {
    furnished(empty().cluster_object(older_cluster("demo", UID)))
}

pub fn newer() -> Given {
    furnished(empty().cluster_object(newer_cluster("demo", UID)))
}

impl Given {
    /// Another management cluster.
    pub fn cluster(mut self, name: &str) -> Self {
        self.fleet.add_cluster(name);
        self
    }

    /// Another account.
    pub fn account(mut self, alias: &str, account: &str) -> Self {
        let account = account.to_owned();
        let source = ClusterSource::Cloud { provider: Provider::Ibm, account, used_from: MemberRule::declared() };
        self.fleet.add(&format!("ibm:{alias}"), source);
        let served = Served::Recorded([Provider::Ibm.group().to_owned()].into());
        self.fleet.member(&format!("ibm:{alias}")).served = Some(served);
        self
    }

    /// Only these clusters use the account.
    pub fn used_from(mut self, alias: &str, pattern: &str) -> Self {
        if let ClusterSource::Cloud { used_from, .. } = &mut self.fleet.member(&format!("ibm:{alias}")).source {
            used_from.patterns.push(Glob::parse(pattern).unwrap());
        }
        self
    }

    /// Nothing says that no other cluster uses the account.
    pub fn not_declared(mut self) -> Self {
        if let ClusterSource::Cloud { used_from, .. } = &mut self.fleet.member("ibm:main").source {
            used_from.declaration = Declaration::NotDeclared;
        }
        self
    }

    /// A context of the kubeconfig that this run does not open.
    pub fn not_opened(mut self, context: &str) -> Self {
        if let ClusterSource::Cloud { used_from, .. } = &mut self.fleet.member("ibm:main").source {
            used_from.not_opened.push(context.to_owned());
        }
        self
    }

    pub fn cluster_object(self, object: Value) -> Self {
        self.object_in("mgmt", object)
    }

    /// Puts an object in, in place of one of its name.
    pub fn object_in(mut self, cluster: &str, object: Value) -> Self {
        self.fleet.member(cluster).put(object);
        self
    }

    /// Puts a resource into the account, in place of one of its kind and id.
    pub fn has(self, resource: Value) -> Self {
        self.has_in("main", resource)
    }

    pub fn has_in(mut self, alias: &str, resource: Value) -> Self {
        let name = format!("{}/{}", resource["kind"].as_str().unwrap(), resource["id"].as_str().unwrap());
        self.fleet.member(&format!("ibm:{alias}")).put(json!({
            "apiVersion": "ibm.cloud.trueup/v1", "kind": "Resource", "metadata": { "name": name }, "resource": resource
        }));
        self
    }

    pub fn lacks(mut self, id: &str) -> Self {
        self.fleet.member("ibm:main").objects.retain(|held| held["resource"]["id"] != id);
        self
    }

    /// Keeps one resource of the account alone.
    pub fn has_only(mut self, id: &str) -> Self {
        self.fleet.member("ibm:main").objects.retain(|held| held["resource"]["id"] == id);
        self
    }

    pub fn holds(&self, id: &str) -> bool {
        self.fleet.members["ibm:main"].objects.iter().any(|held| held["resource"]["id"] == id)
    }

    /// Sets a field of a resource.
    pub fn of(mut self, id: &str, field: &str, value: Value) -> Self {
        let objects = &mut self.fleet.member("ibm:main").objects;
        objects.iter_mut().find(|held| held["resource"]["id"] == id).unwrap()["resource"][field] = value;
        self
    }

    pub fn tags<S: AsRef<str>>(self, id: &str, tags: &[S]) -> Self {
        let tags: Vec<&str> = tags.iter().map(AsRef::as_ref).collect();
        self.of(id, "tags", json!(tags))
    }

    /// Sets a field (`spec.a.b`) of `clusters/demo`. Slashes in a key are written as they are.
    pub fn set(mut self, field: &str, value: Value) -> Self {
        set_field(self.fleet.member("mgmt").object("IBMPowerVSCluster", "demo"), field, value);
        self
    }

    pub fn annotate(mut self, key: &str, value: &str) -> Self {
        let demo = self.fleet.member("mgmt").object("IBMPowerVSCluster", "demo");
        demo["metadata"]["annotations"][key] = json!(value);
        self
    }

    /// Somebody has asked for `clusters/demo` to go.
    pub fn going(self) -> Self {
        self.set("metadata.deletionTimestamp", json!("2026-11-16T09:59:00Z"))
    }

    /// The account's listing was cut short.
    pub fn cut_short(mut self) -> Self {
        self.fleet.member("ibm:main").incomplete("ibm.cloud.trueup/v1/resources");
        self
    }

    /// The list of clusters of `mgmt` isn't known completely.
    pub fn clusters_cut_short(mut self) -> Self {
        self.fleet.member("mgmt").incomplete("infrastructure.cluster.x-k8s.io/v1beta2/ibmpowervsclusters");
        self
    }

    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}

impl Judged<Given> {
    /// All answers without the account.
    pub fn short(&self) -> Vec<String> {
        self.all().iter().map(|line| line.replace(&format!("ibm:{ACCOUNT}/"), "")).collect()
    }

    /// The deletes of a plan in an order that keeps every dependency; those that wait for each other are not in it.
    pub fn in_order(&self) -> Vec<String> {
        let deletes =
            |answer: &&Answer| answer.explanation.remedy.first().is_some_and(|draft| draft.verb().as_str() == "delete");
        let mut left: Vec<&Answer> = self.answers.values().filter(deletes).collect();
        let mut done: Vec<&SubjectId> = Vec::new();
        let mut order = Vec::new();
        while !left.is_empty() {
            let ready = |answer: &&&Answer| {
                answer.explanation.remedy[0].depends_on.iter().all(|before| done.contains(&&before.finding))
            };
            let wave: Vec<&Answer> = left.iter().filter(ready).copied().collect();
            if wave.is_empty() {
                break;
            }
            let mut ids: Vec<&str> = wave.iter().map(|answer| answer.subject.name.as_str()).collect();
            ids.sort_unstable();
            order.push(ids.join("+"));
            done.extend(wave.iter().map(|answer| &answer.subject));
            left.retain(|answer| !done.contains(&&answer.subject));
        }
        order
    }
}

impl Fixture for Given {
    type Check = PowerVsTags;

    fn check(&self) -> PowerVsTags {
        PowerVsTags::new(self.settings.clone())
    }

    fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// `vpc/vpc@clusters/demo` in the account, or the whole id without the name of the check.
    fn ids(subject: &str) -> Vec<String> {
        vec![format!("powervs-tags/ibm:{ACCOUNT}/{subject}"), format!("powervs-tags/{subject}")]
    }

    fn assert_answer(Answer { subject, judgement, explanation, .. }: &Answer) {
        let has_remedy = !explanation.remedy.is_empty() || explanation.evidence.iter().any(Evidence::is_advice);
        assert!(has_remedy || judgement.state == State::Match, "{subject}: {} has no remedy", judgement.verdict);
        for draft in &explanation.remedy {
            let deletes = draft.verb().as_str() == "delete";
            let may_delete = ["owned", "orphan", "untagged", "half-tagged"].contains(&judgement.verdict);
            assert!(!deletes || may_delete, "{subject}: {} is deleted", judgement.verdict);
            assert!(!deletes || !draft.rests_on.is_empty(), "{subject}: a delete rests on lists");
            let target = draft.target.cloud.as_ref().unwrap_or_else(|| panic!("{subject}: no cloud target"));
            let is_itself = target.reference.id == subject.name;
            assert!(is_itself || subject.kind == "tg-connection", "{subject}: targets {}", target.reference.id);
            let (set, remove) = (list(draft, "set"), list(draft, "remove"));
            assert!(set.is_sorted() && remove.is_sorted(), "{subject}");
            assert!(set.iter().all(|tag| tag.len() <= 128 && *tag == tag.to_lowercase()), "{subject}: {set:?}");
            assert!(remove.iter().all(|tag| target.tags.contains(tag)), "{subject}: takes off what is not on it");
            assert!(deletes || !(set.is_empty() && remove.is_empty()), "{subject}: does nothing");
        }
    }

    fn describe(answer: &Answer, draft: &ActionDraft) -> String {
        described(&answer.subject, draft)
    }
}

fn list(draft: &ActionDraft, key: &str) -> Vec<String> {
    draft.change.to_json().get(key).map_or_else(Vec::new, |list| serde_json::from_value(list.clone()).unwrap())
}

/// `tag selected not-tagged +~owner:demo`: our prefix is written as `~`, and another target than the subject as `on tg`.
fn described(subject: &SubjectId, draft: &ActionDraft) -> String {
    let mut text = format!("{} {}", draft.verb().as_str(), if draft.selected { "selected" } else { "offered" });
    text.push_str(&format!(" {}", draft.reason.as_str()));
    let target = &draft.target.cloud.as_ref().unwrap().reference.id;
    if *target != subject.name {
        text.push_str(&format!(" on {target}"));
    }
    let short = |tag: String| tag.replace("powervs.cluster.x-k8s.io-", "~");
    text.extend(list(draft, "set").into_iter().map(|tag| format!(" +{}", short(tag))));
    text.extend(list(draft, "remove").into_iter().map(|tag| format!(" -{}", short(tag))));
    let gates: Vec<&str> = draft.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    if !gates.is_empty() {
        text.push_str(&format!(" blocked:{}", gates.join(",")));
    }
    text
}
