//! The worlds this check is tried on, and its answers as short text.
//!
//! [`older`] and [`newer`] are valid and dull fleets, one for each shape of the object: the management cluster `mgmt` runs
//! `clusters/demo`, which made everything it has, and all of it carries its tags. A test states only what differs.
//!
//! Always true: whatever is judged here is also held to what must hold for every world (see [`Answer::check`]).

mod asking;
mod edges;
mod following;
mod oracle;
mod owners;
mod plans;
mod pointing;

mod teardown;
mod user_tags;
mod users;

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{PowerVsTags, Settings};
use crate::Check;
use crate::testing::{answer_all, recording};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::engine::{ActionDraft, Explanation, Judgement, SubjectId};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, Provider, RiskClass, Served, World,
};

pub const ACCOUNT: &str = "acc";
pub const UID: &str = "11111111-1111-1111-1111-111111111111";
pub const OTHER: &str = "22222222-2222-2222-2222-222222222222";
pub const DEAD: &str = "99999999-9999-9999-9999-999999999999";

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

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
    clusters: BTreeMap<String, Member>,
    /// By alias.
    accounts: BTreeMap<String, Member>,
    settings: Settings,
}

#[derive(Clone)]
struct Member {
    /// Of an account: its id.
    account: String,
    /// Of an account: from where it is used.
    used_from: Vec<String>,
    objects: Vec<Value>,
    coverage: Coverage,
}

impl Member {
    fn new(account: &str) -> Self {
        let coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
        Self { account: account.to_owned(), used_from: Vec::new(), objects: Vec::new(), coverage }
    }
}

/// `mgmt` and the account, and nothing in them.
pub fn empty() -> Given {
    let clusters = [("mgmt".to_owned(), Member::new(""))].into();
    let accounts = [("main".to_owned(), Member::new(ACCOUNT))].into();
    Given { clusters, accounts, settings: Settings::default() }
}

