//! The environment variables, taken once at the start and passed on as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The environment of the process, or of a test. Clones share it: every guest of a fleet has one.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    variables: Arc<BTreeMap<OsString, OsString>>,
    request_timeout: Option<Duration>,
}

impl Env {
    /// Takes variables over, such as those of `std::env::vars_os`.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        let variables: BTreeMap<_, _> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables: Arc::new(variables), request_timeout: None }
    }

    /// The same with the user's limit for the time until the response to a read begins. None or zero is no limit.
    #[must_use]
    pub fn answered_within(self, limit: Option<Duration>) -> Self {
        Self { request_timeout: limit.filter(|limit| !limit.is_zero()), ..self }
    }

    /// The user's limit for the time until the response to a read begins.
    pub fn request_timeout(&self) -> Option<Duration> {
        self.request_timeout
    }

    /// The value of a variable that is set, not empty, and text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.raw(name).and_then(OsStr::to_str)
    }

    /// The value of a variable that is set and not empty.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.raw("HOME").map(PathBuf::from)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl fmt::Debug for Env {
    /// Prints names alone: values may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
