//! Help: every key of the screen, from the keymap, then what states, tiers and filters mean.

use ratatui::layout::Rect;

use super::paint::{Painter, centered};
use super::text::{Line, wrap};
use super::{finder, legend};
use crate::console::hits::Hit;
use crate::console::keymap::{Action, Group, KeyRow, Scope};
use crate::console::model::{FinderPlace, Model, ScreenId};
use crate::console::theme::{Glyphs, Role};

const WIDTH: u16 = 84;
/// Width of the keys, with the space after them.
const KEYS: usize = 23;

pub fn draw(model: &Model, scroll: usize, area: Rect, painter: &mut Painter<'_>) {
    let place = centered(area, WIDTH.min(area.width), area.height.saturating_sub(2));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let title = Line::of(format!("Help: {}", name(model)), Role::Title);
    let search = model.finder.as_ref().filter(|finder| finder.place == FinderPlace::Help);
    let text = text(model);
    let right = match search {
        Some(search) => finder::label(search, search.matches(text.iter().map(Line::plain)).len()),
        None => {
            let keys = format!("{}: search  {}: close", model.key(Action::Filter), model.key(Action::Back));
            Line::of(keys, Role::Muted)
        }
    };
    let inside = painter.boxed(place, &title, &right);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = if search.is_some() { finder::marked(model, text) } else { text };
    painter.lines(inside, &lines, scroll);
    painter.thumb(place.right() - 1, inside, lines.len(), scroll);
}

/// The screen that the help is about.
fn name(model: &Model) -> &str {
    match model.check() {
        Some(check) => check.description.title,
        None => model.screen().scope().title(),
    }
}

/// Largest scroll position of the help.
pub fn last(model: &Model) -> usize {
    let shown = usize::from(model.area.height.saturating_sub(4));
    text(model).len().saturating_sub(shown)
}

/// The whole help, wrapped.
pub fn text(model: &Model) -> Vec<Line> {
    let width = usize::from(WIDTH.min(model.area.width).saturating_sub(4));
    let mut lines = keys(model, width);
    lines.extend(legend::lines(width, Glyphs::of(model.signs)));
    lines
}

/// The keys of the screen first, then those that work everywhere.
fn keys(model: &Model, width: usize) -> Vec<Line> {
    let here = model.screen().scope();
    let beside = matches!(model.screen(), ScreenId::Check(_)).then_some(Scope::Detail);
    // Keys of checks that are not enabled are left out.
    let leads = |row: &KeyRow| row.action.check_index().is_none_or(|place| place < model.checks.len());
    let rows: Vec<KeyRow> = model.keys.table().into_iter().filter(leads).collect();
    let mut own: Vec<KeyRow> = rows.iter().filter(|row| row.scope == here).cloned().collect();
    for row in rows.iter().filter(|row| Some(row.scope) == beside) {
        if own.iter().all(|one| one.action != row.action) {
            own.push(row.clone());
        }
    }
    let mut lines = grouped(model, &own, width);
    if !own.is_empty() {
        lines.insert(0, Line::of(format!("KEYS: {}", here.title()), Role::Header));
        lines.push(Line::blank());
    }
    let global: Vec<KeyRow> = rows.into_iter().filter(|row| row.scope == Scope::Global).collect();
    lines.push(Line::of(format!("KEYS: {}", Scope::Global.title()), Role::Header));
    lines.extend(grouped(model, &global, width));
    lines
}

/// Rows in the order of their groups.
fn grouped(model: &Model, rows: &[KeyRow], width: usize) -> Vec<Line> {
    let of = |group: Group| rows.iter().filter(move |row| row.action.group() == group);
    Group::ALL.into_iter().flat_map(of).flat_map(|row| row_lines(model, row, width)).collect()
}

/// The keys, then their description, wrapped beside them.
fn row_lines(model: &Model, row: &KeyRow, width: usize) -> Vec<Line> {
    let check = row.action.check_index().and_then(|place| model.checks.get(place));
    let message =
        check.map_or_else(|| row.action.message().to_owned(), |check| format!("Go to {}", check.description.title));
    let mut keys = format!("{:<width$}", row.keys.join(", "), width = KEYS - 1) + " ";
    let line = |text: String| {
        let keys = std::mem::replace(&mut keys, " ".repeat(KEYS));
        Line::of(keys, Role::HintKey).and(text, Role::HintText)
    };
    wrap(&message, width.saturating_sub(KEYS), 0).into_iter().map(line).collect()
}
