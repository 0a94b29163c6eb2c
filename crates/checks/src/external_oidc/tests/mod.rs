//! The worlds this check is tried on, and its answers as short text.
//!
//! [`given`] is a cluster that went over to OIDC long ago: everything is written, every node runs revision 7, nothing is
//! left of the OAuth server. [`integrated`] is one that never did. A test states only what differs.
//!
//! Always true: whatever is judged here is also held to what must hold for every world (see [`Answer::check`]).

mod acting;
mod applying;
mod availability;
mod console;
mod files;
mod following;
mod showing;
mod stack;
mod switching;
mod trying;

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::stack::PARTS;
use super::{ExternalOidc, Hands, Settings};
use crate::Check;
use crate::testing::{answer_all, recording};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster};
use trueup_core::engine::{Explanation, GateName, Judgement, Stake, State, SubjectId, Verb};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, HostedBy, Link, Namespace, ObjectName, RiskClass,
    Served, World,
};

pub const CONFIG: &str = "config.openshift.io/v1";
pub const OPERATOR: &str = "operator.openshift.io/v1";

/// What the dull provider comes to.
pub const RENDERED: &str = concat!(
    r#"{"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1beta1","jwt":[{"issuer":"#,
    r#"{"url":"https://idp.example","audiences":["a"],"audienceMatchPolicy":"MatchAny"},"claimMappings":{"username":"#,
    r#"{"claim":"email","prefix":""},"groups":{"prefix":""},"uid":{"claim":"sub"}}}]}"#,
);

pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

/// One cluster as a test describes it.
#[derive(Debug, Clone)]
pub struct Given {
    objects: Vec<Value>,
    hosted_by: Option<[&'static str; 3]>,
    coverage: Coverage,
    served: Option<Served>,
    settings: Settings,
}

/// A cluster on OIDC.
pub fn given() -> Given {
    nothing()
        .object(CONFIG, "Authentication", None, "cluster", json!({ "spec": oidc(), "status": {} }))
        .object(OPERATOR, "KubeAPIServer", None, "cluster", json!({ "spec": { "observedConfig": on_oidc() } }))
        .nodes(&[(7, 0), (7, 0), (7, 0)])
        .file("openshift-config-managed", "auth-config", RENDERED)
        .file("openshift-kube-apiserver", "auth-config", RENDERED)
        .revision(7)
        .definition()
}

/// A cluster with its own OAuth server.
pub fn integrated() -> Given {
    let whole = nothing()
        .object(CONFIG, "Authentication", None, "cluster", json!({ "spec": { "type": "IntegratedOAuth" } }))
        .object(OPERATOR, "KubeAPIServer", None, "cluster", json!({ "spec": { "observedConfig": on_oauth() } }))
        .nodes(&[(7, 0), (7, 0), (7, 0)])
        .object("v1", "ConfigMap", Some("openshift-kube-apiserver"), "config-7", config_yaml(&on_oauth()))
        .definition();
    whole.with_parts()
}

/// A cluster of its own that nothing else is known of.
pub fn nothing() -> Given {
    let coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
    let settings = Settings::default();
    let empty = Given { objects: Vec::new(), hosted_by: None, coverage, served: None, settings };
    empty
        .object(
            CONFIG,
            "Infrastructure",
            None,
            "cluster",
            json!({ "status": { "controlPlaneTopology": "HighlyAvailable" } }),
        )
        .object(CONFIG, "ClusterVersion", None, "version", json!({ "status": { "desired": { "version": "4.20.3" } } }))
}

/// The dull provider.
pub fn oidc() -> Value {
    json!({ "type": "OIDC", "oidcProviders": [{
        "name": "idp",
        "issuer": { "issuerURL": "https://idp.example", "audiences": ["a"] },
        "claimMappings": { "username": { "claim": "email" } }
    }] })
}

pub fn on_oidc() -> Value {
    json!({
        "apiServerArguments": {
            "authentication-config": ["/etc/kubernetes/static-pod-resources/configmaps/auth-config/auth-config.json"],
            "disable-admission-plugins": plugins()
        },
        "authConfig": { "oauthMetadataFile": "" }
    })
}

pub fn on_oauth() -> Value {
    json!({
        "apiServerArguments": {
            "authentication-token-webhook-config-file": ["/etc/kubernetes/webhook/kubeConfig"],
            "authentication-token-webhook-version": ["v1"],
            "enable-admission-plugins": plugins()
        },
        "authConfig": { "oauthMetadataFile": "/etc/kubernetes/oauthMetadata" }
    })
}

pub fn plugins() -> Value {
    json!([
        "authorization.openshift.io/RestrictSubjectBindings",
        "authorization.openshift.io/ValidateRoleBindingRestriction"
    ])
}

/// A ConfigMap body with kube-apiserver's config.
pub fn config_yaml(config: &Value) -> Value {
    json!({ "data": { "config.yaml": config.to_string() } })
}

impl Given {
    pub fn object(mut self, api: &str, kind: &str, namespace: Option<&str>, name: &str, body: Value) -> Self {
        let mut object = body;
        object["apiVersion"] = json!(api);
        object["kind"] = json!(kind);
        object["metadata"]["name"] = json!(name);
        object["metadata"]["uid"] = json!(format!("{kind}-{name}"));
        object["metadata"]["resourceVersion"] = json!("100");
        if let Some(namespace) = namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        self.objects.retain(|held| !is_same(held, &object));
        self.objects.push(object);
        self
    }

