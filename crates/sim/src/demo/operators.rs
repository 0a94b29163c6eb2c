//! The operators of a guest: the three hops from a HostedCluster's spec to its guest.
//!
//! ```text
//!   HostedCluster, sources        HostedControlPlane, sources       copies, Authentication        status, CA mirror
//!   in `clusters`            ──►  in the control plane's       ──►  in the guest             ──►  in the guest
//!                   HyperShift operator             config operator              console operator
//! ```
//!
//! Invariants:
//! - a step moves a change by one hop, so that each intermediate state can be observed;
//! - no operator ever deletes a copy, as in HyperShift;
//! - an operator writes only when the object differs from its desired state.
//!

use jiff::Timestamp;
use serde_json::{Value, json};

use super::guest::{CopyMarks, Edited, Guest, ObjectHandle, Operator, put};
use super::objects::{
    self, CLUSTER_ANNOTATION, CLUSTERS, CONSOLE, COPIES, MANAGED_LABEL, OIDC_LABEL, REFERENCED_ANNOTATION, field_mut,
};
use super::provider::{CopyKind, clients, providers, references};

/// Components with OIDC clients.
const COMPONENTS: [&str; 2] = ["console", "cli"];

/// The operators of one guest and their caches.
#[derive(Debug, Clone, Default)]
pub struct Operators {
    /// Versions of the objects the config operator watches, at its last run. It does not watch the sources.
    reconciled: Option<Watched>,
}

/// resourceVersions of the objects the config operator watches.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Watched(Vec<String>);

impl Operators {
    /// Runs every operator once. The last hop runs first, so that a change moves one hop per step.
    pub fn step(&mut self, guest: &Guest, at: Timestamp) {
        report_clients(guest, at);
        self.reconcile_guest(guest, at);
        propagate(guest, at);
    }

    /// Runs as many steps as a change needs to reach the guest.
    pub fn settle(&mut self, guest: &Guest, at: Timestamp) {
        for _ in 0..4 {
            self.step(guest, at);
        }
    }

    /// Makes the config operator reconcile although no watched object changed.
    pub fn resync(&mut self) {
        self.reconciled = None;
    }

    /// The config operator: copies the objects the control plane references, and its authentication block.
    fn reconcile_guest(&mut self, guest: &Guest, at: Timestamp) {
        let Some(plane) = guest.control_plane().get().filter(|plane| !is_paused(plane, at)) else { return };
        let authentication = &plane["spec"]["configuration"]["authentication"];
        let named = references(authentication);
        if guest.config_operator == Operator::Stuck || self.reconciled == Some(watched(guest, &named)) {
            return;
        }
        let mut failures = Vec::new();
        for (kind, name) in &named {
            failures.extend(copy_into_guest(guest, *kind, name, at));
        }
        copy_authentication(guest, authentication, &plane["spec"]["issuerURL"], at);
        report_reconciliation(guest, &failures, at);
        self.reconciled = Some(watched(guest, &named));
    }
}

fn watched(guest: &Guest, named: &[(CopyKind, String)]) -> Watched {
    let mut versions = vec![guest.control_plane().version(), guest.authentication().version()];
    versions.extend(named.iter().map(|(kind, name)| guest.inside(*kind, COPIES, name).version()));
    Watched(versions)
}

/// Copies one source. Returns the operator's error message, if any.
fn copy_into_guest(guest: &Guest, kind: CopyKind, name: &str, at: Timestamp) -> Option<String> {
    let Some(source) = guest.outside(kind, &guest.control_plane_namespace(), name).get() else {
        return Some(match kind {
            CopyKind::ConfigMap => format!("failed to get issuer CA configmap {name}"),
            CopyKind::Secret => format!("failed to get OIDCClient secret {name}"),
        });
    };
    let value = objects::copied_value(kind, &source);
    let labels: &[&str] = match guest.marks {
        CopyMarks::ManagedAndOidc => &[MANAGED_LABEL, OIDC_LABEL],
        CopyMarks::ManagedOnly => &[MANAGED_LABEL],
    };
    let edited = guest.inside(kind, COPIES, name).edit(at, |copy| {
        *field_mut(copy, &["data", kind.key()]) = value.clone();
        *copy = objects::labelled(copy.take(), labels);
    });
    if edited == Edited::Absent {
        let mut copy = objects::labelled(objects::one_key(kind, COPIES, name, kind.key(), ""), labels);
        copy["data"][kind.key()] = value;
        put(&guest.sim, at, copy);
    }
    None
}

/// A removed authentication block leaves the guest's unchanged, as in HyperShift.
fn copy_authentication(guest: &Guest, wanted: &Value, issuer: &Value, at: Timestamp) {
    if wanted.is_null() {
        return;
    }
    let mut spec = wanted.clone();
    *field_mut(&mut spec, &["serviceAccountIssuer"]) = issuer.clone();
    guest.authentication().edit(at, |authentication| authentication["spec"] = spec);
}

fn report_reconciliation(guest: &Guest, failures: &[String], at: Timestamp) {
    let (status, reason, message) = match failures {
        [] => ("True", "ReconcileSucceeded", String::new()),
        failures => {
            let message = format!("failed to reconcile oauth client secrets: {}", failures.join(", "));
            ("False", "ReconcileError", message)
        }
    };
    let kind = "ConfigOperatorReconciliationSucceeded";
    set_condition(guest.control_plane(), kind, status, reason, &message, at);
}

fn set_condition(place: ObjectHandle<'_>, kind: &str, status: &str, reason: &str, message: &str, at: Timestamp) {
    let wanted = objects::condition(kind, status, reason, message, &objects::api_time(at));
    place.edit(at, |object| objects::set_condition(object, wanted));
}

