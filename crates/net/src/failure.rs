//! Why a connection failed, found in the errors of hyper, rustls and the kernel.
//!
//! Invariant: no text of another library gets into a message, so that nothing a server sent does.

#![expect(clippy::wildcard_enum_match_arm, reason = "the enums of io and rustls may grow")]

use std::error::Error;
use std::io;

use rustls::{AlertDescription as Alert, CertificateError as Bad};

use crate::dial::{CONNECT_TIMEOUT, DialError};

/// Why no response came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotReached {
    #[error("host name cannot be resolved")]
    NameLookup,
    #[error("connection refused")]
    Refused,
    #[error("host unreachable")]
    Unreachable,
    #[error("no connection within {} s", CONNECT_TIMEOUT.as_secs())]
    TimedOut,
    /// An established connection on which nothing arrives any more.
    #[error("connection timed out")]
    Stalled,
    #[error("connection reset")]
    Reset,
    #[error("connection closed before the response was complete")]
    Closed,
    #[error("the server's certificate is not signed by a trusted authority")]
    UnknownAuthority,
    #[error("the server's certificate is for another name; set tls-server-name if that is intended")]
    OtherName,
    #[error("the server's certificate has expired")]
    Expired,
    #[error("the server's certificate is not valid yet; check the clock of this machine")]
    NotYetValid,
    #[error("the server's certificate cannot be verified")]
    BadCertificate,
    #[error("the server rejected the client certificate")]
    ClientCertificate,
    #[error("the server does not speak TLS on this port")]
    NotTls,
    #[error("TLS handshake failed")]
    Tls,
    #[error("the proxy refused the connection")]
    Proxy,
    #[error("the egress policy does not allow this host")]
    NotAllowed,
    #[error("the connection failed")]
    Other,
}

impl NotReached {
    /// Whether the request may have reached the server all the same. An unknown failure counts as "may have".
    pub fn may_have_arrived(self) -> bool {
        match self {
            Self::NameLookup
            | Self::Refused
            | Self::TimedOut
            | Self::UnknownAuthority
            | Self::OtherName
            | Self::Expired
            | Self::NotYetValid
            | Self::BadCertificate
            | Self::Proxy
            | Self::NotAllowed => false,
            // An established connection may become unreachable, too.
            Self::Unreachable
            | Self::Stalled
            | Self::Reset
            | Self::Closed
            | Self::ClientCertificate
            | Self::NotTls
            | Self::Tls
            | Self::Other => true,
        }
    }
}

/// What one error of a chain says about the connection, if anything.
pub fn failure_of(error: &(dyn Error + 'static)) -> Option<NotReached> {
    if let Some(error) = error.downcast_ref::<DialError>() {
        return Some(match error {
            DialError::TimedOut => NotReached::TimedOut,
            DialError::Proxy { .. } => NotReached::Proxy,
            DialError::Refused(_) => NotReached::NotAllowed,
        });
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error));
    }
    if is_certificate_alert(error) {
        return Some(NotReached::ClientCertificate);
    }
    // hyper-util's error for a failed lookup has no public type; its text is fixed.
    if error.to_string().starts_with("dns error") {
        return Some(NotReached::NameLookup);
    }
    of_io(error.downcast_ref::<io::Error>()?.kind())
}

fn of_io(kind: io::ErrorKind) -> Option<NotReached> {
    match kind {
        io::ErrorKind::ConnectionRefused => Some(NotReached::Refused),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
            Some(NotReached::Reset)
        }
        io::ErrorKind::TimedOut => Some(NotReached::Stalled),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some(NotReached::Unreachable),
        io::ErrorKind::UnexpectedEof => Some(NotReached::Closed),
        _ => None,
    }
}

fn of_tls(error: &rustls::Error) -> NotReached {
    match error {
        rustls::Error::InvalidCertificate(bad) => match bad {
            Bad::UnknownIssuer => NotReached::UnknownAuthority,
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => NotReached::OtherName,
            Bad::Expired | Bad::ExpiredContext { .. } => NotReached::Expired,
            Bad::NotValidYet | Bad::NotValidYetContext { .. } => NotReached::NotYetValid,
            _ => NotReached::BadCertificate,
        },
        rustls::Error::AlertReceived(
            Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRequired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => NotReached::ClientCertificate,
        rustls::Error::InvalidMessage(_) => NotReached::NotTls,
        _ => NotReached::Tls,
    }
}

/// The rejection of a client certificate over HTTP/2: TLS 1.3 alerts come after the handshake, and the h2 crate keeps
/// only their text, which is rustls's and fixed.
fn is_certificate_alert(error: &(dyn Error + 'static)) -> bool {
    let text = error.to_string();
    let alert = text.strip_prefix("received fatal alert: ");
    alert.is_some_and(|alert| alert.contains("Certificate") || matches!(alert, "UnknownCA" | "AccessDenied"))
}

/// An error and its causes, including what an `io::Error` wraps, which its `source` skips.
pub struct Causes<'e>(Option<&'e (dyn Error + 'static)>);

impl<'e> Causes<'e> {
    pub fn of(error: &'e (dyn Error + 'static)) -> Self {
        Self(Some(error))
    }
}

impl<'e> Iterator for Causes<'e> {
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
    fn the_first_telling_cause_of_a_chain_is_found() {
        let wrapped = |error: rustls::Error| io::Error::new(io::ErrorKind::InvalidData, error);
        let proxied = DialError::Proxy { proxy: "p:1".to_owned(), source: "no".into() };
        let cases: [(&str, io::Error, Option<NotReached>); 6] = [
            ("refused", io::ErrorKind::ConnectionRefused.into(), Some(NotReached::Refused)),
            ("reset", io::ErrorKind::ConnectionReset.into(), Some(NotReached::Reset)),
            (
                "not TLS",
                wrapped(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)),
                Some(NotReached::NotTls),
            ),
            ("expired", wrapped(rustls::Error::InvalidCertificate(Bad::Expired)), Some(NotReached::Expired)),
            ("proxy", io::Error::other(proxied), Some(NotReached::Proxy)),
            ("nothing known", io::ErrorKind::OutOfMemory.into(), None),
        ];
        for (case, error, expected) in cases {
            assert_eq!(Causes::of(&error).find_map(failure_of), expected, "case: {case}");
        }
    }

    #[test]
    fn only_a_failed_connection_proves_that_nothing_was_sent() {
        let cases = [
            (NotReached::Refused, false),
            (NotReached::TimedOut, false),
            (NotReached::UnknownAuthority, false),
            (NotReached::Proxy, false),
            (NotReached::Unreachable, true),
            (NotReached::Stalled, true),
            (NotReached::Reset, true),
            (NotReached::Tls, true),
            (NotReached::Other, true),
        ];
        for (why, expected) in cases {
            assert_eq!(why.may_have_arrived(), expected, "{why}");
        }
    }
}
