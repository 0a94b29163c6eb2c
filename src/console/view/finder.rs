//! The search in a text: its line, and its matches.
//!
//! Invariants: marking changes roles only, never the text.

use ratatui::layout::{Position, Rect};

use super::paint::Painter;
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::model::{Finder, FoundText, Model};
use crate::console::terminal::Cursor;
use crate::console::theme::Role;

/// The lines with the matches of the search in them marked.
pub fn marked(model: &Model, lines: Vec<Line>) -> Vec<Line> {
    let Some(finder) = &model.finder else { return lines };
    let found = finder.matches(lines.iter().map(Line::plain));
    if found.is_empty() {
        return lines;
    }
    let mark = |(place, line): (usize, Line)| {
        let here = found.iter().enumerate().filter(|(_, one)| one.line == place);
        here.fold(line, |line, (number, one)| {
            split(line, one, if number == finder.at { Role::Mark } else { Role::Filter })
        })
    };
    lines.into_iter().enumerate().map(mark).collect()
}

/// The line with these bytes in another role.
fn split(line: Line, found: &FoundText, role: Role) -> Line {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (text, own) in line.0 {
        let end = start + text.len();
        let from = found.bytes.start.clamp(start, end) - start;
        let to = found.bytes.end.clamp(start, end) - start;
        // A search for a part of a letter marks nothing.
        if from < to && text.is_char_boundary(from) && text.is_char_boundary(to) {
            let parts = [(&text[..from], own), (&text[from..to], role), (&text[to..], own)];
            pieces.extend(
                parts.iter().filter(|(part, _)| !part.is_empty()).map(|(part, role)| ((*part).to_owned(), *role)),
            );
        } else {
            pieces.push((text, own));
        }
        start = end;
    }
    Line(pieces)
}

/// `/tick` and `2 of 64`, to be shown in a title.
pub fn label(finder: &Finder, count: usize) -> Line {
    let line = Line::of(format!("/{}", finder.input.value()), Role::Filter);
    match (count, finder.input.value().is_empty()) {
        (_, true) => line,
        (0, false) => line.and("  no match", Role::Warn),
        (count, false) => line.and(format!("  {} of {count}", finder.at + 1), Role::Muted),
    }
}

/// Draws the typed search over the hint line.
pub fn draw(model: &Model, area: Rect, count: usize, painter: &mut Painter<'_>) {
    let Some(finder) = model.finder.as_ref().filter(|_| model.is_searching()) else { return };
    painter.clear(area);
    painter.hit(area, Hit::Layer);
    painter.line(area.x + 1, area.y, area.width.saturating_sub(2), &label(finder, count));
    let typed: String = finder.input.value().chars().take(finder.input.cursor()).collect();
    let at = area.x + 2 + u16::try_from(painter.width(&typed)).unwrap_or(0);
    painter.cursor = Cursor::At(Position { x: at.min(area.right().saturating_sub(1)), y: area.y });
}
