//! Errors at the edge: one sentence with what was being done, the cause, and a way out.
//!
//! Invariants: the kind decides the exit code; the text holds no secret and is escaped where it is printed.

use std::fmt;

use super::ask::unmistakable;
use trueup_operate::{ErrorClass, OperateError};

/// Why a command could not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    pub kind: ErrorKind,
    /// What the user was doing, as in "while reading the snapshot".
    pub doing: String,
    pub cause: String,
    /// Something to try. May be empty.
    pub hint: String,
}

/// What the shell is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line asks for something that makes no sense.
    Usage,
    /// Anything else that went wrong.
    Failed,
    /// It would not have been safe.
    Refused,
    /// The plan is not about the world as it is, or not the one that was meant.
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
        // Names that only look alike are told apart by their escapes.
        let cause = match error {
            OperateError::Refused(_) | OperateError::Identity { .. } => unmistakable(&error.to_string()),
            error => error.cause(),
        };
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
