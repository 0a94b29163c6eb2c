//! Text that may be used but never shown: tokens, passwords, private and access keys.
//!
//! Invariants:
//! - its `Debug` prints nothing of the content, and there is no `Display` or `Serialize`;
//! - the bytes are overwritten when it is dropped;
//! - text of a server that was sent a secret passes through [`hide`] before it is shown.
//!
//! # Limits
//! Copies made by parsers and by the HTTP stack's header buffers are outside our reach.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// Replaces a secret.
const HIDDEN: &str = "<secret>";

/// Secrets shorter than this are looked for as they are alone: a few letters of their base64 stand in any text.
const ENCODED_MIN: usize = 8;

/// How many characters after `eyJ` make a word a token: all JSON Web Tokens begin with these letters, and few words do.
const TOKEN_TAIL_MIN: usize = 16;

/// A secret text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretText(Zeroizing<String>);

impl SecretText {
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The content. Every call of this is a place where a secret could get out.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// The text of a server without the secret that the server was sent and may repeat.
///
/// A text that holds it in another form (percent, hex, base64 wherever it begins) is not shown at all, and what looks like
/// a token is taken for one, whole or cut short.
pub fn hide(secret: &str, text: &str) -> String {
    if secret.is_empty() {
        return without_tokens(text);
    }
    let plain = text.replace(secret, HIDDEN);
    if secret.len() >= ENCODED_MIN && holds_encoded(secret, &plain) {
        return HIDDEN.to_owned();
    }
    without_tokens(&plain)
}

fn holds_encoded(secret: &str, text: &str) -> bool {
    let holds = |form: &str| text.contains(form);
    let hex = Zeroizing::new(secret.bytes().map(|byte| format!("{byte:02x}")).collect::<String>());
    let is_in_base64 = (0..3).any(|offset| {
        let core = base64_core(secret, offset);
        holds(&core) || holds(&core.replace('+', "-").replace('/', "_"))
    });
    let unescaped = Zeroizing::new(percent_decode_str(text).decode_utf8_lossy().into_owned());
    is_in_base64 || unescaped.contains(secret) || text.to_ascii_lowercase().contains(hex.as_str())
}

/// What base64 makes of a text that begins `offset` bytes after a multiple of three, without the letters at both ends that
/// its neighbours change.
fn base64_core(text: &str, offset: usize) -> Zeroizing<String> {
    let bytes = Zeroizing::new([&vec![0; offset], text.as_bytes()].concat());
    let encoded = Zeroizing::new(STANDARD.encode(bytes.as_slice()));
    let whole = bytes.len() / 3 * 4;
    Zeroizing::new(encoded[(offset * 8).div_ceil(6)..whole].to_owned())
}

/// The text with every word that begins like a token replaced, dots and all.
fn without_tokens(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '=' | '+' | '/');
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("eyJ") {
        let length = rest[start..].find(|letter| !is_part(letter)).unwrap_or(rest.len() - start);
        let is_token = length >= "eyJ".len() + TOKEN_TAIL_MIN;
        shown.push_str(&rest[..start]);
        shown.push_str(if is_token { HIDDEN } else { &rest[start..start + length] });
        rest = &rest[start + length..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_removed_from_text_in_any_form() {
        let secret = "s3cret/Key+0123456789";
        let percent = |byte: u8| format!("%{byte:02X}");
        let cases = [
            ("nothing of it", "no such key".to_owned(), "no such key"),
            ("as it is", format!("key {secret} is wrong"), "key <secret> is wrong"),
            ("percent", secret.bytes().map(percent).collect(), HIDDEN),
            ("what a form makes of it", format!("apikey={}", "s3cret%2fKey%2B0123456789"), HIDDEN),
            ("hex", secret.bytes().map(|byte| format!("{byte:02X}")).collect(), HIDDEN),
            ("base64", format!("got {}", STANDARD.encode(secret)), HIDDEN),
            ("base64 after a byte", STANDARD.encode(format!("a{secret}")), HIDDEN),
            ("base64 after two", STANDARD.encode(format!("ab{secret}")), HIDDEN),
            ("base64 for URLs", STANDARD.encode(format!("{secret}~")).replace('+', "-").replace('/', "_"), HIDDEN),
        ];
        for (case, text, expected) in cases {
            assert_eq!(hide(secret, &text), expected, "case: {case}");
        }
        assert_eq!(hide("key", "the key a2V5"), "the <secret> a2V5", "too short to be looked for in base64");
    }

    #[test]
    fn what_looks_like_a_token_is_taken_for_one_even_when_it_is_cut_short() {
        let cases = [
            ("whole", "token eyJhbGciOiJSUzI1NiJ9.eyJpYW0iOiJ4In0.c2lt: over", "token <secret>: over"),
            ("cut short", "eyJhbGciOiJSUzI1NiIs...", HIDDEN),
            ("a word", "eyJack is not a token", "eyJack is not a token"),
            ("twice", "eyJhbGciOiJSUzI1NiJ9,eyJhbGciOiJSUzI1NiJ9", "<secret>,<secret>"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(hide("another-secret", text), expected, "case: {case}");
        }
    }

    #[test]
    fn debug_shows_nothing_of_the_content() {
        let secret = SecretText::new("canary-5f2e".to_owned());
        assert_eq!(format!("{secret:?} {secret:#?}"), "SecretText(…) SecretText(…)");
    }
}
