//! Errors of commands: what failed, why, what to do.
//!
//! Invariants: the kind decides the exit code; the text holds no secret and is escaped where it is printed.

use std::fmt;

use super::ask::unmistakable;
use trueup_operate::{ErrorClass, OperateError};

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    pub kind: ErrorKind,
    /// What the user was doing, as in "while reading the snapshot".
    pub doing: String,
    pub cause: String,
    /// What to do. May be empty.
    pub hint: String,
}

/// Decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line is wrong.
    Usage,
    /// Any other failure.
    Failed,
    /// A safety rule refused it.
    Refused,
    /// The plan is stale, or its id differs from the expected one.
    Stale,
}

impl CliError {
    pub fn usage(doing: impl Into<String>, cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Usage, doing: doing.into(), cause: cause.into(), hint: hint.into() }
    }

    pub fn failed(doing: impl Into<String>, cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Failed, doing: doing.into(), cause: cause.into(), hint: hint.into() }
    }

    pub fn refused(doing: impl Into<String>, cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Refused, doing: doing.into(), cause: cause.into(), hint: hint.into() }
    }

    pub fn stale(doing: impl Into<String>, cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Stale, doing: doing.into(), cause: cause.into(), hint: hint.into() }
    }

    /// An error of an operation, with what the command was doing.
    pub fn operate(doing: &str, error: &OperateError) -> Self {
        let kind = match error.class() {
            ErrorClass::Usage => ErrorKind::Usage,
            ErrorClass::Failed => ErrorKind::Failed,
            ErrorClass::Refused => ErrorKind::Refused,
            ErrorClass::Stale => ErrorKind::Stale,
        };
        let doing = error.subject().unwrap_or(doing).to_owned();
        // Escapes distinguish names that only look alike.
        let has_names = matches!(error, OperateError::Refused(_) | OperateError::Identity { .. });
        let cause = if has_names { unmistakable(&error.to_string()) } else { error.cause() };
        Self { kind, doing, cause, hint: error.advice() }
    }

    pub fn code(&self) -> u8 {
        match self.kind {
            ErrorKind::Usage | ErrorKind::Failed => 1,
            ErrorKind::Refused => 3,
            ErrorKind::Stale => 4,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind: _, doing, cause, hint } = self;
        let separator = if doing.is_empty() { "" } else { ": " };
        write!(f, "trueup: {doing}{separator}{cause}")?;
        if hint.is_empty() { Ok(()) } else { write!(f, "; {hint}") }
    }
}