/// The HyperShift operator: copies the objects the HostedCluster references, and its configuration, to the control plane.
fn propagate(guest: &Guest, at: Timestamp) {
    let place = guest.hosted_cluster();
    let Some(cluster) = place.get().filter(|cluster| cluster["metadata"]["deletionTimestamp"].is_null()) else {
        return;
    };
    let paused = cluster["spec"]["pausedUntil"].clone();
    guest.control_plane().edit(at, |plane| set_or_remove(field_mut(plane, &["spec"]), "pausedUntil", paused));
    if is_paused(&cluster, at) {
        return;
    }
    let configuration = cluster["spec"]["configuration"].clone();
    let named = references(&configuration["authentication"]);
    let kind = "ValidConfiguration";
    if let Some(missing) = missing_authority(guest, &named) {
        let message = format!("invalid authentication: failed to get issuer CA configmap {missing}: not found");
        set_condition(place, kind, "False", "InvalidConfiguration", &message, at);
        return;
    }
    set_condition(place, kind, "True", "AsExpected", "Configuration passes validation", at);
    for (kind, name) in &named {
        copy_source(guest, *kind, name, at);
    }
    guest.control_plane().edit(at, |plane| *field_mut(plane, &["spec", "configuration"]) = configuration);
}

/// A referenced CA that does not exist blocks the whole configuration of a HostedCluster.
fn missing_authority<'n>(guest: &Guest, named: &'n [(CopyKind, String)]) -> Option<&'n str> {
    let authorities = named.iter().filter(|(kind, _)| *kind == CopyKind::ConfigMap).map(|(_, name)| name.as_str());
    authorities.into_iter().find(|name| guest.outside(CopyKind::ConfigMap, CLUSTERS, name).get().is_none())
}

/// Copies a source to the control plane's namespace under the same name, and annotates the source.
fn copy_source(guest: &Guest, kind: CopyKind, name: &str, at: Timestamp) {
    let referenced = format!("{REFERENCED_ANNOTATION}{}", guest.name);
    let source = guest.outside(kind, CLUSTERS, name);
    source.edit(at, |source| *field_mut(source, &["metadata", "annotations", &referenced]) = "true".into());
    let Some(source) = source.get() else { return };
    let namespace = guest.control_plane_namespace();
    let belongs_to = format!("{CLUSTERS}/{}", guest.name);
    let mark = |copy: &mut Value| {
        copy["data"] = source["data"].clone();
        *field_mut(copy, &["metadata", "annotations", &referenced]) = "true".into();
        *field_mut(copy, &["metadata", "annotations", CLUSTER_ANNOTATION]) = belongs_to.into();
    };
    let place = guest.outside(kind, &namespace, name);
    if place.get().is_some() {
        place.edit(at, mark);
        return;
    }
    let mut copy = objects::one_key(kind, &namespace, name, kind.key(), "");
    mark(&mut copy);
    put(&guest.management, at, copy);
}

/// The console operator: reports which clients are in use, and mirrors the CA for the console.
fn report_clients(guest: &Guest, at: Timestamp) {
    let Some(authentication) = guest.authentication().get() else { return };
    let spec = &authentication["spec"];
    let reports: Vec<Value> = COMPONENTS.iter().map(|component| report(spec, component)).collect();
    guest.authentication().edit(at, |found| *field_mut(found, &["status", "oidcClients"]) = json!(reports));
    for (kind, name) in references(spec) {
        if kind == CopyKind::ConfigMap {
            mirror_authority(guest, &name, at);
        }
    }
}

/// A component's entry is always present; without OIDC it lists no client.
fn report(spec: &Value, component: &str) -> Value {
    let mut current = Vec::new();
    for provider in providers(spec) {
        let own = clients(provider).iter().filter(|client| client["componentName"] == component);
        current.extend(own.map(|client| {
            json!({
                "oidcProviderName": provider["name"],
                "issuerURL": provider["issuer"]["issuerURL"],
                "clientID": client["clientID"],
            })
        }));
    }
    json!({ "componentNamespace": CONSOLE, "componentName": component, "currentOIDCClients": current })
}

fn mirror_authority(guest: &Guest, name: &str, at: Timestamp) {
    let kind = CopyKind::ConfigMap;
    let Some(copy) = guest.inside(kind, COPIES, name).get() else { return };
    let value = objects::copied_value(kind, &copy);
    let mirror = guest.inside(kind, CONSOLE, name);
    if mirror.edit(at, |mirror| *field_mut(mirror, &["data", kind.key()]) = value.clone()) == Edited::Absent {
        let mut mirror = objects::one_key(kind, CONSOLE, name, kind.key(), "");
        mirror["data"][kind.key()] = value;
        put(&guest.sim, at, mirror);
    }
}

/// Whether reconciliation is paused (a Go boolean, or a future date) or the object is being deleted.
fn is_paused(object: &Value, at: Timestamp) -> bool {
    let paused = match object["spec"]["pausedUntil"].as_str().unwrap_or_default() {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
        text => text.parse::<Timestamp>().is_ok_and(|until| at < until),
    };
    paused || !object["metadata"]["deletionTimestamp"].is_null()
}

fn set_or_remove(object: &mut Value, field: &str, value: Value) {
    match (value.is_null(), object.as_object_mut()) {
        (true, Some(fields)) => drop(fields.remove(field)),
        (false, Some(fields)) => drop(fields.insert(field.to_owned(), value)),
        (_, None) => {}
    }
}
