//! Continue tokens: next key and version of a list.
//!
//! Invariants: a token pins the version of the first page; only a token from a 410 response (version -1) continues at
//! the newest state.
//!
//! Elsewhere: using a token (`list`). The format is that of `k8s.io/apiserver/pkg/storage/continue.go`.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use serde::{Deserialize, Serialize};

use super::content::go_json_error;

/// Go's raw URL encoding, which accepts trailing bits.
const TOKEN: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// The state a token continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Version(u64),
    Newest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub at: At,
    /// The first key of the next page, relative to the prefix of the list.
    pub start: String,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

impl Token {
    pub fn encode(&self) -> String {
        let rv = match self.at {
            At::Version(version) => i64::try_from(version).unwrap_or(i64::MAX),
            At::Newest => -1,
        };
        let wire = Wire { v: "meta.k8s.io/v1".into(), rv, start: self.start.clone() };
        TOKEN.encode(serde_json::to_vec(&wire).expect("a token always serialises"))
    }

    /// The error is the text after `invalid continue token: `.
    pub fn decode(text: &str) -> Result<Self, String> {
        let bytes = TOKEN.decode(text).map_err(|error| {
            let at = match error {
                base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => text.len() / 4 * 4,
            };
            format!("continue key is not valid: illegal base64 data at input byte {at}")
        })?;
        let wire: Wire = serde_json::from_slice(&bytes)
            .map_err(|error| format!("continue key is not valid: {}", go_json_error(&error, &bytes)))?;
        if wire.v != "meta.k8s.io/v1" {
            let known = "continue key is not valid: server does not recognize this encoded version";
            return Err(format!("{known} {}", wire.v));
        }
        let at = match wire.rv {
            0 => {
                return Err(
                    "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"
                        .into(),
                );
            }
            version if version < 0 => At::Newest,
            version => At::Version(version.unsigned_abs()),
        };
        if wire.start.is_empty() {
            return Err("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)".into());
        }
        if is_not_clean(&wire.start) {
            return Err(format!("continue key is not valid: {}", wire.start));
        }
        Ok(Self { at, start: wire.start })
    }
}

/// Whether a key could leave its prefix.
fn is_not_clean(start: &str) -> bool {
    let rooted = start.strip_prefix('/').unwrap_or(start);
    rooted.split('/').any(|part| matches!(part, "" | "." | ".."))
}
