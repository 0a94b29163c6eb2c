//! What the rules come to for one subject.

use std::collections::BTreeSet;

use super::verdict::{Code, Verdict};
use trueup_core::engine::State;
use trueup_core::world::Gap;

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    pub verdict: Verdict,
    /// The verdict's own, but for a few that depend on more than the verdict.
    pub state: State,
    pub codes: BTreeSet<Code>,
    /// What is not known, for `unknown`.
    pub gap: Option<Gap>,
    /// The uid of the owner, for `orphan`, `stale-owner` and `other-owner`.
    pub owner: Option<String>,
}

impl Ruling {
    pub fn of(verdict: Verdict) -> Self {
        Self { verdict, state: verdict.state(), codes: BTreeSet::new(), gap: None, owner: None }
    }

    pub fn with(verdict: Verdict, code: Code) -> Self {
        Self { codes: [code].into(), ..Self::of(verdict) }
    }

    pub fn unknown(gap: Gap) -> Self {
        Self { gap: Some(gap), ..Self::of(Verdict::Unknown) }
    }

    /// Not every member of the account's set was read.
    pub fn fleet_incomplete(gap: Gap) -> Self {
        Self { codes: [Code::FleetIncomplete].into(), ..Self::unknown(gap) }
    }

    pub fn owned_by(verdict: Verdict, uid: Option<&str>) -> Self {
        Self { owner: uid.map(str::to_owned), ..Self::of(verdict) }
    }
}
