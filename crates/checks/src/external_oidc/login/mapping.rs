//! Username, groups, uid and extra from claims.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a claim has one or two accepted types; the last arm refuses all others"
)]

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::super::gates::Gate;
use super::super::render::{filled, groups_expression, username_expression, username_prefix};
use super::claims::text;
use super::{CREDENTIAL_ID, Login, RefusedBy, Stop, expression_of, refuse};
use trueup_cel::{Held, List, Program, Scope, Value};

impl Login<'_> {
    pub(super) fn username(&self) -> Result<String, Stop> {
        if let Some(expression) = username_expression(self.provider, self.gates) {
            let value = self.evaluate(RefusedBy::Username, expression, Scope::Claims, &self.value)?;
            self.looks_at_email_verified(expression)?;
            return match value {
                Value::String(name) if !name.is_empty() => Ok(name.to_string()),
                Value::String(_) => Err(refuse(RefusedBy::Username, expression, "the user name is empty")),
                other => {
                    let message = format!("a user name has to be a text, and this is {}", other.type_name());
                    Err(refuse(RefusedBy::Username, expression, message))
                }
            };
        }
        let claim = self.provider.mappings.username.claim.as_deref().unwrap_or_default();
        let name = self.text(RefusedBy::Username, claim)?;
        if claim == "email" {
            self.email_verified()?;
        }
        Ok(format!("{}{name}", username_prefix(&self.provider.mappings.username, self.provider.issuer_url())))
    }

    /// kube-apiserver takes no name from an e-mail address of which nothing asks whether it was verified.
    fn looks_at_email_verified(&self, username: &str) -> Result<(), Stop> {
        let selects = |expression: &str, claim: &str| {
            Program::compile(expression, Scope::Claims).is_ok_and(|program| program.selects(claim))
        };
        if !selects(username, "email") {
            return Ok(());
        }
        let extra = self.provider.mappings.extra.iter().filter(|_| self.gates.on(Gate::UidAndExtra));
        let extra = extra.filter_map(|one| one.expression.as_deref());
        let rules = self.provider.claim_rules.iter().filter_map(expression_of).map(|(expression, _)| expression);
        let mut looked_at = [username].into_iter().chain(extra).chain(rules);
        match looked_at.any(|expression| selects(expression, "email_verified")) {
            true => Ok(()),
            false => {
                let message = "the name comes from claims.email, and nothing looks at claims.email_verified: neither the \
                            operator nor kube-apiserver takes such a spec";
                Err(refuse(RefusedBy::EmailVerified, username, message))
            }
        }
    }

    /// A claim that has to be a text; null is an empty one.
    fn text(&self, by: RefusedBy, claim: &str) -> Result<String, Stop> {
        let value = self.claims.get(claim);
        let value = value.ok_or_else(|| refuse(by, claim, format!("the token has no claim {claim}")))?;
        text(value).ok_or_else(|| refuse(by, claim, format!("the claim {claim} is not text")))
    }

    fn email_verified(&self) -> Result<(), Stop> {
        let refused = |message| Err(refuse(RefusedBy::EmailVerified, "email_verified", message));
        match self.claims.get("email_verified") {
            None | Some(Json::Bool(true)) => Ok(()),
            Some(Json::Bool(false) | Json::Null) => refused("the e-mail address is not verified"),
            Some(_) => refused("`email_verified` is neither true nor false"),
        }
    }

    pub(super) fn groups(&self) -> Result<Vec<String>, Stop> {
        if let Some(expression) = groups_expression(self.provider, self.gates) {
            let value = self.evaluate(RefusedBy::Groups, expression, Scope::Claims, &self.value)?;
            return texts(RefusedBy::Groups, expression, &value);
        }
        let Some(claim) = filled(self.provider.mappings.groups.claim.as_deref()) else { return Ok(Vec::new()) };
        let prefix = self.provider.mappings.groups.prefix.as_deref().unwrap_or_default();
        let Some(value) = self.claims.get(claim) else {
            return self.distributed(claim).map(|()| Vec::new());
        };
        let wrong =
            || refuse(RefusedBy::Groups, claim, format!("the claim {claim} is neither a text nor a list of texts"));
        let groups: Vec<String> = match value {
            Json::Null => Vec::new(),
            Json::Array(list) => list.iter().map(|group| text(group).ok_or_else(wrong)).collect::<Result<_, _>>()?,
            other => vec![text(other).ok_or_else(wrong)?],
        };
        Ok(groups.into_iter().map(|group| format!("{prefix}{group}")).collect())
    }

    /// A claim that is not in the token may be kept elsewhere, where kube-apiserver would fetch it.
    fn distributed(&self, claim: &str) -> Result<(), Stop> {
        let source = match self.claims.get("_claim_names") {
            Some(Json::Object(names)) => names.get(claim).and_then(Json::as_str),
            _ => None,
        };
        let Some(source) = source else { return Ok(()) };
        let sources = self.claims.get("_claim_sources");
        let endpoint = sources.and_then(|all| all.get(source)).and_then(|source| source.get("endpoint"));
        match endpoint.and_then(Json::as_str) {
            None | Some("") => Ok(()),
            Some(_) => Err(Stop::NotVerifiable(format!("the claim {claim} is kept elsewhere and would be fetched"))),
        }
    }

    pub(super) fn uid(&self) -> Result<String, Stop> {
        if !self.gates.on(Gate::UidAndExtra) {
            return Ok(String::new());
        }
        let (claim, expression) = match &self.provider.mappings.uid {
            None => (Some("sub"), None),
            Some(uid) => (filled(uid.claim.as_deref()), filled(uid.expression.as_deref())),
        };
        match (claim, expression) {
            (Some(claim), _) => self.text(RefusedBy::Uid, claim),
            (None, Some(expression)) => match self.evaluate(RefusedBy::Uid, expression, Scope::Claims, &self.value)? {
                Value::String(uid) => Ok(uid.to_string()),
                other => {
                    let message = format!("a uid has to be a text, and this is {}", other.type_name());
                    Err(refuse(RefusedBy::Uid, expression, message))
                }
            },
            (None, None) => Ok(String::new()),
        }
    }

    pub(super) fn extra(&self) -> Result<BTreeMap<String, Vec<String>>, Stop> {
        let mut extra = BTreeMap::new();
        if let Some(Json::String(id)) = self.claims.get("jti").filter(|id| id.as_str() != Some("")) {
            extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={id}")]);
        }
        if !self.gates.on(Gate::UidAndExtra) {
            return Ok(extra);
        }
        let mut values = Vec::new();
        for one in &self.provider.mappings.extra {
            let expression = one.expression.as_deref().unwrap_or_default();
            values.push((one, self.evaluate(RefusedBy::Extra, expression, Scope::Claims, &self.value)?));
        }
        for (one, value) in values {
            let texts = texts(RefusedBy::Extra, one.expression.as_deref().unwrap_or_default(), &value)?;
            if !texts.is_empty() {
                extra.insert(one.key.clone().unwrap_or_default(), texts);
            }
        }
        Ok(extra)
    }
}

/// A text, a list of texts, or nothing; empty texts are left out.
fn texts(by: RefusedBy, expression: &str, value: &Value) -> Result<Vec<String>, Stop> {
    let wrong = |message: &str| Err(refuse(by, expression, message));
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(Some(text.to_string()).filter(|text| !text.is_empty()).into_iter().collect()),
        Value::List(List { held: Held::AsStrings, .. }) => {
            wrong("kube-apiserver cannot read a list that a string function made; append `.map(x, x)`")
        }
        Value::List(List { items, .. }) => {
            let mut texts = Vec::new();
            for item in items.iter() {
                // An optional counts as what it holds.
                let item = if let Value::Optional(Some(held)) = item { held } else { item };
                match item {
                    Value::String(text) if text.is_empty() => {}
                    Value::String(text) => texts.push(text.to_string()),
                    _ => return wrong("something in the list is not text"),
                }
            }
            Ok(texts)
        }
        other => wrong(&format!("a text or a list of texts is wanted, and this is {}", other.type_name())),
    }
}
