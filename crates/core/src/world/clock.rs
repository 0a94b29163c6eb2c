//! Clock skew: how far the clock of a server is from the clock of this machine.
//!
//! Invariants: a skew includes its uncertainty, so a slow response never looks like a wrong clock; only a proven
//! agreement gives a [`TrustedNow`], and a server that sends no `Date` proves nothing.
//! Elsewhere: reading `Date` (`fleet::connect`), the gate (`engine::gate`), retention (`engine::journal`).

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The skew from which deletes are blocked: ages, expiries and settling are compared to the second, and NTP holds
/// machines within milliseconds.
pub const CLOCK_SKEW_MAX: SignedDuration = SignedDuration::from_mins(1);
/// `Date` has whole seconds: on average the server's clock is half a second later.
const DATE_HALF_STEP: SignedDuration = SignedDuration::from_millis(500);

/// The clock of a server, compared with the clock of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ClockSkew {
    /// Positive: the server is ahead.
    ahead: SignedDuration,
    /// The server's clock was read at an unknown moment of the request: half of the time that took.
    uncertainty: SignedDuration,
}

impl ClockSkew {
    /// Compares the `Date` of a response with the local clock at the middle of its request.
    pub fn measure(date: Timestamp, received: Timestamp, took: Duration) -> Self {
        let half = SignedDuration::try_from(took / 2).unwrap_or(SignedDuration::MAX);
        let middle = received.checked_sub(half).unwrap_or(Timestamp::MIN);
        let ahead = date.duration_since(middle).saturating_add(DATE_HALF_STEP);
        Self { ahead, uncertainty: half }
    }

    /// Whether the clocks differ by more than [`CLOCK_SKEW_MAX`], whenever during the request the server read its own.
    pub fn is_excessive(self) -> bool {
        self.ahead.abs().saturating_sub(self.uncertainty) > CLOCK_SKEW_MAX
    }

    /// Whether the clocks agree to [`CLOCK_SKEW_MAX`], whenever during the request the server read its own.
    pub fn is_agreement(self) -> bool {
        self.ahead.abs().saturating_add(self.uncertainty) <= CLOCK_SKEW_MAX
    }

    /// Whether a person would read the same from both.
    pub fn reads_like(self, other: Self) -> bool {
        self.is_excessive() == other.is_excessive() && self.to_string() == other.to_string()
    }

    /// `+3 min` when the server is ahead, `-9 d` when it is behind.
    pub fn short(self) -> String {
        let sign = if self.ahead.is_negative() { '-' } else { '+' };
        format!("{sign}{}", largest_unit(self.ahead))
    }
}

impl fmt::Display for ClockSkew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.ahead.is_negative() { "behind" } else { "ahead of" };
        write!(f, "{} {side} this machine", largest_unit(self.ahead))
    }
}

/// A time that a server confirmed: what may end because it is old enough is judged by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustedNow(Timestamp);

impl TrustedNow {
    /// The local time, if at least one server agrees with it and none disagrees.
    pub fn confirm(now: Timestamp, skews: impl IntoIterator<Item = ClockSkew>) -> Option<Self> {
        let mut skews = skews.into_iter().peekable();
        skews.peek()?;
        skews.all(ClockSkew::is_agreement).then_some(Self(now))
    }

    pub fn get(self) -> Timestamp {
        self.0
    }
}

fn largest_unit(span: SignedDuration) -> String {
    let seconds = span.as_secs().unsigned_abs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= 2 * unit);
    unit.map_or_else(|| format!("{seconds} s"), |(unit, name)| format!("{} {name}", seconds / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = "2026-11-16T10:00:00Z";

    /// A server whose clock is this many seconds ahead; the response took this long.
    fn skew(seconds: i64, took: u64) -> ClockSkew {
        let sent: Timestamp = SENT.parse().unwrap();
        let took = Duration::from_secs(took);
        let received = sent + took;
        ClockSkew::measure(sent + took / 2 + SignedDuration::from_secs(seconds), received, took)
    }

    #[test]
    fn only_more_than_a_minute_whatever_the_response_took_is_excessive() {
        let cases = [
            ("exact", 0, 0, "agrees"),
            ("59 s ahead", 59, 0, "agrees"),
            ("62 s ahead", 62, 0, "excessive"),
            ("62 s behind", -62, 0, "excessive"),
            ("9 days behind", -9 * 86_400, 0, "excessive"),
            ("a response of 30 s", 0, 30, "agrees"),
            ("a response of three minutes proves nothing", 0, 180, "unknown"),
            ("62 s ahead in a response of ten seconds", 62, 10, "unknown"),
            ("an hour ahead in a response of three minutes", 3600, 180, "excessive"),
        ];
        for (case, seconds, took, expected) in cases {
            let skew = skew(seconds, took);
            let found = match (skew.is_agreement(), skew.is_excessive()) {
                (true, false) => "agrees",
                (false, true) => "excessive",
                (false, false) => "unknown",
                (true, true) => "both",
            };
            assert_eq!(found, expected, "case: {case}");
        }
    }

    #[test]
    fn a_skew_is_shown_in_its_largest_unit_with_its_direction() {
        let cases = [
            (90, "90 s ahead of this machine", "+90 s"),
            (-185, "3 min behind this machine", "-3 min"),
            (7_300, "2 h ahead of this machine", "+2 h"),
            (-9 * 86_400 - 30, "9 d behind this machine", "-9 d"),
        ];
        for (seconds, long, short) in cases {
            assert_eq!((skew(seconds, 0).to_string(), skew(seconds, 0).short()), (long.to_owned(), short.to_owned()));
        }
        let extreme = ClockSkew::measure(Timestamp::MAX, Timestamp::MIN, Duration::MAX);
        assert!(!extreme.is_agreement() && !extreme.to_string().is_empty(), "no extreme overflows");
    }

    #[test]
    fn a_time_is_trusted_only_when_a_server_agrees_and_none_disagrees() {
        let now: Timestamp = SENT.parse().unwrap();
        let cases = [
            ("no server", vec![], None),
            ("one agrees", vec![skew(1, 0)], Some(TrustedNow(now))),
            ("one is 9 days behind", vec![skew(-9 * 86_400, 0)], None),
            ("one agrees, another does not", vec![skew(1, 0), skew(120, 0)], None),
            ("one answered too slowly to tell", vec![skew(0, 180)], None),
        ];
        for (case, skews, expected) in cases {
            assert_eq!(TrustedNow::confirm(now, skews), expected, "case: {case}");
        }
    }
}
