//! Lists of every screen: rows with prepared cells, their style, and their hit areas.

use ratatui::layout::Rect;

use super::paint::Painter;
use crate::console::hits::Hit;
use crate::console::table::{Cell, Highlights, RowStyle, TableRow, TableStyle, TableView, draw_highlighted};
use crate::console::theme::Role;

/// A row with prepared cells.
pub struct Row<'m> {
    pub cells: Vec<Cell<'m>>,
    pub style: RowStyle,
}

impl TableRow for Row<'_> {
    fn style(&self) -> RowStyle {
        self.style
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.cells.get(column).cloned().unwrap_or_else(Cell::empty)
    }
}

impl Painter<'_> {
    /// Draws a list and registers its rows for the mouse. Returns the header areas with their column indices.
    pub fn table(&mut self, view: &TableView<'_>, rows: Vec<Row<'_>>, area: Rect) -> Vec<(Rect, usize)> {
        self.table_highlighted(view, None, rows, area)
    }

    /// The same, with the letters underlined that a filter matched.
    pub fn table_highlighted(
        &mut self,
        view: &TableView<'_>,
        highlights: Option<&dyn Highlights>,
        rows: Vec<Row<'_>>,
        area: Rect,
    ) -> Vec<(Rect, usize)> {
        let hits = draw_highlighted(view, highlights, rows, area, self.buffer);
        for line in 0..hits.body.height {
            let index = hits.first + usize::from(line);
            if index < hits.total {
                self.hit(Rect { y: hits.body.y + line, height: 1, ..hits.body }, Hit::Row(index));
            }
        }
        hits.header
    }
}

/// The area without its last column, so that numbers do not touch the border.
pub fn with_margin(inside: Rect) -> Rect {
    Rect { width: inside.width.saturating_sub(1), ..inside }
}

/// Style of lists on every screen.
pub fn table_look(painter: &Painter<'_>) -> TableStyle {
    TableStyle {
        header: painter.style(Role::Header),
        cursor: painter.style(Role::Selection),
        mark: painter.style(Role::Mark),
        doomed: painter.style(Role::Ghost),
        dimmed: painter.style(Role::Muted),
        scrollbar: painter.style(Role::Muted),
        glyphs: *painter.appearance.table_glyphs(),
    }
}
