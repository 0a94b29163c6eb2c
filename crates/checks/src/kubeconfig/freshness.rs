//! How a credential stands at a moment, and when that changes by time alone.
//!
//! Invariants: between now and [`Assessment::until`] the answer is the same at every instant.

use jiff::{SignedDuration, Timestamp};

use super::content::{Credential, Token};

/// Clocks differ: what begins within this is taken as begun.
const SKEW: SignedDuration = SignedDuration::from_mins(5);
/// An EKS token is renewed about every ten minutes of its fifteen; with less than this left the renewal is late.
const EKS_EXPIRING: SignedDuration = SignedDuration::from_mins(5);
/// A renewal every ten minutes, give or take one, has certainly failed by then.
const EKS_STALLED: SignedDuration = SignedDuration::from_mins(12);
/// Short-lived tokens are renewed by their holders shortly before their end.
const JWT_EXPIRING_LEAST: SignedDuration = SignedDuration::from_mins(10);
/// A fifth of a year would be two months of warnings.
const JWT_EXPIRING_MOST: SignedDuration = SignedDuration::from_hours(7 * 24);
const JWT_EXPIRING_PART: i32 = 5;
/// Time enough for a person to do something about it.
const CERTIFICATE_EXPIRING: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The smallest step of a clock: what holds "below" a limit holds this much after it.
const TICK: SignedDuration = SignedDuration::from_nanos(1);

/// How a credential stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assessment {
    pub standing: Standing,
    pub renewal: Renewal,
    pub half_life: HalfLife,
    /// The next instant one of these changes.
    pub until: Option<Timestamp>,
}

/// Whether it would be taken now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Valid,
    Expiring,
    Expired,
    NotYetValid,
    /// Only the API server knows.
    Opaque,
    /// It says how long it holds, and that is for ever.
    NoExpiry,
    /// There is no credential with a lifetime.
    NotTimed,
}

/// Whether renewal is overdue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    OnTime,
    Stalled,
}

/// Whether more of its life is behind it than ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfLife {
    Ahead,
    Past,
}

/// Collects what holds from which instant on.
struct Clock {
    now: Timestamp,
    next: Option<Timestamp>,
}

impl Clock {
    /// Whether the instant has come; if not, it is one to wait for.
    fn reached(&mut self, at: Timestamp) -> bool {
        let reached = self.now >= at;
        if !reached {
            self.next = Some(self.next.map_or(at, |next| next.min(at)));
        }
        reached
    }
}

pub fn assess(credential: &Credential, now: Timestamp) -> Assessment {
    let mut clock = Clock { now, next: None };
    let mut assessment =
        Assessment { standing: Standing::Valid, renewal: Renewal::OnTime, half_life: HalfLife::Ahead, until: None };
    assessment.standing = match credential {
        Credential::Token(Token::Opaque) => Standing::Opaque,
        Credential::Token(Token::Jwt(token)) if token.until.is_none() => Standing::NoExpiry,
        Credential::Token(Token::Malformed(_))
        | Credential::Exec
        | Credential::AuthProvider
        | Credential::File
        | Credential::Basic
        | Credential::Nothing => Standing::NotTimed,
        Credential::Token(Token::Eks(_) | Token::Jwt(_)) | Credential::Certificate(_) => {
            standing(credential, &mut clock)
        }
    };
    if let Credential::Token(Token::Eks(token)) = credential
        && assessment.standing != Standing::Expired
        && clock.reached(plus(token.signed, EKS_STALLED + TICK))
    {
        assessment.renewal = Renewal::Stalled;
    }
    if let Credential::Certificate(certificate) = credential
        && clock.reached(plus(certificate.from, certificate.until.duration_since(certificate.from) / 2 + TICK))
    {
        assessment.half_life = HalfLife::Past;
    }
    assessment.until = clock.next;
    assessment
}

fn standing(credential: &Credential, clock: &mut Clock) -> Standing {
    let span = credential.span();
    let Some(until) = span.until else { return Standing::NoExpiry };
    if clock.reached(until) {
        return Standing::Expired;
    }
    if span.from.is_some_and(|from| !clock.reached(plus(from, -SKEW))) {
        return Standing::NotYetValid;
    }
    if clock.reached(expiring_from(credential, span.issued.or(span.from), until)) {
        Standing::Expiring
    } else {
        Standing::Valid
    }
}

/// When a credential that ends then begins to be about to end.
pub fn expiring_from(credential: &Credential, issued: Option<Timestamp>, until: Timestamp) -> Timestamp {
    match credential {
        Credential::Token(Token::Eks(_)) => plus(until, -EKS_EXPIRING),
        Credential::Certificate(_) => plus(until, TICK - CERTIFICATE_EXPIRING),
        Credential::Token(Token::Jwt(_) | Token::Opaque | Token::Malformed(_))
        | Credential::Exec
        | Credential::AuthProvider
        | Credential::File
        | Credential::Basic
        | Credential::Nothing => {
            let deletion_state = issued.map_or(SignedDuration::ZERO, |issued| until.duration_since(issued));
            let notice = (deletion_state / JWT_EXPIRING_PART).max(JWT_EXPIRING_LEAST).min(JWT_EXPIRING_MOST);
            plus(until, TICK - notice)
        }
    }
}

fn plus(at: Timestamp, span: SignedDuration) -> Timestamp {
    let edge = if span.is_negative() { Timestamp::MIN } else { Timestamp::MAX };
    at.saturating_add(span).unwrap_or(edge)
}
