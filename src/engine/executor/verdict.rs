//! What an answer and the read after it mean together. Pure.
//!
//! Always true: only what was read decides; an answer alone never ends an action as done.

use super::ports::{Reading, Reply, Seen};
use super::report::End;
use super::wave::{Ready, Wish};
use crate::engine::journal::{Answer, Found, VerifiedState};
use crate::engine::vault::RESTORED_FROM;

/// What to do about a request that has been answered and looked after.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    End(End),
    /// The object is as it was before: the request may be made again, after a new look.
    Again,
}

/// Why an object is not the one a plan was made for; nothing when it is.
pub(super) fn difference(uid: &str, resource_version: &str, reading: &Reading) -> Option<String> {
    match reading {
        Reading::Absent => Some("it is gone already".to_owned()),
        Reading::Unknown(why) => Some(format!("it can't be read: {why}")),
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

/// How an action goes on after its request was answered and its target read.
pub(super) fn next(ready: &Ready<'_>, reply: &Reply, reading: &Reading) -> Next {
    match reply.answer {
        Answer::Refused => Next::End(End::failed(refusal(reply))),
        Answer::Conflict => Next::End(End::failed(conflict(ready, reading))),
        Answer::Throttled => Next::Again,
        Answer::Done | Answer::Gone | Answer::Ambiguous => match &ready.wish {
            Wish::Delete { uid, resource_version } => deleted(reply, uid, resource_version, reading),
            Wish::Label { uid, resource_version, set, remove, before: _ } => {
                let fits = |seen: &Seen| {
                    seen.uid == *uid
                        && set.iter().all(|(key, value)| seen.labels.get(key) == Some(value))
                        && remove.iter().all(|key| !seen.labels.contains_key(key))
                };
                labelled(reply, resource_version, reading, fits)
            }
            Wish::Create { mark, .. } => created(reply, mark, reading),
        },
    }
}

fn deleted(reply: &Reply, uid: &str, resource_version: &str, reading: &Reading) -> Next {
    let unsure = reply.answer == Answer::Ambiguous;
    match found(Some(uid), Some(resource_version), reading) {
        Some(Found::Gone | Found::Replaced) => Next::End(End::Done(VerifiedState::Gone)),
        Some(Found::Terminating) => Next::End(End::Done(VerifiedState::Terminating)),
        Some(Found::Unchanged) if unsure => Next::Again,
        Some(Found::Unchanged) => {
            Next::End(End::Unknown { why: "the server said it was deleted, and it is still there".to_owned() })
        }
        Some(Found::Changed) => Next::End(End::failed("it changed while it was being deleted, and is still there")),
        None => Next::End(unreadable(reading)),
    }
}

fn labelled(reply: &Reply, resource_version: &str, reading: &Reading, fits: impl Fn(&Seen) -> bool) -> Next {
    match reading {
        Reading::Present(seen) if fits(seen) => Next::End(End::Done(VerifiedState::Changed)),
        Reading::Present(seen) if seen.resource_version == resource_version && reply.answer == Answer::Ambiguous => {
            Next::Again
        }
        Reading::Present(_) => Next::End(End::failed("somebody else changed it meanwhile")),
        Reading::Absent => Next::End(End::failed("it is gone")),
        Reading::Unknown(_) => Next::End(unreadable(reading)),
    }
}

fn created(reply: &Reply, mark: &str, reading: &Reading) -> Next {
    match reading {
        Reading::Present(seen) if seen.annotations.get(RESTORED_FROM).is_some_and(|found| found == mark) => {
            Next::End(End::Done(VerifiedState::Restored))
        }
        Reading::Present(_) => Next::End(End::failed("another object has the name now")),
        Reading::Absent if reply.answer == Answer::Ambiguous => Next::Again,
        Reading::Absent => Next::End(End::Unknown { why: "it was created, and is gone again".to_owned() }),
        Reading::Unknown(_) => Next::End(unreadable(reading)),
    }
}

fn unreadable(reading: &Reading) -> End {
    let why = match reading {
        Reading::Unknown(why) => why.as_str(),
        Reading::Present(_) | Reading::Absent => "",
    };
    End::Unknown { why: format!("it was sent, and what came of it can't be read: {why}") }
}

fn refusal(reply: &Reply) -> String {
    let code = reply.http.map_or_else(String::new, |code| format!(" ({code} {})", reply.reason));
    format!("the cluster refused it{}", code.replace(" )", ")"))
}

fn conflict(ready: &Ready<'_>, reading: &Reading) -> String {
    let changed = match &ready.wish {
        Wish::Delete { uid, resource_version } | Wish::Label { uid, resource_version, .. } => {
            difference(uid, resource_version, reading)
        }
        Wish::Create { .. } => Some("another object has the name now".to_owned()),
    };
    let changed = changed.unwrap_or_else(|| "the cluster says it is not the object the plan shows".to_owned());
    format!("nothing was done: {changed}")
}
