//! The closed sets this check answers with.

use trueup_core::engine::State;

/// What a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Terminating,
    Protected,
    Unknown,
    SourceMissing,
    MissingCopy,
    StaleCopy,
    Referenced,
    Pending,
    Foreign,
    Moot,
    OrphanCertain,
    OrphanProbable,
    Leftover,
}

impl Verdict {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminating => "terminating",
            Self::Protected => "protected",
            Self::Unknown => "unknown",
            Self::SourceMissing => "source-missing",
            Self::MissingCopy => "missing-copy",
            Self::StaleCopy => "stale-copy",
            Self::Referenced => "referenced",
            Self::Pending => "pending",
            Self::Foreign => "foreign",
            Self::Moot => "moot",
            Self::OrphanCertain => "orphan-certain",
            Self::OrphanProbable => "orphan-probable",
            Self::Leftover => "leftover",
        }
    }

    pub fn state(self) -> State {
        match self {
            Self::Referenced | Self::Protected | Self::Foreign => State::Match,
            Self::MissingCopy => State::Missing,
            Self::OrphanCertain | Self::OrphanProbable | Self::Leftover => State::Extra,
            Self::StaleCopy => State::Drift,
            Self::Pending => State::Stale,
            Self::Unknown => State::Unknown,
            Self::Moot | Self::Terminating => State::Blocked,
            Self::SourceMissing => State::Error,
        }
    }
}

/// What else is worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    ClientStillCurrent,
    Deleting,
    EmptySource,
    Gone,
    GuestStillRefers,
    NamePattern,
    NamedByOidc,
    NotPropagated,
    Paused,
    Restored,
    Unlabelled,
    UserProvided,
}

impl Code {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClientStillCurrent => "client-still-current",
            Self::Deleting => "deleting",
            Self::EmptySource => "empty-source",
            Self::Gone => "gone",
            Self::GuestStillRefers => "guest-still-refers",
            Self::NamePattern => "name-pattern",
            Self::NamedByOidc => "named-by-oidc",
            Self::NotPropagated => "not-propagated",
            Self::Paused => "paused",
            Self::Restored => "restored",
            Self::Unlabelled => "unlabelled",
            Self::UserProvided => "user-provided",
        }
    }
}
