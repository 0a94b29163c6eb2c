//! The worlds this check is tried on, and its answers as short text.
//!
//! [`given`] is a valid and dull fleet: in the management cluster `mgmt` CAPT runs `team-a/demo`, whose source, target and
//! objects all agree. A test states only what differs.
//!
//! Always true: whatever is judged here is also held to what must hold for every world (see [`Judged::new`]).

mod edges;
mod following;

mod made;
mod own;
mod places;
mod repairs;

mod secrecy;
mod sources;
mod times;

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

pub(in crate::kubeconfig) use self::made::*;
use super::Kubeconfigs;
use crate::Check;
use crate::testing::{answer_all, recording};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster};
use trueup_core::engine::{ActionDraft, Explanation, Judgement, SubjectId};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, RiskClass, Served, World,
};

pub const DEMO: &str = "team-a/demo-kubeconfig";

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

/// A fleet as a test describes it.
#[derive(Clone)]
pub struct Given {
    clusters: BTreeMap<String, GivenCluster>,
    now: Timestamp,
}

#[derive(Clone)]
struct GivenCluster {
    objects: Vec<Value>,
    coverage: Coverage,
}

/// No cluster but `mgmt`, and nothing in it.
pub fn empty() -> Given {
    Given { clusters: BTreeMap::new(), now: now() }.cluster("mgmt")
}

/// The dull fleet.
pub fn given() -> Given {
    let config = config();
    empty()
        .object(capi_cluster("team-a", "demo"))
        .object(plane("team-a", "demo"))
        .has(connection("team-a", "demo"))
        .has(source("demo", &config))
        .has(target("team-a", "demo", &config))
}

pub fn capi_cluster(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
        "metadata": { "namespace": namespace, "name": name, "uid": format!("cluster-{namespace}-{name}"), "resourceVersion": "5" },
        "spec": {
            "controlPlaneRef": { "kind": "CAPTControlPlane", "name": name },
            "controlPlaneEndpoint": { "host": format!("https://{}.gr7.us-west-2.eks.amazonaws.com", name.to_uppercase()), "port": 443 }
        }
    })
}

/// A cluster somebody else runs, at an address of its own.
pub fn plain_cluster(namespace: &str, name: &str, host: &str, port: u16) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
        "metadata": { "namespace": namespace, "name": name, "uid": format!("cluster-{namespace}-{name}"), "resourceVersion": "5" },
        "spec": {
            "controlPlaneRef": { "kind": "KubeadmControlPlane", "name": format!("{name}-cp") },
            "controlPlaneEndpoint": { "host": host, "port": port }
        }
    })
}

pub fn plane(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": { "namespace": namespace, "name": name, "uid": format!("plane-{namespace}-{name}"), "resourceVersion": "6" },
        "spec": {
            "controlPlaneEndpoint": { "host": format!("{}.gr7.us-west-2.eks.amazonaws.com", name.to_uppercase()), "port": 443 }
        }
    })
}

pub fn connection(namespace: &str, name: &str) -> Secret {
    use base64::Engine as _;
    let authority = base64::engine::general_purpose::STANDARD.encode(authority(name));
    secret(namespace, &format!("{name}-eks-connection"))
        .key("cluster_endpoint", &format!("https://{}.gr7.us-west-2.eks.amazonaws.com", name.to_uppercase()))
        .key("cluster_certificate_authority_data", &authority)
}

pub fn hosted(namespace: &str, name: &str, status: Value) -> Value {
    json!({
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
        "metadata": { "namespace": namespace, "name": name, "uid": format!("hc-{name}"), "resourceVersion": "7" },
        "spec": {}, "status": status
    })
}

impl Given {
    pub fn cluster(mut self, name: &str) -> Self {
        let coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
        self.clusters.insert(name.to_owned(), GivenCluster { objects: Vec::new(), coverage });
        self
    }

