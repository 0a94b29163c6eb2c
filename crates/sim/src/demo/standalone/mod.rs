//! Standalone clusters that switch to an external OIDC provider or back.
//!
//! Invariants: no cluster is in a state that the real operators cannot leave behind.
//!
//! | cluster | state |
//! | --- | --- |
//! | `ocp-berlin` | switching: two nodes are updated, the third waits for its installer |
//! | `ocp-paris` | a spec that the API accepts and kube-apiserver rejects, on the first updated node |
//! | `ocp-lisbon` | reverted: the OAuth server returns, and objects left by OIDC still exist |
//! | `ocp-oslo` | on OIDC for a long time; its operators run, and its audiences change every few ticks |
//! | `ocp-madrid` | on integrated OAuth with a provider listed; its operators run: patch its type to move it, and back |

mod console;
mod oauth_server;
mod objects;
mod operators;
mod render;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub use operators::Standalone;

use super::guest::{Operator, put};
use super::reach::Reach;
use super::scenario::{DemoClass, DemoCluster, DemoRole, ScenarioOptions, cluster, server_of};
use super::seeded_rng::SeededRng;
use super::{certificate, seed};
use crate::SimCluster;
use oauth_server::{Health, METADATA, WEBHOOK, with_health};
use objects::{AUTH_CONFIG, KAS, MANAGED, Revision};
use operators::Audiences;

/// A standalone cluster and the function that builds its state at the start.
struct ClusterSpec {
    name: &'static str,
    class: DemoClass,
    setup: fn(&mut ClusterSetup),
    /// Whether its operators run during the scenario, and what they are like.
    operators: Option<(Operator, Audiences)>,
}

const CLUSTERS: [ClusterSpec; 5] = [
    ClusterSpec { name: "ocp-berlin", class: DemoClass::Prod, setup: berlin, operators: None },
    ClusterSpec { name: "ocp-paris", class: DemoClass::Stage, setup: paris, operators: None },
    ClusterSpec { name: "ocp-lisbon", class: DemoClass::Prod, setup: lisbon, operators: None },
    ClusterSpec {
        name: "ocp-oslo",
        class: DemoClass::Dev,
        setup: oslo,
        operators: Some((Operator::Stuck, Audiences::Changing)),
    },
    ClusterSpec {
        name: "ocp-madrid",
        class: DemoClass::Stage,
        setup: madrid,
        operators: Some((Operator::Working, Audiences::Fixed)),
    },
];

/// A cluster while its state at the start is built.
struct ClusterSetup {
    sim: SimCluster,
    rng: SeededRng,
    name: &'static str,
    start: Timestamp,
    since: Timestamp,
}

/// Builds every standalone cluster, and the operators of those that have any.
pub fn build(options: &ScenarioOptions, since: Timestamp) -> (Vec<DemoCluster>, Vec<Standalone>) {
    let mut clusters = Vec::new();
    let mut actors = Vec::new();
    for ClusterSpec { name, class, setup, operators } in CLUSTERS {
        let (sim, mut rng) = cluster(options, name);
        let server = server_of(name);
        objects::kinds().into_iter().for_each(|kind| put(&sim, since, kind));
        seed::identity(&sim, name, &mut rng, since);
        let mut cluster = ClusterSetup { sim: sim.clone(), rng, name, start: options.start, since };
        cluster.seed(&server);
        setup(&mut cluster);
        let running = |(cleanup, audiences)| Standalone { sim: sim.clone(), cleanup, audiences };
        actors.extend(operators.map(running));
        let role = DemoRole::Management { context: name.to_owned() };
        clusters.push(DemoCluster { name: name.to_owned(), class, role, sim, reach: Reach::Open, server });
    }
    (clusters, actors)
}

impl ClusterSetup {
    fn ago(&self, time: SignedDuration) -> Timestamp {
        self.start.checked_sub(time).unwrap_or(Timestamp::MIN)
    }

    fn put(&self, object: Value) {
        put(&self.sim, self.since, object);
    }