    pub fn config_map(self, namespace: &str, name: &str, data: Value) -> Self {
        self.object("v1", "ConfigMap", Some(namespace), name, json!({ "data": data }))
    }

    /// A Secret with these texts in it.
    pub fn secret(self, namespace: &str, name: &str, texts: Value) -> Self {
        self.object("v1", "Secret", Some(namespace), name, json!({ "type": "Opaque", "stringData": texts }))
    }

    pub fn file(self, namespace: &str, name: &str, json: &str) -> Self {
        self.config_map(namespace, name, json!({ "auth-config.json": json }))
    }

    /// A revision of kube-apiserver that is on OIDC alone.
    pub fn revision(self, number: i64) -> Self {
        self.file("openshift-kube-apiserver", &format!("auth-config-{number}"), RENDERED).told(number, &on_oidc())
    }

    /// What a revision was told.
    pub fn told(self, number: i64, config: &Value) -> Self {
        self.object(
            "v1",
            "ConfigMap",
            Some("openshift-kube-apiserver"),
            &format!("config-{number}"),
            config_yaml(config),
        )
    }

    /// The current and target revision of each node.
    pub fn nodes(self, nodes: &[(i64, i64)]) -> Self {
        let status = |(index, (current, target)): (usize, &(i64, i64))| json!({ "nodeName": format!("master-{index}"), "currentRevision": current, "targetRevision": target });
        let nodes: Vec<Value> = nodes.iter().enumerate().map(status).collect();
        self.set("KubeAPIServer", "status.nodeStatuses", json!(nodes))
    }

