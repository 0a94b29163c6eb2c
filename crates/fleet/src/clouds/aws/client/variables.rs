//! Environment variables, taken once and passed on as a value.
//!
//! Invariant: a variable that is set but empty counts as unset, as it does in Go, where the controllers this is about
//! were written.

use std::collections::BTreeMap;
use std::fmt;

pub(super) const ROLE_ARN: &str = "AWS_ROLE_ARN";
pub(super) const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";
pub(super) const SESSION_NAME: &str = "AWS_ROLE_SESSION_NAME";
/// What ECS and EKS Pod Identity inject instead of the two above.
pub(super) const CONTAINER_CREDENTIALS: [&str; 2] =
    ["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];

/// The variables of a process, or of a test.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    pub fn new<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        let all = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self(all.filter(|(_, value): &(String, String)| !value.is_empty()).collect())
    }

    /// The value of a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The same without those that name a role and its token.
    pub fn without_web_identity(&self) -> Self {
        let kept = self.0.iter().filter(|(name, _)| ![ROLE_ARN, TOKEN_FILE].contains(&name.as_str()));
        Self(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a switch such as `AWS_USE_FIPS_ENDPOINT` is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

impl fmt::Debug for Variables {
    /// Prints names alone: values may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
