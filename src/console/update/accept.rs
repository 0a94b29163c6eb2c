//! Accepting a finding: the reason, then the end date.
//!
//! Invariants: what was typed stays after a mistake.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::lists;
use crate::console::effect::Effects;
use crate::console::keymap::{Action, Scope};
use crate::console::model::{Layer, Model, Prompt, PromptWhat};
use crate::console::task::Task;

/// Asks for the reason.
pub fn open(model: &mut Model) -> Effects {
    let Some(subject) = model.subject() else { return lists::refuse_prompt(model, "no finding selected") };
    let title = format!("Reason for accepting {}:", subject.name);
    model.layer = Some(Layer::Prompt(Prompt::new(PromptWhat::AcceptReason((*subject).clone()), title, "")));
    Effects::redraw()
}

/// Takes the reason, or the end date. A mistake leaves the prompt open.
pub fn enter(model: &mut Model, mut prompt: Prompt) -> Effects {
    let text = prompt.input.value().trim().to_owned();
    match next(model, &prompt.what, text) {
        Ok(effects) => effects,
        Err(problem) => {
            prompt.problem = Some(problem);
            model.layer = Some(Layer::Prompt(prompt));
            Effects::redraw()
        }
    }
}

fn next(model: &mut Model, what: &PromptWhat, text: String) -> Result<Effects, String> {
    match what {
        PromptWhat::AcceptReason(_) if text.is_empty() => {
            Err(format!("a reason is required; {}: cancel", model.keys.key_name(Scope::Filter, Action::Back)))
        }
        PromptWhat::AcceptReason(subject) => {
            let what = PromptWhat::AcceptUntil { subject: subject.clone(), reason: text };
            model.layer = Some(Layer::Prompt(Prompt::new(what, "Accept until (7d, 2w, 2026-12-31):", "")));
            Ok(Effects::redraw())
        }
        PromptWhat::AcceptUntil { subject, reason } => {
            let until = until(&text, model.now)?.to_string();
            let (subject, reason) = (subject.clone(), reason.clone());
            Ok(Effects::redraw().with(Task::Accept { subject, reason, until }))
        }
        PromptWhat::Filter
        | PromptWhat::Form { .. }
        | PromptWhat::Table(_)
        | PromptWhat::SaveView
        | PromptWhat::Quit => Ok(Effects::default()),
    }
}

/// A hundred years: more is a mistake.
const DAYS_MAX: i64 = 36_500;

/// The day that `7d`, `2w` or `2026-12-31` names.
fn until(text: &str, now: Timestamp) -> Result<Date, String> {
    let invalid = || format!("invalid date `{text}`; use 7d, 2w or YYYY-MM-DD");
    let today = TimeZone::UTC.to_datetime(now).date();
    let span = |number: &str, days: i64| {
        let number: i64 = number.parse().map_err(|_| invalid())?;
        let number = Some(number.saturating_mul(days)).filter(|days| days.abs() <= DAYS_MAX).ok_or_else(invalid)?;
        today.checked_add(number.days()).map_err(|_| invalid())
    };
    let day: Date = match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(number), _) => span(number, 1)?,
        (None, Some(number)) => span(number, 7)?,
        (None, None) => text.parse().map_err(|_| invalid())?,
    };
    if day < today { Err(format!("{day} is in the past")) } else { Ok(day) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::testing::now;

    #[test]
    fn an_end_date_is_a_number_of_days_or_weeks_or_a_day() {
        let cases = [
            ("7d", Ok("2026-11-23")),
            ("2w", Ok("2026-11-30")),
            ("0d", Ok("2026-11-16")),
            ("2026-12-31", Ok("2026-12-31")),
            ("2026-11-15", Err("2026-11-15 is in the past")),
            ("-3d", Err("2026-11-13 is in the past")),
            ("soon", Err("invalid date `soon`; use 7d, 2w or YYYY-MM-DD")),
            ("99999999d", Err("invalid date `99999999d`; use 7d, 2w or YYYY-MM-DD")),
            ("", Err("invalid date ``; use 7d, 2w or YYYY-MM-DD")),
        ];
        for (text, expected) in cases {
            let found = until(text, now()).map(|day| day.to_string());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "case: {text}");
        }
    }
}
