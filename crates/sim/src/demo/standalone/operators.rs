//! The operators of a cluster on OIDC: a change of the spec is rendered, copied, made a revision and rolled out.
//!
//! ```text
//!   Authentication ──► auth-config ──► copy ──► revision N+1 ──► node by node
//!            authentication operator     kube-apiserver's operator
//! ```
//!
//! Invariants: a step moves a change by one hop, the last hop first; an operator writes only on a difference.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::guest::put;
use super::super::objects::field_mut;
use super::objects::{self, AUTH_CONFIG, KAS, MANAGED, Revision};
use crate::SimCluster;

/// Ticks between two changes of the audiences: a rollout over three nodes takes ten.
const TICKS_PER_CHANGE: u64 = 30;
/// Revisions kept; the OpenShift pruner keeps a few as well.
const REVISIONS_KEPT: i64 = 3;

/// The operators of a standalone cluster.
#[derive(Debug, Clone)]
pub struct Standalone {
    sim: SimCluster,
}

impl Standalone {
    pub fn new(sim: SimCluster) -> Self {
        Self { sim }
    }

    /// Runs the operators once; every few ticks changes the audiences, which they see at the next tick.
    pub fn tick(&self, ticks: u64) {
        let at = self.sim.now();
        if !self.roll_out(at) && !self.make_revision(at) {
            self.copy(at);
        }
        self.write(at);
        if ticks.is_multiple_of(TICKS_PER_CHANGE) {
            let more = (ticks / TICKS_PER_CHANGE) % 2 == 1;
            let audiences = if more { json!(["console", "cli"]) } else { json!(["console"]) };
            self.edit(at, AUTHENTICATION, |found| {
                // Users may have removed the provider.
                if let Some(provider) = found.pointer_mut("/spec/oidcProviders/0") {
                    *field_mut(provider, &["issuer", "audiences"]) = audiences;
                }
            });
        }
    }

    /// The authentication operator.
    fn write(&self, at: Timestamp) {
        let Some(authentication) = self.get(AUTHENTICATION) else { return };
        let spec = &authentication["spec"];
        if spec["type"] != "OIDC" {
            return;
        }
        let wanted = render(spec, &authority(&self.sim, spec));
        self.keep_file(at, MANAGED, &wanted);
    }

    /// kube-apiserver's operator: its copy.
    fn copy(&self, at: Timestamp) {
        if let Some(source) = self.file(MANAGED, AUTH_CONFIG) {
            self.keep_file(at, KAS, &source);
        }
    }

    /// Creates a revision when the copy changed. Returns whether it did.
    fn make_revision(&self, at: Timestamp) -> bool {
        let (Some(kas), Some(copy)) = (self.get(KUBE_API_SERVER), self.file(KAS, AUTH_CONFIG)) else { return false };
        let latest = kas["status"]["latestAvailableRevision"].as_i64().unwrap_or(0);
        // A user may have written any number.
        let Some(next) = latest.checked_add(1) else { return false };
        if self.file(KAS, &format!("{AUTH_CONFIG}-{latest}")).as_deref() == Some(copy.as_str()) {
            return false;
        }
        objects::revision(next, Revision::Oidc, &copy).into_iter().for_each(|object| put(&self.sim, at, object));
        for name in ["config", AUTH_CONFIG] {
            let old = format!("{KAS}/{name}-{}", next.saturating_sub(REVISIONS_KEPT));
            // The first revisions have no predecessor to prune.
            let _absent = self.sim.remove("v1", "ConfigMap", &old);
        }
        self.edit(at, KUBE_API_SERVER, |kas| *field_mut(kas, &["status", "latestAvailableRevision"]) = json!(next));
        true
    }

    /// Moves one node by one step. Returns whether any node was behind.
    fn roll_out(&self, at: Timestamp) -> bool {
        let Some(kas) = self.get(KUBE_API_SERVER) else { return false };
        let latest = kas["status"]["latestAvailableRevision"].clone();
        let mut nodes = kas["status"]["nodeStatuses"].as_array().cloned().unwrap_or_default();
        let Some(node) = nodes.iter_mut().find(|node| node["currentRevision"] != latest) else { return false };
        if node["targetRevision"] == latest {
            *field_mut(node, &["currentRevision"]) = latest;
            *field_mut(node, &["targetRevision"]) = json!(0);
        } else {
            *field_mut(node, &["targetRevision"]) = latest;
        }
        self.edit(at, KUBE_API_SERVER, |kas| *field_mut(kas, &["status", "nodeStatuses"]) = nodes.into());
        true
    }

