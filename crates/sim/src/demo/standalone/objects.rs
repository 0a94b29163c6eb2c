//! Objects of a standalone cluster, in the form their controllers write them.

use serde_json::{Value, json};

use super::super::guest::ObjectHandle;
use super::super::kinds::{Shape, definition};
use super::super::objects::one_key;
use super::super::provider::CopyKind;
use crate::SimCluster;

pub const MANAGED: &str = "openshift-config-managed";
pub const KAS: &str = "openshift-kube-apiserver";
pub const AUTH_CONFIG: &str = "auth-config";

/// Custom kinds of a standalone cluster.
pub fn kinds() -> Vec<Value> {
    let cluster = [
        ("config.openshift.io/v1", "Authentication", "authentications"),
        ("config.openshift.io/v1", "ClusterVersion", "clusterversions"),
        ("config.openshift.io/v1", "FeatureGate", "featuregates"),
        ("config.openshift.io/v1", "Infrastructure", "infrastructures"),
        ("operator.openshift.io/v1", "Authentication", "authentications"),
        ("operator.openshift.io/v1", "Console", "consoles"),
        ("operator.openshift.io/v1", "KubeAPIServer", "kubeapiservers"),
        ("apiregistration.k8s.io/v1", "APIService", "apiservices"),
    ];
    let namespaced = [
        ("route.openshift.io/v1", "Route", "routes"),
        ("authorization.openshift.io/v1", "RoleBindingRestriction", "rolebindingrestrictions"),
    ];
    let shape = |(api_version, kind, plural)| Shape::new(api_version, kind, plural);
    let wide = cluster.into_iter().map(shape);
    let narrow = namespaced.into_iter().map(shape).map(|shape| Shape { scope: "Namespaced", ..shape });
    wide.chain(narrow).map(|shape| definition(&shape)).collect()
}

pub fn singleton(api_version: &str, kind: &str, name: &str, spec: Value, status: Value) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name }, "spec": spec, "status": status })
}

/// An authentication block of type OIDC with one provider.
pub fn oidc(issuer: &str, audiences: &[&str], clients: Value) -> Value {
    json!({ "type": "OIDC", "webhookTokenAuthenticator": null, "oidcProviders": [{
        "name": "sso",
        "issuer": { "issuerURL": issuer, "audiences": audiences },
        "oidcClients": clients,
        "claimMappings": {
            "username": { "claim": "email" },
            "groups": { "claim": "groups", "prefix": "oidc:" },
        },
    }] })
}

pub fn console_client(secret: &str) -> Value {
    json!({
        "componentNamespace": "openshift-console", "componentName": "console",
        "clientID": "openshift-console", "clientSecret": { "name": secret }, "extraScopes": ["email"],
    })
}

/// The OIDC client of `oc`.
pub fn cli_client() -> Value {
    json!({
        "componentNamespace": "openshift-console", "componentName": "cli",
        "clientID": "openshift-cli", "extraScopes": ["email", "groups"],
    })
}

/// A binding for one user or group.
pub fn binding(namespace: Option<&str>, name: &str, role: &str, (kind, named): (&str, &str)) -> Value {
    const RBAC: &str = "rbac.authorization.k8s.io";
    let own = if namespace.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
    let metadata = match namespace {
        Some(namespace) => json!({ "namespace": namespace, "name": name }),
        None => json!({ "name": name }),
    };
    json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": own, "metadata": metadata,
        "roleRef": { "apiGroup": RBAC, "kind": "ClusterRole", "name": role },
        "subjects": [{ "apiGroup": RBAC, "kind": kind, "name": named }],
    })
}

/// The status entry of a component without a client.
pub fn unused_client(component: &str) -> Value {
    json!({ "componentNamespace": "openshift-console", "componentName": component, "currentOIDCClients": [] })
}

pub fn used_client(component: &str, client: Value) -> Value {
    json!({ "componentNamespace": "openshift-console", "componentName": component, "currentOIDCClients": [client] })
}

