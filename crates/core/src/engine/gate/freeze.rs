//! The freeze gate: weekly windows in which nothing is written.
//!
//! Invariants: a window is measured on the clock people read in its time zone, so it keeps its hours when summer time
//! begins or ends. The first minute is inside, the last one named is outside. The rules of the zone are looked up once,
//! when the window is read from text; a window in hand is a value.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;

use super::{Blocked, Candidate, Conditions, GateInputs, GateName, blocked};

/// A weekly window: `Fri 16:00 - Mon 08:00 Europe/Berlin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreezeWindow {
    /// As the user wrote it, for the reason.
    text: String,
    /// Minutes since Monday 00:00; `from` may be larger than `to`, when the window goes over the week's end.
    from: u16,
    to: u16,
    zone: TimeZone,
}

/// A window that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("freeze window `{text}`: {what}; write it like `Fri 16:00 - Mon 08:00 Europe/Berlin`")]
pub struct BadWindow {
    pub text: String,
    pub what: String,
}

const MINUTES_A_DAY: u16 = 24 * 60;

/// Nothing is written inside a freeze window.
pub fn freeze(_: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    freeze_window(around.conditions)
}

pub fn freeze_window(conditions: &Conditions) -> Option<Blocked> {
    let window = conditions.freeze.iter().find(|window| window.contains(conditions.now))?;
    let why = format!("freeze window {window} is active; plan again after it, or change [safety] freeze");
    Some(blocked(GateName::Freeze, why))
}

impl FreezeWindow {
    /// Reads a window as the config spells it.
    ///
    /// # Errors
    /// The text has another shape, names an unknown day, hour or time zone, or ends where it begins.
    pub fn parse(text: &str) -> Result<Self, BadWindow> {
        let bad = |what: String| BadWindow { text: text.to_owned(), what };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [from_day, from_time, "-", to_day, to_time, zone] = words[..] else {
            return Err(bad("it needs a day and time, ` - `, a day and time, and a time zone".to_owned()));
        };
        let from = minute_of_week(from_day, from_time).map_err(bad)?;
        let to = minute_of_week(to_day, to_time).map_err(bad)?;
        if from == to {
            return Err(bad("it ends in the minute it begins".to_owned()));
        }
        let zone = TimeZone::get(zone).map_err(|_| bad(format!("`{zone}` is not a time zone this machine knows")))?;
        Ok(Self { text: words.join(" "), from, to, zone })
    }

    /// Whether the instant is inside the window.
    pub fn contains(&self, instant: Timestamp) -> bool {
        let minute = minute_of(self.zone.to_datetime(instant));
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

impl fmt::Display for FreezeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn minute_of_week(day: &str, time: &str) -> Result<u16, String> {
    let days = weekday(day).ok_or_else(|| format!("`{day}` is not a day (Mon, Tue, Wed, Thu, Fri, Sat, Sun)"))?;
    let minutes = minute_of_day(time).ok_or_else(|| format!("`{time}` is not a time of day (00:00 to 23:59)"))?;
    Ok(days_since_monday(days) * MINUTES_A_DAY + minutes)
}

fn minute_of_day(time: &str) -> Option<u16> {
    let (hour, minute) = time.split_once(':')?;
    let two_digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !two_digits(hour) || !two_digits(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn weekday(day: &str) -> Option<Weekday> {
    let days = [
        ("mon", Weekday::Monday),
        ("tue", Weekday::Tuesday),
        ("wed", Weekday::Wednesday),
        ("thu", Weekday::Thursday),
        ("fri", Weekday::Friday),
        ("sat", Weekday::Saturday),
        ("sun", Weekday::Sunday),
    ];
    days.into_iter().find(|(name, _)| day.eq_ignore_ascii_case(name)).map(|(_, weekday)| weekday)
}

fn minute_of(local: DateTime) -> u16 {
    let within_day = u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
    days_since_monday(local.weekday()) * MINUTES_A_DAY + within_day
}

fn days_since_monday(day: Weekday) -> u16 {
    u16::from(day.to_monday_zero_offset().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_window_holds_on_the_clock_of_its_zone() {
        let weekend = "Fri 16:00 - Mon 08:00 Europe/Berlin";
        let cases = [
            ("Friday before it begins (winter, UTC+1)", weekend, "2026-11-13T14:59:59Z", false),
            ("Friday as it begins", weekend, "2026-11-13T15:00:00Z", true),
            ("Sunday", weekend, "2026-11-15T12:00:00Z", true),
            ("Monday, last minute", weekend, "2026-11-16T06:59:59Z", true),
            ("Monday as it ends", weekend, "2026-11-16T07:00:00Z", false),
            ("Friday as it begins (summer, UTC+2)", weekend, "2026-07-17T14:00:00Z", true),
            ("a window inside one day", "Wed 10:00 - Wed 11:30 UTC", "2026-11-18T11:29:00Z", true),
            ("after a window inside one day", "Wed 10:00 - Wed 11:30 UTC", "2026-11-18T11:30:00Z", false),
            ("all week but an hour", "Wed 11:00 - Wed 10:00 UTC", "2026-11-18T10:30:00Z", false),
        ];
        for (case, window, instant, expected) in cases {
            assert_eq!(FreezeWindow::parse(window).unwrap().contains(at(instant)), expected, "case: {case}");
        }
    }

    #[test]
    fn a_window_that_cannot_be_read_says_which_word_is_wrong() {
        let cases = [
            ("", "needs a day and time"),
            ("Fri 16:00 Mon 08:00 UTC", "needs a day and time"),
            ("Fri 16:00 - Mon 08:00", "needs a day and time"),
            ("Fry 16:00 - Mon 08:00 UTC", "`Fry` is not a day"),
            ("Fri 24:00 - Mon 08:00 UTC", "`24:00` is not a time"),
            ("Fri 16:00 - Mon 8:00 UTC", "`8:00` is not a time"),
            ("Fri 16:00 - Mon 08:00 Europe/Berln", "`Europe/Berln` is not a time zone"),
            ("Fri 16:00 - Fri 16:00 UTC", "ends in the minute it begins"),
        ];
        for (text, expected) in cases {
            let said = FreezeWindow::parse(text).unwrap_err().to_string();
            assert!(said.contains(expected) && said.contains(&format!("`{text}`")), "{text}: {said}");
        }
    }
}
