//! Durations: `30s`, `5m`, `1h30m`, `90d`.

use std::time::Duration;

/// Text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration `{0}`; use 30s, 5m, 1h30m or 90d")]
pub struct BadDuration(pub String);

/// Units in seconds, the largest first.
const UNITS: [(char, u64); 4] = [('d', 24 * 3600), ('h', 3600), ('m', 60), ('s', 1)];

/// Parses a duration: whole days, hours, minutes and seconds in this order, each at most once.
///
/// # Errors
/// The text has another form, or overflows.
pub fn parse_duration(text: &str) -> Result<Duration, BadDuration> {
    let bad = || BadDuration(text.to_owned());
    let mut seconds: u64 = 0;
    let mut rest = text;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().map_err(|_| bad())?;
        let unit = rest[digits..].chars().next().ok_or_else(bad)?;
        // Searching from the last unit on keeps the order.
        let (_, factor) = units.find(|(name, _)| *name == unit).ok_or_else(bad)?;
        seconds = number.checked_mul(*factor).and_then(|part| seconds.checked_add(part)).ok_or_else(bad)?;
        rest = &rest[digits + unit.len_utf8()..];
    }
    if text.is_empty() { Err(bad()) } else { Ok(Duration::from_secs(seconds)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_days_hours_minutes_and_seconds_in_order() {
        let cases =
            [("30s", 30), ("5m", 300), ("1h30m", 5400), ("1h1m1s", 3661), ("0s", 0), ("90m", 5400), ("90d", 7_776_000)];
        for (text, seconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn other_text_is_not_a_duration() {
        for text in [
            "",
            "30",
            "s",
            "30x",
            "1m1h",
            "1s1s",
            "-5s",
            "1.5s",
            "30 s",
            "30é",
            "99999999999999999999s",
            "9999999999999999h",
        ] {
            assert_eq!(parse_duration(text), Err(BadDuration(text.to_owned())), "{text}");
        }
    }
}
