//! What each cluster of the story holds before anybody does anything.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::certificate::{self, Client};
use super::dice::Dice;
use super::guest::{Guest, put};
use super::kinds;
use super::objects::{self, CLUSTERS, CONSOLE, COPIES, MANAGED_LABEL};
use super::provider::CopyKind;
use crate::SimCluster;

/// A cluster's identity: its kube-system namespace, and its authority, which is returned as PEM.
pub fn identity(sim: &SimCluster, name: &str, dice: &mut Dice, since: Timestamp) -> String {
    let authority = certificate::authority(dice, &format!("kube-apiserver of {name}"), since);
    let created = Value::from(since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
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

/// A management cluster without guests.
pub fn management(sim: &SimCluster, name: &str, server: &str, dice: &mut Dice, since: Timestamp) {
    kinds::of_management().into_iter().for_each(|kind| put(sim, since, kind));
    identity(sim, name, dice, since);
    let infra_id = format!("{name}-{}", dice.letters(5));
    put(sim, since, objects::infrastructure(&infra_id, "HighlyAvailable", server));
    put(sim, since, objects::config("Authentication", json!({ "type": "IntegratedOAuth" })));
    for namespace in [CLUSTERS, "hypershift"] {
        put(sim, since, namespace_object(namespace, &json!({})));
    }
}

/// A guest that is about to be furnished.
pub struct NewGuest<'g> {
    pub sim: &'g SimCluster,
    pub name: &'g str,
    pub management: &'g SimCluster,
    pub server: &'g str,
    /// What its admin logs in with.
    pub admin: &'g Client,
}

/// A guest with nothing but what every guest has, and its place in the management cluster.
pub fn guest(new: &NewGuest<'_>, dice: &mut Dice, since: Timestamp) {
    let NewGuest { sim, name, management, server, admin } = *new;
    kinds::of_guest().into_iter().for_each(|kind| put(sim, since, kind));
    let authority = identity(sim, name, dice, since);
    let infra_id = format!("{name}-{}", dice.letters(5));
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
    put(sim, since, namespace_object(CONSOLE, &json!({})));
    ordinary_copies(name, dice, since).into_iter().for_each(|object| put(sim, since, object));
    hosting(management, name, &infra_id, since);
    let kubeconfig = objects::admin_kubeconfig(server, &authority, admin);
    kubeconfigs(management, name, &kubeconfig, since);
}

/// What the config operator, and people, keep in every guest's `openshift-config`.
fn ordinary_copies(name: &str, dice: &mut Dice, since: Timestamp) -> Vec<Value> {
    use CopyKind::{ConfigMap, Secret};
    let managed = |object| objects::labelled(object, &[MANAGED_LABEL]);
    let login = json!({ "auths": { "registry.example": { "auth": STANDARD.encode(dice.letters(16)) } } });
    let mut pull = objects::one_key(Secret, COPIES, "pull-secret", ".dockerconfigjson", &login.to_string());
    pull["type"] = "kubernetes.io/dockerconfigjson".into();
    let authority = |dice: &mut Dice, who: &str| certificate::authority(dice, &format!("{who} of {name}"), since);
    let (users, proxy) = (authority(dice, "user roots"), authority(dice, "proxy"));
    let registry = authority(dice, "registry");
    vec![
        managed(pull),
        managed(objects::one_key(ConfigMap, COPIES, "openshift-install", "invoker", "hypershift")),
        managed(objects::one_key(ConfigMap, COPIES, "user-ca-bundle", "ca-bundle.crt", &users)),
        managed(objects::one_key(ConfigMap, COPIES, "proxy-ca", "ca-bundle.crt", &proxy)),
        managed(objects::one_key(ConfigMap, COPIES, "registry-ca", "registry.example..5000", &registry)),
        objects::one_key(ConfigMap, COPIES, "login-banner", "text", &format!("Welcome to {name}. Be kind.")),
        objects::one_key(Secret, COPIES, "htpasswd-backup", "htpasswd", &format!("breakglass:{}", dice.letters(24))),
    ]
}

/// The objects HyperShift has for a guest in its management cluster.
fn hosting(management: &SimCluster, name: &str, infra_id: &str, since: Timestamp) {
    let namespace = format!("{CLUSTERS}-{name}");
    let labels = json!({ "hypershift.openshift.io/hosted-control-plane": "true" });
    put(management, since, namespace_object(&namespace, &labels));
    let since_text = since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    put(management, since, objects::hosted_cluster(name, infra_id, &since_text));
    put(management, since, objects::control_plane(name, &namespace, infra_id));
    let config = objects::one_key(CopyKind::ConfigMap, &namespace, "kas-config", "config.json", "{}");
    put(management, since, config);
    let etcd = objects::one_key(CopyKind::Secret, &namespace, "etcd-client-tls", "etcd-client.key", "not a key");
    put(management, since, etcd);
}

/// The way into a guest as it stands.
pub fn kubeconfig_of(management: &SimCluster, name: &str) -> Option<String> {
    let secret = management.look("v1", "Secret", &format!("{CLUSTERS}/{name}-admin-kubeconfig")).ok()?;
    String::from_utf8(STANDARD.decode(secret["data"]["kubeconfig"].as_str()?).ok()?).ok()
}

/// Writes the ways into a guest. Later, when a guest is served elsewhere, they are written again.
pub fn kubeconfigs(management: &SimCluster, name: &str, text: &str, at: Timestamp) {
    let secret =
        |namespace: &str, secret: &str| objects::one_key(CopyKind::Secret, namespace, secret, "kubeconfig", text);
    put(management, at, secret(CLUSTERS, &format!("{name}-admin-kubeconfig")));
    put(management, at, secret(&format!("{CLUSTERS}-{name}"), "admin-kubeconfig"));
}

/// More of what is nobody's business, for a story that should be large: the n-th object of a guest.
pub fn clutter(guest: &Guest, number: usize, dice: &mut Dice, at: Timestamp) {
    let kind = if number.is_multiple_of(2) { CopyKind::ConfigMap } else { CopyKind::Secret };
    let name = format!("team-{:02}-settings-{number:05}", dice.below(40));
    put(&guest.sim, at, objects::one_key(kind, COPIES, &name, "value", &dice.letters(48)));
}

fn namespace_object(name: &str, labels: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": labels } })
}
