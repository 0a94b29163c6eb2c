//! The closed sets this check answers with.

use trueup_core::engine::State;

/// What a kubeconfig is, the worst first: of all that hold, the first is the verdict and the others are codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    Unknown,
    Missing,
    Unreadable,
    ExecRefused,
    WrongCluster,
    Expired,
    NotYetValid,
    EndpointDrift,
    CaDrift,
    Contract,
    RefreshStalled,
    BehindSource,
    SourceInvalid,
    SourceMissing,
    Expiring,
    CaRotating,
    Opaque,
    Fresh,
}

impl Verdict {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::ExecRefused => "exec-refused",
            Self::WrongCluster => "wrong-cluster",
            Self::Expired => "expired",
            Self::NotYetValid => "not-yet-valid",
            Self::EndpointDrift => "endpoint-drift",
            Self::CaDrift => "ca-drift",
            Self::Contract => "contract",
            Self::RefreshStalled => "refresh-stalled",
            Self::BehindSource => "behind-source",
            Self::SourceInvalid => "source-invalid",
            Self::SourceMissing => "source-missing",
            Self::Expiring => "expiring",
            Self::CaRotating => "ca-rotating",
            Self::Opaque => "opaque",
            Self::Fresh => "fresh",
        }
    }

    pub fn state(self) -> State {
        match self {
            Self::Fresh => State::Match,
            Self::Missing => State::Missing,
            Self::EndpointDrift
            | Self::CaDrift
            | Self::CaRotating
            | Self::BehindSource
            | Self::Contract
            | Self::WrongCluster => State::Drift,
            Self::Expiring | Self::Expired | Self::NotYetValid | Self::RefreshStalled => State::Stale,
            Self::Unknown | Self::Opaque => State::Unknown,
            Self::Unreadable | Self::ExecRefused | Self::SourceInvalid | Self::SourceMissing => State::Error,
        }
    }
}

/// What else is worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    Anonymous,
    BasicAuth,
    Context,
    EndpointDiffers,
    Exec,
    ExecInOtherUser,
    ExecUser,
    ExpectationsDisagree,
    ExtraKeyDisagrees,
    InClusterEndpoint,
    Insecure,
    Key,
    Label,
    NoExpiry,
    Owner,
    PastHalfLife,
    SourceDrift,
    TokenMalformed,
    Type,
    Unparseable,
}

impl Code {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::BasicAuth => "basic-auth",
            Self::Context => "context",
            Self::EndpointDiffers => "endpoint-differs",
            Self::Exec => "exec",
            Self::ExecInOtherUser => "exec-in-other-user",
            Self::ExecUser => "exec-user",
            Self::ExpectationsDisagree => "expectations-disagree",
            Self::ExtraKeyDisagrees => "extra-key-disagrees",
            Self::InClusterEndpoint => "in-cluster-endpoint",
            Self::Insecure => "insecure",
            Self::Key => "key",
            Self::Label => "label",
            Self::NoExpiry => "no-expiry",
            Self::Owner => "owner",
            Self::PastHalfLife => "past-half-life",
            Self::SourceDrift => "source-drift",
            Self::TokenMalformed => "token-malformed",
            Self::Type => "type",
            Self::Unparseable => "unparseable",
        }
    }
}
