//! Backoff between retries.

use std::time::Duration;

use trueup_core::world::GapCause;

/// The first delay; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// The longest delay for transient failures: a cluster is back within a minute.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest delay for failures that need a user's action, such as missing rights or a budget.
const LONGEST_REFUSED: Duration = Duration::from_secs(300);
/// The longest accepted `Retry-After`.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);

/// Returns the delay after the `failures`th failure in a row (counted from 1).
///
/// `fraction` (0 to 1) spreads it over the upper half. It is at least the server's `Retry-After`.
pub(super) fn wait(failures: u32, cause: GapCause, retry_after: Option<Duration>, fraction: f64) -> Duration {
    let longest = match cause {
        GapCause::Forbidden | GapCause::OverBudget => LONGEST_REFUSED,
        GapCause::NotObserved
        | GapCause::Unauthorized
        | GapCause::Unreachable
        | GapCause::Discovery
        | GapCause::CutShort
        | GapCause::Silent
        | GapCause::Unreadable
        | GapCause::NotRecorded => LONGEST,
    };
    // 2^10 × 0.5 s exceeds the longest delay; more doublings would only overflow.
    let doublings = failures.saturating_sub(1).min(10);
    let span = (FIRST * 2u32.pow(doublings)).min(longest);
    let spread = span.mul_f64(0.5 + 0.5 * fraction.clamp(0.0, 1.0));
    spread.max(retry_after.unwrap_or_default().min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_respect_retry_after() {
        let second = Duration::from_secs(1);
        let cases = [
            ("first", wait(1, GapCause::Unreachable, None, 1.0), Duration::from_millis(500)),
            ("first, least", wait(1, GapCause::Unreachable, None, 0.0), Duration::from_millis(250)),
            ("third", wait(3, GapCause::Unreachable, None, 1.0), 2 * second),
            ("many", wait(4_000, GapCause::Unreachable, None, 1.0), 60 * second),
            ("many, refused", wait(4_000, GapCause::Forbidden, None, 1.0), 300 * second),
            ("server names a wait", wait(1, GapCause::Unreachable, Some(7 * second), 1.0), 7 * second),
            ("server names a silly wait", wait(1, GapCause::Unreachable, Some(9_000 * second), 1.0), 300 * second),
        ];
        for (case, got, expected) in cases {
            assert_eq!(got, expected, "case: {case}");
        }
    }
}
