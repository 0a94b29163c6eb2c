//! A check's table of the fleet, over the whole screen: one row per cluster, odd values marked.
//!
//! Invariants: the cluster and its first column are never dropped; the others go from the right, and their number is shown.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, centered};
use super::table_glyphs;
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{Layer, Model};
use crate::console::table::{Column, Placed, fit, layout};
use crate::console::theme::{GlyphSet, Glyphs, Role};
use trueup_checks::{FleetCell, FleetRow, FleetTable, RowKnowledge};
use trueup_core::engine::State;
use trueup_core::engine::text::{Charset, printable};
use trueup_core::world::RiskClass;

/// Width of the sign before a row.
const SIGN: u16 = 2;
/// Width of a class with its mark.
const CLASS: u16 = 6;
/// Widest column: an issuer is cut rather than the columns after it dropped.
const CELL_MAX: u16 = 40;
/// The columns before those of the check: cluster and class.
const OWN_FROM: usize = 2;

pub fn draw(model: &Model, table: Option<&FleetTable>, scroll: usize, area: Rect, painter: &mut Painter<'_>) {
    let place = centered(area, area.width, area.height.saturating_sub(2));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let glyphs = Glyphs::of(model.signs);
    let width = place.width.saturating_sub(4);
    let title = match table {
        None => "Matrix".to_owned(),
        Some(table) => {
            let between = format!(" {} ", glyphs.separator);
            let hidden = Columns::of(model, table, width).hidden();
            let hidden = match hidden {
                0 => String::new(),
                1 => format!("{between}+1 column"),
                count => format!("{between}+{count} columns"),
            };
            let odd = odd(model);
            format!("{}{between}{} clusters{between}{odd} differs from most{hidden}", table.title, table.rows.len())
        }
    };
    let close = Line::of(format!("{}: close", model.key(Action::Back)), Role::Muted);
    let inside = painter.boxed(place, &Line::of(title, Role::Title), &close);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(model, table, inside.width);
    painter.lines(inside, &lines, scroll);
    painter.thumb(place.right() - 1, inside, lines.len(), scroll);
}

/// Largest scroll position.
pub fn last(model: &Model) -> usize {
    let Some(Layer::Table { table, .. }) = &model.layer else { return 0 };
    let shown = usize::from(model.area.height.saturating_sub(4));
    lines(model, table.as_ref(), model.area.width.saturating_sub(4)).len().saturating_sub(shown)
}

fn odd(model: &Model) -> &'static str {
    Glyphs::of(model.signs).state(State::Drift)
}

/// The columns that fit.
struct Columns {
    titles: Vec<&'static str>,
    placed: Vec<Placed>,
}

impl Columns {
    fn of(model: &Model, table: &FleetTable, width: u16) -> Self {
        let titles: Vec<&'static str> = ["CLUSTER", "CLASS"].into_iter().chain(table.columns.iter().copied()).collect();
        let widest =
            |texts: &mut dyn Iterator<Item = usize>| u16::try_from(texts.max().unwrap_or(0)).unwrap_or(u16::MAX);
        let column = |(place, title): (usize, &&'static str)| {
            let cells = || table.rows.iter().filter_map(move |row| row.cells.get(place.checked_sub(OWN_FROM)?));
            let content = match place {
                0 => widest(&mut table.rows.iter().map(|row| row.cluster.as_str().width() + 1)),
                1 => CLASS,
                _ => widest(&mut cells().map(|cell| cell_text(model, cell).width())).min(CELL_MAX),
            };
            let content = content.max(u16::try_from(title.width()).unwrap_or(0));
            // The cluster and the first column stay, then the rightmost goes first.
            let priority = match place {
                0 | OWN_FROM => 0,
                1 => u8::MAX,
                place => u8::try_from(place).unwrap_or(u8::MAX),
            };
            Column::new(*title, content).priority(priority)
        };
        let columns: Vec<Column> = titles.iter().enumerate().map(column).collect();
        Self { placed: layout(&columns, width.saturating_sub(SIGN)), titles }
    }