    /// Seeds the objects of every standalone cluster.
    fn seed(&self, server: &str) {
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

    /// Writes `auth-config` as the authentication operator does, and its copy.
    fn write_auth_config(&self, spec: &Value) -> String {
        let text = render::render(&self.sim, spec).expect("the specs of the scenario can be rendered");
        for namespace in [MANAGED, KAS] {
            self.put(objects::file(namespace, AUTH_CONFIG, &text));
        }
        text
    }

    /// Writes the kube-apiserver operator's observed config and the revision of each node.
    fn kube_api_server(&self, observed: Revision, latest: i64, nodes: Value, conditions: Value) {
        let spec = json!({ "managementState": "Managed", "observedConfig": observed.config() });
        let status = json!({ "latestAvailableRevision": latest, "nodeStatuses": nodes, "conditions": conditions });
        self.put(objects::singleton("operator.openshift.io/v1", "KubeAPIServer", "cluster", spec, status));
    }

    fn revision(&self, number: i64, revision: Revision, auth_config: &str) {
        let copy = match revision {
            Revision::Both | Revision::Oidc => Some(auth_config),
            Revision::OAuth | Revision::Neither => None,
        };
        let config = revision.config().to_string();
        objects::revision(number, &config, copy).into_iter().for_each(|object| self.put(object));
    }

    /// Seeds the OAuth server's resources except these names.
    fn oauth_server(&self, but: &[&str]) {
        let parts = oauth_server::oauth_server().into_iter();
        parts
            .filter(|part| !but.contains(&part["metadata"]["name"].as_str().unwrap_or_default()))
            .for_each(|part| self.put(part));
    }

    fn add_condition(&self, kind: &str, condition: Value) {
        let place = ("operator.openshift.io/v1", "cluster");
        self.sim.with(|server, _| {
            let said =
                server.edit(self.since, place.0, kind, place.1, |held| super::objects::set_condition(held, condition));
            said.expect("operator resources are seeded first");
        });
    }
}

fn condition(setup: &ClusterSetup, kind: &str, reason: &str, message: &str) -> Value {
    let since = super::objects::api_time(setup.ago(SignedDuration::from_mins(35)));
    super::objects::condition(kind, "True", reason, message, &since)
}

/// Two nodes run with OIDC only; the third has the first of the two revisions and waits for the second.
fn berlin(setup: &mut ClusterSetup) {
    let spec = objects::oidc(
        "https://sso.berlin.example/realms/corp",
        &["console"],
        json!([objects::console_client("berlin-console")]),
    );
    setup.authentication(spec.clone(), json!([objects::unused_client("console"), objects::unused_client("cli")]));
    let (source, copy) = (setup.rng.letters(40), setup.rng.letters(40));
    setup.put(objects::secret("openshift-config", "berlin-console", "clientSecret", &source));
    setup.put(objects::secret("openshift-console", "console-oauth-config", "clientSecret", &copy));
    let text = setup.write_auth_config(&spec);
    setup.revision(12, Revision::OAuth, "");
    setup.revision(13, Revision::Both, &text);
    setup.revision(14, Revision::Oidc, &text);
    let nodes = json!([objects::node(0, 14, 0), objects::node(1, 14, 0), objects::node(2, 13, 14)]);
    let message = "2 nodes are at revision 14; 1 node is at revision 13";
    let moving = condition(setup, "NodeInstallerProgressing", "NodeInstaller", message);
    setup.kube_api_server(Revision::Oidc, 14, nodes, json!([moving]));
    setup.oauth_server(&[]);
    for name in ["only-team-members", "no-service-accounts"] {
        setup.put(objects::restriction("payments", name));
    }
}

/// The same required claim twice: only kube-apiserver rejects it, at start.
fn paris(setup: &mut ClusterSetup) {
    let mut spec = objects::oidc("https://login.paris.example", &["openshift"], json!([]));
    let rule = json!({ "type": "RequiredClaim", "requiredClaim": { "claim": "hd", "requiredValue": "paris.example" } });
    spec["oidcProviders"][0]["claimValidationRules"] = json!([rule, rule]);
    setup.authentication(spec.clone(), json!([objects::unused_client("console"), objects::unused_client("cli")]));
    let text = setup.write_auth_config(&spec);
    setup.revision(20, Revision::OAuth, "");
    setup.revision(21, Revision::Both, &text);
    setup.revision(22, Revision::Oidc, &text);
    let mut failing = objects::node(0, 20, 22);
    failing["lastFailedRevision"] = json!(22);
    failing["lastFailedCount"] = json!(4);
    failing["lastFailedReason"] = json!("OperandFailedFallback");
    failing["lastFailedRevisionErrors"] =
        json!(["fallback to last-known-good revision 20 took place after: kube-apiserver is not starting"]);
    let nodes = json!([failing, objects::node(1, 20, 0), objects::node(2, 20, 0)]);
    let message = "1 node is failing on revision 22: pod kube-apiserver-master-0 is in CrashLoopBackOff";
    let failing = condition(setup, "NodeInstallerDegraded", "NodeInstaller", message);
    setup.kube_api_server(Revision::Oidc, 22, nodes, json!([failing]));
    setup.oauth_server(&[]);
}

/// The type is reverted, the cleanup is not done: the operator responsible is degraded.
fn lisbon(setup: &mut ClusterSetup) {
    let mut spec = objects::oidc("https://id.lisbon.example", &["console"], json!([]));
    let authority = certificate::authority(&mut setup.rng, "lisbon", setup.since);
    setup.put(objects::bundle("openshift-config", "lisbon-ca", &authority));
    spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "lisbon-ca" });
    let current =
        json!({ "oidcProviderName": "sso", "issuerURL": "https://id.lisbon.example", "clientID": "lisbon-console" });
    setup.authentication(
        json!({ "type": "IntegratedOAuth", "oidcProviders": null }),
        json!([objects::used_client("console", current), objects::unused_client("cli")]),
    );
    let text = setup.write_auth_config(&spec);
    setup.put(objects::console_copy(&setup.sim, "lisbon-ca"));
    setup.revision(31, Revision::Oidc, &text);
    let nodes = json!([objects::node(0, 31, 0), objects::node(1, 31, 0), objects::node(2, 31, 0)]);
    setup.kube_api_server(Revision::Oidc, 31, nodes, json!([]));
    setup.oauth_server(&["oauth-openshift", "v4-0-config-system-session", "v1.user.openshift.io"]);
    let message = "Delete \"https://172.30.0.1:443/api/v1/namespaces/openshift-config-managed/configmaps/auth-config\": context deadline exceeded";
    setup.add_condition("Authentication", condition(setup, "ExternalOIDCControllerDegraded", "SyncError", message));
}

