//! The brake: too many deletes at once are more often a mistake than a wish.
//!
//! It counts deletes that are selected and would otherwise run, and leaves out those that follow from one proven change
//! of intent. Two rules pull it:
//!
//! ```text
//! over 25 in the plan                            → every delete of each cluster and domain that contributes
//! over half of what a domain manages in a cluster → every delete of that cluster and domain
//! (only where it manages more than 10)
//! ```
//!
//! Invariants: `--max-deletes N` lifts it only when N covers the whole count, and what it lets through is tier 4.
//! A smaller N is a tighter brake. Because blocked deletes are not counted, another gate that shuts for some deletes can
//! let the brake go for the others.

use std::collections::BTreeMap;

use super::{Blocked, Candidate, GateInputs, GateName, Gated, Group, blocked, dependency};
use crate::engine::tier::Tier;

/// How many deletes a plan may hold before the brake pulls. A day's worth of leftovers is a handful; a broken list
/// shows up as dozens.
pub const DELETES_MAX: u64 = 25;

/// Below this many managed subjects "more than half" says little: two of three is an ordinary clean-up.
const MANAGED_MIN: u64 = 10;

/// Whether the brake is counted while a plan is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrakeMode {
    On,
    /// Counted later, over the chosen deletes.
    Off,
}

/// What the brake does to the deletes of a group.
enum Pull {
    Blocks { why: String },
    Lifted,
}

pub fn brake(candidates: &[Candidate<'_>], around: &GateInputs<'_>, gated: &mut [Gated]) {
    let counts = count(candidates, gated);
    let pulls = pulls(&counts, around);
    for (candidate, gated) in candidates.iter().zip(gated) {
        if !candidate.is_delete() {
            continue;
        }
        match pulls.get(&candidate.group()) {
            None => {}
            Some(Pull::Lifted) => gated.tier = gated.tier.max(Tier::T4),
            Some(Pull::Blocks { why }) => gated.blocked_by.push(blocked(GateName::Brake, why.clone())),
        }
    }
}

fn count(candidates: &[Candidate<'_>], gated: &[Gated]) -> BTreeMap<Group, u64> {
    let runnable = dependency::runnable(candidates, gated);
    let mut counts = BTreeMap::new();
    for (candidate, runs) in candidates.iter().zip(runnable) {
        let draft = candidate.draft;
        if candidate.is_delete() && candidate.selected && runs && !draft.reason.is_one_intent() {
            *counts.entry(candidate.group()).or_insert(0) += 1;
        }
    }
    counts
}

fn pulls(counts: &BTreeMap<Group, u64>, around: &GateInputs<'_>) -> BTreeMap<Group, Pull> {
    let total: u64 = counts.values().sum();
    let asked = around.conditions.deletes_max;
    let lifted = asked.is_some_and(|most| total <= most);
    let most = if lifted { DELETES_MAX } else { asked.unwrap_or(DELETES_MAX) };
    let pull = |(group, why): (Group, String)| (group, if lifted { Pull::Lifted } else { Pull::Blocks { why } });
    over(counts, &around.managed, most).into_iter().map(pull).collect()
}

/// Returns the groups whose chosen deletes are over the brake, with the gate. The counts leave out deletes that follow from
/// one change of intent.
pub fn over_brake(counts: &BTreeMap<Group, u64>, managed: &BTreeMap<Group, u64>) -> BTreeMap<Group, Blocked> {
    let shut = over(counts, managed, DELETES_MAX).into_iter();
    shut.map(|(group, why)| (group, blocked(GateName::Brake, why))).collect()
}

fn over(counts: &BTreeMap<Group, u64>, managed: &BTreeMap<Group, u64>, most: u64) -> BTreeMap<Group, String> {
    let total: u64 = counts.values().sum();
    let why = |(group, deletes): (&Group, &u64)| {
        let reason = too_many(total, most).or_else(|| too_large_a_part(group, *deletes, managed))?;
        let why = format!("{reason}; apply some with --only, or allow them with --max-deletes {total} (tier 4)");
        Some((group.clone(), why))
    };
    counts.iter().filter_map(why).collect()
}

fn too_many(total: u64, most: u64) -> Option<String> {
    (total > most).then(|| format!("the plan would delete {total} objects, more than {most}"))
}

fn too_large_a_part(group: &Group, deletes: u64, managed: &BTreeMap<Group, u64>) -> Option<String> {
    let (cluster, domain) = group;
    let managed = managed.get(group).copied().unwrap_or(0);
    let pulled = managed > MANAGED_MIN && deletes * 2 > managed;
    pulled.then(|| {
        format!("it would delete {deletes} of the {managed} objects of {} in {cluster}, more than half", domain.0)
    })
}
