//! Draws the visible part of a list.
//!
//! Invariants:
//! - rows are requested one by one while there is space, and cells only for visible columns;
//! - nothing outside the given area is drawn, except the scrollbar on the given border;
//! - hit areas are where things were drawn.
//!
//! ```text
//!   mark, cursor
//!   │▸  OBJECT ▲                   CLUSTER            AGE   ← header
//!  ✓▸−Secret ext-auth-client-old   guest-payments      2s   ← body
//! ```

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::text::columns as width_of;
use super::{Align, Column, Direction, Glyphs, Placed, cut_middle, display_width, fit, layout};
use crate::console::theme::select;

/// Columns before the first cell: mark and cursor.
pub const GUTTER: u16 = 2;

/// Style of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStyle {
    pub header: Style,
    /// Style of the whole cursor row.
    pub cursor: Style,
    pub mark: Style,
    /// Style of rows that the plan deletes.
    pub doomed: Style,
    /// Style of rows that are stale or blocked.
    pub dimmed: Style,
    pub scrollbar: Style,
    pub glyphs: Glyphs,
}

/// Marks the letters of a text that a filter matched.
pub trait Highlights {
    /// Byte ranges on character boundaries, in order.
    fn ranges(&self, text: &str) -> Vec<Range<usize>>;
}

/// A list to draw.
#[derive(Debug, Clone, Copy)]
pub struct TableView<'a> {
    pub columns: &'a [Column],
    /// The sorted column.
    pub sort: Option<(usize, Direction)>,
    pub style: &'a TableStyle,
    /// Index of the first drawn row.
    pub first: usize,
    /// Number of rows.
    pub total: usize,
    /// Column of the right border, for the scrollbar.
    pub border: Option<u16>,
}

/// A row to draw.
pub trait TableRow {
    fn style(&self) -> RowStyle;
    /// The cell of a column, by index.
    fn cell(&self, column: usize) -> Cell<'_>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowStyle {
    pub cursor: bool,
    pub marked: bool,
    pub tone: Tone,
}

/// Style variant of a row's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    Doomed,
    Dimmed,
}

