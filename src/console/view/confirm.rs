//! A question that is answered with yes or no.

use ratatui::layout::Rect;

use super::paint::{Painter, centered};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{Confirm, Model};
use crate::console::theme::Role;

const WIDTH: u16 = 64;

pub fn draw(model: &Model, confirm: Confirm, area: Rect, painter: &mut Painter<'_>) {
    let width = WIDTH.min(area.width.saturating_sub(2));
    let (yes, no) = confirm.answers();
    let keys = format!("{}: {yes}  {}: {no}", model.key(Action::Yes), model.key(Action::No));
    let mut lines = wrapped(confirm.question(), usize::from(width.saturating_sub(4)), 0, Role::Text);
    lines.push(Line::blank());
    lines.push(Line::of(keys, Role::HintText));
    let place = centered(area, width, u16::try_from(lines.len()).unwrap_or(area.height) + 2);
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let inside = painter.boxed(place, &Line::blank(), &Line::blank());
    painter.lines(Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }, &lines, 0);
}