    fn keep_file(&self, at: Timestamp, namespace: &str, text: &str) {
        if self.file(namespace, AUTH_CONFIG).as_deref() == Some(text) {
            return;
        }
        let key = format!("{namespace}/{AUTH_CONFIG}");
        if self.sim.object("v1", "ConfigMap", &key).is_err() {
            put(&self.sim, at, objects::file(namespace, AUTH_CONFIG, text));
            return;
        }
        self.edit(at, ("v1", "ConfigMap", &key), |file| *field_mut(file, &["data", "auth-config.json"]) = text.into());
    }

    fn file(&self, namespace: &str, name: &str) -> Option<String> {
        let file = self.get(("v1", "ConfigMap", &format!("{namespace}/{name}")))?;
        file["data"]["auth-config.json"].as_str().map(str::to_owned)
    }

    fn get(&self, (api_version, kind, key): ObjectHandle<'_>) -> Option<Value> {
        self.sim.object(api_version, kind, key).ok()
    }

    fn edit(&self, at: Timestamp, (api_version, kind, key): ObjectHandle<'_>, change: impl FnOnce(&mut Value)) {
        self.sim.with(|server, _| {
            // The object may have been deleted meanwhile: then there is nothing to change.
            let _absent = server.edit(at, api_version, kind, key, change);
        });
    }
}

/// API version, kind and key of an object.
type ObjectHandle<'p> = (&'static str, &'static str, &'p str);

const AUTHENTICATION: ObjectHandle<'static> = ("config.openshift.io/v1", "Authentication", "cluster");
const KUBE_API_SERVER: ObjectHandle<'static> = ("operator.openshift.io/v1", "KubeAPIServer", "cluster");

/// Returns the CA bundle a spec references; empty when it references none.
pub fn authority(sim: &SimCluster, spec: &Value) -> String {
    let name = spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"]["name"].as_str().unwrap_or_default();
    let bundle = sim.object("v1", "ConfigMap", &format!("openshift-config/{name}"));
    let text = bundle.ok().and_then(|bundle| bundle["data"]["ca-bundle.crt"].as_str().map(str::to_owned));
    text.unwrap_or_default()
}

/// Renders `auth-config.json` of the demo's specs, in the key order of the Go encoder.
pub fn render(spec: &Value, authority: &str) -> String {
    let provider = &spec["oidcProviders"][0];
    let issuer = &provider["issuer"];
    let authority = match authority {
        "" => String::new(),
        text => format!(",\"certificateAuthority\":{}", Value::from(text)),
    };
    let rules: Vec<String> = provider["claimValidationRules"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(|rule| &rule["requiredClaim"])
        .map(|rule| format!("{{\"claim\":{},\"requiredValue\":{}}}", rule["claim"], rule["requiredValue"]))
        .collect();
    let rules = match rules.as_slice() {
        [] => String::new(),
        rules => format!("\"claimValidationRules\":[{}],", rules.join(",")),
    };
    let groups = &provider["claimMappings"]["groups"];
    format!(
        "{{\"kind\":\"AuthenticationConfiguration\",\"apiVersion\":\"apiserver.config.k8s.io/v1beta1\",\"jwt\":[{{\
         \"issuer\":{{\"url\":{}{authority},\"audiences\":{},\"audienceMatchPolicy\":\"MatchAny\"}},{rules}\
         \"claimMappings\":{{\"username\":{{\"claim\":\"email\",\"prefix\":\"\"}},\
         \"groups\":{{\"claim\":{},\"prefix\":{}}},\"uid\":{{\"claim\":\"sub\"}}}}}}]}}",
        issuer["issuerURL"], issuer["audiences"], groups["claim"], groups["prefix"],
    )
}
