//! Who a token would be: claims in, identity out, or the rule that refuses.
//!
//! Invariants:
//! - the order of the checks is kube-apiserver's, so the first refusal here is the one a user would meet;
//! - signatures are not checked, and nothing is fetched;
//! - what cannot be decided (an expression beyond this program) is an answer of its own, never a yes or a no.
//!
//! Elsewhere: whether the spec is right (`validate`); the group `system:authenticated`, which the API server adds to
//! every user afterwards.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a claim has one or two accepted types; the last arm refuses all others"
)]

mod claims;
mod mapping;
mod token;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::gates::{Gate, Gates};
use super::render::filled;
use super::spec::{AuthSpec, ClaimRule, ClaimRuleKind, ClaimsSource, Provider};
use claims::Claims;
pub use token::{BadToken, TEXT_MAX as TOKEN_MAX, Token};
use trueup_cel::{CelError, Fault, Program, Scope, Value};

/// The result of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Accepted(Identity),
    Refused(Refusal),
    /// Upstream would decide, and this program can't tell how.
    NotVerifiable(String),
}

/// Who the token is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    pub username: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
    /// Claims that were not given and are taken to be right.
    pub assumed: Vec<&'static str>,
    /// Names that Kubernetes keeps for itself.
    pub reserved: Vec<Reserved>,
}

/// A name that starts with `system:`. Nothing refuses it, and RBAC may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    Username(String),
    Group(String),
}

/// Why there is no login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub by: RefusedBy,
    /// The expression, claim or value that refuses.
    pub rule: String,
    pub message: String,
}

trueup_core::named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum RefusedBy {
        Issuer = "issuer",
        Audience = "audience",
        Expired = "expired",
        ClaimRule = "claim-rule",
        UserRule = "user-rule",
        Username = "username",
        Groups = "groups",
        Uid = "uid",
        Extra = "extra",
        EmailVerified = "email-verified",
    }
}

/// Why the way ends before an identity.
enum Stop {
    Refused(Refusal),
    NotVerifiable(String),
}

fn refuse(by: RefusedBy, rule: impl Into<String>, message: impl Into<String>) -> Stop {
    Stop::Refused(Refusal { by, rule: rule.into(), message: message.into() })
}

/// The key under which a token's id stands among the extra values.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Logs a token in, on paper.
pub fn login(spec: &AuthSpec, gates: &Gates, token: &Token, now: Timestamp) -> Answer {
    match run(spec, gates, token, now) {
        Ok(identity) => Answer::Accepted(identity),
        Err(Stop::Refused(refusal)) => Answer::Refused(refusal),
        Err(Stop::NotVerifiable(why)) => Answer::NotVerifiable(why),
    }
}

fn run(spec: &AuthSpec, gates: &Gates, token: &Token, now: Timestamp) -> Result<Identity, Stop> {
    let (provider, claims, assumed) = claims::accept(spec, &token.claims, now)?;
    let login = Login { provider, gates, claims: &claims, value: Value::claims(&claims.0) };
    login.sources()?;
    let username = login.username()?;
    let groups = login.groups()?;
    let uid = login.uid()?;
    let extra = login.extra()?;
    login.claim_rules()?;
    let mut identity = Identity { username, uid, groups, extra, assumed, reserved: Vec::new() };
    login.user_rules(&identity)?;
    identity.reserved = reserved(&identity);
    Ok(identity)
}

fn reserved(identity: &Identity) -> Vec<Reserved> {
    let is_reserved = |name: &&String| name.starts_with("system:");
    let username = Some(&identity.username).filter(is_reserved).map(|name| Reserved::Username(name.clone()));
    let groups = identity.groups.iter().filter(is_reserved).map(|name| Reserved::Group(name.clone()));
    username.into_iter().chain(groups).collect()
}

/// One token on its way through one provider.
struct Login<'a> {
    provider: &'a Provider,
    gates: &'a Gates,
    claims: &'a Claims,
    value: Value,
}

