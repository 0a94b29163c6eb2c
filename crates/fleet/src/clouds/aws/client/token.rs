//! A web identity token from its file.
//!
//! Invariants:
//! - the file is opened once and read to its end, so that a rotation (a swapped link) gives the old or the new token, never
//!   a mixture;
//! - nothing is sent of a file that holds no token.

#![expect(clippy::wildcard_enum_match_arm, reason = "io::ErrorKind is an open set")]

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::error::{AwsError, Class};
use trueup_core::files;
use trueup_net::SecretText;
use trueup_net::one_line;

/// Service account tokens are about 1 KiB; STS takes 20,000 characters.
const TOKEN_BYTES_MAX: u64 = 20_000;
const TOO_LARGE: &str = "it is larger than any token";

/// A token that can be sent.
pub(in super::super) struct Token {
    pub text: SecretText,
    pub claims: Claims,
}

/// What a token says about itself; nothing of it is verified here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    pub audiences: Vec<String>,
    pub issuer: String,
    pub subject: String,
    pub expires: Option<Timestamp>,
}

impl Claims {
    /// `aud sts.amazonaws.com, iss https://…, sub system:serviceaccount:…, exp 2026-11-16T10:00:00Z`.
    pub fn line(&self) -> String {
        let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { one_line(text, 200) };
        let audiences = or_none(&self.audiences.join(" and "));
        let expires = self.expires.map_or_else(|| "none".to_owned(), |at| at.to_string());
        format!("aud {audiences}, iss {}, sub {}, exp {expires}", or_none(&self.issuer), or_none(&self.subject))
    }
}

/// Reads the token a file holds now.
///
/// # Errors
/// The path is relative, the file cannot be read, or what it holds is not a token.
pub(super) async fn read(path: &Path) -> Result<Token, AwsError> {
    if !path.is_absolute() {
        return Err(unreadable(path, "token-path-relative", "the path is relative; use an absolute path"));
    }
    let bytes = bytes_of(path).await.map_err(|error| {
        let (code, why) = match error.kind() {
            io::ErrorKind::FileTooLarge => ("token-malformed", TOO_LARGE),
            io::ErrorKind::NotFound => ("token-file-missing", "the file does not exist on this machine"),
            io::ErrorKind::PermissionDenied => ("token-file-forbidden", "it may not be read"),
            _ => ("token-file-unreadable", "it cannot be read"),
        };
        unreadable(path, code, why)
    })?;
    parse(&bytes).map_err(|(code, why)| unreadable(path, code, why))
}

async fn bytes_of(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let path = path.to_owned();
    let read = tokio::task::spawn_blocking(move || files::read(&path, TOKEN_BYTES_MAX)).await;
    read.unwrap_or_else(|ended| Err(io::Error::other(ended)))
}

/// Checks what a file holds, and decodes the claims.
pub(in super::super) fn parse(bytes: &[u8]) -> Result<Token, (&'static str, &'static str)> {
    if bytes.len() as u64 > TOKEN_BYTES_MAX {
        return Err(("token-malformed", TOO_LARGE));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| ("token-not-text", "it does not hold text"))?.trim();
    if text.is_empty() {
        return Err(("token-file-empty", "it is empty"));
    }
    let letters = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_' | b'=');
    let parts: Vec<&str> = text.split('.').collect();
    let [header, claims, signature] = parts[..] else {
        return Err(("token-malformed", "it does not hold three parts joined by dots"));
    };
    let clean = |part: &str| !part.is_empty() && part.bytes().all(letters);
    if ![header, claims, signature].into_iter().all(clean) {
        return Err(("token-malformed", "something else stands beside the token"));
    }
    Ok(Token { text: SecretText::new(text), claims: claims_of(claims) })
}

/// The claims, as far as they can be read. STS is the judge of them.
fn claims_of(part: &str) -> Claims {
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).unwrap_or_default());
    let Ok(map) = serde_json::from_slice::<Map<String, Value>>(&bytes) else { return Claims::default() };
    let text = |value: &Value| value.as_str().map(|text| one_line(text, 200));
    let named = |name: &str| map.get(name).and_then(text).unwrap_or_default();
    let audiences = match map.get("aud") {
        Some(Value::Array(all)) => all.iter().filter_map(text).take(10).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    };
    let expires =
        map.get("exp").and_then(Value::as_f64).and_then(|seconds| Timestamp::from_second(seconds as i64).ok());
    Claims { audiences, issuer: named("iss"), subject: named("sub"), expires }
}

fn unreadable(path: &Path, code: &'static str, why: &str) -> AwsError {
    let message = format!("the web identity token {}: {why}", shown(path));
    let remedy = match code {
        "token-path-relative" => "give AWS_WEB_IDENTITY_TOKEN_FILE as a path that begins with /",
        "token-file-missing" => "mount the service account token there, or run where it is mounted",
        "token-file-forbidden" => "let this user read it (fsGroup of the pod)",
        _ => "see what writes the file: it should hold one token and nothing else",
    };
    AwsError::new(Class::TokenUnreadable, code, message, remedy)
}

fn shown(path: &Path) -> String {
    one_line(&PathBuf::from(path).display().to_string(), 200)
}
