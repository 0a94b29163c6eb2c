//! The closed sets this check answers with.

use super::check;
use trueup_core::engine::State;

/// What a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    // Authentication/cluster
    Valid,
    Lockout,
    Invalid,
    KasWouldRefuse,
    // what is compared
    Match,
    Missing,
    Drift,
    Extra,
    Leftover,
    Unrenderable,
    // the rollout
    Available,
    RollingOut,
    NotAvailable,
    // the RoleBindingRestrictions
    Keep,
    BlocksOidc,
    Removable,
    Unknown,
}

impl Verdict {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Lockout => "lockout",
            Self::Invalid => "invalid",
            Self::KasWouldRefuse => "kas-would-refuse",
            Self::Match => "match",
            Self::Missing => "missing",
            Self::Drift => "drift",
            Self::Extra => "extra",
            Self::Leftover => "leftover",
            Self::Unrenderable => "unrenderable",
            Self::Available => "available",
            Self::RollingOut => "rolling-out",
            Self::NotAvailable => "not-available",
            Self::Keep => "keep",
            Self::BlocksOidc => "blocks-oidc",
            Self::Removable => "removable",
            Self::Unknown => "unknown",
        }
    }

    /// The default state of a verdict. `not-available` is a match where OIDC is not requested: see `rollout`.
    pub fn state(self) -> State {
        match self {
            Self::Valid | Self::Match | Self::Keep | Self::Available => State::Match,
            Self::Missing => State::Missing,
            Self::Extra | Self::Leftover | Self::Removable => State::Extra,
            Self::Drift => State::Drift,
            Self::RollingOut => State::Stale,
            Self::Unknown => State::Unknown,
            Self::NotAvailable | Self::Unrenderable | Self::BlocksOidc => State::Blocked,
            Self::Lockout | Self::Invalid | Self::KasWouldRefuse => State::Error,
        }
    }
}

impl From<check::Verdict> for Verdict {
    fn from(verdict: check::Verdict) -> Self {
        match verdict {
            check::Verdict::Valid => Self::Valid,
            check::Verdict::Lockout => Self::Lockout,
            check::Verdict::Invalid => Self::Invalid,
            check::Verdict::KasWouldRefuse => Self::KasWouldRefuse,
            check::Verdict::Unknown => Self::Unknown,
        }
    }
}

/// What else is worth knowing of a subject that is not the Authentication, whose codes are in `problem`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    AdmissionPlugins,
    AuthenticationConfigArg,
    OauthMetadata,
    StillOnOidc,
    WebhookArg,
}

impl Code {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AdmissionPlugins => "admission-plugins",
            Self::AuthenticationConfigArg => "authentication-config-arg",
            Self::OauthMetadata => "oauth-metadata",
            Self::StillOnOidc => "still-on-oidc",
            Self::WebhookArg => "webhook-arg",
        }
    }
}
