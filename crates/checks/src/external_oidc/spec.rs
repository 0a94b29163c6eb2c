//! `Authentication/cluster` as its CRD allows it, in every feature set.
//!
//! Invariants:
//! - whether a field was given is kept: the CRD tells "" from absent, the operator does not;
//! - null is absent, wherever it stands;
//! - nothing here is judged: a spec that would be refused is read like any other.
//!
//! Elsewhere: which fields count (`gates`), what is wrong with them (`validate`), what becomes of them (`render`).

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::fields::{UnknownField, unknown_fields};
use trueup_core::world::shape::{object, objects, optional_object, optional_objects, or_default};
use trueup_core::world::{Fact, Interner, Meta, Misfit, Obj, RawObject, TrackedField};

/// `Authentication/cluster`.
#[derive(Debug, PartialEq)]
pub struct Authentication {
    pub meta: Meta,
    pub spec: AuthSpec,
    /// `status.oidcClients`, in its order.
    pub clients: Vec<ClientStatus>,
    /// The ConfigMap of `status.integratedOAuthMetadata`; an empty name is none.
    pub integrated_metadata: Option<String>,
    /// Fields of the spec that no CRD has.
    pub unknown_fields: Vec<UnknownField>,
}

/// `spec` of `Authentication/cluster`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthSpec {
    #[serde(rename = "type")]
    pub kind: AuthKind,
    #[serde(rename = "oidcProviders", deserialize_with = "objects")]
    pub providers: Vec<Provider>,
    #[serde(deserialize_with = "filled")]
    pub service_account_issuer: Option<String>,
    /// The Secret of `webhookTokenAuthenticator`; an empty name is none.
    #[serde(rename = "webhookTokenAuthenticator", deserialize_with = "webhook")]
    pub webhook: Option<String>,
    /// The ConfigMap of `oauthMetadata`; an empty name is none.
    #[serde(deserialize_with = "name")]
    pub oauth_metadata: Option<String>,
}

