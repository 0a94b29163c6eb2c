//! The result of an action from an answer and the read after it. Pure.
//!
//! Invariants:
//! - the read decides; an answer alone never ends an action as done;
//! - an action fails only when no request of it was or can be carried out. Anything else is unknown.

use super::ports::{Reading, Reply, Seen};
use super::prepared_write::{Bound, PreparedWrite, Proof, is_marked};
use super::ready::Ready;
use super::report::ActionResult;
use crate::engine::journal::{Answer, Found, VerifiedState};

/// The next step after a request was answered and its target read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    End(ActionResult),
    /// The object is unchanged: the request may be sent again after another read.
    Again,
}

/// Why an object is not the one a plan was made for; nothing when it is.
pub(super) fn difference(uid: &str, resource_version: &str, reading: &Reading) -> Option<String> {
    match reading {
        Reading::Absent => Some("it is gone already".to_owned()),
        Reading::Unknown(why) => Some(format!("it cannot be read: {why}")),
        Reading::Present(seen) if seen.uid != uid => {
            Some("another object has its name now: it was deleted and created again".to_owned())
        }
        Reading::Present(seen) if seen.deleting => Some("it is being deleted already".to_owned()),
        Reading::Present(seen) if seen.resource_version != resource_version => {
            let now = &seen.resource_version;
            Some(format!("it changed since the plan was made (version {resource_version} became {now})"))
        }
        Reading::Present(_) => None,
    }
}

/// What a read found of the target.
pub(super) fn found(uid: Option<&str>, resource_version: Option<&str>, reading: &Reading) -> Option<Found> {
    match reading {
        Reading::Absent => Some(Found::Gone),
        Reading::Unknown(_) => None,
        Reading::Present(seen) if uid.is_some_and(|uid| uid != seen.uid) => Some(Found::Replaced),
        Reading::Present(seen) if seen.deleting => Some(Found::Terminating),
        Reading::Present(seen) if resource_version == Some(seen.resource_version.as_str()) => Some(Found::Unchanged),
        Reading::Present(_) => Some(Found::Changed),
    }
}

/// The next step of an action after its request was answered and its target read.
pub(super) fn next(ready: &Ready<'_>, reply: &Reply, reading: &Reading) -> Next {
    let said = match reply.answer {
        Answer::Throttled => return Next::Again,
        Answer::Gone if !ready.is_in_doubt() => return Next::End(found_gone(ready, reply, reading)),
        Answer::Done | Answer::Gone => return Next::End(carried_out(ready, reply, reading)),
        Answer::Ambiguous => None,
        Answer::Refused => Some(refusal(reply)),
        // A controller changed the version between the read and the request; the judged state is unchanged.
        Answer::Conflict if may_bind_again(ready, reading) => return Next::Again,
        Answer::Conflict => Some(conflict(ready, reply, reading)),
    };
    match said {
        Some(why) if !ready.is_in_doubt() => Next::End(ActionResult::failed(why)),
        said => match (in_doubt(ready, reading), said) {
            (Some(end), _) => Next::End(end),
            (None, None) => Next::Again,
            (None, Some(why)) => Next::End(ActionResult::Unknown { why: format!("{why}; {MAY_ARRIVE}") }),
        },
    }
}

/// Added while the result of a request is unknown and the object is unchanged.
pub(super) const MAY_ARRIVE: &str = "an earlier request got no clear answer and may still be carried out";

/// The result of an action whose request may have been carried out, or may still be. `None`: the object is unchanged, and
/// the request may be sent again.
///
/// A request that is bound to a version cannot be carried out once the object has another one.
pub(super) fn in_doubt(ready: &Ready<'_>, reading: &Reading) -> Option<ActionResult> {
    let kind = &ready.action.target.kind;
    match (&ready.write, reading) {
        (_, Reading::Unknown(_)) => Some(unreadable(reading)),
        (PreparedWrite::Delete { bound: Bound { uid, resource_version, .. } }, reading) => {
            match found(Some(uid), Some(resource_version), reading)? {
                Found::Gone | Found::Replaced => Some(ActionResult::Done(VerifiedState::Gone)),
                Found::Terminating => Some(ActionResult::Done(VerifiedState::Terminating)),
                Found::Unchanged => None,
                Found::Changed => {
                    Some(ActionResult::failed("it changed while it was being deleted, and is still there"))
                }
            }
        }
        (PreparedWrite::Change { bound, .. } | PreparedWrite::Apply { bound: Some(bound), .. }, reading) => {
            in_doubt_of_change(ready, bound, reading)
        }
        (PreparedWrite::Apply { bound: None, .. } | PreparedWrite::Create { .. }, Reading::Absent) => None,
        (PreparedWrite::Create { proof: Proof::Mark(mark), .. }, Reading::Present(seen)) => Some(restored(mark, seen)),
        (
            PreparedWrite::Create { proof: Proof::Content(_), .. } | PreparedWrite::Apply { bound: None, .. },
            reading,
        ) => {
            // The creator is unknown: it is the desired object, or one of another writer.
            Some(match ready.write.is_fulfilled(kind, reading) {
                true => ActionResult::Done(VerifiedState::Changed),
                false => another_has_the_name(),
            })
        }
    }
}

