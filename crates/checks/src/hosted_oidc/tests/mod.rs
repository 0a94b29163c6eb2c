//! The worlds this check is tried on, and its answers as short text.
//!
//! [`given`] is a valid and dull fleet: a management cluster `mgmt` and its guest `guest-a`, OIDC without a provider,
//! nothing in `openshift-config`. A test states only what differs.
//!
//! Always true: whatever is judged here is also held to what must hold for every world (see [`Judged::new`]).

mod anything;
mod candidates;
mod expected;
mod fleet;
mod following;
mod leftovers;
mod ownership;
mod referrers;
mod secrecy;
mod shapes;
mod things;
mod unknowns;
mod upstream;

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::things::Thing;
use super::{Copies, HostedOidc, Settings};
use crate::Check;
use crate::testing::{answer_all, recording};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster};
use trueup_core::engine::glob::Glob;
use trueup_core::engine::{ActionDraft, Explanation, Judgement, SubjectId, Verb};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, HostedBy, Link, Namespace, ObjectName, RiskClass,
    Served, World,
};

pub const CERTAIN: &str = "orphan-certain → delete selected no-referrer proofs=2";
pub const PROBABLE: &str = "orphan-probable → delete offered no-referrer proofs=2";

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

/// A fleet as a test describes it.
#[derive(Clone)]
pub struct Given {
    clusters: BTreeMap<String, GivenCluster>,
    settings: Settings,
}

#[derive(Clone)]
struct GivenCluster {
    objects: Vec<Value>,
    hosted_by: Option<[String; 3]>,
    coverage: Coverage,
}

/// The dull fleet.
pub fn given() -> Given {
    let empty = Given { clusters: BTreeMap::new(), settings: Settings::default() };
    let with_hosts = empty.cluster("mgmt").cluster("guest-a").hosted("guest-a", "mgmt", "clusters", "guest-a");
    let configs = ["Authentication", "Proxy", "Image", "APIServer", "OAuth"];
    let dull = configs.into_iter().fold(with_hosts, |given, kind| given.object("guest-a", config(kind)));
    dull.object("mgmt", hosted_cluster("clusters", "guest-a"))
        .object("mgmt", control_plane("clusters", "guest-a", "clusters-guest-a"))
        .authentication(json!({ "type": "OIDC", "oidcProviders": [] }))
}

pub fn config(kind: &str) -> Value {
    json!({
        "apiVersion": "config.openshift.io/v1", "kind": kind,
        "metadata": { "name": "cluster", "uid": format!("{kind}-uid"), "resourceVersion": "5" }, "spec": {}
    })
}

pub fn hosted_cluster(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
        "metadata": { "namespace": namespace, "name": name, "uid": format!("hc-{name}"), "resourceVersion": "10" },
        "spec": { "infraID": format!("{name}-infra"), "platform": { "type": "AWS" }, "configuration": {} }
    })
}

pub fn control_plane(namespace: &str, name: &str, lies_in: &str) -> Value {
    json!({
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane",
        "metadata": {
            "namespace": lies_in, "name": name, "uid": format!("hcp-{name}"), "resourceVersion": "11",
            "annotations": { "hypershift.openshift.io/cluster": format!("{namespace}/{name}") }
        },
        "spec": { "infraID": format!("{name}-infra"), "platform": { "type": "AWS" }, "configuration": {} }
    })
}

/// An authentication block of type OIDC with one provider; a name left empty is how Go writes "none".
pub fn oidc(ca: &str, clients: &[(&str, &str)]) -> Value {
    json!({ "type": "OIDC", "oidcProviders": [provider("idp", ca, clients)] })
}

/// One provider; each client is a console component and its secret.
pub fn provider(name: &str, ca: &str, clients: &[(&str, &str)]) -> Value {
    let clients: Vec<Value> = clients
        .iter()
        .map(|(component, secret)| {
            json!({
                "componentNamespace": "openshift-console", "componentName": component,
                "clientID": format!("{component}-id"), "clientSecret": { "name": secret }, "extraScopes": null
            })
        })
        .collect();
    json!({
        "name": name,
        "issuer": {
            "issuerURL": format!("https://{name}.example"), "audiences": ["a"],
            "issuerCertificateAuthority": { "name": ca }
        },
        "oidcClients": clients,
        "claimMappings": { "username": { "claim": "email" } }
    })
}

/// A status entry: the component and the client ids it uses now.
pub fn uses(component: &str, clients: &[&str]) -> Value {
    let current: Vec<Value> = clients
        .iter()
        .map(|id| json!({ "oidcProviderName": "idp", "issuerURL": "https://idp.example", "clientID": id }))
        .collect();
    json!({
        "componentNamespace": "openshift-console", "componentName": component,
        "currentOIDCClients": current, "consumingUsers": null, "conditions": null
    })
}

impl Given {
    pub fn cluster(mut self, name: &str) -> Self {
        let coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
        self.clusters.insert(name.to_owned(), GivenCluster { objects: Vec::new(), hosted_by: None, coverage });
        self
    }