impl Login<'_> {
    /// The rules on claims: required ones first, then expressions.
    fn claim_rules(&self) -> Result<(), Stop> {
        let rules = &self.provider.claim_rules;
        for rule in rules {
            if let (ClaimRuleKind::RequiredClaim, Some(required)) = (&rule.kind, &rule.required) {
                let claim = required.claim.as_deref().unwrap_or_default();
                let value = required.value.as_deref().unwrap_or_default();
                self.required_claim(claim, value)?;
            }
        }
        let expressions: Vec<(&str, &str)> = rules.iter().filter_map(expression_of).collect();
        let mut results = Vec::new();
        for (expression, message) in expressions {
            let value = self.evaluate(RefusedBy::ClaimRule, expression, Scope::Claims, &self.value)?;
            results.push((expression, message, value));
        }
        results
            .into_iter()
            .try_for_each(|(expression, message, value)| passes(RefusedBy::ClaimRule, expression, message, &value))
    }

    fn required_claim(&self, claim: &str, wanted: &str) -> Result<(), Stop> {
        let refuse = |message: String| Err(refuse(RefusedBy::ClaimRule, format!("{claim} = {wanted}"), message));
        match self.claims.get(claim) {
            None => refuse(format!("required claim {claim} is not in the token")),
            Some(Json::String(value)) if value == wanted => Ok(()),
            // Go reads null into a text as an empty one.
            Some(Json::Null) if wanted.is_empty() => Ok(()),
            Some(Json::String(_) | Json::Null) => refuse(format!("required claim {claim} has another value")),
            Some(_) => refuse(format!("required claim {claim} is not text")),
        }
    }

    fn user_rules(&self, identity: &Identity) -> Result<(), Stop> {
        if !self.gates.on(Gate::UpstreamParity) {
            return Ok(());
        }
        let user = user_value(identity);
        let mut results = Vec::new();
        for rule in self.provider.user_rules.as_deref().unwrap_or_default() {
            let expression = rule.expression.as_deref().unwrap_or_default();
            let value = self.evaluate(RefusedBy::UserRule, expression, Scope::User, &user)?;
            results.push((expression, rule.message.as_deref().unwrap_or_default(), value));
        }
        results
            .into_iter()
            .try_for_each(|(expression, message, value)| passes(RefusedBy::UserRule, expression, message, &value))
    }

    /// Claims from elsewhere would be fetched before anything else is looked at.
    fn sources(&self) -> Result<(), Stop> {
        let sources = self.provider.sources.as_deref().filter(|_| self.gates.on(Gate::ExternalClaims));
        let Some(source) = sources.and_then(<[ClaimsSource]>::first) else { return Ok(()) };
        let host = source.url.hostname.as_deref().unwrap_or_default();
        Err(Stop::NotVerifiable(format!("claims would be fetched from {host:?} (externalClaimsSources)")))
    }

    /// What an expression gives; whatever goes wrong refuses the login.
    fn evaluate(&self, by: RefusedBy, expression: &str, scope: Scope, variable: &Value) -> Result<Value, Stop> {
        let program = match Program::compile(expression, scope) {
            Ok(program) => program,
            Err(CelError::Wrong(why)) => {
                return Err(refuse(by, expression, format!("the expression does not compile: {why}")));
            }
            Err(CelError::NotVerifiable(why)) => return Err(Stop::NotVerifiable(format!("{expression}: {why}"))),
        };
        program.evaluate(variable).map_err(|fault| match fault {
            Fault::Error(why) => refuse(by, expression, format!("the expression has no value for this token: {why}")),
            Fault::NotVerifiable(why) => Stop::NotVerifiable(format!("{expression}: {why}")),
        })
    }
}

fn expression_of(rule: &ClaimRule) -> Option<(&str, &str)> {
    let cel = rule.cel.as_ref().filter(|_| rule.kind == ClaimRuleKind::Cel)?;
    Some((filled(cel.expression.as_deref())?, cel.message.as_deref().unwrap_or_default()))
}

fn passes(by: RefusedBy, expression: &str, message: &str, value: &Value) -> Result<(), Stop> {
    match value {
        Value::Bool(true) => Ok(()),
        Value::Bool(false) => Err(refuse(by, expression, message)),
        _ => Err(refuse(by, expression, "a rule has to give true or false")),
    }
}

/// The identity as rules on the user see it.
fn user_value(identity: &Identity) -> Value {
    let Identity { username, uid, groups, extra, assumed: _, reserved: _ } = identity;
    let extra: Map<String, Json> = extra.iter().map(|(key, values)| (key.clone(), values.clone().into())).collect();
    let fields = [
        ("username", Json::from(username.clone())),
        ("uid", Json::from(uid.clone())),
        ("groups", Json::from(groups.clone())),
        ("extra", Json::Object(extra)),
    ];
    Value::claims(&fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests;
