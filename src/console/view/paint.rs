//! Painter: text, boxes and fills on the buffer, by role.
//!
//! Invariants: a text stays on its line and within its width, and control characters are escaped.

use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::Line;
use super::{Appearance, Drawn};
use crate::console::hits::HitMap;
use crate::console::table::{self, cut_middle, display_width, fit, next_list_change};
use crate::console::terminal::Cursor;
use crate::console::theme::{Glyphs, Role};

pub struct Painter<'a> {
    pub appearance: &'a Appearance,
    pub buffer: &'a mut Buffer,
    pub hits: HitMap,
    pub cursor: Cursor,
    changes_at: Option<Timestamp>,
}

/// Smallest useful title beside the text at the right.
const TITLE_MIN: u16 = 16;

/// Whether a box has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneFocus {
    Keys,
    Waits,
}

impl<'a> Painter<'a> {
    pub fn new(appearance: &'a Appearance, buffer: &'a mut Buffer) -> Self {
        Self { appearance, buffer, hits: HitMap::default(), cursor: Cursor::Hidden, changes_at: None }
    }

    pub fn done(self) -> Drawn {
        Drawn { hits: self.hits, cursor: self.cursor, changes_at: self.changes_at }
    }

    pub fn style(&self, role: Role) -> Style {
        self.appearance.theme.style(role)
    }