/// A cell: styled pieces. When they are too wide together, the widest is shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell<'a> {
    pieces: Pieces<'a>,
    cut: Cut,
    is_searched: bool,
    /// Whether it takes the space of all columns after it.
    is_spanning: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pieces<'a> {
    One((Cow<'a, str>, Style)),
    Many(Vec<(Cow<'a, str>, Style)>),
}

/// Which part is cut when there is not enough space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    End,
    Middle,
}

/// Clickable areas of a drawn list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableHits {
    /// Header of each visible column, with its index.
    pub header: Vec<(Rect, usize)>,
    /// The lines of rows.
    pub body: Rect,
    /// Index of the row on the first line.
    pub first: usize,
    pub total: usize,
}

impl<'a> Cell<'a> {
    /// One text; a long name loses its middle.
    pub fn name(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self { pieces: Pieces::One((text.into(), style)), cut: Cut::Middle, is_searched: false, is_spanning: false }
    }

    /// One text; a long sentence loses its end.
    pub fn text(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self { pieces: Pieces::One((text.into(), style)), cut: Cut::End, is_searched: false, is_spanning: false }
    }

    pub fn pieces(pieces: Vec<(Cow<'a, str>, Style)>, cut: Cut) -> Self {
        Self { pieces: Pieces::Many(pieces), cut, is_searched: false, is_spanning: false }
    }

    pub fn empty() -> Self {
        Self { pieces: Pieces::Many(Vec::new()), cut: Cut::End, is_searched: false, is_spanning: false }
    }

    /// Takes the space of all columns after it.
    pub fn spanning(self) -> Self {
        Self { is_spanning: true, ..self }
    }

    /// Marks the letters that the filter matched.
    pub fn searched(self) -> Self {
        Self { is_searched: true, ..self }
    }
}

impl TableView<'_> {
    /// Number of rows that fit an area: the height for `ListState::apply`.
    pub fn lines(area: Rect) -> usize {
        usize::from(area.height.saturating_sub(1))
    }
}

/// Draws the header on the first line of the area and rows on the others.
pub fn draw<R: TableRow>(
    view: &TableView<'_>,
    rows: impl IntoIterator<Item = R>,
    area: Rect,
    buffer: &mut Buffer,
) -> TableHits {
    draw_highlighted(view, None, rows, area, buffer)
}

/// The same, with the letters underlined that a filter matched.
pub fn draw_highlighted<R: TableRow>(
    view: &TableView<'_>,
    highlights: Option<&dyn Highlights>,
    rows: impl IntoIterator<Item = R>,
    area: Rect,
    buffer: &mut Buffer,
) -> TableHits {
    let area = area.intersection(*buffer.area());
    if area.height == 0 || area.width <= GUTTER {
        return TableHits::default();
    }
    let placed = layout(view.columns, area.width - GUTTER);
    let header = draw_header(view, &placed, area, buffer);
    let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    for (y, row) in (body.top()..body.bottom()).zip(rows) {
        draw_row(view, &placed, (&row, highlights), Rect { y, height: 1, ..body }, buffer);
    }
    draw_scrollbar(view, body, buffer);
    TableHits { header, body, first: view.first, total: view.total }
}

fn draw_header(view: &TableView<'_>, placed: &[Placed], area: Rect, buffer: &mut Buffer) -> Vec<(Rect, usize)> {
    let glyphs = &view.style.glyphs;
    let line = Rect { height: 1, ..area };
    buffer.set_style(line, view.style.header);
    let mut titles = Vec::with_capacity(placed.len());
    for one in placed {
        let column = &view.columns[one.index];
        let place = Rect { x: area.x + GUTTER + one.x, width: one.width, ..line };
        let sign = match view.sort {
            Some((index, Direction::Ascending)) if index == one.index => glyphs.ascending,
            Some((index, Direction::Descending)) if index == one.index => glyphs.descending,
            Some(_) | None => "",
        };
        // The sort arrow follows the title, and is shown even without space for both.
        let space = usize::from(one.width).saturating_sub(width_of(sign));
        let blank = if space > display_width(&column.title, glyphs) && !sign.is_empty() { " " } else { "" };
        let title = fit(&column.title, space - blank.len(), glyphs);
        let pieces = [(title, Style::new()), (Cow::Borrowed(blank), Style::new()), (Cow::Borrowed(sign), Style::new())];
        put(&pieces, column.align, place, buffer);
        titles.push((place, one.index));
    }
    titles
}

fn draw_row(
    view: &TableView<'_>,
    placed: &[Placed],
    (row, highlights): (&impl TableRow, Option<&dyn Highlights>),
    line: Rect,
    buffer: &mut Buffer,
) {
    let TableStyle { cursor, mark, doomed, dimmed, glyphs, header: _, scrollbar: _ } = view.style;
    let style = row.style();
    let tone = match style.tone {
        Tone::Plain => Style::new(),
        Tone::Doomed => *doomed,
        Tone::Dimmed => *dimmed,
    };
    if style.cursor {
        write(glyphs.cursor, Style::new(), line.x + 1, line.y, buffer);
    }
    if style.marked {
        write(glyphs.mark, *mark, line.x, line.y, buffer);
    }
    for one in placed {
        let place = Rect { x: line.x + GUTTER + one.x, width: one.width, ..line };
        let cell = row.cell(one.index);
        if cell.is_spanning {
            let place = Rect { width: line.right().saturating_sub(place.x), ..place };
            put(&fitted(cell, tone, usize::from(place.width), glyphs), Align::Left, place, buffer);
            break;
        }
        let searched = highlights.filter(|_| cell.is_searched);
        let fitted = fitted(cell, tone, usize::from(one.width), glyphs);
        put(&highlighted(fitted, searched), view.columns[one.index].align, place, buffer);
    }
    if style.cursor {
        select(buffer, line, *cursor);
    }
}

/// The pieces of a cell, shortened to its width.
fn fitted<'a>(cell: Cell<'a>, tone: Style, width: usize, glyphs: &Glyphs) -> Vec<(Cow<'a, str>, Style)> {
    let cut = |text: &str, width: usize| match cell.cut {
        Cut::End => fit(text, width, glyphs).into_owned(),
        Cut::Middle => cut_middle(text, width, glyphs).into_owned(),
    };
    match cell.pieces {
        Pieces::One((text, style)) if display_width(&text, glyphs) <= width && is_printable(&text) => {
            vec![(text, style.patch(tone))]
        }
        Pieces::One((text, style)) => vec![(Cow::Owned(cut(&text, width)), style.patch(tone))],
        Pieces::Many(pieces) => {
            let widths: Vec<usize> = pieces.iter().map(|(text, _)| display_width(text, glyphs)).collect();
            let over = widths.iter().sum::<usize>().saturating_sub(width);
            let widest = (0..widths.len()).max_by_key(|index| widths[*index]);
            let mut left = width;
            let mut fitted = Vec::with_capacity(pieces.len());
            for (index, (text, style)) in pieces.iter().enumerate() {
                let space = if Some(index) == widest { widths[index].saturating_sub(over) } else { widths[index] };
                let text = cut(text, space.min(left));
                left -= width_of(&text);
                fitted.push((Cow::Owned(text), style.patch(tone)));
            }
            fitted
        }
    }
}

