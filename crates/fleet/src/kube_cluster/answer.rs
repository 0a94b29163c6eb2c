//! What a server answered, by class.
//!
//! Invariant: no text of a body gets into a message but a `Status`' reason, when it is one plain word, and the names of
//! the managers that own a field, when they are made of characters such a name has.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use zeroize::Zeroizing;

use trueup_core::engine::executor::Reply;
use trueup_core::engine::journal::Answer;

/// An answer as it came.
pub(super) struct Got {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Zeroizing<Vec<u8>>,
}

/// The class of an answer.
pub(super) fn reply(got: &Got, plural: &str, name: &str) -> Reply {
    let seconds = got.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = seconds.and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let answer = match got.status.as_u16() {
        200..=202 => Answer::Done,
        404 if names(&got.body, plural, name) => Answer::Gone,
        409 => Answer::Conflict,
        429 => Answer::Throttled,
        503 if retry_after.is_some() => Answer::Throttled,
        408 | 500..=599 => Answer::Ambiguous,
        400..=499 => Answer::Refused,
        // A redirect or an unknown status: whether the request was carried out is unknown.
        _ => Answer::Ambiguous,
    };
    let (reason, managers) = (reason(&got.body), managers(&got.body));
    let version = written_version(&got.body).filter(|_| answer == Answer::Done);
    Reply { http: Some(got.status.as_u16()), answer, retry_after, reason, managers, version }
}

/// The answer to a request that never came, or to one that was never sent.
pub(super) fn unanswered(answer: Answer) -> Reply {
    Reply { http: None, answer, retry_after: None, reason: String::new(), managers: Vec::new(), version: None }
}

#[derive(Deserialize)]
struct Status {
    kind: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    details: Details,
}

#[derive(Deserialize, Default)]
struct Details {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    causes: Vec<Cause>,
}

#[derive(Deserialize)]
struct Cause {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
}

/// An object as a server returns it after a write; everything else of it is skipped.
#[derive(Deserialize)]
struct Written {
    metadata: WrittenMeta,
}

#[derive(Deserialize)]
struct WrittenMeta {
    #[serde(rename = "resourceVersion")]
    resource_version: String,
}

/// The version of the object in a response; a Status has none.
fn written_version(body: &[u8]) -> Option<String> {
    let version = serde_json::from_slice::<Written>(body).ok()?.metadata.resource_version;
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_version.then_some(version)
}

fn status(body: &[u8]) -> Option<Status> {
    serde_json::from_slice::<Status>(body).ok().filter(|status| status.kind == "Status")
}

/// Whether a 404 is about this object, and not about a kind or a server that is gone.
pub(super) fn names(body: &[u8], plural: &str, name: &str) -> bool {
    status(body).is_some_and(|status| {
        status.reason == "NotFound" && status.details.kind == plural && status.details.name == name
    })
}

fn reason(body: &[u8]) -> String {
    let plain = |word: &String| word.len() <= 40 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    status(body).map(|status| status.reason).filter(plain).unwrap_or_default()
}

/// The managers a server names that own what was to be applied.
fn managers(body: &[u8]) -> Vec<String> {
    let causes = status(body).map(|status| status.details.causes).unwrap_or_default();
    let owned = causes.iter().filter(|cause| cause.reason == "FieldManagerConflict");
    // `conflict with "name" using v1`
    let mut named: Vec<String> = owned.filter_map(|cause| cause.message.split('"').nth(1)).map(plain_name).collect();
    named.sort();
    named.dedup();
    named
}

/// A name as controllers have them, or that there is one.
fn plain_name(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:".contains(&byte);
    let is_plain = !name.is_empty() && name.len() <= MANAGER_MAX && name.bytes().all(plain);
    if is_plain { name.to_owned() } else { "another manager".to_owned() }
}

/// What a server takes for the name of a manager.
const MANAGER_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_write_says_at_which_version_it_left_the_object() {
        let cases = [
            (
                "an object",
                json!({ "metadata": { "resourceVersion": "812" }, "data": { "a": "c2VjcmV0" } }),
                Some("812"),
            ),
            ("a Status", json!({ "kind": "Status", "metadata": {}, "status": "Success" }), None),
            ("no version", json!({ "metadata": { "resourceVersion": "" } }), None),
            ("not a version", json!({ "metadata": { "resourceVersion": "a b" } }), None),
        ];
        for (case, body, expected) in cases {
            assert_eq!(written_version(body.to_string().as_bytes()).as_deref(), expected, "case: {case}");
        }
    }

    #[test]
    fn only_names_of_managers_get_out_of_a_conflict() {
        let cause = |message: &str| json!({ "reason": "FieldManagerConflict", "message": message, "field": ".data.a" });
        let body = |causes: Vec<serde_json::Value>| {
            json!({ "kind": "Status", "reason": "Conflict", "details": { "causes": causes } }).to_string()
        };
        let cases = [
            ("none", body(vec![]), vec![]),
            ("one, twice", body(vec![cause("conflict with \"kubectl\" using v1"); 2]), vec!["kubectl"]),
            ("an odd one", body(vec![cause("conflict with \"s3cret \u{1b}[2J\" using v1")]), vec!["another manager"]),
            ("another reason", body(vec![json!({ "reason": "x", "message": "with \"kubectl\"" })]), vec![]),
            ("no Status", "<html>".to_owned(), vec![]),
        ];
        for (case, body, expected) in cases {
            assert_eq!(managers(body.as_bytes()), expected, "case: {case}");
        }
    }
}