/// A cluster as releases up to 0.14 write it.
pub fn older_cluster(name: &str, uid: &str) -> Value {
    let made = |id: &str| json!({ "id": id, "controllerCreated": true });
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "IBMPowerVSCluster",
        "metadata": {
            "namespace": "clusters", "name": name, "uid": uid, "resourceVersion": "5",
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
            "namespace": "clusters", "name": name, "uid": uid, "resourceVersion": "5",
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
    json!({ "kind": kind, "id": id, "crn": crn(kind, id), "name": format!("demo-{id}"), "state": "available", "tags": [] })
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
        "network_type": network_type, "network_id": leads_to
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
        self.clusters.insert(name.to_owned(), Member::new(""));
        self
    }

    /// Another account.
    pub fn account(mut self, alias: &str, account: &str) -> Self {
        self.accounts.insert(alias.to_owned(), Member::new(account));
        self
    }

    /// Only these clusters use the account.
    pub fn used_from(mut self, alias: &str, pattern: &str) -> Self {
        self.accounts.get_mut(alias).unwrap().used_from.push(pattern.to_owned());
        self
    }

    pub fn cluster_object(self, object: Value) -> Self {
        self.object_in("mgmt", object)
    }

    /// Puts an object in, in place of one of its name.
    pub fn object_in(mut self, cluster: &str, object: Value) -> Self {
        let objects = &mut self.clusters.get_mut(cluster).unwrap().objects;
        let is_same = |held: &Value| {
            held["kind"] == object["kind"]
                && held["metadata"]["name"] == object["metadata"]["name"]
                && held["metadata"]["namespace"] == object["metadata"]["namespace"]
        };
        objects.retain(|held| !is_same(held));
        objects.push(object);
        self
    }

    /// Puts a resource into the account, in place of one of its kind and id.
    pub fn has(self, resource: Value) -> Self {
        self.has_in("main", resource)
    }

    pub fn has_in(mut self, alias: &str, resource: Value) -> Self {
        let objects = &mut self.accounts.get_mut(alias).unwrap().objects;
        objects.retain(|held| held["kind"] != resource["kind"] || held["id"] != resource["id"]);
        objects.push(resource);
        self
    }

    pub fn lacks(mut self, id: &str) -> Self {
        self.accounts.get_mut("main").unwrap().objects.retain(|held| held["id"] != id);
        self
    }

    /// Sets a field of a resource.
    pub fn of(mut self, id: &str, field: &str, value: Value) -> Self {
        let objects = &mut self.accounts.get_mut("main").unwrap().objects;
        objects.iter_mut().find(|held| held["id"] == id).unwrap()[field] = value;
        self
    }

    pub fn tags<S: AsRef<str>>(self, id: &str, tags: &[S]) -> Self {
        let tags: Vec<&str> = tags.iter().map(AsRef::as_ref).collect();
        self.of(id, "tags", json!(tags))
    }

    /// Sets a field (`spec.a.b`) of `clusters/demo`. Slashes in a key are written as they are.
    pub fn set(mut self, field: &str, value: Value) -> Self {
        let objects = &mut self.clusters.get_mut("mgmt").unwrap().objects;
        let demo =
            objects.iter_mut().find(|held| held["metadata"]["name"] == "demo" && held["kind"] == "IBMPowerVSCluster");
        *field.split('.').fold(demo.unwrap(), |place, part| &mut place[part]) = value;
        self
    }

    pub fn annotate(mut self, key: &str, value: &str) -> Self {
        let objects = &mut self.clusters.get_mut("mgmt").unwrap().objects;
        let demo =
            objects.iter_mut().find(|held| held["metadata"]["name"] == "demo" && held["kind"] == "IBMPowerVSCluster");
        demo.unwrap()["metadata"]["annotations"][key] = json!(value);
        self
    }

    /// Somebody has asked for `clusters/demo` to go.
    pub fn going(self) -> Self {
        self.set("metadata.deletionTimestamp", json!("2026-11-16T09:59:00Z"))
    }

    /// The account's listing was cut short.
    pub fn cut_short(mut self) -> Self {
        let entry =
            Incomplete { group: "ibm.cloud.trueup".to_owned(), plural: "resources".to_owned(), namespace: None };
        self.accounts.get_mut("main").unwrap().coverage.incomplete.push(entry);
        self
    }

    /// The list of clusters of `mgmt` isn't known completely.
    pub fn clusters_cut_short(mut self) -> Self {
        let group = "infrastructure.cluster.x-k8s.io".to_owned();
        let entry = Incomplete { group, plural: "ibmpowervsclusters".to_owned(), namespace: None };
        self.clusters.get_mut("mgmt").unwrap().coverage.incomplete.push(entry);
        self
    }

    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    pub fn judged(&self) -> Judged {
        let mut world = World::default();
        self.fill(&mut world);
        Judged::new(&world, PowerVsTags::new(self.settings))
    }

    /// The answer for one subject: `vpc/vpc@clusters/demo`.
    pub fn about(&self, subject: &str) -> String {
        self.judged().about(subject)
    }

    /// Brings the world to this fleet, and says what changed. Asks until nobody wants more.
    fn fill(&self, world: &mut World) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let mut recordings: BTreeMap<ClusterName, RecordedCluster> = BTreeMap::new();
        for (name, member) in &self.clusters {
            let (name, recording) = (ClusterName::new(name.as_str()), member.recorded());
            let served = Served::Recorded(recording.groups());
            changes.extend(world.put_cluster(known_as(&name, ClusterSource::Snapshot, served)));
            recordings.insert(name, recording);
        }
        for (alias, member) in &self.accounts {
            let name = ClusterName::new(format!("ibm:{alias}"));
            let source = ClusterSource::Cloud {
                provider: Provider::Ibm,
                account: member.account.clone(),
                used_from: member.used_from.clone(),
            };
            let served = Served::Recorded([Provider::Ibm.group().to_owned()].into());
            changes.extend(world.put_cluster(known_as(&name, source, served)));
            recordings.insert(name, member.recorded_account());
        }
        changes.extend(answer_all(&PowerVsTags::default(), world, &recordings, now()));
        changes
    }
}

fn known_as(name: &ClusterName, source: ClusterSource, served: Served) -> Cluster {
    Cluster {
        name: name.clone(),
        class: RiskClass::Prod,
        source,
        hosted_by: None,
        link: Link::Recorded,
        identity: ClusterIdentity::default(),
        served,
    }
}

impl Member {
    fn recorded(&self) -> RecordedCluster {
        recording(&self.coverage, &self.objects)
    }