pub fn file(namespace: &str, name: &str, text: &str) -> Value {
    one_key(CopyKind::ConfigMap, namespace, name, "auth-config.json", text)
}

pub fn secret(namespace: &str, name: &str, key: &str, text: &str) -> Value {
    one_key(CopyKind::Secret, namespace, name, key, text)
}

pub fn bundle(namespace: &str, name: &str, text: &str) -> Value {
    one_key(CopyKind::ConfigMap, namespace, name, "ca-bundle.crt", text)
}

/// The console operator's copy of a CA.
pub fn console_copy(sim: &SimCluster, name: &str) -> Value {
    let source = sim.object("v1", "ConfigMap", &format!("openshift-config/{name}")).unwrap_or_default();
    let owner = sim.object("operator.openshift.io/v1", "Console", "cluster").unwrap_or_default();
    let mut copy = bundle("openshift-console", name, source["data"]["ca-bundle.crt"].as_str().unwrap_or_default());
    copy["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "operator.openshift.io/v1", "kind": "Console", "name": "cluster",
        "uid": owner["metadata"]["uid"], "controller": true,
    }]);
    copy
}

pub fn restriction(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "authorization.openshift.io/v1", "kind": "RoleBindingRestriction",
        "metadata": { "namespace": namespace, "name": name },
        "spec": { "userrestriction": { "users": ["alice"] } },
    })
}

pub fn node(number: usize, current: i64, target: i64) -> Value {
    json!({ "nodeName": format!("master-{number}"), "currentRevision": current, "targetRevision": target })
}

/// Authentication settings of a kube-apiserver revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    OAuth,
    /// The first of a switch's two revisions.
    Both,
    Oidc,
    /// After a revert, before there is a webhook.
    Neither,
}

impl Revision {
    pub fn config(self) -> Value {
        let plugins = json!([
            "authorization.openshift.io/RestrictSubjectBindings",
            "authorization.openshift.io/ValidateRoleBindingRestriction",
        ]);
        let mut arguments = json!({});
        match self {
            Self::Both | Self::Oidc => {
                let path = "/etc/kubernetes/static-pod-resources/configmaps/auth-config/auth-config.json";
                arguments["authentication-config"] = json!([path]);
                arguments["disable-admission-plugins"] = plugins;
            }
            Self::OAuth | Self::Neither => arguments["enable-admission-plugins"] = plugins,
        }
        let webhook = match self {
            Self::OAuth | Self::Both => true,
            Self::Oidc | Self::Neither => false,
        };
        if webhook {
            let path = "/etc/kubernetes/static-pod-resources/secrets/webhook-authenticator/kubeConfig";
            arguments["authentication-token-webhook-config-file"] = json!([path]);
            arguments["authentication-token-webhook-version"] = json!(["v1"]);
        }
        let metadata = "/etc/kubernetes/static-pod-resources/configmaps/oauth-metadata/oauthMetadata";
        json!({
            "apiServerArguments": arguments,
            "authConfig": { "oauthMetadataFile": if webhook { metadata } else { "" } },
        })
    }
}

/// The ConfigMaps of a revision.
pub fn revision(number: i64, config: &str, auth_config: Option<&str>) -> Vec<Value> {
    let config = one_key(CopyKind::ConfigMap, KAS, &format!("config-{number}"), "config.yaml", config);
    let copy = auth_config.map(|text| file(KAS, &format!("{AUTH_CONFIG}-{number}"), text));
    std::iter::once(config).chain(copy).collect()
}

/// The OAuth server's metadata, as kube-apiserver's operator copies it.
pub fn metadata_copy(namespace: &str, name: &str) -> Value {
    one_key(CopyKind::ConfigMap, namespace, name, "oauthMetadata", "{}")
}

/// `Authentication/cluster`.
pub fn authentication(sim: &SimCluster) -> ObjectHandle<'_> {
    ObjectHandle::new(sim, "config.openshift.io/v1", "Authentication", "cluster".to_owned())
}
