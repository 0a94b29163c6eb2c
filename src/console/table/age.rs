//! Ages in at most four columns, and when they change.

use jiff::{SignedDuration, Timestamp};

const SECOND: i64 = 1;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Seconds that the label of a list may be outdated.
const LATE_MAX: i64 = 10;

/// Each unit, and the age from which the next one is used. Days go to 999, which is more precise than two years.
const UNITS: [(&str, i64, i64); 5] =
    [("s", SECOND, MINUTE), ("m", MINUTE, HOUR), ("h", HOUR, DAY), ("d", DAY, 1000 * DAY), ("y", YEAR, i64::MAX)];

/// Renders an age: `2s`, `4m`, `3h`, `41d`, `3y`. A time in the future is `0s`.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = whole_seconds(since, now);
    let (letter, unit, _) = unit_of(seconds);
    format!("{}{letter}", seconds / unit)
}

/// Renders an age for a list: `<1m`, then as [`age`]. Seconds would change every row every second.
pub fn list_age(since: Timestamp, now: Timestamp) -> String {
    if whole_seconds(since, now) < MINUTE { "<1m".to_owned() } else { age(since, now) }
}

/// When the label of a list is drawn next: at most [`LATE_MAX`] seconds after it changes, so that the labels of many rows
/// change together.
pub fn next_list_change(since: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let change = next_change(since, now.max(since.checked_add(SignedDuration::from_secs(MINUTE - 1)).ok()?))?;
    let seconds = change.as_second() + i64::from(change.subsec_nanosecond() > 0);
    Timestamp::from_second((seconds + LATE_MAX - 1).div_euclid(LATE_MAX) * LATE_MAX).ok()
}

/// When the label changes next. None past the end of time.
pub fn next_change(since: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let seconds = whole_seconds(since, now);
    let (_, unit, over) = unit_of(seconds);
    let next = ((seconds / unit + 1) * unit).min(over);
    since.checked_add(SignedDuration::from_secs(next)).ok()
}

fn whole_seconds(since: Timestamp, now: Timestamp) -> i64 {
    now.duration_since(since).as_secs().max(0)
}

fn unit_of(seconds: i64) -> (&'static str, i64, i64) {
    let last = UNITS[UNITS.len() - 1];
    UNITS.into_iter().find(|(_, _, over)| seconds < *over).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    #[test]
    fn an_age_label_has_its_next_change() {
        let cases = [
            ("now", 0, "0s", 1),
            ("seconds", 59, "59s", 60),
            ("a minute", 60, "1m", 120),
            ("minutes", 299, "4m", 300),
            ("hours", 3 * HOUR + 1, "3h", 4 * HOUR),
            ("days", 41 * DAY, "41d", 42 * DAY),
            ("many days", 999 * DAY, "999d", 1000 * DAY),
            ("years", 1000 * DAY, "2y", 3 * YEAR),
            ("ahead", -7, "0s", 1),
        ];
        for (case, seconds, label, next) in cases {
            assert_eq!(age(at(0), at(seconds)), label, "case: {case}");
            assert_eq!(next_change(at(0), at(seconds)), Some(at(next)), "case: {case}");
        }
        assert_eq!(next_change(Timestamp::MAX, Timestamp::MAX), None);
    }

    #[test]
    fn ages_in_lists_have_no_seconds_and_change_together() {
        let cases = [
            ("now", 0, "<1m", 60),
            ("seconds", 59, "<1m", 60),
            ("a minute", 60, "1m", 120),
            ("hours", 3 * HOUR + 1, "3h", 4 * HOUR),
            ("ahead", -7, "<1m", 60),
        ];
        for (case, seconds, label, next) in cases {
            assert_eq!(list_age(at(0), at(seconds)), label, "case: {case}");
            assert_eq!(next_list_change(at(0), at(seconds)), Some(at(next)), "case: {case}");
        }
        let changes = (1..10).map(|second| next_list_change(at(second), at(30)));
        assert_eq!(changes.collect::<Vec<_>>(), vec![Some(at(70)); 9], "on the same ten seconds");
    }

    proptest! {
        #[test]
        fn a_label_is_valid_exactly_until_its_next_change(since_nanos in 0i32..1_000_000_000, seconds in 0i64..100_000_000) {
            let since = at(0).checked_add(SignedDuration::new(0, since_nanos)).unwrap();
            let now = at(seconds + 1);
            let next = next_change(since, now).unwrap();
            let just_before = next.checked_sub(SignedDuration::from_nanos(1)).unwrap();
            prop_assert!(next > now);
            prop_assert_eq!(age(since, just_before), age(since, now));
            prop_assert_ne!(age(since, next), age(since, now));
            prop_assert!(age(since, now).len() <= 4);
        }
    }
}
