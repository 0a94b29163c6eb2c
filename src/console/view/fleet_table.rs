//! A check's table of the fleet, over the whole screen: one row per cluster, odd values marked.

use ratatui::layout::Rect;

use super::paint::{Painter, centered};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{Layer, Model};
use crate::console::theme::{GlyphSet, Role};
use trueup_checks::FleetTable;
use trueup_core::engine::text::{Charset, printable};

/// Continuation lines of a row stand below its cluster.
const INDENT: usize = 4;

pub fn draw(model: &Model, table: Option<&FleetTable>, scroll: usize, area: Rect, painter: &mut Painter<'_>) {
    let place = centered(area, area.width, area.height.saturating_sub(2));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let title = match table {
        None => "Matrix".to_owned(),
        Some(table) => {
            let separator = if model.signs == GlyphSet::Unicode { "·" } else { "-" };
            format!(
                "{} {separator} {} clusters {separator} {}: differs from most",
                table.title,
                table.rows.len(),
                odd(model)
            )
        }
    };
    let close = Line::of(format!("{}: close", model.key(Action::Back)), Role::Muted);
    let inside = painter.boxed(place, &Line::of(title, Role::Title), &close);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(model, table, usize::from(inside.width));
    painter.lines(inside, &lines, scroll);
    painter.thumb(place.right() - 1, inside, lines.len(), scroll);
}

/// Largest scroll position.
pub fn last(model: &Model) -> usize {
    let Some(Layer::Table { table, .. }) = &model.layer else { return 0 };
    let width = usize::from(model.area.width.saturating_sub(4));
    let shown = usize::from(model.area.height.saturating_sub(4));
    lines(model, table.as_ref(), width).len().saturating_sub(shown)
}

fn odd(model: &Model) -> &'static str {
    match model.signs {
        GlyphSet::Unicode => "≠",
        GlyphSet::Plain => "!=",
    }
}

fn lines(model: &Model, table: Option<&FleetTable>, width: usize) -> Vec<Line> {
    let Some(table) = table else { return vec![Line::of("reading", Role::Muted)] };
    let charset = match model.signs {
        GlyphSet::Unicode => Charset::Unicode,
        GlyphSet::Plain => Charset::Ascii,
    };
    let all = table.lines(odd(model), |text| printable(text, charset)).into_iter().enumerate();
    all.flat_map(|(place, (is_odd, text))| {
        let role = match (place, is_odd) {
            (0, _) => Role::Header,
            (_, true) => Role::Drift,
            (_, false) => Role::Text,
        };
        wrapped(&text, width, INDENT, role)
    })
    .collect()
}
