//! From statuses, bodies and transport errors to a [`Gap`] with one message.
//!
//! Invariants:
//! - no text of a response body gets into a message, so a Secret's never can; of a `Status` only the reason is used,
//!   and only when it is one plain word;
//! - every failure ends in "unknown": nothing here ever says that an object does not exist.

use std::error::Error;

use http::StatusCode;
use serde::Deserialize;

use super::exec::ExecError;
use super::send::TransportError;
use super::transport::LoginError;
use trueup_core::world::{Gap, GapCause};
use trueup_net::{Causes, NotReached, failure_of, refusal_of};

/// What a status other than success means. `reason` is that of the `Status` body ([`reason`]); `what` is what was
/// being done: `listing secrets in openshift-config`.
pub fn status(code: StatusCode, reason: Option<&str>, what: &str) -> Gap {
    let (cause, message) = match code.as_u16() {
        401 => (GapCause::Unauthorized, "credentials rejected"),
        403 => (GapCause::Forbidden, "forbidden"),
        404 => (GapCause::Discovery, "the server does not serve this path"),
        406 | 415 => (GapCause::Unreadable, "the server does not support the requested format"),
        408 | 504 => (GapCause::Unreachable, "the server timed out"),
        410 => (GapCause::CutShort, "list expired while paging"),
        413 => (GapCause::CutShort, "the response is too large for the server"),
        429 => (GapCause::Unreachable, "the server is throttling requests"),
        300..=399 => (GapCause::Unreadable, "unexpected redirect, as from a login page"),
        500..=599 => (GapCause::Unreachable, "the server failed"),
        _ => (GapCause::Unreadable, "the server rejected the request"),
    };
    let reason = reason
        .filter(|word| is_reason(word) && !word.eq_ignore_ascii_case(message))
        .map(|word| format!(" {word}"))
        .unwrap_or_default();
    Gap::new(cause, format!("{what}: {message} ({}{reason})", code.as_u16()))
}

/// The reason a `Status` body gives, such as `Expired`. Nothing else of the body.
pub fn reason(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct StatusBody {
        kind: String,
        reason: Option<String>,
    }
    let status: StatusBody = serde_json::from_slice(body).ok()?;
    status.reason.filter(|word| status.kind == "Status" && is_reason(word))
}

/// What a body that can't be decoded looks like from outside: HTML, cut short, or just not what was asked for.
pub fn undecodable(body: &[u8], what: &str) -> Gap {
    let start = body.trim_ascii_start();
    let message = if start.is_empty() {
        "the response is empty"
    } else if start.starts_with(b"<") {
        "the response is a web page, as from a proxy or login page"
    } else if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(start) {
        if error.is_eof() { "the response broke off" } else { "the response is not JSON" }
    } else {
        "the response has an unexpected shape"
    };
    Gap::new(GapCause::Unreadable, format!("{what}: {message}"))
}

/// What a transport error means.
pub fn transport(error: &TransportError, what: &str) -> Gap {
    let (cause, message) = match error {
        TransportError::Unsayable(_) => (GapCause::Unreadable, "the request cannot be built".to_owned()),
        TransportError::TooLarge { .. } => (GapCause::CutShort, error.to_string()),
        TransportError::TimedOut { .. } => (GapCause::Unreachable, error.to_string()),
        TransportError::Client(source) => of_chain(source.as_ref(), "the request failed"),
        TransportError::BrokeOff(source) => of_chain(source.as_ref(), "the response broke off"),
    };
    Gap::new(cause, format!("{what}: {message}"))
}

/// What a failed login means.
pub fn login(error: &LoginError) -> Gap {
    Gap::new(GapCause::Unauthorized, error.to_string())
}

/// What to do about a failed login, when there is something.
pub fn login_hint(error: &LoginError) -> String {
    match error {
        LoginError::Exec(ExecError::Missing { command, .. }) => format!("install {command}, or add its folder to PATH"),
        LoginError::Exec(ExecError::NeedsTerminal { .. } | ExecError::TimedOut { .. }) => {
            "log in with kubectl in a terminal, then press r".to_owned()
        }
        LoginError::Exec(ExecError::NotStarted { .. } | ExecError::Failed { .. } | ExecError::Unusable { .. }) => {
            "run the same command in a terminal; kubectl shows what it says".to_owned()
        }
        LoginError::Exec(ExecError::NotListed { command }) => format!("add {command:?} to [exec] allow to run it"),
        LoginError::Exec(ExecError::NotApproved { .. }) => "log in to run it and to remember that".to_owned(),
        LoginError::TokenFile { .. } | LoginError::BadToken { .. } => "log in again, then press r".to_owned(),
        LoginError::NewCertificate => "reconnecting".to_owned(),
    }
}

