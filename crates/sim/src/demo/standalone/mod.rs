//! Clusters with a control plane of their own, on their way to an external OIDC provider or back.
//!
//! Always true: none of them gets into a state the real operators couldn't leave behind; what those do is in
//! `facts/external-oidc.md` sections 2 to 4.
//!
//! | cluster | where it stands |
//! | --- | --- |
//! | `ocp-berlin` | in the middle of a switch: two nodes are through, the third waits for its installer |
//! | `ocp-paris` | a spec that everybody accepted and kube-apiserver refuses, on the first node it reached |
//! | `ocp-lisbon` | reverted: the OAuth server comes back, and what OIDC left is still there |
//! | `ocp-oslo` | on OIDC for long; its operators work, and somebody changes the audiences now and then |

mod objects;
mod operators;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub use operators::Standalone;

use super::dice::Dice;
use super::guest::put;
use super::reach::Reach;
use super::story::{DemoClass, DemoCluster, DemoRole, StoryOptions, cluster, server_of};
use super::{certificate, furnish};
use crate::SimCluster;
use objects::{AUTH_CONFIG, KAS, MANAGED, Revision};

/// A cluster of its own, with its past.
struct Character {
    name: &'static str,
    class: DemoClass,
    past: fn(&mut Past),
}

const CAST: [Character; 4] = [
    Character { name: "ocp-berlin", class: DemoClass::Prod, past: berlin },
    Character { name: "ocp-paris", class: DemoClass::Stage, past: paris },
    Character { name: "ocp-lisbon", class: DemoClass::Prod, past: lisbon },
    Character { name: OSLO, class: DemoClass::Dev, past: oslo },
];

/// The one whose operators work while the story runs.
const OSLO: &str = "ocp-oslo";

/// A cluster while its past is told.
struct Past {
    sim: SimCluster,
    dice: Dice,
    name: &'static str,
    start: Timestamp,
    since: Timestamp,
}

/// Every cluster of the cast, and those who act in them.
pub fn enter(options: &StoryOptions, since: Timestamp) -> (Vec<DemoCluster>, Vec<Standalone>) {
    let mut clusters = Vec::new();
    let mut actors = Vec::new();
    for Character { name, class, past } in CAST {
        let (sim, mut dice) = cluster(options, name);
        let server = server_of(name);
        objects::kinds().into_iter().for_each(|kind| put(&sim, since, kind));
        furnish::identity(&sim, name, &mut dice, since);
        let mut told = Past { sim: sim.clone(), dice, name, start: options.start, since };
        told.furnish(&server);
        past(&mut told);
        if name == OSLO {
            actors.push(Standalone::new(sim.clone()));
        }
        let role = DemoRole::Management { context: name.to_owned() };
        clusters.push(DemoCluster { name: name.to_owned(), class, role, sim, reach: Reach::Open, server });
    }
    (clusters, actors)
}

impl Past {
    fn ago(&self, time: SignedDuration) -> Timestamp {
        self.start.checked_sub(time).unwrap_or(Timestamp::MIN)
    }

    fn put(&self, object: Value) {
        put(&self.sim, self.since, object);
    }

    /// What every cluster of its own has.
    fn furnish(&self, server: &str) {
        self.put(super::objects::infrastructure(&format!("{}-x7k2p", self.name), "HighlyAvailable", server));
        let release =
            json!({ "desired": { "version": "4.20.3" }, "history": [{ "state": "Completed", "version": "4.20.3" }] });
        self.put(objects::singleton("config.openshift.io/v1", "ClusterVersion", "version", json!({}), release));
        let gates = ["ExternalOIDC", "ExternalOIDCWithUIDAndExtraClaimMappings"].map(|name| json!({ "name": name }));
        let listed = json!({ "featureGates": [{ "version": "4.20.3", "enabled": gates, "disabled": [] }] });
        self.put(objects::singleton("config.openshift.io/v1", "FeatureGate", "cluster", json!({}), listed));
        for kind in ["Authentication", "Console"] {
            self.put(objects::singleton("operator.openshift.io/v1", kind, "cluster", json!({}), json!({})));
        }
        self.put(objects::binding(None, "platform-admins", "cluster-admin", ("Group", "oidc:platform-admins")));
        self.put(objects::binding(Some("payments"), "payments-edit", "edit", ("User", "alice@corp.example")));
    }