    fn recorded_account(&self) -> RecordedCluster {
        let mut recording = RecordedCluster::new(self.coverage.clone());
        for entry in &self.objects {
            let name = format!("{}/{}", entry["kind"].as_str().unwrap(), entry["id"].as_str().unwrap());
            let object = json!({
                "apiVersion": "ibm.cloud.trueup/v1", "kind": "Resource", "metadata": { "name": name }, "resource": entry
            });
            recording.push(RecordedObject {
                group: "ibm.cloud.trueup".to_owned(),
                kind: "Resource".to_owned(),
                namespace: String::new(),
                name,
                json: Zeroizing::new(object.to_string()),
            });
        }
        recording
    }
}

/// Every subject with its answer.
pub struct Judged {
    pub answers: BTreeMap<String, Answer>,
}

pub struct Answer {
    pub subject: SubjectId,
    pub judgement: Judgement,
    pub explanation: Explanation,
}

impl Judged {
    /// Judges everything, and checks what must hold whatever the world is.
    pub fn new(world: &World, check: PowerVsTags) -> Self {
        let view = world.view(now());
        let subjects: Vec<SubjectId> = check.subjects(view).into_iter().collect();
        let asked: Vec<&SubjectId> = subjects.iter().collect();
        let judgements = check.judge_all(&asked, view);
        let explanations = check.explain_all(&asked, view);
        let mut answers = BTreeMap::new();
        for ((subject, judgement), explanation) in subjects.iter().zip(judgements).zip(explanations) {
            let judgement = judgement.unwrap_or_else(|| panic!("{subject} is not judged"));
            let answer = Answer { subject: subject.clone(), judgement, explanation: explanation.unwrap() };
            answer.check();
            answers.insert(subject.to_string(), answer);
        }
        Self { answers }
    }

    pub fn about(&self, subject: &str) -> String {
        self.find(subject).map_or_else(|| "no subject".to_owned(), Answer::to_string)
    }

    /// By `vpc/vpc@clusters/demo` in the account, or by the whole id without the check's name.
    pub fn find(&self, subject: &str) -> Option<&Answer> {
        let ids = [format!("powervs-tags/ibm:{ACCOUNT}/{subject}"), format!("powervs-tags/{subject}")];
        ids.iter().find_map(|id| self.answers.get(id))
    }

    /// All answers as `id: answer`, without the check's name and without the account.
    pub fn all(&self) -> Vec<String> {
        let short = |id: &str| id.replace("powervs-tags/", "").replace(&format!("ibm:{ACCOUNT}/"), "");
        self.answers.iter().map(|(id, answer)| format!("{}: {answer}", short(id))).collect()
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

impl Answer {
    /// What holds of every answer, whatever the world.
    fn check(&self) {
        let Self { subject, judgement, explanation } = self;
        let codes = &judgement.codes;
        assert!(codes.is_sorted() && codes.windows(2).all(|pair| pair[0] != pair[1]), "{subject}: {codes:?}");
        assert_eq!(judgement.state.as_str(), state_of(judgement.verdict), "{subject}: {}", judgement.verdict);
        assert!(!explanation.summary.is_empty() && !explanation.summary.contains('\n'), "{subject}");
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
}

fn list(draft: &ActionDraft, key: &str) -> Vec<String> {
    draft.change.to_json().get(key).map_or_else(Vec::new, |list| serde_json::from_value(list.clone()).unwrap())
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.judgement.verdict)?;
        for code in &self.judgement.codes {
            write!(f, " {code}")?;
        }
        for (index, draft) in self.explanation.remedy.iter().enumerate() {
            write!(f, "{} {}", if index == 0 { " →" } else { ";" }, described(&self.subject, draft))?;
        }
        Ok(())
    }
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

/// The states as the reference lists them, on purpose not taken from the code.
fn state_of(verdict: &str) -> &'static str {
    match verdict {
        "owned" | "reference" | "foreign" => "match",
        "untagged" => "missing",
        "orphan" => "extra",
        "half-tagged" | "stale-owner" => "drift",
        "unknown" => "unknown",
        "locked" | "deleting" | "reclaiming" => "blocked",
        "gone" | "two-owners" | "other-owner" | "tag-invalid" => "error",
        other => panic!("{other} is no verdict of this check"),
    }
}

/// Judges each named case about one subject.
pub fn each<const N: usize>(subject: &str, cases: [(&str, Given, &str); N]) {
    for (case, given, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}
