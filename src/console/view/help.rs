//! Help: every key of the screen, from the keymap.

use ratatui::layout::Rect;

use super::paint::{Painter, centered};
use super::text::{Line, wrap};
use crate::console::hits::Hit;
use crate::console::keymap::{Action, Group, KeyRow, Scope};
use crate::console::model::Model;
use crate::console::theme::Role;

const WIDTH: u16 = 84;
/// Width of the keys, with the space after them.
const KEYS: usize = 23;

pub fn draw(model: &Model, scroll: usize, area: Rect, painter: &mut Painter<'_>) {
    let place = centered(area, WIDTH.min(area.width), area.height.saturating_sub(2));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let here = model.screen().scope();
    let title = Line::of(format!("Help: {}", here.title()), Role::Title);
    let inside = painter.boxed(place, &title, &Line::of(format!("{}: close", model.key(Action::Back)), Role::Muted));
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(model, here, usize::from(inside.width));
    painter.lines(inside, &lines, scroll);
    painter.thumb(place.right() - 1, inside, lines.len(), scroll);
}

/// Largest scroll position of the help.
pub fn last(model: &Model) -> usize {
    let width = usize::from(WIDTH.min(model.area.width).saturating_sub(4));
    let shown = usize::from(model.area.height.saturating_sub(4));
    lines(model, model.screen().scope(), width).len().saturating_sub(shown)
}

fn lines(model: &Model, here: Scope, width: usize) -> Vec<Line> {
    // Keys of checks that are not enabled are left out.
    let leads = |row: &KeyRow| row.action.check_index().is_none_or(|place| place < model.checks.len());
    let is_here = |row: &KeyRow| row.scope == here || row.scope == Scope::Global;
    let rows: Vec<KeyRow> = model.keys.table().into_iter().filter(|row| is_here(row) && leads(row)).collect();
    let mut lines = Vec::new();
    for group in Group::ALL {
        let of_group: Vec<&KeyRow> = rows.iter().filter(|row| row.action.group() == group).collect();
        if of_group.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Line::blank());
        }
        lines.push(Line::of(group.title().to_uppercase(), Role::Header));
        for row in of_group {
            lines.extend(row_lines(model, row, width));
        }
    }
    lines
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
