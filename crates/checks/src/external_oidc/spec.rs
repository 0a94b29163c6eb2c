//! `Authentication/cluster` as its CRD allows it, in every feature set.
//!
//! Invariants:
//! - whether a field was given is kept: the CRD tells "" from absent, the operator does not;
//! - null is absent, wherever it stands;
//! - nothing here is judged: a spec that would be refused is read like any other.
//!
//! Elsewhere: which fields count (`gates`), what is wrong with them (`validate`), what becomes of them (`render`).

use jiff::Timestamp;
use serde::Deserialize;

use trueup_core::world::{Fact, Interner, Meta, Misfit, Obj, RawObject};

/// `Authentication/cluster`.
#[derive(Debug, PartialEq)]
pub struct Authentication {
    pub meta: Meta,
    pub spec: AuthSpec,
    /// `status.oidcClients`, in its order.
    pub clients: Vec<ClientStatus>,
}

/// `spec` of `Authentication/cluster`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuthSpec {
    pub kind: AuthKind,
    pub providers: Vec<Provider>,
    pub service_account_issuer: Option<String>,
    /// The Secret of `webhookTokenAuthenticator`; an empty name is none.
    pub webhook: Option<String>,
    /// The ConfigMap of `oauthMetadata`; an empty name is none.
    pub oauth_metadata: Option<String>,
}

/// `spec.type`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AuthKind {
    Oidc,
    /// The empty type means the same.
    #[default]
    IntegratedOAuth,
    None,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Provider {
    pub name: Option<String>,
    pub issuer: Issuer,
    pub clients: Vec<Client>,
    pub username: Username,
    pub groups: Groups,
    /// Absent is not the same as empty: absent means the claim `sub`.
    pub uid: Option<ClaimOrExpression>,
    pub extra: Vec<Extra>,
    pub claim_rules: Vec<ClaimRule>,
    pub user_rules: Option<Vec<UserRule>>,
    pub sources: Option<Vec<ClaimsSource>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Issuer {
    pub url: Option<String>,
    pub audiences: Vec<String>,
    /// The ConfigMap in `openshift-config` with the CA bundle; an empty name is none.
    pub ca: Option<String>,
    pub discovery_url: Option<String>,
}

/// A client of `oidcClients`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Client {
    pub component: Component,
    pub client_id: String,
    /// The Secret in `openshift-config`; an empty name is none.
    pub secret: Option<String>,
    pub extra_scopes: Vec<String>,
}

/// Who uses a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Component {
    pub namespace: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Username {
    pub claim: Option<String>,
    pub expression: Option<String>,
    pub policy: PrefixPolicy,
    /// `prefix.prefixString`; an object without it counts as an empty text.
    pub prefix: Option<String>,
}

/// `prefixPolicy`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PrefixPolicy {
    #[default]
    NoOpinion,
    NoPrefix,
    Prefix,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Groups {
    pub claim: Option<String>,
    pub expression: Option<String>,
    pub prefix: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClaimOrExpression {
    pub claim: Option<String>,
    pub expression: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extra {
    pub key: Option<String>,
    pub expression: Option<String>,
}

/// A rule of `claimValidationRules`, with the bodies it has, whether or not they belong to its type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClaimRule {
    pub kind: ClaimRuleKind,
    pub required: Option<RequiredClaim>,
    pub cel: Option<CelRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
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

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequiredClaim {
    pub claim: Option<String>,
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CelRule {
    pub expression: Option<String>,
    pub message: Option<String>,
}

pub type UserRule = CelRule;

/// An entry of `externalClaimsSources`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClaimsSource {
    pub authentication: SourceAuthentication,
    /// The ConfigMap of `tls`; outer absence is no `tls`.
    pub ca: Option<String>,
    pub hostname: Option<String>,
    pub path_expression: Option<String>,
    pub mappings: Vec<SourcedClaim>,
    pub predicates: Option<Vec<String>>,
}

/// How claims are fetched from a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SourceAuthentication {
    #[default]
    Anonymous,
    RequestProvidedToken,
    ClientCredential,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourcedClaim {
    pub name: Option<String>,
    pub expression: Option<String>,
}

/// An entry of `status.oidcClients`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClientStatus {
    pub component: Component,
    pub current: Vec<CurrentClient>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CurrentClient {
    pub provider: String,
    pub issuer: String,
    pub client_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Condition {
    pub kind: String,
    pub status: String,
    pub reason: String,
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
        wire::spec(spec)
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

impl Fact for Authentication {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Status {
            oidc_clients: Option<Vec<Obj<wire::ClientStatus>>>,
        }
        let Obj(spec): Obj<wire::Spec> = raw.field("spec")?;
        let Obj(status): Obj<Status> = raw.field("status")?;
        let clients = status.oidc_clients.unwrap_or_default();
        Ok(Self {
            meta: Meta::project(&raw.meta, pool),
            spec: spec.into(),
            clients: clients.into_iter().map(|Obj(client)| client.into()).collect(),
        })
    }
}

mod wire;
