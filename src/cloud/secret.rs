//! Text that may be sent but never shown: access keys, session tokens, web identity tokens.
//!
//! Always true:
//! - its `Debug` prints nothing of the content, and there is no `Display` or `Serialize`;
//! - the bytes are overwritten when it is dropped.
//!
//! The same as `fleet::SecretText`, which this room may not use: the fleet stands on the clouds, not the other way round.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A secret text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
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

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_the_content() {
        let secret = Secret::new("canary-81c4");
        assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(…) Secret(…)");
    }
}
