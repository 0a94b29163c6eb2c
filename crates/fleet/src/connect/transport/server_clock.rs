//! The clock of a server, read from the `Date` of its responses.
//!
//! Invariants: the newest decisive comparison is kept; a response without a readable `Date` changes nothing, and neither
//! does one that took too long to tell.
//! Elsewhere: what a skew means (`core::world`), the gate (`core::engine`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use trueup_core::world::ClockSkew;

use super::Clock;

/// How far the clock of a server is from the local one. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ServerClock(Arc<Mutex<Option<ClockSkew>>>);

impl ServerClock {
    /// The newest comparison; none before the first response with a `Date`.
    pub fn skew(&self) -> Option<ClockSkew> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares with `clock` whatever an HTTP client receives.
    pub(crate) fn observer(&self, clock: Clock) -> impl Fn(&HeaderMap, Duration) + Send + Sync + 'static {
        let own = self.clone();
        move |headers, took| own.observe(headers, clock(), took)
    }

    /// Compares the clocks by the headers of a response.
    pub(super) fn observe(&self, headers: &HeaderMap, received: Timestamp, took: Duration) {
        if let Some(date) = date(headers) {
            self.take(ClockSkew::measure(date, received, took));
        }
    }

    fn take(&self, skew: ClockSkew) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() || skew.is_excessive() || skew.is_agreement() {
            *held = Some(skew);
        }
    }

    /// A clock that was compared already.
    #[cfg(any(test, feature = "testing"))]
    pub fn compared(skew: ClockSkew) -> Self {
        let clock = Self::default();
        clock.take(skew);
        clock
    }
}

/// The time in `Date`. An HTTP date is spelled like one of RFC 2822.
fn date(headers: &HeaderMap) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(headers.get(header::DATE)?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVED: &str = "2026-11-16T10:00:00Z";

    fn observe(clock: &ServerClock, date: Option<&str>, took: u64) {
        let headers = date.map(|date| (header::DATE, date.parse().unwrap())).into_iter().collect();
        clock.observe(&headers, RECEIVED.parse().unwrap(), Duration::from_secs(took));
    }

    fn shown(clock: &ServerClock) -> Option<String> {
        clock.skew().map(|skew| skew.short())
    }

    #[test]
    fn the_newest_decisive_date_is_kept_and_no_date_says_nothing() {
        let clock = ServerClock::default();
        let steps = [
            ("no Date", None, 0, None),
            ("not a date", Some("yesterday"), 0, None),
            ("a date out of range", Some("Mon, 16 Nov 99999 10:00:00 GMT"), 0, None),
            ("behind", Some("Sat, 07 Nov 2026 10:00:00 GMT"), 0, Some("-8 d")),
            ("no Date keeps it", None, 0, Some("-8 d")),
            ("too slow to tell keeps it", Some("Mon, 16 Nov 2026 09:58:00 GMT"), 240, Some("-8 d")),
            ("corrected", Some("Mon, 16 Nov 2026 10:00:00 GMT"), 1, Some("+1 s")),
            ("ahead", Some("Mon, 16 Nov 2026 10:05:00 GMT"), 0, Some("+5 min")),
        ];
        for (step, date, took, expected) in steps {
            observe(&clock, date, took);
            assert_eq!(shown(&clock).as_deref(), expected, "step: {step}");
        }
    }
}
