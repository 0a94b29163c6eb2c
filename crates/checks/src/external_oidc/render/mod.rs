//! The exact bytes of `auth-config.json`, as the authentication operator writes them.
//!
//! Invariants:
//! - the same spec gives the same bytes as the operator's Go encoder: order of keys, what is left out, what is escaped;
//! - a field whose gate is off is not looked at.
//!
//! Two consumers, one shape: kube-apiserver reads `apiserver.config.k8s.io/v1beta1`; behind the gate of external claims
//! the oauth-apiserver reads `authentication.openshift.io/v1alpha1`, which adds the sources of claims.
//!
//! Elsewhere: whether the spec may be written at all (`validate`).

mod json;

use json::{array, object, text};

use super::check::CaBundle;
use super::gates::{Gate, Gates};
use super::spec::{
    AuthSpec, ClaimRule, ClaimRuleKind, ClaimsSource, PrefixPolicy, Provider, SourceAuthentication, Username,
};

/// How a ConfigMap of `openshift-config` is looked up.
pub type CaLookup<'a> = &'a dyn Fn(&str) -> CaBundle<'a>;

/// Renders a spec that would be accepted.
///
/// Nothing, when the bytes hold what is not known here: a CA bundle that is not there, or the client secret of an
/// external source, which this program does not read.
pub fn render(spec: &AuthSpec, gates: &Gates, ca: CaLookup<'_>) -> Option<String> {
    let providers: Option<Vec<String>> = spec.providers.iter().map(|provider| jwt(provider, gates, ca)).collect();
    let providers = providers?;
    let new = gates.on(Gate::ExternalClaims);
    let version = if new { "authentication.openshift.io/v1alpha1" } else { "apiserver.config.k8s.io/v1beta1" };
    // Go writes an empty list that was never made as null, and the newer struct leaves it out.
    let jwt = match (providers.is_empty(), new) {
        (false, _) => Some(array(&providers)),
        (true, false) => Some("null".to_owned()),
        (true, true) => None,
    };
    Some(object([
        ("kind", Some(text("AuthenticationConfiguration"))),
        ("apiVersion", Some(text(version))),
        ("jwt", jwt),
    ]))
}

/// The username prefix that is written for a claim; an expression has none.
pub fn username_prefix(username: &Username, issuer: &str) -> String {
    match username.policy {
        PrefixPolicy::Prefix => username.prefix.clone().unwrap_or_default(),
        PrefixPolicy::NoPrefix | PrefixPolicy::Other(_) => String::new(),
        PrefixPolicy::NoOpinion if username.claim.as_deref() == Some("email") => String::new(),
        PrefixPolicy::NoOpinion => format!("{issuer}#"),
    }
}

/// The username expression, where expressions count.
pub fn username_expression<'p>(provider: &'p Provider, gates: &Gates) -> Option<&'p str> {
    filled(provider.mappings.username.expression.as_deref()).filter(|_| gates.on(Gate::UpstreamParity))
}

/// The groups expression, where expressions count.
pub fn groups_expression<'p>(provider: &'p Provider, gates: &Gates) -> Option<&'p str> {
    filled(provider.mappings.groups.expression.as_deref()).filter(|_| gates.on(Gate::UpstreamParity))
}

/// A text that is there and not empty.
pub fn filled(value: Option<&str>) -> Option<&str> {
    value.filter(|value| !value.is_empty())
}

fn jwt(provider: &Provider, gates: &Gates, ca: CaLookup<'_>) -> Option<String> {
    let sources = match (gates.on(Gate::ExternalClaims), provider.sources.as_deref().unwrap_or_default()) {
        (false, _) | (true, []) => None,
        (true, sources) => {
            let sources: Option<Vec<String>> = sources.iter().map(|source| claims_source(source, ca)).collect();
            Some(array(&sources?))
        }
    };
    let rules: Vec<String> = provider.claim_rules.iter().map(claim_rule).collect();
    Some(object([
        ("issuer", Some(issuer(provider, ca)?)),
        ("claimValidationRules", list(&rules)),
        ("claimMappings", Some(mappings(provider, gates))),
        ("userValidationRules", list(&user_rules(provider, gates))),
        ("externalClaimsSources", sources),
    ]))
}

fn issuer(provider: &Provider, ca: CaLookup<'_>) -> Option<String> {
    let issuer = &provider.issuer;
    let audiences: Vec<String> = issuer.audiences.iter().map(|audience| text(audience)).collect();
    let bundle = issuer.ca.as_deref().map(|name| bundle(name, ca));
    Some(object([
        ("url", Some(text(provider.issuer_url()))),
        ("discoveryURL", filled(issuer.discovery_url.as_deref()).map(text)),
        ("certificateAuthority", bundle.transpose_known()?),
        ("audiences", Some(if audiences.is_empty() { "null".to_owned() } else { array(&audiences) })),
        ("audienceMatchPolicy", Some(text("MatchAny"))),
    ]))
}

fn bundle(name: &str, ca: CaLookup<'_>) -> Option<String> {
    match ca(name) {
        CaBundle::Text(bundle) => Some(text(bundle)),
        CaBundle::Unknown | CaBundle::Absent | CaBundle::KeyMissing => None,
    }
}