/// `spec.type`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Option<String>")]
pub enum AuthKind {
    Oidc,
    /// The empty type means the same.
    #[default]
    IntegratedOAuth,
    None,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Provider {
    pub name: Option<String>,
    #[serde(deserialize_with = "object")]
    pub issuer: Issuer,
    #[serde(rename = "oidcClients", deserialize_with = "objects")]
    pub clients: Vec<Client>,
    #[serde(rename = "claimMappings", deserialize_with = "object")]
    pub mappings: Mappings,
    #[serde(rename = "claimValidationRules", deserialize_with = "objects")]
    pub claim_rules: Vec<ClaimRule>,
    #[serde(rename = "userValidationRules", deserialize_with = "optional_objects")]
    pub user_rules: Option<Vec<UserRule>>,
    #[serde(rename = "externalClaimsSources", deserialize_with = "optional_objects")]
    pub sources: Option<Vec<ClaimsSource>>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Issuer {
    #[serde(rename = "issuerURL")]
    pub url: Option<String>,
    #[serde(deserialize_with = "texts")]
    pub audiences: Vec<String>,
    /// The ConfigMap in `openshift-config` with the CA bundle; an empty name is none.
    #[serde(rename = "issuerCertificateAuthority", deserialize_with = "name")]
    pub ca: Option<String>,
    #[serde(rename = "discoveryURL")]
    pub discovery_url: Option<String>,
}

/// A client of `oidcClients`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Client {
    #[serde(flatten)]
    pub component: Component,
    #[serde(rename = "clientID", deserialize_with = "or_default")]
    pub client_id: String,
    /// The Secret in `openshift-config`; an empty name is none.
    #[serde(rename = "clientSecret", deserialize_with = "name")]
    pub secret: Option<String>,
    #[serde(deserialize_with = "texts")]
    pub extra_scopes: Vec<String>,
}

/// The user of a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(default)]
pub struct Component {
    #[serde(rename = "componentNamespace", deserialize_with = "or_default")]
    pub namespace: String,
    #[serde(rename = "componentName", deserialize_with = "or_default")]
    pub name: String,
}

/// `claimMappings`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Mappings {
    #[serde(deserialize_with = "object")]
    pub username: Username,
    #[serde(deserialize_with = "object")]
    pub groups: Groups,
    /// Absent is not the same as empty: absent means the claim `sub`.
    #[serde(deserialize_with = "optional_object")]
    pub uid: Option<ClaimOrExpression>,
    #[serde(deserialize_with = "objects")]
    pub extra: Vec<Extra>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Username {
    pub claim: Option<String>,
    pub expression: Option<String>,
    #[serde(rename = "prefixPolicy")]
    pub policy: PrefixPolicy,
    /// `prefix.prefixString`; an object without it counts as an empty text.
    #[serde(deserialize_with = "prefix")]
    pub prefix: Option<String>,
}

/// `prefixPolicy`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Option<String>")]
pub enum PrefixPolicy {
    #[default]
    NoOpinion,
    NoPrefix,
    Prefix,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Groups {
    pub claim: Option<String>,
    pub expression: Option<String>,
    pub prefix: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ClaimOrExpression {
    pub claim: Option<String>,
    pub expression: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Extra {
    pub key: Option<String>,
    #[serde(rename = "valueExpression")]
    pub expression: Option<String>,
}

/// A rule of `claimValidationRules`, with the bodies it has, whether or not they belong to its type.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ClaimRule {
    #[serde(rename = "type")]
    pub kind: ClaimRuleKind,
    #[serde(rename = "requiredClaim", deserialize_with = "optional_object")]
    pub required: Option<RequiredClaim>,
    #[serde(deserialize_with = "optional_object")]
    pub cel: Option<CelRule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<String>")]
pub enum ClaimRuleKind {
    RequiredClaim,
    Cel,
    Other(String),
}

impl Default for ClaimRuleKind {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct RequiredClaim {
    pub claim: Option<String>,
    #[serde(rename = "requiredValue")]
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct CelRule {
    pub expression: Option<String>,
    pub message: Option<String>,
}

pub type UserRule = CelRule;

/// An entry of `externalClaimsSources`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ClaimsSource {
    #[serde(deserialize_with = "authentication")]
    pub authentication: SourceAuthentication,
    /// The ConfigMap of `tls`; outer absence is no `tls`.
    #[serde(rename = "tls", deserialize_with = "authority")]
    pub ca: Option<String>,
    #[serde(deserialize_with = "object")]
    pub url: SourceUrl,
    #[serde(deserialize_with = "objects")]
    pub mappings: Vec<SourcedClaim>,
    #[serde(deserialize_with = "predicates")]
    pub predicates: Option<Vec<String>>,
}

/// How claims are fetched from a source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Option<String>")]
pub enum SourceAuthentication {
    #[default]
    Anonymous,
    RequestProvidedToken,
    ClientCredential,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceUrl {
    pub hostname: Option<String>,
    pub path_expression: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct SourcedClaim {
    pub name: Option<String>,
    pub expression: Option<String>,
}

/// An entry of `status.oidcClients`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ClientStatus {
    #[serde(flatten)]
    pub component: Component,
    #[serde(rename = "currentOIDCClients", deserialize_with = "objects")]
    pub current: Vec<CurrentClient>,
    #[serde(deserialize_with = "objects")]
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct CurrentClient {
    #[serde(rename = "oidcProviderName", deserialize_with = "or_default")]
    pub provider: String,
    #[serde(rename = "issuerURL", deserialize_with = "or_default")]
    pub issuer: String,
    #[serde(rename = "clientID", deserialize_with = "or_default")]
    pub client_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Condition {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
    #[serde(deserialize_with = "or_default")]
    pub message: String,
}

/// An issuer that `KubeAPIServer/cluster` says is still trusted for service accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedIssuer {
    pub name: String,
    pub expires: Option<Timestamp>,
}

impl AuthSpec {
    pub fn is_oidc(&self) -> bool {
        self.kind == AuthKind::Oidc
    }

    /// Reads a spec from JSON, as tests and the snapshot loader have it.
    ///
    /// # Errors
    /// A field has another shape than the CRD promises.
    pub fn from_json(spec: &serde_json::Value) -> Result<Self, serde_json::Error> {
        object(spec)
    }
}

impl AuthKind {
    /// As people know it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Oidc => "OIDC",
            Self::IntegratedOAuth => "IntegratedOAuth",
            Self::None => "None",
            Self::Other(text) => text,
        }
    }
}

impl Provider {
    /// How problems name it.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    pub fn issuer_url(&self) -> &str {
        self.issuer.url.as_deref().unwrap_or_default()
    }
}

/// The tracked field that names the providers.
pub const PROVIDERS: &str = "oidcProviders";
/// The tracked field that turns OIDC on and off.
pub const TYPE: &str = "type";

impl Fact for Authentication {
    const TRACKED: &'static [TrackedField] = &[
        TrackedField { name: PROVIDERS, path: &["spec", "oidcProviders"] },
        TrackedField { name: TYPE, path: &["spec", "type"] },
    ];

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Status {
            #[serde(rename = "oidcClients", deserialize_with = "objects")]
            clients: Vec<ClientStatus>,
            #[serde(rename = "integratedOAuthMetadata", deserialize_with = "name")]
            integrated_metadata: Option<String>,
        }
        let Obj(spec) = raw.field("spec")?;
        let Obj(Status { clients, integrated_metadata }) = raw.field("status")?;
        let unknown_fields = unknown_fields(&raw.field("spec")?);
        Ok(Self { meta: Meta::project(&raw.meta, pool), spec, clients, integrated_metadata, unknown_fields })
    }
}

impl From<Option<String>> for AuthKind {
    fn from(text: Option<String>) -> Self {
        match text.as_deref() {
            None | Some("" | "IntegratedOAuth") => Self::IntegratedOAuth,
            Some("OIDC") => Self::Oidc,
            Some("None") => Self::None,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

impl From<Option<String>> for PrefixPolicy {
    fn from(text: Option<String>) -> Self {
        match text.as_deref() {
            None | Some("") => Self::NoOpinion,
            Some("NoPrefix") => Self::NoPrefix,
            Some("Prefix") => Self::Prefix,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

impl From<Option<String>> for ClaimRuleKind {
    fn from(text: Option<String>) -> Self {
        match text.as_deref().unwrap_or_default() {
            "RequiredClaim" => Self::RequiredClaim,
            "CEL" => Self::Cel,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<Option<String>> for SourceAuthentication {
    fn from(text: Option<String>) -> Self {
        match text.as_deref() {
            None | Some("") => Self::Anonymous,
            Some("RequestProvidedToken") => Self::RequestProvidedToken,
            Some("ClientCredential") => Self::ClientCredential,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

fn filled<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::deserialize(from)?.filter(|text: &String| !text.is_empty()))
}

/// A null among texts is an empty text to Go.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let list: Vec<Option<String>> = or_default(from)?;
    Ok(list.into_iter().map(Option::unwrap_or_default).collect())
}

/// A reference by name; an empty name is none.
fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Named {
        #[serde(deserialize_with = "filled")]
        name: Option<String>,
    }
    object(from).map(|Named { name }| name)
}

fn webhook<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Webhook {
        #[serde(deserialize_with = "name")]
        kube_config: Option<String>,
    }
    object(from).map(|Webhook { kube_config }| kube_config)
}

fn authority<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Tls {
        #[serde(deserialize_with = "name")]
        certificate_authority: Option<String>,
    }
    object(from).map(|Tls { certificate_authority }| certificate_authority)
}

fn prefix<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Prefix {
        #[serde(deserialize_with = "or_default")]
        prefix_string: String,
    }
    Ok(optional_object(from)?.map(|Prefix { prefix_string }| prefix_string))
}

fn authentication<'de, D: Deserializer<'de>>(from: D) -> Result<SourceAuthentication, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Typed {
        r#type: SourceAuthentication,
    }
    object(from).map(|Typed { r#type }| r#type)
}

fn predicates<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Predicate {
        #[serde(deserialize_with = "or_default")]
        expression: String,
    }
    let list = optional_objects(from)?;
    Ok(list.map(|list| list.into_iter().map(|Predicate { expression }| expression).collect()))
}
