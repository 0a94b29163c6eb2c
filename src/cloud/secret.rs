//! Text that may be used but never shown: tokens, passwords, private and access keys.
//!
//! Always true:
//! - its `Debug` prints nothing of the content, and there is no `Display` or `Serialize`;
//! - the bytes are overwritten when it is dropped.
//!
//! # Limits
//! Copies made by parsers and by the HTTP stack's header buffers are outside our reach.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A secret text.
#[derive(Clone, PartialEq, Eq)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_the_content() {
        let secret = SecretText::new("canary-5f2e".to_owned());
        assert_eq!(format!("{secret:?} {secret:#?}"), "SecretText(…) SecretText(…)");
    }
}