    pub fn hosted(mut self, guest: &str, cluster: &str, namespace: &str, name: &str) -> Self {
        let by = [cluster, namespace, name].map(str::to_owned);
        self.the(guest).hosted_by = Some(by);
        self
    }

    /// Forgets who hosts the guest: only its own Infrastructure says that somebody does.
    pub fn known_by_topology(mut self, guest: &str, infra_id: &str) -> Self {
        self.the(guest).hosted_by = None;
        let mut infrastructure = config("Infrastructure");
        infrastructure["status"] = json!({ "controlPlaneTopology": "External", "infrastructureName": infra_id });
        self.object(guest, infrastructure)
    }

    /// A guest no more: nobody says so, and neither does its own Infrastructure.
    pub fn known_by_nobody(mut self, guest: &str) -> Self {
        self.the(guest).hosted_by = None;
        self.object(guest, config("Infrastructure"))
    }

    pub fn forget_cluster(mut self, name: &str) -> Self {
        self.clusters.remove(name);
        self
    }

    pub fn object(mut self, cluster: &str, object: Value) -> Self {
        self.the(cluster).objects.push(object);
        self
    }

    /// Puts things into the guest's `openshift-config`.
    pub fn has(self, thing: Thing) -> Self {
        self.object("guest-a", thing.in_namespace("openshift-config"))
    }

    /// Puts a thing into the control plane's namespace.
    pub fn source(self, thing: Thing) -> Self {
        self.object("mgmt", thing.in_namespace("clusters-guest-a"))
    }

    /// Puts a thing into the console's namespace.
    pub fn console(self, thing: Thing) -> Self {
        self.object("guest-a", thing.in_namespace("openshift-console"))
    }

    /// Takes every object of a kind away.
    pub fn without(mut self, cluster: &str, kind: &str) -> Self {
        self.the(cluster).objects.retain(|object| object["kind"] != kind);
        self
    }

    /// The same authentication block everywhere it is kept.
    pub fn authentication(self, block: Value) -> Self {
        self.cluster_authentication(block.clone()).plane_authentication(block.clone()).guest_authentication(block)
    }

    /// What the control plane was told, and hence the guest; the HostedCluster alike.
    pub fn cluster_authentication(self, block: Value) -> Self {
        self.set("mgmt", "HostedCluster", "spec.configuration.authentication", block)
    }

    pub fn plane_authentication(self, block: Value) -> Self {
        self.set("mgmt", "HostedControlPlane", "spec.configuration.authentication", block)
    }

    pub fn guest_authentication(self, block: Value) -> Self {
        self.set("guest-a", "Authentication", "spec", block)
    }

    pub fn clients_in_use(self, entries: Value) -> Self {
        self.set("guest-a", "Authentication", "status.oidcClients", entries)
    }

    pub fn annotate(mut self, cluster: &str, kind: &str, key: &str, value: &str) -> Self {
        self.first(cluster, kind)["metadata"]["annotations"][key] = json!(value);
        self
    }

    /// Sets a field (`spec.a.b`) of the first object of a kind.
    pub fn set(mut self, cluster: &str, kind: &str, field: &str, value: Value) -> Self {
        put(self.first(cluster, kind), field, value);
        self
    }

    /// `v1/secrets@openshift-config`, as fleet files write it.
    pub fn incomplete(mut self, cluster: &str, entry: &str) -> Self {
        let (path, namespace) = entry.split_once('@').map_or((entry, None), |(path, ns)| (path, Some(ns)));
        let (api_version, plural) = path.rsplit_once('/').unwrap();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let namespace = namespace.map(str::to_owned);
        let entry = Incomplete { group: group.to_owned(), plural: plural.to_owned(), namespace };
        self.the(cluster).coverage.incomplete.push(entry);
        self
    }

    pub fn unreachable(mut self, cluster: &str) -> Self {
        self.the(cluster).coverage.unreachable = Some("connection refused".to_owned());
        self
    }

    /// A recording that proves nothing by silence.
    pub fn seen_only(mut self, cluster: &str) -> Self {
        self.the(cluster).coverage.kinds = KindCoverage::SeenOnly;
        self
    }

    pub fn unreadable_file(mut self, cluster: &str) -> Self {
        self.the(cluster).coverage.unreadable.push("broken.yaml".to_owned());
        self
    }

    pub fn copies_managed(mut self) -> Self {
        self.settings.copies = Copies::Manage;
        self
    }

    pub fn name_pattern(mut self, glob: &str) -> Self {
        self.settings.name_patterns.push(Glob::parse(glob).unwrap());
        self
    }

    pub fn judged(&self) -> Judged {
        let domain = HostedOidc::new(self.settings.clone());
        let mut world = World::default();
        self.fill(&domain, &mut world);
        Judged::new(&domain, &world)
    }

    /// The answer for one subject of the guest: `Secret/name`.
    pub fn about(&self, subject: &str) -> String {
        self.judged().about(subject)
    }

