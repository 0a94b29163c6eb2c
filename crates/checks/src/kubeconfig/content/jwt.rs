//! Tokens that say of themselves how long they hold: service account and OIDC tokens.
//!
//! Invariants: nothing is verified here. Who signed it only the API server can tell.

use jiff::Timestamp;
use serde::Deserialize;
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

impl Jwt {
    /// Reads three base64url parts of which the first is a header with an algorithm. Nothing when it is something else.
    pub fn parse(token: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Header {
            alg: String,
        }
        let mut parts = token.split('.');
        let (header, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || decode_url(signature).is_none() {
            return None;
        }
        let header: Header = serde_json::from_slice(&decode_url(header)?).ok()?;
        let claims: Map<String, Value> = serde_json::from_slice(&decode_url(claims)?).ok()?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default().into();
        (!header.alg.is_empty()).then(|| Self {
            issuer: text("iss"),
            subject: text("sub"),
            issued: instant(claims.get("iat")),
            from: instant(claims.get("nbf")),
            until: instant(claims.get("exp")),
        })
    }
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