/// Healthy except for resources that an operator could not delete.
fn oslo(setup: &mut ClusterSetup) {
    let authority = certificate::authority(&mut setup.rng, "oslo", setup.since);
    setup.put(objects::bundle("openshift-config", "oslo-ca", &authority));
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
    setup.authentication(spec.clone(), json!([used("console"), used("cli")]));
    let secret = setup.rng.letters(40);
    setup.put(objects::secret("openshift-config", "oslo-console", "clientSecret", &secret));
    setup.put(objects::secret("openshift-console", "console-oauth-config", "clientSecret", &secret));
    setup.put(objects::console_copy(&setup.sim, "oslo-ca"));
    let text = setup.write_auth_config(&spec);
    setup.revision(40, Revision::Oidc, &text);
    let nodes = json!([objects::node(0, 40, 0), objects::node(1, 40, 0), objects::node(2, 40, 0)]);
    setup.kube_api_server(Revision::Oidc, 40, nodes, json!([]));
    let left = ["v1.oauth.openshift.io", "apiserver", "api", "oauth-apiserver-sa"];
    let left = oauth_server::oauth_server()
        .into_iter()
        .filter(|part| left.iter().any(|name| part["metadata"]["name"] == *name));
    left.for_each(|part| setup.put(part));
    let message =
        "failed to delete apiservices v1.oauth.openshift.io: the server was unable to return a response in time";
    setup.add_condition(
        "Authentication",
        condition(setup, "APIServicesDegraded", "DisabledAPIServicesPresent", message),
    );
}

/// Integrated OAuth, and a provider that a change of the type would switch to.
fn madrid(setup: &mut ClusterSetup) {
    let authority = certificate::authority(&mut setup.rng, "madrid", setup.since);
    setup.put(objects::bundle("openshift-config", "madrid-ca", &authority));
    let clients = json!([objects::console_client("madrid-console"), objects::cli_client()]);
    let mut spec = objects::oidc("https://sso.madrid.example", &["openshift-console"], clients);
    spec["type"] = "IntegratedOAuth".into();
    spec["webhookTokenAuthenticator"] = json!({ "kubeConfig": { "name": WEBHOOK } });
    spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "madrid-ca" });
    setup.put(objects::singleton(
        "config.openshift.io/v1",
        "Authentication",
        "cluster",
        spec,
        json!({
            "integratedOAuthMetadata": { "name": METADATA },
            "oidcClients": [objects::unused_client("console"), objects::unused_client("cli")],
        }),
    ));
    let (client, own) = (setup.rng.letters(40), setup.rng.letters(40));
    setup.put(objects::secret("openshift-config", "madrid-console", "clientSecret", &client));
    setup.put(objects::secret("openshift-console", "console-oauth-config", "clientSecret", &own));
    setup.put(objects::secret(KAS, "webhook-authenticator", "kubeConfig", "not a kubeconfig"));
    setup.put(objects::metadata_copy(KAS, "oauth-metadata"));
    setup.revision(50, Revision::OAuth, "");
    let nodes = json!([objects::node(0, 50, 0), objects::node(1, 50, 0), objects::node(2, 50, 0)]);
    setup.kube_api_server(Revision::OAuth, 50, nodes, json!([]));
    oauth_server::oauth_server().into_iter().for_each(|part| setup.put(with_health(part, Health::Ready)));
}
