//! The operators of a standalone cluster: to OIDC, on OIDC, and back.
//!
//! ```text
//!   Authentication ──► auth-config ──► copy, arguments ──► revision N+1 ──► node by node ──► OAuth servers
//!            authentication operator     kube-apiserver's operator            authentication operator
//! ```
//!
//! Invariants: a step moves a change by one hop, the last hop first; an operator writes only on a difference.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::guest::{Edited, ObjectHandle, Operator, put};
use super::super::objects::{api_time, condition, field_mut, set_condition};
use super::oauth_server::{self, METADATA, WEBHOOK};
use super::objects::{self, AUTH_CONFIG, KAS, MANAGED, Revision, authentication};
use super::{console, render};
use crate::SimCluster;

/// Ticks between two changes of the audiences: a rollout over three nodes takes ten.
const TICKS_PER_CHANGE: u64 = 30;
/// Revisions kept; the OpenShift pruner keeps a few as well.
const REVISIONS_KEPT: i64 = 3;
const WEBHOOK_COPY: &str = "webhook-authenticator";
const METADATA_COPY: &str = "oauth-metadata";

/// The operators of a standalone cluster.
#[derive(Debug, Clone)]
pub struct Standalone {
    pub sim: SimCluster,
    /// The part of the authentication operator that removes the OAuth servers.
    pub cleanup: Operator,
    pub audiences: Audiences,
}

/// Whether a user changes the audiences now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audiences {
    Changing,
    Fixed,
}

impl Standalone {
    /// Runs the operators once; every few ticks a user may change the audiences, which they see at the next tick.
    pub fn tick(&self, ticks: u64) {
        let at = self.sim.now();
        console::step(&self.sim, at);
        self.keep_oauth_servers(at);
        if !self.roll_out(at) {
            self.make_revision(at);
        }
        self.observe(at);
        self.copy(at);
        self.write(at);
        if self.audiences == Audiences::Changing && ticks.is_multiple_of(TICKS_PER_CHANGE) {
            let more = (ticks / TICKS_PER_CHANGE) % 2 == 1;
            let audiences = if more { json!(["console", "cli"]) } else { json!(["console"]) };
            authentication(&self.sim).edit_as("oc", at, |found| {
                // Users may have removed the provider.
                if let Some(provider) = found.pointer_mut("/spec/oidcProviders/0") {
                    *field_mut(provider, &["issuer", "audiences"]) = audiences;
                }
            });
        }
    }

    /// The authentication operator: `auth-config`.
    fn write(&self, at: Timestamp) {
        let Some(found) = authentication(&self.sim).get() else { return };
        if !is_oidc(&found) {
            self.config_map(MANAGED, AUTH_CONFIG).remove();
            return self.report(at, Ok(()));
        }
        match render::render(&self.sim, &found["spec"]) {
            Ok(wanted) => {
                self.keep_file(at, MANAGED, &wanted);
                self.report(at, Ok(()));
            }
            Err(why) => self.report(at, Err(&why)),
        }
    }

    /// The condition of the controller that writes `auth-config`. What another one says stays.
    fn report(&self, at: Timestamp, written: Result<(), &str>) {
        let place = ObjectHandle::new(&self.sim, "operator.openshift.io/v1", "Authentication", "cluster".to_owned());
        let (status, reason, message) = match written {
            Ok(()) => ("False", "AsExpected", ""),
            Err(why) => ("True", "SyncError", why),
        };
        let wanted = condition("ExternalOIDCControllerDegraded", status, reason, message, &api_time(at));
        place.edit(at, |operator| set_condition(operator, wanted));
    }

    /// The authentication operator: the OAuth servers, and kube-apiserver's webhook to them.
    fn keep_oauth_servers(&self, at: Timestamp) {
        let Some(found) = authentication(&self.sim).get() else { return };
        match (is_oidc(&found), self.cleanup) {
            (true, Operator::Working) if self.is_available() => oauth_server::remove(&self.sim),
            (true, Operator::Working | Operator::Stuck) => {}
            (false, Operator::Working | Operator::Stuck) => {
                if oauth_server::create(&self.sim, at) {
                    let webhook = json!({ "kubeConfig": { "name": WEBHOOK } });
                    let change =
                        |found: &mut Value| *field_mut(found, &["spec", "webhookTokenAuthenticator"]) = webhook;
                    authentication(&self.sim).edit_as("authentication-operator", at, change);
                }
            }
        }
    }

    /// Whether every node runs with OIDC alone.
    fn is_available(&self) -> bool {
        let Some(kas) = self.kube_api_server().get() else { return false };
        let nodes = kas["status"]["nodeStatuses"].as_array().map_or(&[][..], Vec::as_slice);
        let alone = Revision::Oidc.config().to_string();
        let is_alone = |node: &Value| {
            let number = node["currentRevision"].as_i64().unwrap_or(0);
            let config = self.config_map(KAS, &format!("config-{number}")).get();
            config.is_some_and(|config| config["data"]["config.yaml"] == alone.as_str())
        };
        !nodes.is_empty() && nodes.iter().all(is_alone)
    }