    fn authentication(&self, spec: Value, clients: Value) {
        let status = json!({ "oidcClients": clients });
        self.put(objects::singleton("config.openshift.io/v1", "Authentication", "cluster", spec, status));
    }

    /// `auth-config` as the authentication operator wrote it, and its copy.
    fn write_auth_config(&self, spec: &Value) -> String {
        let text = operators::render(spec, &operators::authority(&self.sim, spec));
        for namespace in [MANAGED, KAS] {
            self.put(objects::file(namespace, AUTH_CONFIG, &text));
        }
        text
    }

    /// kube-apiserver's operator: what it observed, and where each node is.
    fn kube_api_server(&self, observed: Revision, latest: i64, nodes: Value, conditions: Value) {
        let spec = json!({ "managementState": "Managed", "observedConfig": observed.config() });
        let status = json!({ "latestAvailableRevision": latest, "nodeStatuses": nodes, "conditions": conditions });
        self.put(objects::singleton("operator.openshift.io/v1", "KubeAPIServer", "cluster", spec, status));
    }

    fn revision(&self, number: i64, revision: Revision, auth_config: &str) {
        objects::revision(number, revision, auth_config).into_iter().for_each(|object| self.put(object));
    }

    /// The OAuth server's resources, but for these names.
    fn oauth_server(&self, but: &[&str]) {
        let parts = objects::oauth_server().into_iter();
        parts
            .filter(|part| !but.contains(&part["metadata"]["name"].as_str().unwrap_or_default()))
            .for_each(|part| self.put(part));
    }

    fn complain(&self, kind: &str, condition: Value) {
        let place = ("operator.openshift.io/v1", "cluster");
        self.sim.with(|server, _| {
            let said =
                server.edit(self.since, place.0, kind, place.1, |held| super::objects::set_condition(held, condition));
            said.expect("the operators' own resources are there from the start");
        });
    }
}

fn condition(past: &Past, kind: &str, reason: &str, message: &str) -> Value {
    let since = past.ago(SignedDuration::from_mins(35)).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    super::objects::condition(kind, "True", reason, message, &since)
}

/// Two nodes run with OIDC alone; the third has the first of the two revisions and waits for the second.
fn berlin(past: &mut Past) {
    let spec = objects::oidc(
        "https://sso.berlin.example/realms/corp",
        &["console"],
        json!([objects::console_client("berlin-console")]),
    );
    past.authentication(spec.clone(), json!([objects::unused_client("console"), objects::unused_client("cli")]));
    let (source, copy) = (past.dice.letters(40), past.dice.letters(40));
    past.put(objects::secret("openshift-config", "berlin-console", "clientSecret", &source));
    past.put(objects::secret("openshift-console", "console-oauth-config", "clientSecret", &copy));
    let text = past.write_auth_config(&spec);
    past.revision(12, Revision::OAuth, "");
    past.revision(13, Revision::Both, &text);
    past.revision(14, Revision::Oidc, &text);
    let nodes = json!([objects::node(0, 14, 0), objects::node(1, 14, 0), objects::node(2, 13, 14)]);
    let message = "2 nodes are at revision 14; 1 node is at revision 13";
    let moving = condition(past, "NodeInstallerProgressing", "NodeInstaller", message);
    past.kube_api_server(Revision::Oidc, 14, nodes, json!([moving]));
    past.oauth_server(&[]);
    for name in ["only-team-members", "no-service-accounts"] {
        past.put(objects::restriction("payments", name));
    }
}

