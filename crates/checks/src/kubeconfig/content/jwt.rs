//! Tokens that say of themselves how long they hold: service account and OIDC tokens.
//!
//! Invariants: nothing is verified here. Who signed it only the API server can tell.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::packed::decode_url;

/// What a token's claims say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jwt {
    pub issuer: Box<str>,
    pub subject: Box<str>,
    pub issued: Option<Timestamp>,
    pub from: Option<Timestamp>,
    /// Without one the token holds until its signing key or its owner goes.
    pub until: Option<Timestamp>,
}

/// A JWT without readable claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its claims are not a JSON object in base64url")]
pub struct JwtFault;

impl Jwt {
    /// Reads three parts of which the first is base64url of a JSON object with `alg`. Nothing when it is something else.
    ///
    /// # Errors
    /// It is a JWT whose claims are no JSON object.
    pub fn parse(token: &str) -> Option<Result<Self, JwtFault>> {
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, _signature] = parts.as_slice() else { return None };
        let header = json_object(header)?;
        if !header.contains_key("alg") {
            return None;
        }
        let Some(claims) = json_object(claims) else { return Some(Err(JwtFault)) };
        let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default().into();
        Some(Ok(Self {
            issuer: text("iss"),
            subject: text("sub"),
            issued: instant(claims.get("iat")),
            from: instant(claims.get("nbf")),
            until: instant(claims.get("exp")),
        }))
    }
}

/// The JSON object in one part of a token.
fn json_object(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&decode_url(part)?).ok()
}

/// Seconds since 1970, with or without a fraction. A time outside the calendar is the end of it.
fn instant(claim: Option<&Value>) -> Option<Timestamp> {
    let seconds = match claim? {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|seconds| seconds as i64))?,
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let (least, most) = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(seconds.clamp(least, most)).ok()
}
