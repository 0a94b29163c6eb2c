//! The worlds this check is tried on, and its answers as short text.
//!
//! [`given`] is a cluster that went over to OIDC long ago: everything is written, every node runs revision 7, nothing is
//! left of the OAuth server. [`integrated`] is one that never did. A test states only what differs.

use serde_json::{Value, json};

use super::stack::PARTS;
use super::{ExternalOidc, Hands, Offer, Settings};
use crate::testing::{Answer, Fixture, Fleet, Judged, Member, set_field};
use trueup_core::engine::{Stake, State, Verb};

pub const CONFIG: &str = "config.openshift.io/v1";
pub const OPERATOR: &str = "operator.openshift.io/v1";

/// What the dull provider comes to.
pub const RENDERED: &str = concat!(
    r#"{"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1beta1","jwt":[{"issuer":"#,
    r#"{"url":"https://idp.example","audiences":["a"],"audienceMatchPolicy":"MatchAny"},"claimMappings":{"username":"#,
    r#"{"claim":"email","prefix":""},"groups":{"prefix":""},"uid":{"claim":"sub"}}}]}"#,
);

/// One cluster as a test describes it.
#[derive(Debug, Clone)]
pub struct Given {
    pub fleet: Fleet,
    pub settings: Settings,
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
    let mut empty = Given { fleet: Fleet::default(), settings: Settings::default() };
    empty.fleet.add_cluster("ocp");
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
    pub fn ocp(&mut self) -> &mut Member {
        self.fleet.member("ocp")
    }

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
        self.ocp().put(object);
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
        self.file("openshift-kube-apiserver", &format!("auth-config-{number}"), RENDERED)
            .revision_config(number, &on_oidc())
    }

    /// The configuration of a revision.
    pub fn revision_config(self, number: i64, config: &Value) -> Self {
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
        self.ocp().remove(kind, name);
        self
    }

    pub fn without_in(mut self, namespace: &str, name: &str) -> Self {
        self.ocp()
            .objects
            .retain(|object| object["metadata"]["namespace"] != namespace || object["metadata"]["name"] != name);
        self
    }

    /// Sets a field (`spec.a.b`) of the first object of a kind.
    pub fn set(mut self, kind: &str, field: &str, value: Value) -> Self {
        set_field(self.ocp().first(kind), field, value);
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

    pub fn incomplete(mut self, entry: &str) -> Self {
        self.ocp().incomplete(entry);
        self
    }

    /// A recording that proves nothing by silence.
    pub fn seen_only(mut self) -> Self {
        self.ocp().seen_only();
        self
    }

    pub fn hosted(mut self) -> Self {
        self.ocp().host(["mgmt", "clusters", "ocp"]);
        self
    }

    /// A live cluster that serves these and nothing else.
    pub fn serving(mut self, kinds: &[(&str, &str)]) -> Self {
        self.ocp().serve(kinds);
        self
    }

    pub fn managed(mut self) -> Self {
        self.settings.hands = Hands::On;
        self
    }

    /// Offers the switch to OIDC, as `offer_switch = true` does.
    pub fn switching(mut self) -> Self {
        self.settings.offer = Offer::Switch;
        self.managed()
    }
}

impl Judged<Given> {
    /// What is not a match, as `subject: answer`.
    pub fn troubles(&self) -> Vec<String> {
        let short = |id: &str| id.strip_prefix("external-oidc/ocp/").unwrap().to_owned();
        let troubles = self.answers.iter().filter(|(_, answer)| answer.judgement.state != State::Match);
        troubles.map(|(id, answer)| format!("{}: {answer}", short(id))).collect()
    }
}

impl Fixture for Given {
    type Check = ExternalOidc;

    fn check(&self) -> ExternalOidc {
        ExternalOidc::new(self.settings.clone())
    }

    fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// `Kind/namespace/name`, `_` for no namespace.
    fn ids(subject: &str) -> Vec<String> {
        vec![format!("external-oidc/ocp/{subject}")]
    }

    fn assert_answer(Answer { subject, judgement, explanation, cells, .. }: &Answer) {
        assert!(!cells.is_empty(), "{subject} has no cells");
        let advised = !explanation.remedy.is_empty() || explanation.summary.contains(';');
        assert!(judgement.state == State::Match || advised, "{subject}: no remedy: {}", explanation.summary);
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
