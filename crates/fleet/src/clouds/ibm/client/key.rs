//! The credentials of an account and the tokens they buy: used, never shown.
//!
//! Invariant: nothing here implements `Display` or `Serialize`, and `Debug` prints no content; the bytes are
//! overwritten when dropped.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::HeaderValue;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::session::escaped;
use trueup_core::files;
use trueup_net::SecretText;

/// An IBM Cloud API key.
#[derive(Clone)]
pub struct ApiKey(SecretText);

/// How a client gets its access tokens.
#[derive(Debug, Clone)]
pub enum Credential {
    Key(ApiKey),
    /// A file with an access token, which another program keeps current. It is read again every [`TOKEN_FILE_FOR`].
    TokenFile(PathBuf),
    /// A trusted profile, by name or id, for the compute resource token in the first of these files that can be read.
    TrustedProfile {
        profile: String,
        token_files: Vec<PathBuf>,
    },
}

/// How long the token of a file is used before the file is read again.
pub(super) const TOKEN_FILE_FOR: Duration = Duration::from_secs(60);

/// Where IBM Cloud mounts the token of a compute resource, as its own clients look for it.
pub const COMPUTE_TOKEN_FILES: [&str; 3] = [
    "/var/run/secrets/tokens/vault-token",
    "/var/run/secrets/tokens/sa-token",
    "/var/run/secrets/codeengine.cloud.ibm.com/compute-resource-token/token",
];

/// How ids of trusted profiles begin; anything else is a name.
const PROFILE_ID: &str = "Profile-";

/// What a credential is exchanged for a token with.
pub(super) enum Exchange {
    /// The form that is sent to IAM, and the secret in it.
    Form { form: Zeroizing<String>, secret: SecretText },
    /// The token itself.
    Token(SecretText),
}

impl From<ApiKey> for Credential {
    fn from(key: ApiKey) -> Self {
        Self::Key(key)
    }
}

impl Credential {
    /// Reads what is exchanged: files are read each time.
    ///
    /// # Errors
    /// The file that cannot be read, without its content.
    pub(super) fn exchange(&self) -> Result<Exchange, String> {
        match self {
            Self::Key(key) => {
                let encoded = Zeroizing::new(escaped(key.expose()));
                let grant =
                    "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&response_type=cloud_iam&apikey=";
                let form = Zeroizing::new(format!("{grant}{}", encoded.as_str()));
                Ok(Exchange::Form { form, secret: key.0.clone() })
            }
            Self::TokenFile(path) => read_token(path).map(Exchange::Token),
            Self::TrustedProfile { profile, token_files } => {
                let token = token_files.iter().find_map(|path| read_token(path).ok());
                let secret = token.ok_or("no compute resource token can be read; set CR_TOKEN_FILENAME")?;
                let encoded = Zeroizing::new(escaped(secret.expose()));
                let key = if profile.starts_with(PROFILE_ID) { "profile_id" } else { "profile_name" };
                let grant = "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Acr-token";
                let form = format!("{grant}&{key}={}&cr_token={}", escaped(profile), encoded.as_str());
                Ok(Exchange::Form { form: Zeroizing::new(form), secret })
            }
        }
    }
}

fn read_token(path: &Path) -> Result<SecretText, String> {
    let text = files::read_text(path, files::CREDENTIAL_BYTES_MAX);
    let text = text.map_err(|error| format!("{} cannot be read: {}", path.display(), error.kind()))?;
    let token = text.trim().trim_start_matches("Bearer ").trim();
    match token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Err(format!("{} holds no token", path.display())),
        false => Ok(SecretText::new(token)),
    }
}

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

    fn expose(&self) -> &str {
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

    /// The form that a credential sends, or the token it is.
    fn exchanged(credential: &Credential) -> Result<String, String> {
        credential.exchange().map(|exchange| match exchange {
            Exchange::Form { form, .. } => form.to_string(),
            Exchange::Token(token) => format!("token {}", token.expose()),
        })
    }

    #[test]
    fn each_credential_has_its_own_exchange() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        std::fs::write(&file, "Bearer a.b.c\n").unwrap();
        let profile = |profile: &str| Credential::TrustedProfile {
            profile: profile.to_owned(),
            token_files: vec![dir.path().join("absent"), file.clone()],
        };
        let grant = "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3A";
        let cases = [
            (
                "a key",
                Credential::Key(ApiKey::parse("k+1").unwrap()),
                format!("{grant}apikey&response_type=cloud_iam&apikey=k%2B1"),
            ),
            ("a token", Credential::TokenFile(file.clone()), "token a.b.c".to_owned()),
            (
                "a profile by name",
                profile("ops team"),
                format!("{grant}cr-token&profile_name=ops%20team&cr_token=a.b.c"),
            ),
            ("a profile by id", profile("Profile-1"), format!("{grant}cr-token&profile_id=Profile-1&cr_token=a.b.c")),
        ];
        for (case, credential, expected) in cases {
            assert_eq!(exchanged(&credential), Ok(expected), "case: {case}");
        }
        let absent = Credential::TokenFile(dir.path().join("absent"));
        assert!(exchanged(&absent).unwrap_err().contains("cannot be read"));
        std::fs::write(&file, " \n").unwrap();
        assert!(exchanged(&Credential::TokenFile(file.clone())).unwrap_err().contains("holds no token"));
    }

    #[test]
    fn debug_shows_nothing_of_a_key_or_token() {
        let token = AccessToken(HeaderValue::from_static("Bearer canary-77"));
        let shown = format!("{:?} {token:?}", ApiKey::parse("canary-77").unwrap());
        assert_eq!(shown, "ApiKey(…) AccessToken(…)");
    }
}
