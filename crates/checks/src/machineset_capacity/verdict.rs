//! The closed sets this check answers with.

use trueup_core::engine::State;

/// What a set of machines is, in the order of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Skipped,
    NotAws,
    InvalidSpec,
    InstanceTypeEmpty,
    RegionInvalid,
    CredentialsPartial,
    CredentialsNone,
    SecretMissing,
    SecretInvalid,
    TokenUnreadable,
    Denied,
    Transient,
    InstanceTypeUnknown,
    Missing,
    KeysDisagree,
    Drift,
    Match,
    Unknown,
}

impl Verdict {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::NotAws => "not-aws",
            Self::InvalidSpec => "invalid-spec",
            Self::InstanceTypeEmpty => "instance-type-empty",
            Self::RegionInvalid => "region-invalid",
            Self::CredentialsPartial => "credentials-partial",
            Self::CredentialsNone => "credentials-none",
            Self::SecretMissing => "secret-missing",
            Self::SecretInvalid => "secret-invalid",
            Self::TokenUnreadable => "token-unreadable",
            Self::Denied => "denied",
            Self::Transient => "transient",
            Self::InstanceTypeUnknown => "instance-type-unknown",
            Self::Missing => "missing",
            Self::KeysDisagree => "keys-disagree",
            Self::Drift => "drift",
            Self::Match => "match",
            Self::Unknown => "unknown",
        }
    }

    pub fn state(self) -> State {
        match self {
            Self::Match | Self::NotAws | Self::Skipped => State::Match,
            Self::Missing => State::Missing,
            Self::Drift | Self::KeysDisagree => State::Drift,
            Self::Unknown | Self::Transient => State::Unknown,
            Self::InvalidSpec
            | Self::InstanceTypeEmpty
            | Self::RegionInvalid
            | Self::CredentialsPartial
            | Self::CredentialsNone
            | Self::SecretMissing
            | Self::SecretInvalid
            | Self::TokenUnreadable
            | Self::Denied
            | Self::InstanceTypeUnknown => State::Error,
        }
    }
}

/// What else is worth knowing, sorted as plans spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    ArchitectureUnknown,
    AuthoritativeApi,
    AwsRoleArnMissing,
    AwsWebIdentityTokenFileMissing,
    CapacityZero,
    Deleting,
    FamilyAbsent,
    FractionalGpu,
    GpuVendorUnknown,
    NoCatalogue,
    Paused,
    PodIdentity,
    SecretWebIdentity,
}

impl Code {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ArchitectureUnknown => "architecture-unknown",
            Self::AuthoritativeApi => "authoritative-api",
            Self::AwsRoleArnMissing => "aws-role-arn-missing",
            Self::AwsWebIdentityTokenFileMissing => "aws-web-identity-token-file-missing",
            Self::CapacityZero => "capacity-zero",
            Self::Deleting => "deleting",
            Self::FamilyAbsent => "family-absent",
            Self::FractionalGpu => "fractional-gpu",
            Self::GpuVendorUnknown => "gpu-vendor-unknown",
            Self::NoCatalogue => "no-catalogue",
            Self::Paused => "paused",
            Self::PodIdentity => "pod-identity",
            Self::SecretWebIdentity => "secret-web-identity",
        }
    }
}
