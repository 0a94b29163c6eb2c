//! The keyed digest that stands for a secret value.
//!
//! Invariants: the key is random, made once a run and never leaves memory, so a digest can be compared inside a run
//! and tells nothing outside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::world::Digest;

/// Makes digests with one run's key.
#[derive(Clone)]
pub struct Digester {
    keyed: Hmac<Sha256>,
}

impl Digester {
    /// A digester with this key. The caller brings the randomness.
    pub fn new(key: &[u8; 32]) -> Self {
        Self { keyed: Hmac::new_from_slice(key).expect("HMAC takes a key of any length") }
    }

    /// The digest of a value's text.
    pub fn digest(&self, text: &[u8]) -> Digest {
        let mut mac = self.keyed.clone();
        mac.update(text);
        let full = mac.finalize().into_bytes();
        let mut short = [0; 16];
        short.copy_from_slice(&full[..16]);
        Digest(short)
    }

    /// Length and digest of a Secret's value, given as the base64 text the API uses.
    ///
    /// Files may fold that text over lines, so white space is left out first.
    pub(super) fn base64_value(&self, text: &str, wanted: bool) -> (u32, Option<Digest>) {
        if has_blanks(text) {
            let folded: Zeroizing<String> = Zeroizing::new(text.split_ascii_whitespace().collect());
            return self.straight_value(&folded, wanted);
        }
        self.straight_value(text, wanted)
    }

    /// The same without white space. Whatever else is in it is digested as it is.
    fn straight_value(&self, text: &str, wanted: bool) -> (u32, Option<Digest>) {
        (decoded_length(text), wanted.then(|| self.digest(text.as_bytes())))
    }

    /// The same for a value given as plain text (`stringData` in files): equal to its base64 form.
    pub(super) fn plain_value(&self, text: &str, wanted: bool) -> (u32, Option<Digest>) {
        self.bytes_value(text.as_bytes(), wanted)
    }

    /// The same for the value's bytes.
    pub(super) fn bytes_value(&self, bytes: &[u8], wanted: bool) -> (u32, Option<Digest>) {
        let digest = wanted.then(|| self.digest(Zeroizing::new(STANDARD.encode(bytes)).as_bytes()));
        (u32::try_from(bytes.len()).unwrap_or(u32::MAX), digest)
    }
}

impl std::fmt::Debug for Digester {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digester(…)")
    }
}

/// Looks at 64 bytes at a time without leaving early, which compiles to a few wide instructions.
fn has_blanks(text: &str) -> bool {
    text.as_bytes().chunks(64).any(|chunk| chunk.iter().fold(false, |found, &byte| found | (byte <= b' ')))
}

fn decoded_length(text: &str) -> u32 {
    let padding = text.bytes().rev().take_while(|&byte| byte == b'=').count();
    let length = (text.len() - padding) * 3 / 4;
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_base64_and_plain_text_digest_like_the_value_they_stand_for() {
        let digester = Digester::new(&[7; 32]);
        let straight = digester.base64_value("aGVsbG8gd29ybGQ=", true);
        assert_eq!(straight.0, 11);
        assert_eq!(digester.base64_value("aGVsbG8g\n  d29ybGQ=\n", true), straight);
        assert_eq!(digester.plain_value("hello world", true), straight);
        // Control characters are neither base64 nor white space.
        assert_eq!(digester.base64_value("aGVs\u{1}\n", true).0, 3);
        assert_ne!(Digester::new(&[8; 32]).base64_value("aGVsbG8gd29ybGQ=", true), straight);
    }
}
