//! The API key and the tokens it buys: used, never shown.
//!
//! Invariant: nothing here implements `Display` or `Serialize`, and `Debug` prints no content; the bytes are
//! overwritten when dropped.

use std::fmt;

use http::HeaderValue;
use serde::Deserialize;

use trueup_net::SecretText;

/// An IBM Cloud API key.
#[derive(Clone)]
pub struct ApiKey(SecretText);

/// Why a text is no API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error("the API key is empty")]
    Empty,
    #[error(
        "the API key has characters that no key has; it should be one line, or the JSON file IBM Cloud offers for download"
    )]
    Characters,
}

/// An access token, ready to be sent.
#[derive(Clone)]
pub(super) struct AccessToken(pub(super) HeaderValue);

impl ApiKey {
    /// Reads a key: the bare line, or the JSON file that IBM Cloud offers for download.
    ///
    /// # Errors
    /// Nothing in it, or characters that no key has.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        #[derive(Deserialize)]
        struct Downloaded {
            apikey: SecretText,
        }
        let text = text.trim();
        let key = match serde_json::from_str::<Downloaded>(text) {
            Ok(Downloaded { apikey }) => SecretText::new(apikey.expose().trim()),
            Err(_) => SecretText::new(text),
        };
        if key.is_empty() {
            return Err(BadKey::Empty);
        }
        if !key.expose().bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'{') {
            return Err(BadKey::Characters);
        }
        Ok(Self(key))
    }

    pub(super) fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_line_or_the_file_ibm_cloud_offers() {
        let cases = [
            ("a line", "abc-DEF_123\n", Ok("abc-DEF_123")),
            ("the downloaded file", r#"{"name": "ci", "apikey": "abc"}"#, Ok("abc")),
            ("empty", " \n", Err(BadKey::Empty)),
            ("empty inside", r#"{"apikey": ""}"#, Err(BadKey::Empty)),
            ("two lines", "abc\ndef", Err(BadKey::Characters)),
            ("other JSON", r#"{"key":"abc"}"#, Err(BadKey::Characters)),
        ];
        for (case, text, expected) in cases {
            let actual = ApiKey::parse(text);
            assert_eq!(actual.as_ref().map(ApiKey::expose), expected.as_ref().map(|key| *key), "case: {case}");
        }
    }

    #[test]
    fn debug_shows_nothing_of_a_key_or_token() {
        let token = AccessToken(HeaderValue::from_static("Bearer canary-77"));
        let shown = format!("{:?} {token:?}", ApiKey::parse("canary-77").unwrap());
        assert_eq!(shown, "ApiKey(…) AccessToken(…)");
    }
}
