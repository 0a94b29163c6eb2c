//! Special screens: too small, starting, failed, and empty lists.

use ratatui::layout::Rect;

use super::paint::{Painter, PaneFocus, centered};
use super::text::{Line, wrapped};
use crate::console::keymap::Action;
use crate::console::layout::{HEIGHT_MIN, Layout, WIDTH_MIN};
use crate::console::model::Model;
use crate::console::theme::Role;

pub fn too_small(area: Rect, painter: &mut Painter<'_>) {
    let lines = [
        format!("trueup needs {WIDTH_MIN}x{HEIGHT_MIN} columns and rows"),
        format!("this window has {}x{}", area.width, area.height),
    ];
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        painter.text(area.x, y, area.width, &line, Role::Text);
    }
}

/// The first frame, drawn before anything is read.
pub fn skeleton(layout: &Layout, painter: &mut Painter<'_>) {
    let header = layout.header;
    painter.text(header.x + 1, header.y, header.width, "trueup", Role::Title);
    painter.text(header.x + 9, header.y, header.width.saturating_sub(9), "starting", Role::Muted);
    painter.pane(layout.main, &Line::of("Clusters", Role::Title), &Line::blank(), PaneFocus::Keys);
    if let Some(detail) = layout.detail {
        painter.pane(detail, &Line::blank(), &Line::blank(), PaneFocus::Waits);
    }
}

/// There is nothing to show.
pub fn failed(model: &Model, why: &str, layout: &Layout, painter: &mut Painter<'_>) {
    let header = layout.header;
    painter.text(header.x + 1, header.y, header.width, "trueup", Role::Title);
    let area = Rect { height: layout.hints.y - layout.main.y, ..layout.main };
    let width = usize::from(area.width.saturating_sub(8)).min(90);
    let mut lines = wrapped(why, width, 0, Role::Error);
    lines.push(Line::blank());
    lines.extend(model.instead.iter().map(|line| Line::of(*line, Role::Muted)));
    let height = u16::try_from(lines.len()).unwrap_or(area.height);
    let place = centered(area, u16::try_from(width).unwrap_or(area.width), height);
    painter.lines(place, &lines, 0);
    let quit = Line::of(model.screen_key(Action::Quit), Role::HintKey).and(" quit", Role::HintText);
    painter.line(layout.hints.x + 1, layout.hints.y, layout.hints.width, &quit);
}

/// An empty list: why, and what to do.
pub fn empty(area: Rect, message: &str, next: &str, painter: &mut Painter<'_>) {
    let width = usize::from(area.width.saturating_sub(4)).min(76);
    let mut lines = wrapped(message, width, 0, Role::Text);
    if !next.is_empty() {
        lines.extend(wrapped(next, width, 0, Role::Muted));
    }
    let height = u16::try_from(lines.len()).unwrap_or(area.height);
    let place = centered(area, u16::try_from(width).unwrap_or(area.width), height);
    painter.lines(place, &lines, 0);
}
