//! The first look at a token: whose it is, for whom, and whether it is time for it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a claim has one or two accepted types; the last arm refuses all others"
)]

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value as Json};

use super::super::spec::{AuthSpec, Provider};
use super::{RefusedBy, Stop, refuse};

/// The claims of a token that passed the first look, with what was assumed filled in.
pub(super) struct Claims(pub Map<String, Json>);

impl Claims {
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }
}

/// How far the clocks of issuer and API server may be apart for `nbf`.
const LEEWAY: SignedDuration = SignedDuration::from_mins(1);
/// The assumed lifetime of a token without an expiry.
const ASSUMED_LIFE: SignedDuration = SignedDuration::from_hours(1);

/// Finds the provider of a token and looks at issuer, audience and time, in kube-apiserver's order.
pub(super) fn accept<'s>(
    spec: &'s AuthSpec,
    given: &Map<String, Json>,
    now: Timestamp,
) -> Result<(&'s Provider, Claims, Vec<&'static str>), Stop> {
    let Some(first) = spec.providers.first() else {
        return Err(refuse(RefusedBy::Issuer, "spec.oidcProviders", "there is no provider, so no token is accepted"));
    };
    let mut claims = given.clone();
    let assumed = assume(&mut claims, first, now);
    let provider = issuer(spec, &claims)?;
    fields(&claims)?;
    let audiences = audiences(&claims)?;
    let single = provider.issuer.audiences.len() == 1;
    let meant = |audience: &String| audiences.contains(audience);
    let for_us = provider.issuer.audiences.iter().any(meant);
    let wrong_audience = || {
        let wanted = provider.issuer.audiences.join(", ");
        refuse(RefusedBy::Audience, wanted.clone(), format!("`aud` holds none of the audiences: {wanted}"))
    };
    // With several audiences the library leaves the check to kube-apiserver, which comes after the time.
    if single && !for_us {
        return Err(wrong_audience());
    }
    time(&claims, now)?;
    if !for_us {
        return Err(wrong_audience());
    }
    Ok((provider, Claims(claims), assumed))
}

/// Fills in what was not given, from the spec.
fn assume(claims: &mut Map<String, Json>, provider: &Provider, now: Timestamp) -> Vec<&'static str> {
    let end = now.saturating_add(ASSUMED_LIFE).map_or(i64::MAX, Timestamp::as_second);
    let audience = provider.issuer.audiences.first().cloned().unwrap_or_default();
    let defaults =
        [("iss", Json::from(provider.issuer_url())), ("aud", Json::from(audience)), ("exp", Json::from(end))];
    let mut assumed = Vec::new();
    for (name, default) in defaults {
        if !claims.contains_key(name) {
            claims.insert(name.to_owned(), default);
            assumed.push(name);
        }
    }
    assumed
}

fn issuer<'s>(spec: &'s AuthSpec, claims: &Map<String, Json>) -> Result<&'s Provider, Stop> {
    let issuer = match claims.get("iss") {
        // Google's tokens leave the scheme out, and kube-apiserver knows.
        Some(Json::String(issuer)) if issuer == "accounts.google.com" => "https://accounts.google.com",
        Some(Json::String(issuer)) => issuer,
        _ => "",
    };
    let found = spec.providers.iter().find(|provider| provider.issuer_url() == issuer);
    found.ok_or_else(|| {
        let known: Vec<&str> = spec.providers.iter().map(Provider::issuer_url).collect();
        let wanted = known.join(", ");
        let near = known.iter().any(|known| known.trim_end_matches('/') == issuer.trim_end_matches('/'));
        let hint = if near { " (they differ in a slash at the end)" } else { "" };
        refuse(RefusedBy::Issuer, wanted.clone(), format!("`iss` is {issuer:?}, and {wanted:?} is wanted{hint}"))
    })
}

/// Claims the library reads before anybody asks for them: a wrong shape refuses the token.
fn fields(claims: &Map<String, Json>) -> Result<(), Stop> {
    let is_text = |name: &str| matches!(claims.get(name), None | Some(Json::String(_) | Json::Null));
    for (name, by) in [("sub", RefusedBy::Uid), ("nonce", RefusedBy::Username), ("at_hash", RefusedBy::Username)] {
        if !is_text(name) {
            return Err(refuse(by, name, format!("`{name}` is not text, and such a token cannot be read")));
        }
    }
    if claims.get("iat").is_some_and(|time| seconds(time).is_none()) {
        return Err(refuse(RefusedBy::Expired, "iat", "`iat` is not a number of seconds"));
    }
    sources(claims)
}

/// Every name in `_claim_names` has its source.
fn sources(claims: &Map<String, Json>) -> Result<(), Stop> {
    let refused = |message| Err(refuse(RefusedBy::Groups, "_claim_names", message));
    let names = match claims.get("_claim_names") {
        None | Some(Json::Null) => return Ok(()),
        Some(Json::Object(names)) => names,
        Some(_) => return refused("`_claim_names` is not an object"),
    };
    let listed =
        |source: &str| matches!(claims.get("_claim_sources"), Some(Json::Object(all)) if all.contains_key(source));
    for source in names.values() {
        match source {
            Json::String(source) if listed(source) => {}
            Json::String(_) | Json::Null => return refused("a source named there is not in `_claim_sources`"),
            _ => return refused("a source named there is no text"),
        }
    }
    Ok(())
}

/// `aud`, one or many. Null among texts is an empty text to Go.
fn audiences(claims: &Map<String, Json>) -> Result<Vec<String>, Stop> {
    let wrong = || refuse(RefusedBy::Audience, "aud", "`aud` is neither a text nor a list of texts");
    match claims.get("aud") {
        None => Ok(Vec::new()),
        Some(Json::Null) => Ok(vec![String::new()]),
        Some(Json::String(audience)) => Ok(vec![audience.clone()]),
        Some(Json::Array(list)) => list.iter().map(|one| text(one).ok_or_else(wrong)).collect(),
        Some(_) => Err(wrong()),
    }
}

/// A JSON value read into a Go text.
pub(super) fn text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Null => Some(String::new()),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

fn time(claims: &Map<String, Json>, now: Timestamp) -> Result<(), Stop> {
    let refused = |rule: &str, message: String| Err(refuse(RefusedBy::Expired, rule, message));
    let at =
        |name: &str| claims.get(name).map(|value| seconds(value).and_then(|time| Timestamp::from_second(time).ok()));
    match at("exp") {
        Some(Some(end)) if end < now => return refused("exp", format!("the token expired at {end}")),
        Some(None) => return refused("exp", "`exp` is not a number of seconds".to_owned()),
        Some(Some(_)) | None => {}
    }
    match at("nbf") {
        Some(Some(start)) if now.saturating_add(LEEWAY).is_ok_and(|soon| soon < start) => {
            refused("nbf", format!("the token is not valid before {start}"))
        }
        // Null is a pointer to nothing here, and counts as not given.
        Some(None) if !claims.get("nbf").is_some_and(Json::is_null) => {
            refused("nbf", "`nbf` is not a number of seconds".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}

/// Seconds since 1970, as a number or as a text that is one.
fn seconds(value: &Json) -> Option<i64> {
    let number = match value {
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => return None,
    };
    if let Ok(whole) = number.parse() {
        return Some(whole);
    }
    let broken: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && number.abs() < 1e18)?;
    #[expect(clippy::cast_possible_truncation, reason = "its size was looked at")]
    let whole = broken.trunc() as i64;
    Some(whole)
}