/// Finds the most telling error in a chain.
fn of_chain(error: &(dyn Error + 'static), otherwise: &str) -> (GapCause, String) {
    let unreachable = |message: &str| (GapCause::Unreachable, message.to_owned());
    if let Some(refused) = refusal_of(error) {
        return unreachable(&refused.to_string());
    }
    let mut found = unreachable(otherwise);
    for link in Causes::of(error) {
        if let Some(error) = link.downcast_ref::<LoginError>() {
            return (GapCause::Unauthorized, error.to_string());
        }
        if let Some(error) = link.downcast_ref::<std::sync::Arc<LoginError>>() {
            return (GapCause::Unauthorized, error.to_string());
        }
        let Some(why) = failure_of(link) else { continue };
        match why {
            NotReached::ClientCertificate => return (GapCause::Unauthorized, why.to_string()),
            // The error names the proxy, and its cause may follow.
            NotReached::Proxy | NotReached::TimedOut => found = unreachable(&link.to_string()),
            NotReached::Refused
            | NotReached::Unreachable
            | NotReached::Stalled
            | NotReached::Reset
            | NotReached::Closed => {
                found.1 = if found.1 == otherwise { why.to_string() } else { format!("{}: {why}", found.1) };
            }
            NotReached::NameLookup
            | NotReached::UnknownAuthority
            | NotReached::OtherName
            | NotReached::Expired
            | NotReached::NotYetValid
            | NotReached::BadCertificate
            | NotReached::NotTls
            | NotReached::Tls
            | NotReached::NotAllowed
            | NotReached::Other => return unreachable(&why.to_string()),
        }
    }
    found
}

fn is_reason(word: &str) -> bool {
    (1..=40).contains(&word.len()) && word.chars().all(|letter| letter.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_status_is_a_gap_and_never_an_absence() {
        let cases = [
            ("401", 401, GapCause::Unauthorized),
            ("403", 403, GapCause::Forbidden),
            ("404", 404, GapCause::Discovery),
            ("406", 406, GapCause::Unreadable),
            ("410", 410, GapCause::CutShort),
            ("413", 413, GapCause::CutShort),
            ("422", 422, GapCause::Unreadable),
            ("429", 429, GapCause::Unreachable),
            ("302", 302, GapCause::Unreadable),
            ("500", 500, GapCause::Unreachable),
            ("504", 504, GapCause::Unreachable),
        ];
        for (case, code, expected) in cases {
            let gap = status(StatusCode::from_u16(code).unwrap(), None, "listing secrets");
            assert_eq!(gap.cause, expected, "case: {case}");
            assert!(
                gap.message.starts_with("listing secrets: ") && gap.message.contains(case),
                "case: {case}: {}",
                gap.message
            );
        }
    }

    #[test]
    fn only_a_plain_reason_of_a_status_body_is_shown() {
        let cases = [
            ("reason", r#"{"kind":"Status","message":"canary","reason":"Expired"}"#, Some("Expired")),
            ("no reason", r#"{"kind":"Status","message":"canary"}"#, None),
            ("another kind", r#"{"kind":"Secret","reason":"Expired"}"#, None),
            ("a sentence as reason", r#"{"kind":"Status","reason":"canary is here"}"#, None),
            ("no JSON", "canary", None),
        ];
        for (case, body, expected) in cases {
            assert_eq!(reason(body.as_bytes()).as_deref(), expected, "case: {case}");
        }
        let gap = status(StatusCode::GONE, Some("Expired"), "watching pods");
        assert_eq!(&*gap.message, "watching pods: list expired while paging (410 Expired)");
    }

    #[test]
    fn a_body_that_cannot_be_read_is_described_and_not_quoted() {
        let cases = [
            ("html", " <!DOCTYPE html><p>canary", "web page"),
            ("half", r#"{"items":[{"a":"canary"#, "broke off"),
            ("text", "canary", "not JSON"),
            ("other shape", r#"{"canary":1}"#, "unexpected shape"),
            ("empty", " ", "empty"),
        ];
        for (case, body, expected) in cases {
            let gap = undecodable(body.as_bytes(), "listing");
            assert_eq!(gap.cause, GapCause::Unreadable, "case: {case}");
            assert!(gap.message.contains(expected) && !gap.message.contains("canary"), "case: {case}: {}", gap.message);
        }
    }
}
