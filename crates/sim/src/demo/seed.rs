//! Objects that each cluster of the demo starts with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::certificate::{self, Client};
use super::guest::{Guest, put};
use super::kinds;
use super::objects::{self, CLUSTERS, CONSOLE, COPIES, MANAGED_LABEL};
use super::provider::CopyKind;
use super::seeded_rng::SeededRng;
use crate::SimCluster;

/// Seeds a cluster's identity: its kube-system namespace and its CA, which is returned as PEM.
pub fn identity(sim: &SimCluster, name: &str, rng: &mut SeededRng, since: Timestamp) -> String {
    let authority = certificate::authority(rng, &format!("kube-apiserver of {name}"), since);
    let created = Value::from(objects::api_time(since));
    sim.with(|server, _| {
        for namespace in ["default", "kube-system"] {
            let aged = |object: &mut Value| object["metadata"]["creationTimestamp"] = created.clone();
            server.edit(since, "v1", "Namespace", namespace, aged).expect("every cluster has these namespaces");
            let key = format!("{namespace}/kube-root-ca.crt");
            let signed = |object: &mut Value| {
                object["metadata"]["creationTimestamp"] = created.clone();
                object["data"]["ca.crt"] = authority.as_str().into();
            };
            server.edit(since, "v1", "ConfigMap", &key, signed).expect("every namespace has its authority's bundle");
        }
    });
    authority
}

/// Seeds a management cluster without guests.
pub fn management(sim: &SimCluster, name: &str, server: &str, rng: &mut SeededRng, since: Timestamp) {
    kinds::of_management().into_iter().for_each(|kind| put(sim, since, kind));
    identity(sim, name, rng, since);
    let infra_id = format!("{name}-{}", rng.letters(5));
    put(sim, since, objects::infrastructure(&infra_id, "HighlyAvailable", server));
    put(sim, since, objects::config("Authentication", json!({ "type": "IntegratedOAuth" })));
    for namespace in [CLUSTERS, "hypershift"] {
        put(sim, since, objects::namespace(namespace));
    }
}

/// Inputs for seeding a guest.
pub struct NewGuest<'g> {
    pub sim: &'g SimCluster,
    pub name: &'g str,
    pub management: &'g SimCluster,
    pub server: &'g str,
    /// Client certificate of its admin.
    pub admin: &'g Client,
}

/// Seeds a guest with the objects every guest has, and its objects in the management cluster.
pub fn guest(new: &NewGuest<'_>, rng: &mut SeededRng, since: Timestamp) {
    let NewGuest { sim, name, management, server, admin } = *new;
    kinds::of_guest().into_iter().for_each(|kind| put(sim, since, kind));
    let authority = identity(sim, name, rng, since);
    let infra_id = format!("{name}-{}", rng.letters(5));
    let external = objects::infrastructure(&infra_id, "External", server);
    let configs = [
        external,
        objects::config("Authentication", json!({ "type": "IntegratedOAuth" })),
        objects::config("Proxy", json!({ "trustedCA": { "name": "proxy-ca" } })),
        objects::config("Image", json!({ "additionalTrustedCA": { "name": "registry-ca" } })),
        objects::config("APIServer", json!({ "audit": { "profile": "Default" } })),
        objects::config("OAuth", json!({})),
    ];
    configs.into_iter().for_each(|object| put(sim, since, object));
    put(sim, since, objects::namespace(CONSOLE));
    unrelated_copies(name, rng, since).into_iter().for_each(|object| put(sim, since, object));
    seed_hosted_control_plane(management, name, &infra_id, since);
    let kubeconfig = objects::admin_kubeconfig(server, &authority, admin);
    kubeconfigs(management, name, &kubeconfig, since);
}

/// Objects in every guest's `openshift-config` that no OIDC provider uses.
fn unrelated_copies(name: &str, rng: &mut SeededRng, since: Timestamp) -> Vec<Value> {
    use CopyKind::{ConfigMap, Secret};
    let managed = |object| objects::labelled(object, &[MANAGED_LABEL]);
    let login = json!({ "auths": { "registry.example": { "auth": STANDARD.encode(rng.letters(16)) } } });
    let mut pull = objects::one_key(Secret, COPIES, "pull-secret", ".dockerconfigjson", &login.to_string());
    pull["type"] = "kubernetes.io/dockerconfigjson".into();
    let authority = |rng: &mut SeededRng, who: &str| certificate::authority(rng, &format!("{who} of {name}"), since);
    let (users, proxy) = (authority(rng, "user roots"), authority(rng, "proxy"));
    let registry = authority(rng, "registry");
    vec![
        managed(pull),
        managed(objects::one_key(ConfigMap, COPIES, "openshift-install", "invoker", "hypershift")),
        managed(objects::one_key(ConfigMap, COPIES, "user-ca-bundle", "ca-bundle.crt", &users)),
        managed(objects::one_key(ConfigMap, COPIES, "proxy-ca", "ca-bundle.crt", &proxy)),
        managed(objects::one_key(ConfigMap, COPIES, "registry-ca", "registry.example..5000", &registry)),
        objects::one_key(ConfigMap, COPIES, "login-banner", "text", &format!("Welcome to {name}. Be kind.")),
        objects::one_key(Secret, COPIES, "htpasswd-backup", "htpasswd", &format!("breakglass:{}", rng.letters(24))),
    ]
}

/// Seeds HyperShift's objects for a guest in its management cluster.
fn seed_hosted_control_plane(management: &SimCluster, name: &str, infra_id: &str, since: Timestamp) {
    let namespace = format!("{CLUSTERS}-{name}");
    let label = "hypershift.openshift.io/hosted-control-plane";
    put(management, since, objects::labelled(objects::namespace(&namespace), &[label]));
    put(management, since, objects::hosted_cluster(name, infra_id, &objects::api_time(since)));
    put(management, since, objects::control_plane(name, &namespace, infra_id));
    let config = objects::one_key(CopyKind::ConfigMap, &namespace, "kas-config", "config.json", "{}");
    put(management, since, config);
    let etcd = objects::one_key(CopyKind::Secret, &namespace, "etcd-client-tls", "etcd-client.key", "not a key");
    put(management, since, etcd);
}

/// Returns the admin kubeconfig of a guest.
pub fn kubeconfig_of(management: &SimCluster, name: &str) -> Option<String> {
    let secret = management.object("v1", "Secret", &format!("{CLUSTERS}/{name}-admin-kubeconfig")).ok()?;
    String::from_utf8(STANDARD.decode(secret["data"]["kubeconfig"].as_str()?).ok()?).ok()
}

/// Writes the admin kubeconfigs of a guest, again when it is served at another address.
pub fn kubeconfigs(management: &SimCluster, name: &str, text: &str, at: Timestamp) {
    let secret =
        |namespace: &str, secret: &str| objects::one_key(CopyKind::Secret, namespace, secret, "kubeconfig", text);
    put(management, at, secret(CLUSTERS, &format!("{name}-admin-kubeconfig")));
    put(management, at, secret(&format!("{CLUSTERS}-{name}"), "admin-kubeconfig"));
}

/// Seeds the n-th unrelated object of a guest, for large fleets.
pub fn unrelated_object(guest: &Guest, number: usize, rng: &mut SeededRng, at: Timestamp) {
    let kind = if number.is_multiple_of(2) { CopyKind::ConfigMap } else { CopyKind::Secret };
    let name = format!("team-{:02}-settings-{number:05}", rng.below(40));
    put(&guest.sim, at, objects::one_key(kind, COPIES, &name, "value", &rng.letters(48)));
}