    pub fn glyphs(&self) -> &'static Glyphs {
        self.appearance.glyphs()
    }

    /// Renders an age in a list, and registers when it changes.
    pub fn list_age(&mut self, since: Timestamp, now: Timestamp) -> String {
        self.changes(next_list_change(since, now));
        table::list_age(since, now)
    }

    /// Renders the seconds until a time, and registers when they change.
    pub fn seconds_until(&mut self, at: Timestamp, now: Timestamp) -> String {
        let left = at.duration_since(now).as_secs().max(0);
        if left > 0 {
            self.changes(now.checked_add(SignedDuration::from_secs(1)).ok());
        }
        format!("{left}s")
    }

    /// Renders the minutes until a time for a list, and registers when they change.
    pub fn minutes_until(&mut self, at: Timestamp, now: Timestamp) -> String {
        let left = at.duration_since(now).as_secs().max(0);
        if left < 60 {
            return "<1m".to_owned();
        }
        self.changes(now.checked_add(SignedDuration::from_secs(left % 60 + 1)).ok());
        format!("{}m", left / 60)
    }

    /// Registers when something on the screen changes.
    pub fn changes(&mut self, at: Option<Timestamp>) {
        self.changes_at = [self.changes_at, at].into_iter().flatten().min();
    }

    pub fn fill(&mut self, area: Rect, role: Role) {
        let style = self.style(role);
        self.buffer.set_style(area, style);
    }

    /// Blanks an area, for a layer.
    pub fn clear(&mut self, area: Rect) {
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
        self.fill(area, Role::Text);
    }

    /// Writes a text, cut at the width; returns where it ended.
    pub fn text(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        let shown = fit(text, usize::from(width), self.appearance.table_glyphs());
        self.write(x, y, width, &shown, style)
    }

    /// Writes a line of pieces; returns where it ended.
    pub fn line(&mut self, x: u16, y: u16, width: u16, line: &Line) -> u16 {
        let (mut at, end) = (x, x.saturating_add(width));
        for (text, role) in &line.0 {
            at = self.text(at, y, end.saturating_sub(at), text, *role);
        }
        at
    }

    /// Writes a right-aligned line; returns where it started.
    pub fn line_right(&mut self, right: u16, y: u16, width: u16, line: &Line) -> u16 {
        let needed = u16::try_from(self.line_width(line)).unwrap_or(width).min(width);
        let x = right.saturating_sub(needed);
        self.line(x, y, needed, line);
        x
    }

    pub fn width(&self, text: &str) -> usize {
        display_width(text, self.appearance.table_glyphs())
    }

    /// Draws a box with a title at its left and one at its right; returns the inner area.
    pub fn boxed(&mut self, area: Rect, title: &Line, right: &Line, held: PaneFocus) -> Rect {
        let role = match held {
            PaneFocus::Keys => Role::BorderFocus,
            PaneFocus::Waits => Role::Border,
        };
        self.border(area, role);
        let space = area.width.saturating_sub(4);
        let right = if right.0.is_empty() { Line::blank() } else { between_blanks(right) };
        let needed = u16::try_from(self.line_width(&right)).unwrap_or(space);
        // The text at the right is short and important: the title is shortened.
        let for_title = if needed + TITLE_MIN <= space { space - needed } else { space };
        if !title.0.is_empty() {
            let mut title = title.clone();
            if held == PaneFocus::Keys {
                title.0.insert(0, (format!("{} ", self.glyphs().focus), Role::Accent));
            }
            let title = self.shortened(between_blanks(&title), usize::from(for_title));
            self.line(area.x + 1, area.y, for_title, &title);
        }
        if needed + TITLE_MIN <= space {
            self.line_right(area.right() - 1, area.y, needed, &right);
        }
        Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: area.height.saturating_sub(2),
        }
    }

    /// A name without its middle, if it does not fit.
    pub fn shortened_name(&self, text: &str, width: usize) -> String {
        cut_middle(text, width, self.appearance.table_glyphs()).into_owned()
    }

    /// A line whose longest piece lost its middle, if it does not fit.
    fn shortened(&self, mut line: Line, width: usize) -> Line {
        let over = self.line_width(&line).saturating_sub(width);
        let longest = line.0.iter_mut().max_by_key(|(text, _)| display_width(text, self.appearance.table_glyphs()));
        if let Some((text, _)) = longest.filter(|_| over > 0) {
            let left = self.width(text).saturating_sub(over);
            *text = self.shortened_name(text, left);
        }
        line
    }

    fn line_width(&self, line: &Line) -> usize {
        line.0.iter().map(|(text, _)| self.width(text)).sum()
    }

    /// Writes as many lines as fit, from a scroll position.
    pub fn lines(&mut self, area: Rect, lines: &[Line], scroll: usize) {
        let scroll = scroll.min(lines.len().saturating_sub(usize::from(area.height)));
        for (y, line) in (area.y..area.bottom()).zip(lines.iter().skip(scroll)) {
            self.line(area.x, y, area.width, line);
        }
    }

    /// Draws a scrollbar thumb on a border.
    pub fn thumb(&mut self, x: u16, area: Rect, total: usize, first: usize) {
        let lines = usize::from(area.height);
        if total <= lines || lines == 0 {
            return;
        }
        let length = (lines * lines / total).max(1);
        let top = (lines - length) * first.min(total - lines) / (total - lines);
        let (style, thumb) = (self.style(Role::Muted), self.glyphs().scroll_thumb);
        for line in top..top + length {
            self.sign(x, area.y + u16::try_from(line).unwrap_or(0), thumb, style);
        }
    }

    fn border(&mut self, area: Rect, role: Role) {
        let (style, set) = (self.style(role), self.glyphs().borders);
        if area.width < 2 || area.height < 2 {
            return;
        }
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        for x in area.x..=right {
            self.sign(x, area.y, set.horizontal_top, style);
            self.sign(x, bottom, set.horizontal_bottom, style);
        }
        for y in area.y..=bottom {
            self.sign(area.x, y, set.vertical_left, style);
            self.sign(right, y, set.vertical_right, style);
        }
        for (x, y, corner) in [
            (area.x, area.y, set.top_left),
            (right, area.y, set.top_right),
            (area.x, bottom, set.bottom_left),
            (right, bottom, set.bottom_right),
        ] {
            self.sign(x, y, corner, style);
        }
    }

    fn write(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
        let edges = *self.buffer.area();
        if y >= edges.bottom() || x >= edges.right() {
            return x;
        }
        // Finding grapheme boundaries would take half of a frame's time; ASCII has one byte each.
        if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.buffer.set_stringn(x, y, text, usize::from(width), style).0;
        }
        let space = usize::from(width.min(edges.right() - x));
        let mut at = x;
        for byte in text.bytes().take(space) {
            self.buffer[(at, y)].set_char(char::from(byte)).set_style(style);
            at += 1;
        }
        at
    }

    /// Writes a glyph one column wide.
    fn sign(&mut self, x: u16, y: u16, sign: &str, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.set_symbol(sign).set_style(style);
        }
    }
}

fn between_blanks(line: &Line) -> Line {
    let blank = || (" ".to_owned(), Role::Border);
    Line([blank()].into_iter().chain(line.0.iter().cloned()).chain([blank()]).collect())
}

/// An area centred in another.
pub fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}
