//! Verification of Version 4 signatures, independent of the client's library.

use std::collections::BTreeMap;

use hmac::{Hmac, Mac as _};
use http::HeaderMap;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::answer::Refused;
use super::{KeyState, State};

/// Largest accepted clock skew.
const SKEW_SECONDS_MAX: i64 = 15 * 60;

/// The identity of a valid signature.
pub(super) struct Signed {
    pub keys: KeyState,
    pub region: String,
}

/// Checks a request's signature for a service.
pub(super) fn check(
    state: &State,
    service: &str,
    path: &str,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<Signed, Refused> {
    let missing = || Refused::new(403, "MissingAuthenticationToken", "Request is missing Authentication Token");
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let authorization =
        text("authorization").and_then(|line| line.strip_prefix("AWS4-HMAC-SHA256 ")).ok_or_else(missing)?;
    let parts: BTreeMap<&str, &str> = authorization.split(',').filter_map(|part| part.trim().split_once('=')).collect();
    let part = |name: &str| parts.get(name).copied().ok_or_else(missing);
    let (credential, signed_headers, signature) = (part("Credential")?, part("SignedHeaders")?, part("Signature")?);
    let scope: Vec<&str> = credential.split('/').collect();
    let [id, date, region, scoped_service, "aws4_request"] = scope[..] else { return Err(missing()) };
    let stamp = text("x-amz-date").ok_or_else(missing)?;

    let unknown = || match service {
        "ec2" => Refused::new(401, "AuthFailure", "AWS was not able to validate the provided access credentials"),
        _ => Refused::new(403, "InvalidClientTokenId", "The security token included in the request is invalid."),
    };
    let keys = state.keys.get(id).ok_or_else(unknown)?;
    if keys.session_token.as_deref() != text("x-amz-security-token") {
        return Err(unknown());
    }
    if scoped_service != service || !stamp.starts_with(date) {
        return Err(Refused::new(403, "SignatureDoesNotMatch", "Credential should be scoped to correct service."));
    }
    if seconds_apart(stamp, now).is_none_or(|apart| apart > SKEW_SECONDS_MAX) {
        return Err(Refused::new(400, "RequestExpired", "Request has expired."));
    }
    let mut lines = String::new();
    for name in signed_headers.split(';') {
        lines.push_str(&format!("{name}:{}\n", text(name).unwrap_or_default().trim()));
    }
    let canonical = format!("POST\n{path}\n\n{lines}\n{signed_headers}\n{}", hex(&Sha256::digest(body)));
    let scope = format!("{date}/{region}/{service}/aws4_request");
    let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
    let start = mac(format!("AWS4{}", keys.secret).as_bytes(), date.as_bytes());
    let key = [region, service, "aws4_request"].iter().fold(start, |key, word| mac(&key, word.as_bytes()));
    if hex(&mac(&key, to_sign.as_bytes())) != signature || !signed_headers.split(';').any(|name| name == "host") {
        let message = "The request signature we calculated does not match the signature you provided.";
        return Err(Refused::new(403, "SignatureDoesNotMatch", message));
    }
    if keys.expires.is_some_and(|at| at <= now) {
        return Err(match service {
            "ec2" => Refused::new(400, "RequestExpired", "Request has expired."),
            _ => Refused::new(403, "ExpiredToken", "The security token included in the request is expired"),
        });
    }
    Ok(Signed { keys: keys.clone(), region: region.to_owned() })
}

fn seconds_apart(stamp: &str, now: Timestamp) -> Option<i64> {
    let then = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", stamp).ok()?;
    let then = then.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some((now.as_second() - then.as_second()).abs())
}

pub(super) fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
