//! The operators of the story: the three hops by which a HostedCluster's wish reaches its guest.
//!
//! ```text
//!   HostedCluster, sources        HostedControlPlane, sources       copies, Authentication        status, CA mirror
//!   in `clusters`            ──►  in the control plane's       ──►  in the guest             ──►  in the guest
//!                   HyperShift operator             config operator              console operator
//! ```
//!
//! Always true:
//! - a step moves a change by one hop, so that each state in between can be seen;
//! - like the real ones, none of them ever takes a copy away;
//! - an operator writes only what differs from what it wants.
//!
//! What the real ones do: `facts/hypershift-oidc.md` section 1.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::guest::{CopyMarks, Edited, Guest, Operator, Place, put};
use super::objects::{
    self, CLUSTER_ANNOTATION, CLUSTERS, CONSOLE, COPIES, MANAGED_LABEL, OIDC_LABEL, REFERENCED_ANNOTATION,
};
use super::provider::{CopyKind, clients, providers, references};

/// Components that log people in.
const COMPONENTS: [&str; 2] = ["console", "cli"];

/// The operators of one guest, and what they remember.
#[derive(Debug, Clone, Default)]
pub struct Operators {
    /// What the config operator watches, as it was when it last worked. It does not watch the sources.
    reconciled: Option<Watched>,
}

/// The versions of what the config operator watches.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Watched(Vec<String>);

impl Operators {
    /// Every operator takes one look. The last hop goes first, so that a change takes one step a hop.
    pub fn step(&mut self, guest: &Guest, at: Timestamp) {
        report_clients(guest, at);
        self.reconcile_guest(guest, at);
        propagate(guest, at);
    }

    /// As many steps as a change needs to come through.
    pub fn settle(&mut self, guest: &Guest, at: Timestamp) {
        for _ in 0..4 {
            self.step(guest, at);
        }
    }

    /// Makes the config operator work again although nothing it watches has changed.
    pub fn resync(&mut self) {
        self.reconciled = None;
    }

    /// The config operator: copies what the control plane names, and its authentication block.
    fn reconcile_guest(&mut self, guest: &Guest, at: Timestamp) {
        let Some(plane) = guest.control_plane().look().filter(|plane| !is_at_rest(plane, at)) else { return };
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

/// Copies one source. Answers what went wrong, in the operator's words.
fn copy_into_guest(guest: &Guest, kind: CopyKind, name: &str, at: Timestamp) -> Option<String> {
    let Some(source) = guest.outside(kind, &guest.control_plane_namespace(), name).look() else {
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
        copy["data"][kind.key()] = value.clone();
        *copy = objects::labelled(copy.take(), labels);
    });
    if edited == Edited::Absent {
        let mut copy = objects::labelled(objects::one_key(kind, COPIES, name, kind.key(), ""), labels);
        copy["data"][kind.key()] = value;
        put(&guest.sim, at, copy);
    }
    None
}

/// An authentication block that is gone leaves the guest's as it was: that is how the real one does it.
fn copy_authentication(guest: &Guest, wanted: &Value, issuer: &Value, at: Timestamp) {
    if wanted.is_null() {
        return;
    }
    let mut spec = wanted.clone();
    spec["serviceAccountIssuer"] = issuer.clone();
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

fn set_condition(place: Place<'_>, kind: &str, status: &str, reason: &str, says: &str, at: Timestamp) {
    let wanted = objects::condition(kind, status, reason, says, &api_time(at));
    place.edit(at, |object| objects::set_condition(object, wanted));
}

/// The HyperShift operator: copies what the HostedCluster names, and its configuration, to the control plane.
fn propagate(guest: &Guest, at: Timestamp) {
    let place = guest.hosted_cluster();
    let Some(cluster) = place.look().filter(|cluster| cluster["metadata"]["deletionTimestamp"].is_null()) else {
        return;
    };
    let paused = cluster["spec"]["pausedUntil"].clone();
    guest.control_plane().edit(at, |plane| set_or_remove(&mut plane["spec"], "pausedUntil", paused));
    if is_at_rest(&cluster, at) {
        return;
    }
    let configuration = cluster["spec"]["configuration"].clone();
    let named = references(&configuration["authentication"]);
    let kind = "ValidConfiguration";
    if let Some(missing) = missing_authority(guest, &named) {
        let says = format!("invalid authentication: failed to get issuer CA configmap {missing}: not found");
        set_condition(place, kind, "False", "InvalidConfiguration", &says, at);
        return;
    }
    set_condition(place, kind, "True", "AsExpected", "Configuration passes validation", at);
    for (kind, name) in &named {
        copy_source(guest, *kind, name, at);
    }
    guest.control_plane().edit(at, |plane| plane["spec"]["configuration"] = configuration);
}

/// A CA that a HostedCluster names and nobody has made keeps all of its configuration from going on.
fn missing_authority<'n>(guest: &Guest, named: &'n [(CopyKind, String)]) -> Option<&'n str> {
    let authorities = named.iter().filter(|(kind, _)| *kind == CopyKind::ConfigMap).map(|(_, name)| name.as_str());
    authorities.into_iter().find(|name| guest.outside(CopyKind::ConfigMap, CLUSTERS, name).look().is_none())
}

/// A source goes to the control plane's namespace under its own name, and is marked on the way.
fn copy_source(guest: &Guest, kind: CopyKind, name: &str, at: Timestamp) {
    let referenced = format!("{REFERENCED_ANNOTATION}{}", guest.name);
    let source = guest.outside(kind, CLUSTERS, name);
    source.edit(at, |source| source["metadata"]["annotations"][&referenced] = "true".into());
    let Some(source) = source.look() else { return };
    let namespace = guest.control_plane_namespace();
    let belongs_to = format!("{CLUSTERS}/{}", guest.name);
    let mark = |copy: &mut Value| {
        copy["data"] = source["data"].clone();
        copy["metadata"]["annotations"][&referenced] = "true".into();
        copy["metadata"]["annotations"][CLUSTER_ANNOTATION] = belongs_to.into();
    };
    let place = guest.outside(kind, &namespace, name);
    if place.look().is_some() {
        place.edit(at, mark);
        return;
    }
    let mut copy = objects::one_key(kind, &namespace, name, kind.key(), "");
    mark(&mut copy);
    put(&guest.management, at, copy);
}

/// The console operator: says which clients are in use, and mirrors the CA for the console.
fn report_clients(guest: &Guest, at: Timestamp) {
    let Some(authentication) = guest.authentication().look() else { return };
    let spec = &authentication["spec"];
    let reports: Vec<Value> = COMPONENTS.iter().map(|component| report(spec, component)).collect();
    guest.authentication().edit(at, |authentication| authentication["status"]["oidcClients"] = json!(reports));
    for (kind, name) in references(spec) {
        if kind == CopyKind::ConfigMap {
            mirror_authority(guest, &name, at);
        }
    }
}

/// A component's entry is always there; without OIDC, it names no client.
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
    let Some(copy) = guest.inside(kind, COPIES, name).look() else { return };
    let value = objects::copied_value(kind, &copy);
    let mirror = guest.inside(kind, CONSOLE, name);
    if mirror.edit(at, |mirror| mirror["data"][kind.key()] = value.clone()) == Edited::Absent {
        let mut mirror = objects::one_key(kind, CONSOLE, name, kind.key(), "");
        mirror["data"][kind.key()] = value;
        put(&guest.sim, at, mirror);
    }
}

/// Whether the operators keep their hands off: paused (a boolean of Go's, or a date to come) or being deleted.
fn is_at_rest(object: &Value, at: Timestamp) -> bool {
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

fn api_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
