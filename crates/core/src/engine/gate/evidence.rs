//! Gates about what a delete rests on: complete and fresh lists, proofs of ownership, a verdict that held.

use std::time::Duration;

use jiff::Timestamp;

use super::{Blocked, Candidate, GateInputs, GateName, blocked};
use crate::world::{CollectionId, Completeness};

/// How old the last confirmation of a list may be. Bookmarks come about once a minute; half of that again is slack.
pub const FRESH_FOR: Duration = Duration::from_secs(90);

/// Two lines that don't depend on each other: one label alone is set by mistake too easily.
const PROOFS_MIN: usize = 2;

/// A delete needs every list it rests on to be complete, and on live clusters fresh.
pub fn not_complete(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    if !candidate.is_delete() {
        return None;
    }
    if candidate.draft.rests_on.is_empty() {
        let why = "no collection proves that the object is not needed; this is a defect of the check";
        return Some(blocked(GateName::NotComplete, why));
    }
    let doubts: Vec<String> = candidate.draft.rests_on.iter().filter_map(|id| doubt(id, around)).collect();
    if doubts.is_empty() {
        return None;
    }
    Some(blocked(GateName::NotComplete, format!("{}; plan again once it is read completely", doubts.join("; "))))
}

fn doubt(id: &CollectionId, around: &GateInputs<'_>) -> Option<String> {
    match around.observed.get(id) {
        None => Some(format!("{} was not read", describe(id))),
        Some(Completeness::Partial { gap }) => Some(format!("{} is incomplete: {gap}", describe(id))),
        Some(Completeness::Unknown { gap }) => Some(format!("{} is unknown: {gap}", describe(id))),
        Some(Completeness::Complete { at, .. }) => {
            let age = age(*at, around.conditions.now);
            let stale = around.is_live(&id.cluster) && age > FRESH_FOR;
            stale.then(|| {
                let name = describe(id);
                format!("{name} was last confirmed {} s ago, more than {} s", age.as_secs(), FRESH_FOR.as_secs())
            })
        }
    }
}

fn age(at: Timestamp, now: Timestamp) -> Duration {
    // A list "from the future" is a clock that differs, not an old list.
    Duration::try_from(now.duration_since(at)).unwrap_or(Duration::ZERO)
}

/// `guest-a v1/secrets in openshift-config`.
fn describe(id: &CollectionId) -> String {
    let path = id.resource.path();
    match id.namespace() {
        Some(namespace) => format!("{} {path} in {namespace}", id.cluster),
        None => format!("{} {path}", id.cluster),
    }
}

/// A delete needs two independent proofs that the object is ours.
pub fn ownership(candidate: &Candidate<'_>, _: &GateInputs<'_>) -> Option<Blocked> {
    if !candidate.is_delete() {
        return None;
    }
    let mut proofs: Vec<&str> = candidate.draft.ownership.iter().map(String::as_str).collect();
    proofs.sort_unstable();
    proofs.dedup();
    if proofs.len() >= PROOFS_MIN {
        return None;
    }
    let found = match proofs[..] {
        [] => "no proof says".to_owned(),
        [ref proof, ..] => format!("only one proof ({proof}) says"),
    };
    let why =
        format!("{found} that the platform made this object, and a delete needs two; review it and delete it manually");
    Some(blocked(GateName::Ownership, why))
}

/// On a live cluster a verdict has to hold for a while before its delete is offered.
pub fn settling(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    if !candidate.is_delete() || !around.is_live(candidate.cluster()) {
        return None;
    }
    let wanted = around.conditions.settle;
    let held = around.conditions.held.get(candidate.subject).copied().unwrap_or(Duration::ZERO);
    if held >= wanted {
        return None;
    }
    let seen = held.as_secs();
    let why = format!("the verdict has held for {seen} s and has to hold for {wanted:?}; wait and look again");
    Some(blocked(GateName::Settling, why))
}

/// An empty list of expected objects never makes every other object superfluous.
///
/// For domains whose expected set is read from a list: they put the answer into a draft's `blocked_by`. `source` says
/// where the set was read from.
pub fn empty_set(wanted: usize, source: &str) -> Option<Blocked> {
    if wanted > 0 {
        return None;
    }
    let why = format!("{source} is empty, which would make every copy superfluous; check that this is intended");
    Some(blocked(GateName::EmptySet, why))
}
