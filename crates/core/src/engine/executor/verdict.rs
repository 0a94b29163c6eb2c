//! What an answer and the read after it mean together. Pure.
//!
//! Invariants:
//! - only what was read decides; an answer alone never ends an action as done;
//! - an action fails only when no request of it was carried out and none can be any more. Anything less is unknown.

use super::ports::{Reading, Reply, Seen};
use super::prepared_write::{Bound, PreparedWrite, Proof, is_marked};
use super::ready::Ready;
use super::report::ActionResult;
use crate::engine::journal::{Answer, Found, VerifiedState};

/// What to do about a request that has been answered and looked after.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    End(ActionResult),
    /// The object is as it was before: the request may be made again, after a new look.
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

/// What was found of an object that a write was meant for.
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
        Answer::Done | Answer::Gone => return Next::End(carried_out(ready, reply, reading)),
        Answer::Ambiguous => None,
        Answer::Refused => Some(refusal(reply)),
        // A controller moved the version between the read and the request; what was judged is still there.
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

/// What stays true as long as the result of a request is unknown and the object is as it was.
pub(super) const MAY_ARRIVE: &str = "an earlier request got no clear answer and may still be carried out";

/// What a read says about an action of which a request may have been carried out, or may still be. Nothing: the object is
/// as it was, and the request may be made again.
///
/// A request that is bound to a version can't be carried out any more once the object has another one.
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
            // Who made it is not known; it is as it was wanted, or it is another writer's.
            Some(match ready.write.is_fulfilled(kind, reading) {
                true => ActionResult::Done(VerifiedState::Changed),
                false => ActionResult::failed("another object has the name now"),
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
    // A request that is bound to a version can't be carried out once the object has another one: where what was judged is
    // still there, it was not.
    let as_before = seen.uid == bound.uid && seen.resource_version == bound.resource_version;
    if as_before || may_bind_again(ready, reading) {
        None
    } else {
        unsure("it changed meanwhile; whether the planned change was applied before is unknown")
    }
}

/// Whether the object is still what the plan was made for, at whatever version.
fn may_bind_again(ready: &Ready<'_>, reading: &Reading) -> bool {
    let judged = ready.write.bound().filter(|bound| bound.judged.is_some());
    judged.is_some_and(|bound| bound.difference(reading).is_none())
}

/// The status of an answer to a request that made an object.
const CREATED: u16 = 201;

/// What a read says about a request that the server said it carried out, or that there was nothing left to do for.
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

fn restored(mark: &str, seen: &Seen) -> ActionResult {
    if is_marked(seen, mark) {
        ActionResult::Done(VerifiedState::Restored)
    } else {
        ActionResult::failed("another object has the name now")
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