    /// kube-apiserver's operator: its arguments.
    fn observe(&self, at: Timestamp) {
        let Some(found) = authentication(&self.sim).get() else { return };
        let has_copy = self.file(KAS, AUTH_CONFIG).is_some();
        let wanted = if is_oidc(&found) {
            match (has_copy, self.file(MANAGED, AUTH_CONFIG).is_some()) {
                (true, _) => Revision::Oidc,
                (false, true) => Revision::Both,
                // The arguments stay until there is a file.
                (false, false) => return,
            }
        } else {
            match self.webhook_source(&found) {
                Some(_) => Revision::OAuth,
                None => Revision::Neither,
            }
        };
        self.kube_api_server().edit(at, |kas| *field_mut(kas, &["spec", "observedConfig"]) = wanted.config());
    }

    /// The Secret that the webhook's kubeconfig is in, where it is named and exists.
    fn webhook_source(&self, found: &Value) -> Option<Value> {
        let name = found.pointer("/spec/webhookTokenAuthenticator/kubeConfig/name")?.as_str()?;
        ObjectHandle::secret(&self.sim, "openshift-config", name).get()
    }

    /// kube-apiserver's operator: its copies.
    fn copy(&self, at: Timestamp) {
        let Some(found) = authentication(&self.sim).get() else { return };
        let webhook = ObjectHandle::secret(&self.sim, KAS, WEBHOOK_COPY);
        let metadata = self.config_map(KAS, METADATA_COPY);
        if !is_oidc(&found) {
            self.config_map(KAS, AUTH_CONFIG).remove();
            if self.webhook_source(&found).is_some() && webhook.get().is_none() {
                put(&self.sim, at, objects::secret(KAS, WEBHOOK_COPY, "kubeConfig", "not a kubeconfig"));
            }
            if self.config_map(MANAGED, METADATA).get().is_some() && metadata.get().is_none() {
                put(&self.sim, at, objects::metadata_copy(KAS, METADATA_COPY));
            }
            return;
        }
        if self.file(KAS, AUTH_CONFIG).is_some() {
            webhook.remove();
            metadata.remove();
        }
        if let Some(source) = self.file(MANAGED, AUTH_CONFIG) {
            self.keep_file(at, KAS, &source);
        }
    }

    /// Creates a revision when the arguments or the copy changed.
    fn make_revision(&self, at: Timestamp) {
        let Some(kas) = self.kube_api_server().get() else { return };
        let observed = &kas["spec"]["observedConfig"];
        let latest = kas["status"]["latestAvailableRevision"].as_i64().unwrap_or(0);
        // A user may have written any number.
        let Some(next) = latest.checked_add(1) else { return };
        let (config, copy) = (observed.to_string(), self.file(KAS, AUTH_CONFIG));
        let of_latest = self.config_map(KAS, &format!("config-{latest}")).get();
        let is_current = of_latest.is_some_and(|found| found["data"]["config.yaml"] == config.as_str())
            && self.file(KAS, &format!("{AUTH_CONFIG}-{latest}")) == copy;
        if is_current {
            return;
        }
        objects::revision(next, &config, copy.as_deref()).into_iter().for_each(|object| put(&self.sim, at, object));
        for name in ["config", AUTH_CONFIG] {
            // The first revisions have no predecessor to prune.
            self.config_map(KAS, &format!("{name}-{}", next.saturating_sub(REVISIONS_KEPT))).remove();
        }
        self.kube_api_server().edit(at, |kas| *field_mut(kas, &["status", "latestAvailableRevision"]) = json!(next));
    }

    /// Moves one node by one step. Returns whether any node was behind.
    fn roll_out(&self, at: Timestamp) -> bool {
        let Some(kas) = self.kube_api_server().get() else { return false };
        let latest = kas["status"]["latestAvailableRevision"].clone();
        let mut nodes = kas["status"]["nodeStatuses"].as_array().cloned().unwrap_or_default();
        let Some(node) = nodes.iter_mut().find(|node| node["currentRevision"] != latest) else { return false };
        if node["targetRevision"] == latest {
            *field_mut(node, &["currentRevision"]) = latest;
            *field_mut(node, &["targetRevision"]) = json!(0);
        } else {
            *field_mut(node, &["targetRevision"]) = latest;
        }
        self.kube_api_server().edit(at, |kas| *field_mut(kas, &["status", "nodeStatuses"]) = nodes.into());
        true
    }

    fn keep_file(&self, at: Timestamp, namespace: &str, text: &str) {
        let write = |file: &mut Value| *field_mut(file, &["data", "auth-config.json"]) = text.into();
        if self.config_map(namespace, AUTH_CONFIG).edit(at, write) == Edited::Absent {
            put(&self.sim, at, objects::file(namespace, AUTH_CONFIG, text));
        }
    }

    fn file(&self, namespace: &str, name: &str) -> Option<String> {
        let file = self.config_map(namespace, name).get()?;
        file["data"]["auth-config.json"].as_str().map(str::to_owned)
    }

    fn config_map(&self, namespace: &str, name: &str) -> ObjectHandle<'_> {
        ObjectHandle::new(&self.sim, "v1", "ConfigMap", format!("{namespace}/{name}"))
    }

    fn kube_api_server(&self) -> ObjectHandle<'_> {
        ObjectHandle::new(&self.sim, "operator.openshift.io/v1", "KubeAPIServer", "cluster".to_owned())
    }
}

fn is_oidc(authentication: &Value) -> bool {
    authentication["spec"]["type"] == "OIDC"
}