/// Named but not there, and not named, are two things.
trait Named {
    fn transpose_known(self) -> Option<Option<String>>;
}

impl Named for Option<Option<String>> {
    fn transpose_known(self) -> Option<Option<String>> {
        match self {
            None => Some(None),
            Some(None) => None,
            Some(known) => Some(known),
        }
    }
}

fn mappings(provider: &Provider, gates: &Gates) -> String {
    let mapped = gates.on(Gate::UidAndExtra);
    let extra: Vec<String> = provider
        .mappings
        .extra
        .iter()
        .filter(|_| mapped)
        .map(|extra| {
            object([
                ("key", Some(text(extra.key.as_deref().unwrap_or_default()))),
                ("valueExpression", Some(text(extra.expression.as_deref().unwrap_or_default()))),
            ])
        })
        .collect();
    object([
        ("username", Some(username(provider, gates))),
        ("groups", Some(groups(provider, gates))),
        ("uid", Some(if mapped { uid(provider) } else { object([]) })),
        ("extra", list(&extra)),
    ])
}

fn username(provider: &Provider, gates: &Gates) -> String {
    if let Some(expression) = username_expression(provider, gates) {
        return object([("expression", Some(text(expression)))]);
    }
    object([
        ("claim", filled(provider.mappings.username.claim.as_deref()).map(text)),
        ("prefix", Some(text(&username_prefix(&provider.mappings.username, provider.issuer_url())))),
    ])
}

fn groups(provider: &Provider, gates: &Gates) -> String {
    if let Some(expression) = groups_expression(provider, gates) {
        return object([("expression", Some(text(expression)))]);
    }
    object([
        ("claim", filled(provider.mappings.groups.claim.as_deref()).map(text)),
        ("prefix", Some(text(provider.mappings.groups.prefix.as_deref().unwrap_or_default()))),
    ])
}

fn uid(provider: &Provider) -> String {
    match &provider.mappings.uid {
        None => object([("claim", Some(text("sub")))]),
        Some(uid) => object([
            ("claim", filled(uid.claim.as_deref()).map(text)),
            ("expression", filled(uid.expression.as_deref()).map(text)),
        ]),
    }
}

fn claim_rule(rule: &ClaimRule) -> String {
    match (&rule.kind, &rule.required, &rule.cel) {
        (ClaimRuleKind::RequiredClaim, Some(required), _) => object([
            ("claim", filled(required.claim.as_deref()).map(text)),
            ("requiredValue", filled(required.value.as_deref()).map(text)),
        ]),
        (ClaimRuleKind::Cel, _, Some(cel)) => object([
            ("expression", filled(cel.expression.as_deref()).map(text)),
            ("message", filled(cel.message.as_deref()).map(text)),
        ]),
        (ClaimRuleKind::RequiredClaim | ClaimRuleKind::Cel | ClaimRuleKind::Other(_), _, _) => object([]),
    }
}

fn user_rules(provider: &Provider, gates: &Gates) -> Vec<String> {
    let rules = provider.user_rules.as_deref().unwrap_or_default();
    rules
        .iter()
        .filter(|_| gates.on(Gate::UpstreamParity))
        .map(|rule| {
            object([
                ("expression", Some(text(rule.expression.as_deref().unwrap_or_default()))),
                ("message", filled(rule.message.as_deref()).map(text)),
            ])
        })
        .collect()
}

fn claims_source(source: &ClaimsSource, ca: CaLookup<'_>) -> Option<String> {
    let authentication = match &source.authentication {
        SourceAuthentication::Anonymous => None,
        SourceAuthentication::RequestProvidedToken => Some(object([("type", Some(text("RequestProvidedToken")))])),
        // The operator writes the secret itself into the file.
        SourceAuthentication::ClientCredential | SourceAuthentication::Other(_) => return None,
    };
    let tls = match &source.ca {
        None => None,
        Some(name) => Some(object([("certificateAuthority", Some(bundle(name, ca)?))])),
    };
    let given = |value: &Option<String>| Some(text(value.as_deref().unwrap_or_default()));
    let mappings: Vec<String> = source
        .mappings
        .iter()
        .map(|mapping| object([("name", given(&mapping.name)), ("expression", given(&mapping.expression))]))
        .collect();
    let predicates = source.predicates.as_deref().unwrap_or_default();
    let conditions: Vec<String> =
        predicates.iter().map(|expression| object([("expression", Some(text(expression)))])).collect();
    Some(object([
        ("authentication", authentication),
        ("tls", tls),
        (
            "url",
            Some(object([
                ("hostname", given(&source.url.hostname)),
                ("pathExpression", given(&source.url.path_expression)),
            ])),
        ),
        ("mappings", list(&mappings)),
        ("conditions", list(&conditions)),
    ]))
}

/// A list that is left out when it is empty.
fn list(items: &[String]) -> Option<String> {
    if items.is_empty() { None } else { Some(array(items)) }
}

#[cfg(test)]
mod tests;
