//! The cells of a check's list.
//!
//! Invariants: a state is a glyph with a word in the verdict; a class is a mark with a word, or the mark alone before the
//! cluster where there is no space for the word.

use std::borrow::Cow;

use ratatui::style::Style;

use super::paint::Painter;
use crate::console::model::{ACCEPTED, Model, PlannedChange};
use crate::console::table::{Cell, Cut};
use crate::console::theme::Role;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{SubjectId, Verb};
use trueup_core::world::RiskClass;

/// Width of a time bar.
const BAR: usize = 10;

/// An accepted finding shows that; its verdict is in the detail.
pub fn verdict(held: &CurrentJudgement) -> &'static str {
    if held.judgement.codes.contains(&ACCEPTED) { ACCEPTED } else { held.judgement.verdict }
}

/// Glyph of the state and of the planned verb.
pub fn state_cell<'m>(held: &CurrentJudgement, ghost: Option<Verb>, painter: &Painter<'_>) -> Cell<'m> {
    let glyphs = painter.glyphs();
    let state = held.judgement.state;
    let ghost = match ghost.map(PlannedChange::from) {
        None => " ",
        Some(PlannedChange::Create) => glyphs.ghost_create,
        Some(PlannedChange::Update) => glyphs.ghost_update,
        Some(PlannedChange::Delete) => glyphs.ghost_delete,
    };
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Borrowed(glyphs.state(state)), painter.style(Role::from(state))),
        (Cow::Borrowed(ghost), painter.style(Role::Accent)),
    ];
    Cell::pieces(pieces, Cut::End)
}

pub fn class_cell<'m>(model: &Model, id: &'m SubjectId, painter: &Painter<'_>) -> Cell<'m> {
    let class = model.fleet.class_of(&id.cluster);
    let word = painter.glyphs().class_in_column(class);
    Cell::text(word, painter.style(Role::from(class)))
}

/// The mark of the class, where the class has no column.
pub fn class_mark(model: &Model, id: &SubjectId, painter: &Painter<'_>) -> &'static str {
    match model.fleet.class_of(&id.cluster) {
        RiskClass::Prod => painter.glyphs().prod_mark,
        RiskClass::Stage | RiskClass::Dev => " ",
    }
}

pub fn own_cell<'m>(cell: Option<&'m trueup_checks::Cell>, model: &Model, painter: &mut Painter<'_>) -> Cell<'m> {
    let text = painter.style(Role::Text);
    match cell {
        None | Some(trueup_checks::Cell::Nothing) => Cell::text(painter.glyphs().nothing, painter.style(Role::Muted)),
        Some(trueup_checks::Cell::Text(words)) => Cell::name(&**words, text),
        Some(trueup_checks::Cell::Number(number)) => Cell::text(number.to_string(), text),
        Some(trueup_checks::Cell::Age(at)) => Cell::text(painter.list_age(*at, model.now), painter.style(Role::Muted)),
        Some(trueup_checks::Cell::Left { from, until }) => left_cell(*from, *until, model, painter),
        Some(trueup_checks::Cell::Pair { expected, actual }) if expected == actual => Cell::name(&**actual, text),
        Some(trueup_checks::Cell::Pair { expected, actual }) => {
            let arrow = painter.glyphs().arrow;
            Cell::name(format!("{actual} {arrow} {expected}"), painter.style(Role::Drift))
        }
    }
}

/// A bar that changes only with its text.
fn left_cell<'m>(from: jiff::Timestamp, until: jiff::Timestamp, model: &Model, painter: &mut Painter<'_>) -> Cell<'m> {
    if model.now >= until {
        let ago = painter.list_age(until, model.now);
        return Cell::text(format!("expired {ago} ago"), painter.style(Role::Error));
    }
    let whole = until.duration_since(from).as_secs().max(1);
    let left = until.duration_since(model.now).as_secs().clamp(0, whole);
    // The remaining time is rendered like an age.
    let words = crate::console::table::age(model.now, until);
    let unit = crate::console::table::next_change(model.now, until);
    let step = unit.map_or(1, |next| next.duration_since(until).as_secs().max(1));
    painter.changes(model.now.checked_add(jiff::SignedDuration::from_secs(step)).ok());
    let full = usize::try_from(left * i64::try_from(BAR).unwrap_or(10) / whole).unwrap_or(0);
    let glyphs = painter.glyphs();
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Owned(glyphs.bar_full.repeat(full)), painter.style(Role::BarFull)),
        (Cow::Owned(glyphs.bar_empty.repeat(BAR - full)), painter.style(Role::BarEmpty)),
        (Cow::Owned(format!("  {words}")), painter.style(Role::Text)),
    ];
    Cell::pieces(pieces, Cut::End)
}