    /// Brings the world to this fleet, and says what changed. Asks until nobody wants more.
    fn fill(&self, domain: &HostedOidc, world: &mut World) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let known: Vec<ClusterName> = world.view(now()).clusters().map(|cluster| cluster.name.clone()).collect();
        for name in known.iter().filter(|name| !self.clusters.contains_key(name.as_str())) {
            changes.extend(world.remove_cluster(name));
        }
        let recordings: BTreeMap<ClusterName, RecordedCluster> =
            self.clusters.iter().map(|(name, cluster)| (ClusterName::new(name.as_str()), cluster.recorded())).collect();
        for (name, cluster) in &self.clusters {
            let name = ClusterName::new(name.as_str());
            let served = Served::Recorded(recordings[&name].groups());
            changes.extend(world.put_cluster(cluster.known_as(name, served)));
        }
        changes.extend(answer_all(domain, world, &recordings, now()));
        changes
    }

    fn the(&mut self, cluster: &str) -> &mut GivenCluster {
        self.clusters.get_mut(cluster).unwrap()
    }

    fn first(&mut self, cluster: &str, kind: &str) -> &mut Value {
        let mut objects = self.the(cluster).objects.iter_mut();
        objects.find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("{cluster} has no {kind}"))
    }
}

impl GivenCluster {
    fn recorded(&self) -> RecordedCluster {
        recording(&self.coverage, &self.objects)
    }

    fn known_as(&self, name: ClusterName, served: Served) -> Cluster {
        let hosted_by = self.hosted_by.as_ref().map(|[cluster, namespace, name]| HostedBy {
            cluster: ClusterName::new(cluster.as_str()),
            namespace: Namespace::new(namespace.as_str()),
            name: ObjectName::new(name.as_str()),
        });
        Cluster {
            name,
            class: RiskClass::Prod,
            source: ClusterSource::Snapshot,
            hosted_by,
            link: Link::Recorded,
            identity: ClusterIdentity::default(),
            served,
        }
    }
}

fn put(object: &mut Value, field: &str, value: Value) {
    *field.split('.').fold(object, |place, part| &mut place[part]) = value;
}

/// Every subject with its answer.
pub struct Judged {
    answers: BTreeMap<String, Answer>,
}

pub struct Answer {
    pub judgement: Judgement,
    pub explanation: Explanation,
}

impl Judged {
    /// Judges everything, and checks what must hold whatever the world is.
    pub fn new(domain: &HostedOidc, world: &World) -> Self {
        let view = world.view(now());
        let mut answers = BTreeMap::new();
        for subject in domain.subjects(view) {
            let judgement = domain.judge(&subject, view).unwrap_or_else(|| panic!("{subject} is listed, not judged"));
            let explanation = domain.explain(&subject, view).unwrap();
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
        let id = match subject.split_once('/') {
            Some((kind @ ("Secret" | "ConfigMap"), name)) => {
                format!("hosted-oidc/guest-a/{kind}/openshift-config/{name}")
            }
            _ => format!("hosted-oidc/{subject}"),
        };
        self.answers.get(&id)
    }

    /// All answers as `id: answer`, without the domain's name.
    pub fn all(&self) -> Vec<String> {
        let short = |id: &str| id.strip_prefix("hosted-oidc/").unwrap().to_owned();
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
        let orphan = judgement.verdict.starts_with("orphan-");
        let deletes = explanation.remedy.iter().filter(|draft| draft.verb() == Verb::Delete).count();
        assert_eq!(deletes, usize::from(orphan), "{subject}: exactly the orphans have a delete");
        for draft in &explanation.remedy {
            assert_eq!(draft.target.name, subject.name);
            assert_eq!(
                (draft.target.cluster.clone(), draft.target.resource.kind),
                (subject.cluster.clone(), subject.kind)
            );
            assert_eq!(draft.target.namespace, subject.namespace);
        }
        if orphan {
            let proofs = explanation.remedy[0].ownership.len();
            assert_eq!(proofs, usize::from(judgement.ownership_proofs), "{subject}: judge and explain count alike");
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
    let reason = serde_json::to_value(draft.reason).unwrap();
    let gates: Vec<&str> = draft.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    let blocked = if gates.is_empty() { String::new() } else { format!(" blocked:{}", gates.join(",")) };
    let proofs = draft.ownership.len();
    format!("{} {ticked} {} proofs={proofs}{blocked}", draft.verb().as_str(), reason.as_str().unwrap())
}

/// The states as the reference lists them, on purpose not taken from the code.
fn state_of(verdict: &str) -> &'static str {
    match verdict {
        "referenced" | "protected" | "foreign" => "match",
        "missing-copy" => "missing",
        "leftover" | "orphan-certain" | "orphan-probable" => "extra",
        "stale-copy" => "drift",
        "pending" => "stale",
        "unknown" => "unknown",
        "moot" | "terminating" => "blocked",
        "source-missing" => "error",
        other => panic!("{other} is no verdict of this check"),
    }
}

/// Judges each named case about one subject.
pub fn each<const N: usize>(subject: &str, cases: [(&str, Given, &str); N]) {
    for (case, given, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}
