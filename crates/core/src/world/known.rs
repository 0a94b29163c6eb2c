//! Three-valued knowledge: present, proven absent, or not known and why.
//!
//! Invariants: only [`super::Collection`] makes an [`AbsenceProof`], and only when its list is complete. An error,
//! an empty answer from a list cut short, or a lone 404 never becomes "absent".

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::ids::ResourceVersion;

/// Why something is not known.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Gap {
    pub cause: GapCause,
    /// One sentence for people: what was tried and what came back. Shared by all lists that it is true of.
    pub message: Arc<str>,
}

/// What code may decide on; the sentence beside it is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum GapCause {
    /// It was not requested yet, or the answer has not arrived.
    NotObserved,
    /// The API server refused (403).
    Forbidden,
    /// The credentials were refused (401) or could not be had.
    Unauthorized,
    /// The cluster can't be reached, or the request timed out.
    Unreachable,
    /// Discovery failed or is incomplete, or a kind that was served is gone.
    Discovery,
    /// The list was cut short or is known to miss something.
    CutShort,
    /// The watch has been silent for longer than the server promised.
    Silent,
    /// The answer could not be decoded.
    Unreadable,
    /// A snapshot does not say whether it holds everything of this kind.
    NotRecorded,
    /// Reading it would take more than a budget of the configuration allows.
    OverBudget,
}

impl GapCause {
    /// Whether something exists that could not be read. A kind that is not served and an object that is absent are no loss.
    pub fn is_loss(self) -> bool {
        match self {
            Self::Forbidden
            | Self::Unauthorized
            | Self::Unreachable
            | Self::CutShort
            | Self::Silent
            | Self::Unreadable
            | Self::OverBudget => true,
            Self::NotObserved | Self::Discovery | Self::NotRecorded => false,
        }
    }
}

impl Gap {
    pub fn new(cause: GapCause, message: impl Into<Arc<str>>) -> Self {
        Self { cause, message: message.into() }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A complete list did not hold the object. Only a complete collection can make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsenceProof {
    pub(super) version: ResourceVersion,
    pub(super) at: Timestamp,
}

impl AbsenceProof {
    /// The version of the list that proves it.
    pub fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// When that list was last known to hold.
    pub fn at(&self) -> Timestamp {
        self.at
    }
}

/// What is known of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation<'a, F> {
    Present(&'a F),
    ProvenAbsent(AbsenceProof),
    Unknown(Gap),
}

impl<'a, F> Observation<'a, F> {
    pub fn present(&self) -> Option<&'a F> {
        match self {
            Self::Present(fact) => Some(fact),
            Self::ProvenAbsent(_) | Self::Unknown(_) => None,
        }
    }

    pub fn is_proven_absent(&self) -> bool {
        matches!(self, Self::ProvenAbsent(_))
    }

    pub fn gap(&self) -> Option<&Gap> {
        match self {
            Self::Unknown(gap) => Some(gap),
            Self::Present(_) | Self::ProvenAbsent(_) => None,
        }
    }
}

/// What was seen of one object, and why that may not be all of it. Nothing seen and no gap: proven absent.
#[derive(Debug, PartialEq, Eq)]
pub struct Sighting<'a, F> {
    pub seen: Option<&'a F>,
    pub gap: Option<Gap>,
}

// By hand, because deriving would ask the same of the fact.
impl<F> Clone for Sighting<'_, F> {
    fn clone(&self) -> Self {
        Self { seen: self.seen, gap: self.gap.clone() }
    }
}

impl<'a, F> Sighting<'a, F> {
    /// Proven absent.
    pub const ABSENT: Self = Self { seen: None, gap: None };

    pub fn unknown(gap: Gap) -> Self {
        Self { seen: None, gap: Some(gap) }
    }

    pub fn is_proven_absent(&self) -> bool {
        self.seen.is_none() && self.gap.is_none()
    }

    /// The object or its proven absence; the gap when neither is certain.
    pub fn known(&self) -> Result<Option<&'a F>, Gap> {
        match (self.seen, &self.gap) {
            (Some(seen), _) => Ok(Some(seen)),
            (None, None) => Ok(None),
            (None, Some(gap)) => Err(gap.clone()),
        }
    }
}

impl<'a, F> From<Observation<'a, F>> for Sighting<'a, F> {
    fn from(observation: Observation<'a, F>) -> Self {
        match observation {
            Observation::Present(fact) => Self { seen: Some(fact), gap: None },
            Observation::ProvenAbsent(_) => Self::ABSENT,
            Observation::Unknown(gap) => Self::unknown(gap),
        }
    }
}

/// How much of a collection is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completeness {
    /// Everything, as of this version; `at` is the last time the server confirmed it (list, event or bookmark).
    Complete { version: ResourceVersion, at: Timestamp },
    /// What is held was seen, but there may be more, or it may have changed since.
    Partial { gap: Gap },
    /// Nothing was ever seen.
    Unknown { gap: Gap },
}

impl Completeness {
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Complete { .. })
    }

    pub fn gap(&self) -> Option<&Gap> {
        match self {
            Self::Complete { .. } => None,
            Self::Partial { gap } | Self::Unknown { gap } => Some(gap),
        }
    }

    /// How much is known, least first.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Unknown { .. } => 0,
            Self::Partial { .. } => 1,
            Self::Complete { .. } => 2,
        }
    }

    /// The word plans and screens use.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Complete { .. } => "complete",
            Self::Partial { .. } => "partial",
            Self::Unknown { .. } => "unknown",
        }
    }
}
