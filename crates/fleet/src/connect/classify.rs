//! What an error means for what is known: from statuses, bodies and broken transports to a [`Gap`] with one sentence.
//!
//! Always true:
//! - no text of a response body gets into a sentence, so a Secret's never can; of a `Status` only the reason is used,
//!   and only when it is one plain word;
//! - everything that goes wrong ends in "not known": nothing here ever says that something does not exist.

use std::error::Error;
use std::io;

use http::StatusCode;
use serde::Deserialize;

use super::exec::ExecError;
use super::send::TransportError;
use super::transport::{DialError, LoginError};
use trueup_core::world::{Gap, GapCause};

const CERTIFICATE_REFUSED: &str = "the server did not take the client certificate";

/// What a status other than success means. `reason` is that of the `Status` body ([`reason`]); `what` is what was
/// being done: `listing secrets in openshift-config`.
pub fn status(code: StatusCode, reason: Option<&str>, what: &str) -> Gap {
    let (cause, says) = match code.as_u16() {
        401 => (GapCause::Unauthorized, "the login was not accepted"),
        403 => (GapCause::Forbidden, "not allowed"),
        404 => (GapCause::Discovery, "the server does not know this address"),
        406 | 415 => (GapCause::Unreadable, "the server can't answer in this form"),
        408 | 504 => (GapCause::Unreachable, "the server took too long"),
        410 => (GapCause::CutShort, "the list moved on while it was being read"),
        413 => (GapCause::CutShort, "the answer is too large for the server"),
        429 => (GapCause::Unreachable, "the server asks for fewer requests"),
        300..=399 => (GapCause::Unreadable, "a redirect came back, as from a login page"),
        500..=599 => (GapCause::Unreachable, "the server failed"),
        _ => (GapCause::Unreadable, "the server did not take the request"),
    };
    let reason = reason.filter(|word| is_reason(word)).map(|word| format!(" {word}")).unwrap_or_default();
    Gap::new(cause, format!("{what}: {says} ({}{reason})", code.as_u16()))
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
    let says = if start.is_empty() {
        "the answer is empty"
    } else if start.starts_with(b"<") {
        "a web page came back instead of data, as from a proxy or login page"
    } else if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(start) {
        if error.is_eof() { "the answer broke off" } else { "the answer is no JSON" }
    } else {
        "the answer has another shape than expected"
    };
    Gap::new(GapCause::Unreadable, format!("{what}: {says}"))
}

/// What a transport error means.
pub fn transport(error: &TransportError, what: &str) -> Gap {
    let (cause, says) = match error {
        TransportError::Unsayable(_) => (GapCause::Unreadable, "the request can't be put into words".to_owned()),
        TransportError::TooLarge { .. } => (GapCause::CutShort, error.to_string()),
        TransportError::TimedOut { .. } => (GapCause::Unreachable, error.to_string()),
        TransportError::Client(source) => of_chain(source.as_ref(), "the request failed"),
        TransportError::BrokeOff(source) => of_chain(source.as_ref(), "the answer broke off"),
    };
    Gap::new(cause, format!("{what}: {says}"))
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
        LoginError::TokenFile { .. } | LoginError::BadToken { .. } => "log in again, then press r".to_owned(),
        LoginError::NewCertificate => "reconnecting".to_owned(),
    }
}

/// Finds the most telling error in a chain.
fn of_chain(error: &(dyn Error + 'static), otherwise: &str) -> (GapCause, String) {
    let unreachable = |says: &str| (GapCause::Unreachable, says.to_owned());
    let mut found = unreachable(otherwise);
    for link in Chain(Some(error)) {
        if let Some(error) = link.downcast_ref::<LoginError>() {
            return (GapCause::Unauthorized, error.to_string());
        }
        if let Some(error) = link.downcast_ref::<std::sync::Arc<LoginError>>() {
            return (GapCause::Unauthorized, error.to_string());
        }
        if let Some(error) = link.downcast_ref::<rustls::Error>() {
            return of_tls(error);
        }
        if is_certificate_alert(link) {
            return (GapCause::Unauthorized, CERTIFICATE_REFUSED.to_owned());
        }
        if let Some(error) = link.downcast_ref::<DialError>() {
            found = unreachable(&error.to_string());
        } else if let Some(says) = link.downcast_ref::<io::Error>().and_then(|error| of_io(error.kind())) {
            found = (found.0, if found.1 == otherwise { says.to_owned() } else { format!("{}: {says}", found.1) });
        } else if is_name_lookup(link) {
            return unreachable("the server's name can't be found");
        }
    }
    found
}

fn of_io(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::ConnectionRefused => Some("nobody listens there (connection refused)"),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
            Some("the connection was cut")
        }
        io::ErrorKind::TimedOut => Some("the connection timed out"),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some("there is no way to the server"),
        io::ErrorKind::UnexpectedEof => Some("the connection was closed in the middle"),
        // Foreign enum, open to new kinds; what has no better word keeps the general one.
        _ => None,
    }
}