    fn hidden(&self) -> usize {
        self.titles.len() - self.placed.len()
    }

    /// Pieces at the places of their columns.
    fn line(&self, sign: (&str, Role), signs: GlyphSet, mut piece: impl FnMut(usize) -> (String, Role)) -> Line {
        let mut line = Line::of(format!("{:<1$}", sign.0, usize::from(SIGN)), sign.1);
        let mut used = 0;
        for placed in &self.placed {
            let (x, width) = (usize::from(placed.x), usize::from(placed.width));
            let (text, role) = piece(placed.index);
            let text = fit(&text, width, table_glyphs(signs));
            line = line.and(" ".repeat(x.saturating_sub(used)), Role::Text).and(text.as_ref(), role);
            used = x + text.width();
        }
        line
    }
}

fn lines(model: &Model, table: Option<&FleetTable>, width: u16) -> Vec<Line> {
    let Some(table) = table else { return vec![Line::of("reading", Role::Muted)] };
    let columns = Columns::of(model, table, width);
    let mut lines =
        vec![columns.line(("", Role::Header), model.signs, |index| (columns.titles[index].to_owned(), Role::Header))];
    lines.extend(table.rows.iter().map(|row| row_line(model, row, &columns, usize::from(width))));
    if !table.note.is_empty() {
        lines.push(Line::blank());
        lines.extend(wrapped(&printable(&table.note, charset(model)), usize::from(width), 2, Role::Error));
    }
    lines
}

fn row_line(model: &Model, row: &FleetRow, columns: &Columns, width: usize) -> Line {
    let glyphs = Glyphs::of(model.signs);
    let sign = if row.is_odd() { (odd(model), Role::Drift) } else { ("", Role::Text) };
    let mark = if row.class == RiskClass::Prod { glyphs.prod_mark } else { " " };
    let has_class = columns.placed.iter().any(|placed| placed.index == 1);
    let name = |mark: &str| format!("{mark}{}", printable(row.cluster.as_str(), charset(model)));
    let cell = |index: usize| match index {
        0 => (name(if has_class { " " } else { mark }), Role::Text),
        1 => (glyphs.class_in_column(row.class).into_owned(), Role::from(row.class)),
        _ => match row.cells.get(index - OWN_FROM) {
            Some(cell) => (cell_text(model, cell), if cell.is_odd() { Role::Drift } else { Role::Text }),
            None => (String::new(), Role::Text),
        },
    };
    let line = columns.line(sign, model.signs, cell);
    if row.note.is_empty() {
        return line;
    }
    // A cluster without values says why in their place.
    let role = if row.knowledge == RowKnowledge::NotKnown { Role::Unknown } else { Role::Muted };
    let first = columns.placed.iter().find(|placed| placed.index == OWN_FROM).map_or(0, |placed| SIGN + placed.x);
    let first = usize::from(first);
    let note = printable(&row.note, charset(model));
    let note = fit(&note, width.saturating_sub(first), table_glyphs(model.signs)).into_owned();
    // The sign, and a gap before each column.
    let pieces = 1 + 2 * columns.placed.iter().filter(|placed| placed.index < OWN_FROM).count();
    let head = Line(line.0.into_iter().take(pieces).collect());
    let gap = first.saturating_sub(head.plain().width());
    head.and(" ".repeat(gap), Role::Text).and(note, role)
}

fn cell_text(model: &Model, cell: &FleetCell) -> String {
    let text = printable(cell.text(), charset(model));
    if cell.is_odd() { format!("{} {text}", odd(model)) } else { text }
}

fn charset(model: &Model) -> Charset {
    match model.signs {
        GlyphSet::Unicode => Charset::Unicode,
        GlyphSet::Plain => Charset::Ascii,
    }
}
