//! Why an operation could not be carried out.
//!
//! Invariants: one variant per reaction of a front end; the message holds no secret.

use std::error::Error;

use trueup_core::engine::journal::{FolderError, JournalError};
use trueup_core::engine::vault::VaultError;
use trueup_core::engine::{MarkKeyError, NotCanonical, Refusal, RefusalClass};
use trueup_fleet::connect::KubeconfigError;

/// Why an operation failed or was refused.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    #[error("neither XDG_STATE_HOME nor HOME is set")]
    NoStateFolder,
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    MarkKey(#[from] MarkKeyError),
    /// The plan is refused.
    #[error("{0}")]
    Refused(Refusal),
    /// The backups cannot be listed.
    #[error("backup: {0}")]
    Backups(VaultError),
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    #[error("{0}")]
    Snapshot(String),
    /// A snapshot that is gathered.
    #[error("cannot write {}: {error}", path.display())]
    Gather { path: std::path::PathBuf, error: std::io::Error },
    /// An account of the configuration.
    #[error("{cause}")]
    Account { account: String, cause: String, advice: String },
    #[error("the system returned no random bytes")]
    NoRandom,
    /// What was judged cannot be written as a plan.
    #[error(transparent)]
    NotCanonical(#[from] NotCanonical),
    /// The journal has no such entry.
    #[error("{cause}")]
    NoEntry { cause: String, advice: String },
    /// A cluster of the plan is not connected, or is another cluster now.
    #[error("identity: {cause}")]
    Identity { cause: String, advice: String },
    #[error("the fleet is no longer watched")]
    Ended,
    #[error("internal error (please report); other tasks continue")]
    Internal,
    /// The program's own start of the fleet, such as its configuration.
    #[error("{0}")]
    Start(String),
}

/// How a front end reports an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    Usage,
    Failed,
    /// It would not have been safe.
    Refused,
    /// The plan is not about the world as it is, or not the one that was meant.
    Stale,
}

impl OperateError {
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NoEntry { .. } => ErrorClass::Usage,
            Self::Identity { .. } | Self::Backups(_) => ErrorClass::Refused,
            Self::Refused(refusal) => match refusal.class() {
                RefusalClass::Stale => ErrorClass::Stale,
                RefusalClass::Safety => ErrorClass::Refused,
                RefusalClass::Usage => ErrorClass::Usage,
            },
            Self::NoStateFolder
            | Self::Journal(_)
            | Self::Vault(_)
            | Self::MarkKey(_)
            | Self::Kubeconfig(_)
            | Self::Snapshot(_)
            | Self::Gather { .. }
            | Self::Account { .. }
            | Self::NoRandom
            | Self::NotCanonical(_)
            | Self::Ended
            | Self::Internal
            | Self::Start(_) => ErrorClass::Failed,
        }
    }

    /// What failed, where the error itself knows it better than the command.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::Kubeconfig(_) => Some("kubeconfig"),
            Self::Snapshot(_) => Some("--from"),
            Self::Account { account, .. } => Some(account),
            Self::NotCanonical(_) => Some("building the plan"),
            Self::Start(_) => Some(""),
            Self::NoStateFolder
            | Self::Gather { .. }
            | Self::Journal(_)
            | Self::Vault(_)
            | Self::MarkKey(_)
            | Self::Refused(_)
            | Self::Backups(_)
            | Self::NoRandom
            | Self::NoEntry { .. }
            | Self::Identity { .. }
            | Self::Ended
            | Self::Internal => None,
        }
    }

    /// The message with its source.
    pub fn cause(&self) -> String {
        chain(self)
    }

    /// What to do about it. May be empty.
    pub fn advice(&self) -> String {
        let advice = match self {
            Self::NoStateFolder => "set HOME",
            Self::Journal(error) => return error.remedy(),
            Self::Vault(_) => "repair it: without it no backup can be sealed",
            Self::Kubeconfig(_) => "or read a snapshot folder with --from",
            Self::Snapshot(_) => "name a folder with clusters/<name>/*.yaml, or a must-gather",
            Self::Gather { .. } => "name a folder that is new or empty",
            Self::NoRandom => "check that /dev/urandom can be read",
            Self::NotCanonical(_) => "report this with the snapshot",
            Self::Account { advice, .. } | Self::NoEntry { advice, .. } | Self::Identity { advice, .. } => advice,
            Self::MarkKey(_) => "check the state folder",
            Self::Refused(_) | Self::Backups(_) | Self::Ended | Self::Internal | Self::Start(_) => "",
        };
        advice.to_owned()
    }
}

impl From<FolderError> for OperateError {
    fn from(error: FolderError) -> Self {
        Self::Journal(error.into())
    }
}

/// An error with its source.
pub fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    }
}