fn of_tls(error: &rustls::Error) -> (GapCause, String) {
    use rustls::{AlertDescription as Alert, CertificateError as Bad};
    let unreachable = |says: &str| (GapCause::Unreachable, says.to_owned());
    match error {
        rustls::Error::InvalidCertificate(bad) => match bad {
            Bad::UnknownIssuer => unreachable("the server's certificate is not signed by the expected authority"),
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
                unreachable("the server's certificate is for another name; tls-server-name may be needed")
            }
            Bad::Expired | Bad::ExpiredContext { .. } => unreachable("the server's certificate has ended"),
            Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
                unreachable("the server's certificate begins in the future; is the clock right?")
            }
            // Foreign enum, open to new kinds.
            _ => unreachable("the server's certificate can't be trusted"),
        },
        rustls::Error::AlertReceived(
            Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRequired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => (GapCause::Unauthorized, CERTIFICATE_REFUSED.to_owned()),
        rustls::Error::InvalidMessage(_) => unreachable("the server does not speak TLS there"),
        // Foreign enum, open to new kinds.
        _ => unreachable("no TLS session came about"),
    }
}

/// The refusal of a client certificate as HTTP/2 tells it: TLS 1.3 alerts come after the handshake, and the h2 crate
/// keeps only their text, which is rustls's and fixed.
fn is_certificate_alert(error: &(dyn Error + 'static)) -> bool {
    let text = error.to_string();
    let alert = text.strip_prefix("received fatal alert: ");
    alert.is_some_and(|alert| alert.contains("Certificate") || matches!(alert, "UnknownCA" | "AccessDenied"))
}

/// hyper-util's error for a failed lookup has no public type; its text is fixed and holds nothing else.
fn is_name_lookup(error: &(dyn Error + 'static)) -> bool {
    error.to_string().starts_with("dns error")
}

fn is_reason(word: &str) -> bool {
    (1..=40).contains(&word.len()) && word.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// An error and everything behind it, including what an `io::Error` wraps, which its `source` skips.
struct Chain<'e>(Option<&'e (dyn Error + 'static)>);

impl<'e> Iterator for Chain<'e> {
    type Item = &'e (dyn Error + 'static);

    fn next(&mut self) -> Option<Self::Item> {
        let current = self.0?;
        let wrapped = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        self.0 = match wrapped {
            Some(inner) => Some(inner),
            None => current.source(),
        };
        Some(current)
    }
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
            assert!(gap.says.starts_with("listing secrets: ") && gap.says.contains(case), "case: {case}: {}", gap.says);
        }
    }

    #[test]
    fn of_a_status_body_only_a_plain_reason_is_told() {
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
        assert_eq!(gap.says, "watching pods: the list moved on while it was being read (410 Expired)");
    }

    #[test]
    fn a_body_that_cannot_be_read_is_described_and_not_quoted() {
        let cases = [
            ("html", " <!DOCTYPE html><p>canary", "web page"),
            ("half", r#"{"items":[{"a":"canary"#, "broke off"),
            ("text", "canary", "no JSON"),
            ("other shape", r#"{"canary":1}"#, "another shape"),
            ("empty", " ", "empty"),
        ];
        for (case, body, expected) in cases {
            let gap = undecodable(body.as_bytes(), "listing");
            assert_eq!(gap.cause, GapCause::Unreadable, "case: {case}");
            assert!(gap.says.contains(expected) && !gap.says.contains("canary"), "case: {case}: {}", gap.says);
        }
    }
}