/// Twice the same required claim: nobody minds until kube-apiserver starts.
fn paris(past: &mut Past) {
    let mut spec = objects::oidc("https://login.paris.example", &["openshift"], json!([]));
    let rule = json!({ "type": "RequiredClaim", "requiredClaim": { "claim": "hd", "requiredValue": "paris.example" } });
    spec["oidcProviders"][0]["claimValidationRules"] = json!([rule, rule]);
    past.authentication(spec.clone(), json!([objects::unused_client("console"), objects::unused_client("cli")]));
    let text = past.write_auth_config(&spec);
    past.revision(20, Revision::OAuth, "");
    past.revision(21, Revision::Both, &text);
    past.revision(22, Revision::Oidc, &text);
    let mut failing = objects::node(0, 20, 22);
    failing["lastFailedRevision"] = json!(22);
    failing["lastFailedCount"] = json!(4);
    failing["lastFailedReason"] = json!("OperandFailedFallback");
    failing["lastFailedRevisionErrors"] =
        json!(["fallback to last-known-good revision 20 took place after: kube-apiserver is not starting"]);
    let nodes = json!([failing, objects::node(1, 20, 0), objects::node(2, 20, 0)]);
    let message = "1 node is failing on revision 22: pod kube-apiserver-master-0 is in CrashLoopBackOff";
    let failing = condition(past, "NodeInstallerDegraded", "NodeInstaller", message);
    past.kube_api_server(Revision::Oidc, 22, nodes, json!([failing]));
    past.oauth_server(&[]);
}

/// The type is back, the way back is not: the operator that should clean up is stuck.
fn lisbon(past: &mut Past) {
    let mut spec = objects::oidc("https://id.lisbon.example", &["console"], json!([]));
    let authority = certificate::authority(&mut past.dice, "lisbon", past.since);
    past.put(objects::bundle("openshift-config", "lisbon-ca", &authority));
    spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "lisbon-ca" });
    let current =
        json!({ "oidcProviderName": "sso", "issuerURL": "https://id.lisbon.example", "clientID": "lisbon-console" });
    past.authentication(
        json!({ "type": "IntegratedOAuth", "oidcProviders": null }),
        json!([objects::used_client("console", current), objects::unused_client("cli")]),
    );
    let text = past.write_auth_config(&spec);
    past.put(objects::console_copy(&past.sim, "lisbon-ca"));
    past.revision(31, Revision::Oidc, &text);
    let nodes = json!([objects::node(0, 31, 0), objects::node(1, 31, 0), objects::node(2, 31, 0)]);
    past.kube_api_server(Revision::Oidc, 31, nodes, json!([]));
    past.oauth_server(&["oauth-openshift", "v4-0-config-system-session", "v1.user.openshift.io"]);
    let message = "Delete \"https://172.30.0.1:443/api/v1/namespaces/openshift-config-managed/configmaps/auth-config\": context deadline exceeded";
    past.complain("Authentication", condition(past, "ExternalOIDCControllerDegraded", "SyncError", message));
}

/// All is well but for what an operator could not remove.
fn oslo(past: &mut Past) {
    let authority = certificate::authority(&mut past.dice, "oslo", past.since);
    past.put(objects::bundle("openshift-config", "oslo-ca", &authority));
    let mut spec = objects::oidc(
        "https://login.oslo.example/oidc",
        &["console"],
        json!([objects::console_client("oslo-console"), objects::cli_client()]),
    );
    spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "oslo-ca" });
    let used = |component: &str| {
        let client = format!("openshift-{component}");
        let issuer = "https://login.oslo.example/oidc";
        objects::used_client(component, json!({ "oidcProviderName": "sso", "issuerURL": issuer, "clientID": client }))
    };
    past.authentication(spec.clone(), json!([used("console"), used("cli")]));
    let secret = past.dice.letters(40);
    past.put(objects::secret("openshift-config", "oslo-console", "clientSecret", &secret));
    past.put(objects::secret("openshift-console", "console-oauth-config", "clientSecret", &secret));
    past.put(objects::console_copy(&past.sim, "oslo-ca"));
    let text = past.write_auth_config(&spec);
    past.revision(40, Revision::Oidc, &text);
    let nodes = json!([objects::node(0, 40, 0), objects::node(1, 40, 0), objects::node(2, 40, 0)]);
    past.kube_api_server(Revision::Oidc, 40, nodes, json!([]));
    let left = ["v1.oauth.openshift.io", "apiserver", "api", "oauth-apiserver-sa"];
    let left =
        objects::oauth_server().into_iter().filter(|part| left.iter().any(|name| part["metadata"]["name"] == *name));
    left.for_each(|part| past.put(part));
    let message =
        "failed to delete apiservices v1.oauth.openshift.io: the server was unable to return a response in time";
    past.complain("Authentication", condition(past, "APIServicesDegraded", "DisabledAPIServicesPresent", message));
}