fn in_doubt_of_change(ready: &Ready<'_>, bound: &Bound, reading: &Reading) -> Option<ActionResult> {
    let unsure = |why: &str| Some(ActionResult::Unknown { why: why.to_owned() });
    let Reading::Present(seen) = reading else {
        return unsure("it is gone; whether it was changed before is not known");
    };
    if ready.write.is_fulfilled(&ready.action.target.kind, reading) {
        return Some(ActionResult::Done(VerifiedState::Changed));
    }
    // A request that is bound to a version cannot be carried out once the object has another one: if the judged state is
    // unchanged, it was not.
    let as_before = seen.uid == bound.uid && seen.resource_version == bound.resource_version;
    if as_before || may_bind_again(ready, reading) {
        None
    } else {
        unsure("it changed meanwhile; whether the planned change was applied before is unknown")
    }
}

/// Whether the object still has the judged state, at any version.
fn may_bind_again(ready: &Ready<'_>, reading: &Reading) -> bool {
    let judged = ready.write.bound().filter(|bound| bound.judged.is_some());
    judged.is_some_and(|bound| bound.difference(reading).is_none())
}

/// The status of an answer to a request that made an object.
const CREATED: u16 = 201;

/// The result of a request that the server accepted, or that found nothing to do.
fn carried_out(ready: &Ready<'_>, reply: &Reply, reading: &Reading) -> ActionResult {
    let made = ready.write.bound().is_none() && reply.http == Some(CREATED);
    match in_doubt(ready, reading) {
        Some(ActionResult::Done(VerifiedState::Changed)) if made => ActionResult::Done(VerifiedState::Created),
        Some(end) => end,
        None => {
            let why = match ready.write {
                PreparedWrite::Delete { .. } => "the server said it was deleted, and it is still there",
                PreparedWrite::Change { .. } | PreparedWrite::Apply { bound: Some(_), .. } => {
                    "the server said it was changed, and it is as it was"
                }
                PreparedWrite::Create { .. } | PreparedWrite::Apply { bound: None, .. } => {
                    "it was created, and is gone again"
                }
            };
            ActionResult::Unknown { why: why.to_owned() }
        }
    }
}

/// The result of a delete whose first answer was that the object is not there: another client deleted it.
fn found_gone(ready: &Ready<'_>, reply: &Reply, reading: &Reading) -> ActionResult {
    match (&ready.write, carried_out(ready, reply, reading)) {
        (PreparedWrite::Delete { .. }, ActionResult::Done(VerifiedState::Gone)) => ActionResult::Already,
        (_, end) => end,
    }
}

fn restored(mark: &str, seen: &Seen) -> ActionResult {
    if is_marked(seen, mark) { ActionResult::Done(VerifiedState::Restored) } else { another_has_the_name() }
}

/// A create was perhaps carried out: its object may have been replaced, or another cluster may have been read.
fn another_has_the_name() -> ActionResult {
    ActionResult::Unknown {
        why: "another object has the name now; whether it was created before is unknown".to_owned(),
    }
}

fn unreadable(reading: &Reading) -> ActionResult {
    let why = match reading {
        Reading::Unknown(why) => why.as_str(),
        Reading::Present(_) | Reading::Absent => "",
    };
    ActionResult::Unknown { why: format!("sent, not verified ({why})") }
}

fn refusal(reply: &Reply) -> String {
    let code = reply.http.map_or_else(String::new, |code| format!(" ({code} {})", reply.reason));
    format!("the server refused it{}", code.replace(" )", ")"))
}

fn conflict(ready: &Ready<'_>, reply: &Reply, reading: &Reading) -> String {
    if !reply.managers.is_empty() {
        return format!("nothing was done: {} manages what would be applied", reply.managers.join(", "));
    }
    let changed = match ready.write.bound() {
        Some(bound) => bound.difference(reading),
        None => Some("another object has the name now".to_owned()),
    };
    let changed = changed.unwrap_or_else(|| "the cluster says it is not the object the plan shows".to_owned());
    format!("nothing was done: {changed}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_restore_whose_name_another_object_has_is_unknown_and_never_failed() {
        let seen = Seen {
            uid: "u-2".to_owned(),
            resource_version: "7".to_owned(),
            deleting: false,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            json: zeroize::Zeroizing::default(),
        };
        let end = restored("1a2b3c4d/a1", &seen);
        assert!(matches!(end, ActionResult::Unknown { .. }), "{end:?}");
    }
}
