//! The console operator of a standalone cluster: copies the provider's CA and the client secret, and reports clients.
//!
//! Invariants: after a revert the copy of the CA stays, as upstream leaves it.
//! Facts: `docs/facts/external-oidc.md` section 4.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::guest::{Edited, ObjectHandle, put};
use super::super::objects::field_mut;
use super::super::provider::{clients, providers};
use super::objects::{self, authentication};
use crate::SimCluster;

const COMPONENTS: [&str; 2] = ["console", "cli"];
const SECRET: &str = "openshift-console/console-oauth-config";

/// One step: copies first; once they are there, the clients in use are reported.
pub fn step(sim: &SimCluster, at: Timestamp) {
    let Some(found) = authentication(sim).get() else { return };
    let spec = &found["spec"];
    let copied = providers(spec)
        .first()
        .is_none_or(|provider| copy_authority(sim, provider, at) & copy_secret(sim, provider, at));
    if copied {
        let reports: Vec<Value> = COMPONENTS.iter().map(|component| report(spec, component)).collect();
        authentication(sim).edit(at, |found| *field_mut(found, &["status", "oidcClients"]) = json!(reports));
    }
}

/// Returns whether there was nothing to copy.
fn copy_authority(sim: &SimCluster, provider: &Value, at: Timestamp) -> bool {
    let Some(name) = provider.pointer("/issuer/issuerCertificateAuthority/name").and_then(Value::as_str) else {
        return true;
    };
    let place = |namespace: &str| ObjectHandle::new(sim, "v1", "ConfigMap", format!("{namespace}/{name}"));
    let source = place("openshift-config").get().map(|source| source["data"]["ca-bundle.crt"].clone());
    let Some(bundle) = source.filter(Value::is_string) else { return true };
    match place("openshift-console").edit(at, |copy| *field_mut(copy, &["data", "ca-bundle.crt"]) = bundle) {
        Edited::Same => true,
        Edited::Changed => false,
        Edited::Absent => {
            put(sim, at, objects::console_copy(sim, name));
            false
        }
    }
}

/// Returns whether there was nothing to copy.
fn copy_secret(sim: &SimCluster, provider: &Value, at: Timestamp) -> bool {
    let own = clients(provider).iter().find(|client| client["componentName"] == "console");
    let name = own.and_then(|client| client.pointer("/clientSecret/name")).and_then(Value::as_str);
    let source = name.and_then(|name| ObjectHandle::secret(sim, "openshift-config", name).get());
    let Some(value) = source.map(|source| source["data"]["clientSecret"].clone()).filter(Value::is_string) else {
        return true;
    };
    let place = ObjectHandle::new(sim, "v1", "Secret", SECRET.to_owned());
    match place.edit(at, |copy| *field_mut(copy, &["data", "clientSecret"]) = value.clone()) {
        Edited::Same => true,
        Edited::Changed => false,
        Edited::Absent => {
            let mut copy = objects::secret("openshift-console", "console-oauth-config", "clientSecret", "");
            copy["data"]["clientSecret"] = value;
            put(sim, at, copy);
            false
        }
    }
}

/// A component's entry is always present; without OIDC it lists no client.
fn report(spec: &Value, component: &str) -> Value {
    let first = providers(spec).first();
    let own = first.and_then(|provider| {
        let client = clients(provider).iter().find(|client| client["componentName"] == component)?;
        Some((provider, client))
    });
    own.map_or_else(
        || objects::unused_client(component),
        |(provider, client)| {
            let current = json!({
                "oidcProviderName": provider["name"],
                "issuerURL": provider["issuer"]["issuerURL"],
                "clientID": client["clientID"],
            });
            objects::used_client(component, current)
        },
    )
}
