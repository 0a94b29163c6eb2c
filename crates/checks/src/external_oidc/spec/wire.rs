//! The JSON of an Authentication, field by field as the CRD spells it.

use serde::Deserialize;
use serde_json::Value;

use super as typed;
use crate::kinds::Condition;
use trueup_core::world::Obj;

/// Reads a spec; null is an empty one.
///
/// # Errors
/// A field has another shape.
pub fn spec(json: &Value) -> Result<typed::AuthSpec, serde_json::Error> {
    Obj::<Spec>::deserialize(json).map(|Obj(spec)| spec.into())
}

type List<T> = Option<Vec<Obj<T>>>;

fn list<W, T: From<W>>(list: List<W>) -> Vec<T> {
    list.unwrap_or_default().into_iter().map(|Obj(item)| item.into()).collect()
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    r#type: Option<String>,
    oidc_providers: List<Provider>,
    service_account_issuer: Option<String>,
    webhook_token_authenticator: Obj<Webhook>,
    oauth_metadata: Obj<Named>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Webhook {
    kube_config: Obj<Named>,
}

/// A reference by name.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: Option<String>,
}

impl Named {
    fn given(self) -> Option<String> {
        self.name.filter(|name| !name.is_empty())
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Provider {
    name: Option<String>,
    issuer: Obj<Issuer>,
    oidc_clients: List<Client>,
    claim_mappings: Obj<Mappings>,
    claim_validation_rules: List<ClaimRule>,
    user_validation_rules: List<CelRule>,
    external_claims_sources: List<Source>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Issuer {
    #[serde(rename = "issuerURL")]
    url: Option<String>,
    audiences: Option<Vec<Option<String>>>,
    issuer_certificate_authority: Obj<Named>,
    #[serde(rename = "discoveryURL")]
    discovery_url: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Client {
    component_namespace: Option<String>,
    component_name: Option<String>,
    #[serde(rename = "clientID")]
    client_id: Option<String>,
    client_secret: Obj<Named>,
    extra_scopes: Option<Vec<Option<String>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Mappings {
    username: Obj<Username>,
    groups: Obj<Groups>,
    uid: Option<Obj<ClaimOrExpression>>,
    extra: List<Extra>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Username {
    claim: Option<String>,
    expression: Option<String>,
    prefix_policy: Option<String>,
    prefix: Option<Obj<Prefix>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Prefix {
    prefix_string: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Groups {
    claim: Option<String>,
    expression: Option<String>,
    prefix: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaimOrExpression {
    claim: Option<String>,
    expression: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Extra {
    key: Option<String>,
    value_expression: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ClaimRule {
    r#type: Option<String>,
    required_claim: Option<Obj<RequiredClaim>>,
    cel: Option<Obj<CelRule>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RequiredClaim {
    claim: Option<String>,
    required_value: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CelRule {
    expression: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Source {
    authentication: Obj<SourceAuthentication>,
    tls: Option<Obj<Tls>>,
    url: Obj<SourceUrl>,
    mappings: List<SourcedClaim>,
    predicates: List<Predicate>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SourceAuthentication {
    r#type: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Tls {
    certificate_authority: Obj<Named>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SourceUrl {
    hostname: Option<String>,
    path_expression: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SourcedClaim {
    name: Option<String>,
    expression: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Predicate {
    expression: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientStatus {
    component_namespace: Option<String>,
    component_name: Option<String>,
    #[serde(rename = "currentOIDCClients")]
    current: List<CurrentClient>,
    conditions: List<Condition>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CurrentClient {
    #[serde(rename = "oidcProviderName")]
    provider: Option<String>,
    #[serde(rename = "issuerURL")]
    issuer: Option<String>,
    #[serde(rename = "clientID")]
    client_id: Option<String>,
}

impl From<Spec> for typed::AuthSpec {
    fn from(wire: Spec) -> Self {
        let Spec { r#type, oidc_providers, service_account_issuer, webhook_token_authenticator, oauth_metadata } = wire;
        let kind = match r#type.as_deref() {
            None | Some("" | "IntegratedOAuth") => typed::AuthKind::IntegratedOAuth,
            Some("OIDC") => typed::AuthKind::Oidc,
            Some("None") => typed::AuthKind::None,
            Some(other) => typed::AuthKind::Other(other.to_owned()),
        };
        Self {
            kind,
            providers: list(oidc_providers),
            service_account_issuer: service_account_issuer.filter(|issuer| !issuer.is_empty()),
            webhook: webhook_token_authenticator.0.kube_config.0.given(),
            oauth_metadata: oauth_metadata.0.given(),
        }
    }
}

impl From<Provider> for typed::Provider {
    fn from(wire: Provider) -> Self {
        let Mappings { username, groups, uid, extra } = wire.claim_mappings.0;
        Self {
            name: wire.name,
            issuer: wire.issuer.0.into(),
            clients: list(wire.oidc_clients),
            username: username.0.into(),
            groups: typed::Groups { claim: groups.0.claim, expression: groups.0.expression, prefix: groups.0.prefix },
            uid: uid.map(|Obj(uid)| typed::ClaimOrExpression { claim: uid.claim, expression: uid.expression }),
            extra: list(extra),
            claim_rules: list(wire.claim_validation_rules),
            user_rules: wire.user_validation_rules.map(|rules| list(Some(rules))),
            sources: wire.external_claims_sources.map(|sources| list(Some(sources))),
        }
    }
}

impl From<Issuer> for typed::Issuer {
    fn from(wire: Issuer) -> Self {
        Self {
            url: wire.url,
            audiences: texts(wire.audiences),
            ca: wire.issuer_certificate_authority.0.given(),
            discovery_url: wire.discovery_url,
        }
    }
}

/// A null among texts is an empty text to Go.
fn texts(list: Option<Vec<Option<String>>>) -> Vec<String> {
    list.unwrap_or_default().into_iter().map(Option::unwrap_or_default).collect()
}

impl From<Client> for typed::Client {
    fn from(wire: Client) -> Self {
        Self {
            component: component(wire.component_namespace, wire.component_name),
            client_id: wire.client_id.unwrap_or_default(),
            secret: wire.client_secret.0.given(),
            extra_scopes: texts(wire.extra_scopes),
        }
    }
}

fn component(namespace: Option<String>, name: Option<String>) -> typed::Component {
    typed::Component { namespace: namespace.unwrap_or_default(), name: name.unwrap_or_default() }
}

impl From<Username> for typed::Username {
    fn from(wire: Username) -> Self {
        let policy = match wire.prefix_policy.as_deref() {
            None | Some("") => typed::PrefixPolicy::NoOpinion,
            Some("NoPrefix") => typed::PrefixPolicy::NoPrefix,
            Some("Prefix") => typed::PrefixPolicy::Prefix,
            Some(other) => typed::PrefixPolicy::Other(other.to_owned()),
        };
        let prefix = wire.prefix.map(|Obj(prefix)| prefix.prefix_string.unwrap_or_default());
        Self { claim: wire.claim, expression: wire.expression, policy, prefix }
    }
}

impl From<Extra> for typed::Extra {
    fn from(wire: Extra) -> Self {
        Self { key: wire.key, expression: wire.value_expression }
    }
}

impl From<ClaimRule> for typed::ClaimRule {
    fn from(wire: ClaimRule) -> Self {
        let kind = match wire.r#type.as_deref().unwrap_or_default() {
            "RequiredClaim" => typed::ClaimRuleKind::RequiredClaim,
            "CEL" => typed::ClaimRuleKind::Cel,
            other => typed::ClaimRuleKind::Other(other.to_owned()),
        };
        let required =
            wire.required_claim.map(|Obj(body)| typed::RequiredClaim { claim: body.claim, value: body.required_value });
        Self { kind, required, cel: wire.cel.map(|Obj(cel)| cel.into()) }
    }
}

impl From<CelRule> for typed::CelRule {
    fn from(wire: CelRule) -> Self {
        Self { expression: wire.expression, message: wire.message }
    }
}

impl From<Source> for typed::ClaimsSource {
    fn from(wire: Source) -> Self {
        let authentication = match wire.authentication.0.r#type.as_deref() {
            None | Some("") => typed::SourceAuthentication::Anonymous,
            Some("RequestProvidedToken") => typed::SourceAuthentication::RequestProvidedToken,
            Some("ClientCredential") => typed::SourceAuthentication::ClientCredential,
            Some(other) => typed::SourceAuthentication::Other(other.to_owned()),
        };
        Self {
            authentication,
            ca: wire.tls.and_then(|Obj(tls)| tls.certificate_authority.0.given()),
            hostname: wire.url.0.hostname,
            path_expression: wire.url.0.path_expression,
            mappings: list(wire.mappings),
            predicates: wire
                .predicates
                .map(|list| list.into_iter().map(|Obj(one)| one.expression.unwrap_or_default()).collect()),
        }
    }
}

impl From<SourcedClaim> for typed::SourcedClaim {
    fn from(wire: SourcedClaim) -> Self {
        Self { name: wire.name, expression: wire.expression }
    }
}

impl From<ClientStatus> for typed::ClientStatus {
    fn from(wire: ClientStatus) -> Self {
        Self {
            component: component(wire.component_namespace, wire.component_name),
            current: list(wire.current),
            conditions: list(wire.conditions),
        }
    }
}

impl From<CurrentClient> for typed::CurrentClient {
    fn from(wire: CurrentClient) -> Self {
        Self {
            provider: wire.provider.unwrap_or_default(),
            issuer: wire.issuer.unwrap_or_default(),
            client_id: wire.client_id.unwrap_or_default(),
        }
    }
}

impl From<Condition> for typed::Condition {
    fn from(wire: Condition) -> Self {
        Self {
            kind: wire.r#type.unwrap_or_default(),
            status: wire.status.unwrap_or_default(),
            reason: wire.reason.unwrap_or_default(),
            message: wire.message.unwrap_or_default(),
        }
    }
}
