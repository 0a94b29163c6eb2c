//! The clock gate: no delete while this machine and a server disagree about the time.
//!
//! Invariants: a server that sends no `Date` blocks nothing; the target's cluster counts, and every cluster the delete
//! rests on, because ages and expiries there were judged by the local clock.

use std::collections::BTreeSet;

use super::{Blocked, Candidate, Conditions, GateInputs, GateName, blocked};
use crate::world::ClusterName;

/// Blocks deletes of clusters whose clock and the local clock differ by more than a minute.
pub fn clock(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    if !candidate.is_delete() {
        return None;
    }
    let rests_on = candidate.draft.rests_on.iter().map(|id| &id.cluster);
    let clusters: BTreeSet<&ClusterName> = rests_on.chain([candidate.cluster()]).collect();
    let live = clusters.into_iter().filter(|name| around.is_live(name));
    skewed(live, around.conditions)
}

pub fn skewed<'n>(clusters: impl IntoIterator<Item = &'n ClusterName>, conditions: &Conditions) -> Option<Blocked> {
    let mut skews = clusters.into_iter().filter_map(|name| Some((name, conditions.clocks.get(name)?)));
    let (name, skew) = skews.find(|(_, skew)| skew.is_excessive())?;
    let why = format!("the clock of {name} is {skew}; correct the wrong clock, then plan again");
    Some(blocked(GateName::Clock, why))
}