/// Whether every byte is a visible ASCII character, which needs no escape.
fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Splits the pieces where a match begins or ends, and underlines the matches.
fn highlighted<'a>(
    pieces: Vec<(Cow<'a, str>, Style)>,
    highlights: Option<&dyn Highlights>,
) -> Vec<(Cow<'a, str>, Style)> {
    let Some(highlights) = highlights else { return pieces };
    let mut split = Vec::with_capacity(pieces.len());
    for (text, style) in pieces {
        let mut from = 0;
        for range in highlights.ranges(&text) {
            split.push((Cow::Owned(text[from..range.start].to_owned()), style));
            split.push((Cow::Owned(text[range.clone()].to_owned()), style.add_modifier(Modifier::UNDERLINED)));
            from = range.end;
        }
        split.push((Cow::Owned(text[from..].to_owned()), style));
    }
    split
}

/// Writes pieces that fit the area.
fn put(pieces: &[(Cow<'_, str>, Style)], align: Align, place: Rect, buffer: &mut Buffer) {
    let mut x = match align {
        Align::Left => place.x,
        Align::Right => {
            let used: usize = pieces.iter().map(|(text, _)| width_of(text)).sum();
            place.right().saturating_sub(u16::try_from(used).unwrap_or(place.width))
        }
    };
    for (text, style) in pieces {
        x = write(text, *style, x, place.y, buffer);
    }
}

/// Writes escaped text that fits, and returns where it ends.
///
/// Not `Buffer::set_stringn`, which measures every character a second time.
fn write(text: &str, style: Style, mut x: u16, y: u16, buffer: &mut Buffer) -> u16 {
    if text.is_ascii() {
        for byte in text.bytes() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char(char::from(byte)).set_style(style);
            }
            x += 1;
        }
        return x;
    }
    for grapheme in text.graphemes(true) {
        let width = u16::try_from(grapheme.width()).unwrap_or(1);
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.set_symbol(grapheme).set_style(style);
        }
        for covered in 1..width {
            if let Some(cell) = buffer.cell_mut((x + covered, y)) {
                cell.set_symbol(" ").set_style(style);
            }
        }
        x += width;
    }
    x
}

/// Draws the scrollbar on the border when not all rows are visible.
fn draw_scrollbar(view: &TableView<'_>, body: Rect, buffer: &mut Buffer) {
    let lines = usize::from(body.height);
    let Some(x) = view.border.filter(|_| lines > 0 && view.total > lines) else { return };
    let hidden = view.total - lines;
    let thumb = (lines * lines / view.total).max(1);
    let travel = lines - thumb;
    // At an end only when the window is: otherwise at least a line away from both.
    let top = match view.first.min(hidden) {
        0 => 0,
        first if first == hidden => travel,
        first => (travel * first / hidden).clamp(travel.min(1), travel.saturating_sub(1).max(travel.min(1))),
    };
    for line in top..top + thumb {
        let y = body.y + u16::try_from(line).unwrap_or(0);
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.set_symbol(view.style.glyphs.thumb).set_style(view.style.scrollbar);
        }
    }
}

#[cfg(test)]
mod tests;
