//! An authentication spec: its type, the objects it names, the clients it lists.

use serde::Deserialize;
use serde_json::Value;

use super::super::names::CopyKind;
use super::super::refs::{self, Refs};
use trueup_core::world::{Misfit, Obj, RawObject};

/// What `spec.configuration.authentication` asks for.
#[derive(Debug, PartialEq, Default)]
pub struct Wanted {
    pub kind: AuthenticationType,
    /// Named in `oidcProviders`, whatever the type.
    pub providers: Refs,
    /// Named by external claims sources, whatever the type.
    pub claims_sources: Refs,
    pub clients: Box<[Client]>,
}

impl Wanted {
    /// Whether the operator copies: with any other type it expects nothing.
    pub fn is_oidc(&self) -> bool {
        self.kind == AuthenticationType::Oidc
    }

    /// Whether the name is in the expected set.
    pub fn expects(&self, kind: CopyKind, name: &str) -> bool {
        self.is_oidc() && self.names(kind, name)
    }

    /// Whether the name stands anywhere in `oidcProviders`, whatever the type.
    pub fn names(&self, kind: CopyKind, name: &str) -> bool {
        self.providers.contains(kind, name) || self.claims_sources.contains(kind, name)
    }
}

/// `spec.configuration.authentication.type`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AuthenticationType {
    Oidc,
    /// Anything else, as it is written; empty when there is no authentication block.
    Other(Box<str>),
    #[default]
    Absent,
}

impl AuthenticationType {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Oidc => "OIDC",
            Self::Other(text) => text,
            Self::Absent => "(not set)",
        }
    }
}

/// A component's client: as a spec lists it, or as a status reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub component: Box<str>,
    pub provider: Box<str>,
    pub issuer: Box<str>,
    pub client_id: Box<str>,
}

/// Reads an authentication spec. `root` is its place in the object.
pub(super) fn wanted(raw: &RawObject<'_>, root: &str, spec: Option<&Value>) -> Result<Wanted, Misfit> {
    let spec = match spec {
        None | Some(Value::Null) => return Ok(Wanted::default()),
        Some(spec) => spec,
    };
    let collect = |places| Refs::collect(root, spec, places).map_err(|bad| raw.misfit(bad.to_string()));
    let kind = match spec.get("type") {
        None | Some(Value::Null) => AuthenticationType::Other("".into()),
        Some(Value::String(text)) if text == "OIDC" => AuthenticationType::Oidc,
        Some(Value::String(text)) => AuthenticationType::Other(text.as_str().into()),
        Some(_) => return Err(raw.misfit(format!("field {root}.type has another shape"))),
    };
    Ok(Wanted {
        kind,
        providers: collect(refs::PROVIDERS)?,
        claims_sources: collect(refs::CLAIMS_SOURCES)?,
        clients: listed_clients(raw, root, spec)?,
    })
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ProviderWire {
    name: Option<String>,
    issuer: Obj<IssuerWire>,
    oidc_clients: Option<Vec<Obj<ClientWire>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct IssuerWire {
    #[serde(rename = "issuerURL")]
    issuer_url: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ClientWire {
    component_namespace: Option<String>,
    component_name: Option<String>,
    #[serde(rename = "clientID")]
    client_id: Option<String>,
}

fn listed_clients(raw: &RawObject<'_>, root: &str, spec: &Value) -> Result<Box<[Client]>, Misfit> {
    let providers = spec.get("oidcProviders").cloned().unwrap_or_default();
    let providers: Option<Vec<Obj<ProviderWire>>> = serde_json::from_value(providers)
        .map_err(|_| raw.misfit(format!("field {root}.oidcProviders has another shape")))?;
    let mut clients = Vec::new();
    for Obj(provider) in providers.unwrap_or_default() {
        let issuer = provider.issuer.0.issuer_url.unwrap_or_default();
        let name = provider.name.unwrap_or_default();
        clients.extend(provider.oidc_clients.unwrap_or_default().into_iter().map(|Obj(client)| Client {
            component: component(client.component_namespace, client.component_name),
            provider: name.as_str().into(),
            issuer: issuer.as_str().into(),
            client_id: client.client_id.unwrap_or_default().into(),
        }));
    }
    Ok(clients.into())
}

pub(super) fn component(namespace: Option<String>, name: Option<String>) -> Box<str> {
    format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default()).into()
}