    pub fn definition(self) -> Self {
        let name = "rolebindingrestrictions.authorization.openshift.io";
        self.object("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, name, json!({}))
    }

    pub fn restriction(self, namespace: &str, name: &str) -> Self {
        self.object("authorization.openshift.io/v1", "RoleBindingRestriction", Some(namespace), name, json!({}))
    }

    /// Every resource of the OAuth stack.
    pub fn with_parts(self) -> Self {
        PARTS.iter().fold(self, |given, part| {
            given.object(&part.resource.api_version(), part.resource.kind, part.namespace, part.name, json!({}))
        })
    }

    pub fn without(mut self, kind: &str, name: &str) -> Self {
        self.objects.retain(|object| object["kind"] != kind || object["metadata"]["name"] != name);
        self
    }

    pub fn without_in(mut self, namespace: &str, name: &str) -> Self {
        self.objects
            .retain(|object| object["metadata"]["namespace"] != namespace || object["metadata"]["name"] != name);
        self
    }

    /// Sets a field (`spec.a.b`) of the first object of a kind.
    pub fn set(mut self, kind: &str, field: &str, value: Value) -> Self {
        let object = self.objects.iter_mut().find(|object| object["kind"] == kind).expect("an object of this kind");
        *field.split('.').fold(object, |place, part| &mut place[part]) = value;
        self
    }

    pub fn spec(self, spec: Value) -> Self {
        self.set("Authentication", "spec", spec)
    }

    pub fn gates(self, enabled: &[&str]) -> Self {
        let enabled: Vec<Value> = enabled.iter().map(|name| json!({ "name": name })).collect();
        let gates = json!({ "status": { "featureGates": [{ "version": "4.20.3", "enabled": enabled }] } });
        self.object(CONFIG, "FeatureGate", None, "cluster", gates)
    }

    /// The new architecture, with what it needs.
    pub fn claims_gate(self) -> Self {
        self.gates(&["ExternalOIDC", "ExternalOIDCWithUIDAndExtraClaimMappings", "ExternalOIDCExternalClaimsSourcing"])
    }

    /// `v1/secrets@openshift-config`, as fleet files write it.
    pub fn incomplete(mut self, entry: &str) -> Self {
        let (path, namespace) = entry.split_once('@').map_or((entry, None), |(path, ns)| (path, Some(ns)));
        let (api_version, plural) = path.rsplit_once('/').unwrap();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let namespace = namespace.map(str::to_owned);
        self.coverage.incomplete.push(Incomplete { group: group.to_owned(), plural: plural.to_owned(), namespace });
        self
    }

    /// A recording that proves nothing by silence.
    pub fn seen_only(mut self) -> Self {
        self.coverage.kinds = KindCoverage::SeenOnly;
        self
    }

    pub fn hosted(mut self) -> Self {
        self.hosted_by = Some(["mgmt", "clusters", "ocp"]);
        self
    }

    /// A live cluster that serves these and nothing else.
    pub fn serving(mut self, kinds: &[(&str, &str)]) -> Self {
        let all = kinds.iter().map(|(group, plural)| ((*group).to_owned(), (*plural).to_owned())).collect();
        self.served = Some(Served::Complete(all));
        self
    }

    pub fn managed(mut self) -> Self {
        self.settings.hands = Hands::On;
        self
    }

    /// Offers the switch to OIDC, as `offer_switch = true` does.
    pub fn switching(mut self) -> Self {
        self.settings.offer = super::Offer::Switch;
        self.managed()
    }

    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }

    pub fn judged(&self) -> Judged {
        let domain = ExternalOidc::new(self.settings.clone());
        let mut world = World::default();
        self.fill(&domain, &mut world);
        Judged::new(&domain, &world)
    }

    /// The answer for one subject: `Kind/namespace/name`, `_` for no namespace.
    pub fn about(&self, subject: &str) -> String {
        self.judged().about(subject)
    }

    /// Brings the world to this cluster, and says what changed. Asks until nobody wants more.
    pub fn fill(&self, domain: &ExternalOidc, world: &mut World) -> ChangeSet {
        let name = ClusterName::new("ocp");
        let recording = self.recorded();
        let served = self.served.clone().unwrap_or_else(|| Served::Recorded(recording.groups()));
        let mut changes = world.put_cluster(self.known_as(name.clone(), served));
        let recordings = BTreeMap::from([(name, recording)]);
        changes.extend(answer_all(domain, world, &recordings, now()));
        changes
    }

    fn recorded(&self) -> RecordedCluster {
        recording(&self.coverage, &self.objects)
    }

