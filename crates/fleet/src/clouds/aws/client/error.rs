//! What went wrong with AWS: a class that decides, a code to search for, a sentence and a remedy.
//!
//! Invariant: none of the texts holds a key or a token.

use std::time::Duration;

use jiff::Timestamp;

use super::endpoint::Service;
use trueup_net::NotReached;
use trueup_net::http::HttpError;
use trueup_net::one_line;

trueup_core::named_enum! {
    /// What kind of failure it is, as a verdict says it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Class {
        /// The web identity token can't be had from its file; nothing was sent.
        TokenUnreadable = "token-unreadable",
        /// AWS denies it, or would: a person has to change something.
        Denied = "denied",
        /// A transient failure; nothing is known until it passes.
        Transient = "transient",
    }
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AwsError {
    pub class: Class,
    /// AWS's own code, or a word of ours for what never reached AWS.
    pub code: String,
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// How often something may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Once more would change nothing.
    None,
    /// Again after these waits, then it is what it seems.
    Waits(&'static [Duration]),
}

/// Waits after transient failures: 0.5 + 1 + 2 s, so a person who waits for an answer waits 3.5 s longer at most.
const PASSING: &[Duration] = &[Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// STS says InvalidIdentityToken, too, while it can't fetch the issuer's keys; a new role's trust takes seconds to spread.
const SPREADING: &[Duration] = &[Duration::from_secs(1), Duration::from_secs(2)];

/// How long a denial is kept: a person changes a policy and wants to see the effect.
const DENIED_HOLDS: Duration = Duration::from_secs(60);

/// How long anything else that failed holds.
const FAILED_HOLDS: Duration = Duration::from_secs(10);

impl AwsError {
    pub(crate) fn new(
        class: Class,
        code: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { class, code: code.into(), message: message.into(), remedy: remedy.into() }
    }

    /// What AWS answered to `what`. `message` must be free of secrets.
    pub(super) fn answered(what: &str, status: u16, code: &str, message: &str) -> Self {
        let code = plain_code(code).unwrap_or_else(|| format!("HTTP{status}"));
        let (class, remedy) = judge(&code, status);
        let message = match one_line(message, 240).trim_end_matches('.') {
            "" => format!("{what}: {code}"),
            message => format!("{what}: {code}: {message}"),
        };
        Self::new(class, code, message, remedy)
    }

    /// No answer to `what` came.
    pub(super) fn unanswered(what: &str, host: &str, error: &HttpError) -> Self {
        let (code, remedy) = match error {
            HttpError::TimedOut { .. } => {
                ("timeout", "check the connection to the endpoint: proxy, firewall, VPC endpoint")
            }
            HttpError::BrokeOff | HttpError::TooLarge { .. } => {
                ("broken-answer", "try again; check the proxies in between")
            }
            HttpError::NotAllowed(_) => {
                ("egress", "set the line of [egress] that the message names, if that is intended")
            }
            HttpError::NotReached(why) => match why {
                NotReached::NotAllowed => ("egress", "allow the endpoint in [egress], if that is intended"),
                NotReached::NameLookup => ("name-lookup", "check the region and the DNS of this machine"),
                NotReached::UnknownAuthority
                | NotReached::OtherName
                | NotReached::Expired
                | NotReached::NotYetValid
                | NotReached::BadCertificate
                | NotReached::ClientCertificate
                | NotReached::NotTls
                | NotReached::Tls => (
                    "certificate",
                    "add the endpoint's authority to ca-bundle.pem of openshift-config-managed/kube-cloud-config",
                ),
                NotReached::Proxy => ("proxy", "check HTTPS_PROXY and NO_PROXY"),
                NotReached::Refused
                | NotReached::Unreachable
                | NotReached::TimedOut
                | NotReached::Stalled
                | NotReached::Reset
                | NotReached::Closed
                | NotReached::Other => {
                    ("unreachable", "check the connection to the endpoint: proxy, firewall, VPC endpoint")
                }
            },
        };
        let message = format!("{what}: {host}: {error}");
        Self::new(Class::Transient, code, message, remedy)
    }

    /// An answer came that can't be read.
    pub(super) fn unreadable(service: Service, action: &str, why: &str) -> Self {
        let message = format!("{} {action}: the response cannot be read: {why}", service.as_str());
        Self::new(Class::Transient, "unreadable-answer", message, "check proxies and the custom endpoint")
    }

    /// Until when it is answered again without a request.
    pub(super) fn holds_until(&self, now: Timestamp) -> Timestamp {
        let span = match self.class {
            Class::Denied => DENIED_HOLDS,
            Class::TokenUnreadable | Class::Transient => FAILED_HOLDS,
        };
        now.checked_add(span).unwrap_or(Timestamp::MAX)
    }

    /// Whether it is worth sending again.
    pub(super) fn patience(&self) -> Patience {
        match (self.class, self.code.as_str()) {
            (Class::Denied, "InvalidIdentityToken") => Patience::Waits(SPREADING),
            // An untrusted certificate and garbage don't turn good within seconds.
            (Class::Transient, "certificate" | "unreadable-answer" | "name-lookup" | "proxy" | "egress") => {
                Patience::None
            }
            (Class::Transient, _) => Patience::Waits(PASSING),
            (Class::Denied | Class::TokenUnreadable, _) => Patience::None,
        }
    }

    /// Whether the keys may have been replaced since they were read.
    pub fn refuses_keys(&self) -> bool {
        matches!(self.code.as_str(), "AuthFailure" | "InvalidClientTokenId" | "SignatureDoesNotMatch")
    }

    /// Whether new keys could help.
    pub(super) fn keys_are_old(&self) -> bool {
        matches!(self.code.as_str(), "ExpiredToken" | "ExpiredTokenException" | "RequestExpired")
    }
}

/// What a code means (`docs/facts/irsa-machineset.md` section 8), and what to do.
fn judge(code: &str, status: u16) -> (Class, &'static str) {
    const TRY_AGAIN: &str = "nothing: it is retried automatically";
    match code {
        "AccessDenied" | "AccessDeniedException" => (
            Class::Denied,
            "let the role's trust policy name this issuer, audience and subject, and its policy allow the call",
        ),
        "UnauthorizedOperation" => {
            (Class::Denied, "allow ec2:DescribeInstanceTypes and ec2:DescribeRegions in the role's policy")
        }
        "InvalidIdentityToken" => (
            Class::Denied,
            "register the token's issuer as an IAM OIDC provider of the role's account, with the token's audience",
        ),
        "ExpiredTokenException" | "ExpiredToken" => {
            (Class::Denied, "the token is past its time: check why the kubelet does not renew the token file")
        }
        "IDPRejectedClaim" => (Class::Denied, "compare the token's claims with the role's trust policy"),
        "RequestExpired" | "SignatureDoesNotMatch" | "InvalidSignatureException" => {
            (Class::Denied, "check this machine's clock, and the secret access key")
        }
        "AuthFailure" | "InvalidClientTokenId" | "UnrecognizedClientException" | "OptInRequired" => {
            (Class::Denied, "check that the access key exists, and that the region is enabled for the account")
        }
        "RegionDisabledException" => (Class::Denied, "activate STS for the region in the account"),
        "IDPCommunicationError"
        | "Throttling"
        | "ThrottlingException"
        | "ThrottledException"
        | "RequestThrottled"
        | "RequestThrottledException"
        | "RequestLimitExceeded"
        | "TooManyRequestsException"
        | "SlowDown"
        | "PriorRequestNotComplete"
        | "BandwidthLimitExceeded"
        | "RequestTimeout"
        | "RequestTimeoutException"
        | "InternalError"
        | "InternalFailure"
        | "InternalServerError"
        | "ServiceUnavailable"
        | "Unavailable" => (Class::Transient, TRY_AGAIN),
        _ if status >= 500 || status == 429 => (Class::Transient, TRY_AGAIN),
        // The open set of AWS's codes: whatever else it refuses, it refuses.
        _ => (Class::Denied, "look the code up in the AWS documentation"),
    }
}

/// A code as AWS writes them, and nothing that could be something else.
fn plain_code(code: &str) -> Option<String> {
    let code = code.trim();
    let letters = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'_' | b'-');
    ((1..=80).contains(&code.len()) && code.bytes().all(letters)).then(|| code.to_owned())
}
