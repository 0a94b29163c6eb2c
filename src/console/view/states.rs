//! Special screens: too small, starting, failed, and empty lists.

use ratatui::layout::Rect;

use super::paint::{Painter, PaneFocus, centered};
use super::text::{Line, wrapped};
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::Model;
use crate::console::theme::Role;

/// The screen has fewer columns or rows than needed.
pub fn too_small(area: Rect, (width, height): (u16, u16), painter: &mut Painter<'_>) {
    let text = format!("Too small: {width}x{height} needed");
    let lines = wrapped(&text, usize::from(area.width), 0, Role::Text);
    painter.lines(area, &lines, 0);
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
    let quit = Line::of(model.screen_key(Action::Close), Role::HintKey).and(" quit", Role::HintText);
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