    fn known_as(&self, name: ClusterName, served: Served) -> Cluster {
        let hosted_by = self.hosted_by.map(|[cluster, namespace, name]| HostedBy {
            cluster: ClusterName::new(cluster),
            namespace: Namespace::new(namespace),
            name: ObjectName::new(name),
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

fn is_same(one: &Value, other: &Value) -> bool {
    ["apiVersion", "kind"].iter().all(|field| one[field] == other[field])
        && ["namespace", "name"].iter().all(|field| one["metadata"][field] == other["metadata"][field])
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
    pub fn new(domain: &ExternalOidc, world: &World) -> Self {
        let view = world.view(now());
        let mut answers = BTreeMap::new();
        for subject in domain.subjects(view) {
            let judgement = domain.judge(&subject, view).unwrap_or_else(|| panic!("{subject} is listed, not judged"));
            let explanation = domain.explain(&subject, view).unwrap();
            assert!(!domain.cells(&subject, view).is_empty(), "{subject} has no cells");
            domain.panels(&subject, view);
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
        self.answers.get(&format!("external-oidc/ocp/{subject}"))
    }

    /// What is not a match, as `subject: answer`.
    pub fn troubles(&self) -> Vec<String> {
        let short = |id: &str| id.strip_prefix("external-oidc/ocp/").unwrap().to_owned();
        let troubles = self.answers.iter().filter(|(_, answer)| answer.judgement.state != State::Match);
        troubles.map(|(id, answer)| format!("{}: {answer}", short(id))).collect()
    }
}

impl Answer {
    /// What must hold whatever the world is.
    fn check(&self, subject: &SubjectId) {
        let Self { judgement, explanation } = self;
        assert!(!explanation.summary.is_empty(), "{subject} says nothing");
        assert!(!explanation.summary.contains('\n'), "{subject} says more than a line");
        let mut sorted = judgement.codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(judgement.codes, sorted, "{subject}");
        for draft in &explanation.remedy {
            let condemned = ["extra", "leftover", "removable"].contains(&judgement.verdict);
            if draft.verb() == Verb::Patch {
                assert!(draft.stake == Stake::Login && !draft.selected, "{subject}: the switch is never ticked");
                assert!(draft.target.uid.is_some() && draft.change.to_json()["patch"].is_object(), "{subject}");
            } else if draft.verb() == Verb::Delete {
                assert!(condemned, "{subject}: a delete for {}", judgement.verdict);
                assert!(draft.ownership.len() >= 2, "{subject}: {:?}", draft.ownership);
                assert!(!draft.rests_on.is_empty(), "{subject}");
                assert!(draft.target.uid.is_some(), "{subject}");
            } else {
                assert!(["missing", "drift"].contains(&judgement.verdict), "{subject}: {}", judgement.verdict);
                assert!(draft.change.to_json()["data"].is_object(), "{subject}");
            }
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { judgement, explanation } = self;
        write!(f, "{}", judgement.verdict)?;
        for code in &judgement.codes {
            write!(f, " {code}")?;
        }
        for draft in &explanation.remedy {
            let ticked = if draft.selected { "selected" } else { "offered" };
            write!(f, " → {} {ticked} {}", draft.verb().as_str(), draft.reason.as_str())?;
            for blocked in &draft.blocked_by {
                write!(f, " [{}]", blocked.gate.as_str())?;
            }
        }
        Ok(())
    }
}

/// Judges each case and compares the answer for one subject.
pub fn each<const N: usize>(subject: &str, cases: [(&str, Given, &str); N]) {
    for (case, given, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}

#[test]
fn a_cluster_that_went_over_and_one_that_never_did_have_nothing_to_mend() {
    for (case, given) in [("on OIDC", given()), ("on OAuth", integrated())] {
        let expected: &[&str] = match case {
            // Nobody needs the definition any more, and nobody removes it.
            "on OIDC" => &["CustomResourceDefinition/_/rolebindingrestrictions.authorization.openshift.io: \
                           removable → delete offered oidc-available [operator-owned]"],
            _ => &[],
        };
        assert_eq!(given.judged().troubles(), expected, "case: {case}");
    }
    assert!(given().judged().answers.len() > 30, "every resource of the stack is a subject");
}

#[test]
fn every_action_belongs_to_an_operator_until_the_config_hands_it_over() {
    let drifting = given().file("openshift-config-managed", "auth-config", "{}").with_parts();
    let gates = |given: Given| -> Vec<GateName> {
        let judged = given.judged();
        let drafts = judged.answers.values().flat_map(|answer| &answer.explanation.remedy);
        drafts.flat_map(|draft| draft.blocked_by.iter().map(|blocked| blocked.gate)).collect()
    };
    assert!(!gates(drifting.clone()).is_empty());
    assert!(gates(drifting.clone()).iter().all(|gate| *gate == GateName::OperatorOwned));
    assert_eq!(gates(drifting.managed()), []);
}
