//! A guest's own configuration: what it still refers to, and which clients are in use.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::super::refs::{self, Refs};
use super::wanted::{Client, Wanted, component, wanted};
use crate::kinds::items;
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject, ResourceVersion, TrackedField};

/// A guest's `Authentication/cluster`.
#[derive(Debug, PartialEq)]
pub struct Authentication {
    pub version: ResourceVersion,
    pub spec: Wanted,
    /// Clients in use, by component; components without one are left out.
    pub current: Box<[CurrentClient]>,
}

/// A client that a component reports as in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentClient {
    pub client: Client,
    /// The newest `lastTransitionTime` of the entry's conditions. A running console operator rewrites it on every sync.
    pub reported: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AuthenticationStatus {
    oidc_clients: Option<Vec<Obj<ClientStatus>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ClientStatus {
    component_namespace: Option<String>,
    component_name: Option<String>,
    #[serde(rename = "currentOIDCClients")]
    current: Option<Vec<Obj<CurrentWire>>>,
    conditions: Option<Vec<Obj<ConditionWire>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ConditionWire {
    last_transition_time: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CurrentWire {
    oidc_provider_name: Option<String>,
    #[serde(rename = "issuerURL")]
    issuer_url: Option<String>,
    #[serde(rename = "clientID")]
    client_id: Option<String>,
}

impl Fact for Authentication {
    const TRACKED: &'static [TrackedField] = &[
        TrackedField { name: "oidcProviders", path: &["spec", "oidcProviders"] },
        TrackedField { name: "type", path: &["spec", "type"] },
    ];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let Obj(status): Obj<AuthenticationStatus> = raw.field("status")?;
        let mut current = Vec::new();
        for Obj(entry) in status.oidc_clients.unwrap_or_default() {
            let component = component(entry.component_namespace, entry.component_name);
            let times = entry.conditions.unwrap_or_default();
            let reported = times.into_iter().filter_map(|Obj(one)| one.last_transition_time?.parse().ok()).max();
            current.extend(entry.current.unwrap_or_default().into_iter().map(|Obj(client)| CurrentClient {
                client: Client {
                    component: component.clone(),
                    provider: client.oidc_provider_name.unwrap_or_default().into(),
                    issuer: client.issuer_url.unwrap_or_default().into(),
                    client_id: client.client_id.unwrap_or_default().into(),
                },
                reported,
            }));
        }
        Ok(Self {
            version: ResourceVersion::parse(&raw.meta.resource_version),
            spec: wanted(raw, "spec", Some(&spec))?,
            current: current.into(),
        })
    }
}

/// A guest config that can refer into `openshift-config`: Proxy, Image, APIServer or OAuth.
#[derive(Debug, PartialEq)]
pub struct ReferringConfig {
    pub version: ResourceVersion,
    pub refs: Refs,
}

impl Fact for ReferringConfig {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let places = match raw.kind.as_ref() {
            "Proxy" => refs::PROXY,
            "Image" => refs::IMAGE,
            "APIServer" => refs::API_SERVER,
            "OAuth" => refs::OAUTH,
            other => return Err(raw.misfit(format!("no references are known for kind {other}"))),
        };
        let spec: Value = raw.field("spec")?;
        let refs = Refs::collect("spec", &spec, places).map_err(|bad| raw.misfit(bad.to_string()))?;
        Ok(Self { version: ResourceVersion::parse(&raw.meta.resource_version), refs })
    }
}

/// `Console/cluster` of the guest's console operator.
#[derive(Debug, PartialEq, Eq)]
pub struct ConsoleOperator {
    pub version: ResourceVersion,
    pub management: Management,
}

/// `spec.managementState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Management {
    /// There is no console, so no component uses a client.
    Removed,
    Other,
}

impl Fact for ConsoleOperator {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Spec {
            management_state: Option<String>,
        }
        let Obj(Spec { management_state }) = raw.field("spec")?;
        let is_removed = management_state.as_deref() == Some("Removed");
        Ok(Self {
            version: ResourceVersion::parse(&raw.meta.resource_version),
            management: if is_removed { Management::Removed } else { Management::Other },
        })
    }
}

/// A Deployment of the console's namespace: the ConfigMaps its pods mount.
#[derive(Debug, PartialEq, Eq)]
pub struct ConsoleDeployment {
    pub version: ResourceVersion,
    pub mounted: Box<[Box<str>]>,
}

impl Fact for ConsoleDeployment {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let mut mounted = Vec::new();
        for volume in items(&spec, &["template", "spec", "volumes"]) {
            mounted.extend(volume.pointer("/configMap/name").and_then(Value::as_str).map(Into::into));
            let projected = items(volume, &["projected", "sources"]).iter();
            mounted.extend(
                projected
                    .filter_map(|source| source.pointer("/configMap/name").and_then(Value::as_str).map(Into::into)),
            );
        }
        Ok(Self { version: ResourceVersion::parse(&raw.meta.resource_version), mounted: mounted.into() })
    }
}
