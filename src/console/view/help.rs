//! Every key that works here, from the keymap itself.

use ratatui::layout::Rect;

use super::paint::{Held, Painter, centered};
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::keymap::{Group, KeyRow, Keymap, Scope};
use crate::console::model::{Model, Place};
use crate::console::theme::Role;

const WIDTH: u16 = 84;

pub fn draw(model: &Model, scroll: usize, area: Rect, painter: &mut Painter<'_>) {
    let place = centered(area, WIDTH.min(area.width), area.height.saturating_sub(2));
    painter.clear(place);
    painter.hit(place, Hit::Layer);
    let here = scope_of(model.place());
    let title = Line::of(format!("Help: {}", here.title()), Role::Title);
    let inside = painter.boxed(place, &title, &Line::of("esc closes", Role::Muted), Held::Keys);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(&model.keys, here);
    painter.lines(inside, &lines, scroll);
    painter.thumb(place.right() - 1, inside, lines.len(), scroll);
}

/// The most lines help can have, for scrolling.
pub fn length(keys: &Keymap) -> usize {
    keys.table().len() + Group::ALL.len() * 2
}

fn scope_of(place: Place) -> Scope {
    match place {
        Place::Fleet => Scope::Fleet,
        Place::Check(_) => Scope::List,
        Place::Plan => Scope::Plan,
        Place::Activity => Scope::Activity,
        Place::Object => Scope::Object,
        Place::Logs => Scope::Logs,
    }
}

fn lines(keys: &Keymap, here: Scope) -> Vec<Line> {
    let rows: Vec<KeyRow> =
        keys.table().into_iter().filter(|row| row.scope == here || row.scope == Scope::Global).collect();
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
            let text = row.keys.join(", ");
            lines.push(Line::of(format!("{text:<22} "), Role::HintKey).and(row.action.says(), Role::HintText));
        }
    }
    lines
}
