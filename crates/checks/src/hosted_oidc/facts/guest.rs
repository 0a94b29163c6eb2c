//! A guest's own configuration: what it still refers to, and which clients are in use.

use serde::Deserialize;
use serde_json::Value;

use super::super::refs::{self, Refs};
use super::wanted::{Client, Wanted, component, wanted};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject, ResourceVersion};

/// A guest's `Authentication/cluster`.
#[derive(Debug, PartialEq)]
pub struct Authentication {
    pub version: ResourceVersion,
    pub spec: Wanted,
    /// Clients in use, by component; components without one are left out.
    pub current: Box<[Client]>,
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
    current: Option<Vec<Obj<CurrentClient>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CurrentClient {
    oidc_provider_name: Option<String>,
    #[serde(rename = "issuerURL")]
    issuer_url: Option<String>,
    #[serde(rename = "clientID")]
    client_id: Option<String>,
}

impl Fact for Authentication {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let Obj(status): Obj<AuthenticationStatus> = raw.field("status")?;
        let mut current = Vec::new();
        for Obj(entry) in status.oidc_clients.unwrap_or_default() {
            let component = component(entry.component_namespace, entry.component_name);
            current.extend(entry.current.unwrap_or_default().into_iter().map(|Obj(client)| Client {
                component: component.clone(),
                provider: client.oidc_provider_name.unwrap_or_default().into(),
                issuer: client.issuer_url.unwrap_or_default().into(),
                client_id: client.client_id.unwrap_or_default().into(),
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
