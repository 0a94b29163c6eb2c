//! A point of the monotonic clock, passed in as a value.
//!
//! Invariants: it never goes back, and on Linux it also counts while the machine is suspended; wall clocks of servers and
//! replicas are never compared with it.

use std::fmt;
use std::time::Duration;

/// Time since the machine started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The moment this long after the start of the machine.
    pub const fn at(since_start: Duration) -> Self {
        Self(since_start)
    }

    /// The moment this much later.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }

    /// How long until a later moment; nothing is left of one that has passed.
    pub fn until(self, later: Self) -> Duration {
        later.0.saturating_sub(self.0)
    }

    /// How long ago an earlier moment was.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s after start", self.0.as_secs())
    }
}