    pub fn object(self, object: Value) -> Self {
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

    pub fn has(self, secret: Secret) -> Self {
        self.object(secret.0)
    }

    /// The target of `team-a/demo` with this kubeconfig.
    pub fn target(self, config: &Config) -> Self {
        self.has(target("team-a", "demo", config))
    }

    /// The source of `team-a/demo` with this kubeconfig.
    pub fn source(self, config: &Config) -> Self {
        self.has(source("demo", config))
    }

    /// Both with the same kubeconfig.
    pub fn both(self, config: &Config) -> Self {
        self.source(config).target(config)
    }

    pub fn without(mut self, kind: &str, name: &str) -> Self {
        let objects = &mut self.clusters.get_mut("mgmt").unwrap().objects;
        objects.retain(|object| object["kind"] != kind || object["metadata"]["name"] != name);
        self
    }

    /// Sets a field (`spec.a.b`) of an object.
    pub fn set(mut self, kind: &str, name: &str, field: &str, value: Value) -> Self {
        let objects = &mut self.clusters.get_mut("mgmt").unwrap().objects;
        let object = objects.iter_mut().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
        *field.split('.').fold(object.unwrap(), |place, part| &mut place[part]) = value;
        self
    }

    /// Sets a field of the target.
    pub fn of_target(self, field: &str, value: Value) -> Self {
        self.set("Secret", "demo-kubeconfig", field, value)
    }

    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    pub fn incomplete(mut self, entry: &str) -> Self {
        let (path, namespace) = entry.split_once('@').map_or((entry, None), |(path, ns)| (path, Some(ns)));
        let (api_version, plural) = path.rsplit_once('/').unwrap();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let entry =
            Incomplete { group: group.to_owned(), plural: plural.to_owned(), namespace: namespace.map(str::to_owned) };
        self.clusters.get_mut("mgmt").unwrap().coverage.incomplete.push(entry);
        self
    }

    pub fn judged(&self) -> Judged {
        let mut world = World::default();
        self.fill(&mut world);
        Judged::new(&world, self.now)
    }

    /// The answer for one subject of `mgmt`: `namespace/name`.
    pub fn about(&self, subject: &str) -> String {
        self.judged().about(subject)
    }

    /// Brings the world to this fleet, and says what changed. Asks until nobody wants more.
    fn fill(&self, world: &mut World) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let recordings: BTreeMap<ClusterName, RecordedCluster> =
            self.clusters.iter().map(|(name, cluster)| (ClusterName::new(name.as_str()), cluster.recorded())).collect();
        for (name, recording) in &recordings {
            changes.extend(world.put_cluster(known_as(name, Served::Recorded(recording.groups()))));
        }
        changes.extend(answer_all(&Kubeconfigs, world, &recordings, self.now));
        changes
    }
}

fn known_as(name: &ClusterName, served: Served) -> Cluster {
    Cluster {
        name: name.clone(),
        class: RiskClass::Prod,
        source: ClusterSource::Snapshot,
        hosted_by: None,
        link: Link::Recorded,
        identity: ClusterIdentity::default(),
        served,
    }
}

impl GivenCluster {
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
    pub fn new(world: &World, now: Timestamp) -> Self {
        let view = world.view(now);
        let mut answers = BTreeMap::new();
        for subject in Kubeconfigs.subjects(view) {
            let judgement = Kubeconfigs.judge(&subject, view).unwrap_or_else(|| panic!("{subject} is not judged"));
            let explanation = Kubeconfigs.explain(&subject, view).unwrap();
            let answer = Answer { judgement, explanation };
            answer.check(&subject, now);
            answers.insert(subject.to_string(), answer);
        }
        Self { answers }
    }

    pub fn about(&self, subject: &str) -> String {
        self.find(subject).map_or_else(|| "no subject".to_owned(), Answer::to_string)
    }

    pub fn find(&self, subject: &str) -> Option<&Answer> {
        self.answers.get(&format!("kubeconfig/mgmt/Secret/{subject}"))
    }

    /// All answers as `id: answer`, without the domain's name.
    pub fn all(&self) -> Vec<String> {
        let short = |id: &str| id.strip_prefix("kubeconfig/").unwrap().to_owned();
        self.answers.iter().map(|(id, answer)| format!("{}: {answer}", short(id))).collect()
    }
}

impl Answer {
    fn check(&self, subject: &SubjectId, now: Timestamp) {
        let Self { judgement, explanation } = self;
        let codes = &judgement.codes;
        assert!(codes.is_sorted() && codes.windows(2).all(|pair| pair[0] != pair[1]), "{subject}: {codes:?}");
        assert_eq!(judgement.state.as_str(), state_of(judgement.verdict), "{subject}: {}", judgement.verdict);
        assert!(!explanation.summary.is_empty() && !explanation.summary.contains('\n'), "{subject}");
        assert!(judgement.until.is_none_or(|until| until > now), "{subject}: a deadline that has passed");
        for draft in &explanation.remedy {
            assert_eq!(
                (Some(&draft.target.name), draft.target.namespace.as_ref()),
                (Some(&subject.name), subject.namespace.as_ref())
            );
            let copies = ["update", "create"].contains(&draft.verb().as_str());
            assert_eq!(draft.source.is_some(), copies, "{subject}: what copies names what it copies");
            let behind = judgement.verdict == "behind-source" || codes.contains(&"behind-source");
            assert!(!copies || behind, "{subject}: only what is behind is copied");
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.judgement.verdict)?;
        for code in &self.judgement.codes {
            write!(f, " {code}")?;
        }
        for (index, draft) in self.explanation.remedy.iter().enumerate() {
            write!(f, "{} {}", if index == 0 { " →" } else { ";" }, described(draft))?;
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
        "fresh" => "match",
        "missing" => "missing",
        "endpoint-drift" | "ca-drift" | "ca-rotating" | "behind-source" | "contract" | "wrong-cluster" => "drift",
        "expiring" | "expired" | "not-yet-valid" | "refresh-stalled" => "stale",
        "unknown" | "opaque" => "unknown",
        "unreadable" | "exec-refused" | "source-invalid" | "source-missing" => "error",
        other => panic!("{other} is no verdict of this check"),
    }
}

/// Judges each named case about one subject.
pub fn each<const N: usize>(subject: &str, cases: [(&str, Given, &str); N]) {
    for (case, given, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}
