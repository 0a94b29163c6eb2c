//! The closed sets this check answers with.

use trueup_core::engine::State;

/// Whose a resource is, or what keeps that from being said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    Unknown,
    Reclaiming,
    Deleting,
    Gone,
    TwoOwners,
    Reference,
    Owned,
    Locked,
    OtherOwner,
    StaleOwner,
    Orphan,
    HalfTagged,
    Untagged,
    Foreign,
    TagInvalid,
}

impl Verdict {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Reclaiming => "reclaiming",
            Self::Deleting => "deleting",
            Self::Gone => "gone",
            Self::TwoOwners => "two-owners",
            Self::Reference => "reference",
            Self::Owned => "owned",
            Self::Locked => "locked",
            Self::OtherOwner => "other-owner",
            Self::StaleOwner => "stale-owner",
            Self::Orphan => "orphan",
            Self::HalfTagged => "half-tagged",
            Self::Untagged => "untagged",
            Self::Foreign => "foreign",
            Self::TagInvalid => "tag-invalid",
        }
    }

    pub fn state(self) -> State {
        match self {
            Self::Owned | Self::Reference | Self::Foreign => State::Match,
            Self::Untagged => State::Missing,
            Self::Orphan => State::Extra,
            Self::HalfTagged | Self::StaleOwner => State::Drift,
            Self::Unknown => State::Unknown,
            Self::Locked | Self::Deleting | Self::Reclaiming => State::Blocked,
            Self::Gone | Self::TwoOwners | Self::OtherOwner | Self::TagInvalid => State::Error,
        }
    }
}

/// What else is worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    AccountMismatch,
    AdoptedByName,
    Characters,
    Empty,
    Length,
    NotJson,
    OwnerTooLong,
    ReservedPrefix,
    TaggedReference,
}

impl Code {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AccountMismatch => "account-mismatch",
            Self::AdoptedByName => "adopted-by-name",
            Self::Characters => "characters",
            Self::Empty => "empty",
            Self::Length => "length",
            Self::NotJson => "not-json",
            Self::OwnerTooLong => "owner-too-long",
            Self::ReservedPrefix => "reserved-prefix",
            Self::TaggedReference => "tagged-reference",
        }
    }
}
