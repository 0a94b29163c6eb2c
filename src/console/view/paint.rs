//! Painter: text, panes, boxes and fills on the buffer, by role.
//!
//! Invariants: a text stays on its line and within its width, and control characters are escaped.

use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::Line;
use super::{Appearance, Drawn};
use crate::console::hits::HitMap;
use crate::console::layout::RULE;
use crate::console::table::{self, cut_middle, display_width, fit, next_list_change};
use crate::console::terminal::Cursor;
use crate::console::theme::{Glyphs, Role, select};

pub struct Painter<'a> {
    pub appearance: &'a Appearance,
    pub buffer: &'a mut Buffer,
    pub hits: HitMap,
    pub cursor: Cursor,
    /// When the next label on the screen changes.
    pub changes_at: Option<Timestamp>,
}

/// Smallest useful title beside the text at the right.
const TITLE_MIN: u16 = 16;

/// Rule before a title, and after the text at the right.
const RULE_END: u16 = 2;

/// Whether a pane has the focus.
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

    /// The style of a text. Normal text has no ground of its own: it keeps the one that it is written on.
    pub fn style(&self, role: Role) -> Style {
        let style = self.appearance.theme.style(role);
        if matches!(role, Role::Text | Role::Dialog) { Style { bg: None, ..style } } else { style }
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

    /// Styles an area with a role's ground and text colour.
    pub fn fill(&mut self, area: Rect, role: Role) {
        let style = self.appearance.theme.style(role);
        self.buffer.set_style(area, style);
    }

    /// Blanks an area on the screen's ground.
    pub fn clear(&mut self, area: Rect) {
        self.blank(area, Role::Text);
    }

    /// Blanks an area on the ground of dialogs.
    pub fn dialog(&mut self, area: Rect) {
        self.blank(area, Role::Dialog);
    }

    fn blank(&mut self, area: Rect, role: Role) {
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
        self.fill(area, role);
    }

    /// Gives a drawn row the ground of the selected row.
    pub fn select(&mut self, row: Rect) {
        let selection = self.style(Role::Selection);
        select(self.buffer, row, selection);
    }

    /// Dims everything that was drawn so far: a dialog is in front of it.
    pub fn dim_all(&mut self) {
        let theme = &self.appearance.theme;
        let dim = Style::reset().patch(theme.style(Role::Text)).patch(theme.style(Role::Muted));
        self.buffer.set_style(*self.buffer.area(), dim);
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

    /// Draws a pane: a title rule, heavy when focused, with a title at its left and a text at its right. Returns the area
    /// below it.
    pub fn pane(&mut self, area: Rect, title: &Line, right: &Line, held: PaneFocus) -> Rect {
        let (role, rule) = match held {
            PaneFocus::Keys => (Role::BorderFocus, self.glyphs().rule_focus),
            PaneFocus::Waits => (Role::Border, self.glyphs().rule),
        };
        let style = self.style(role);
        if area.height > 0 {
            for x in area.left()..area.right() {
                self.sign(x, area.y, rule, style);
            }
            self.titles(Rect { height: 1, ..area }, RULE_END, title, right);
        }
        Rect { y: area.y + RULE.min(area.height), height: area.height.saturating_sub(RULE), ..area }
    }

    /// Draws a dialog's box with a title at its left and one at its right; returns the inner area.
    pub fn boxed(&mut self, area: Rect, title: &Line, right: &Line) -> Rect {
        self.border(area, Role::BorderFocus);
        self.titles(area, 1, title, right);
        Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: area.height.saturating_sub(2),
        }
    }

    /// Writes both titles on the first line of an area, this far from its ends.
    fn titles(&mut self, area: Rect, end: u16, title: &Line, right: &Line) {
        let space = area.width.saturating_sub(2 * end);
        let right = if right.0.is_empty() { Line::blank() } else { between_blanks(right) };
        let needed = u16::try_from(self.line_width(&right)).unwrap_or(space);
        let fits = needed + TITLE_MIN <= space;
        if !title.0.is_empty() {
            // The text at the right is short and important: the title is shortened.
            let for_title = if fits { space - needed } else { space };
            let title = self.shortened(between_blanks(title), usize::from(for_title));
            self.line(area.x + end, area.y, for_title, &title);
        }
        if fits {
            self.line_right(area.right() - end, area.y, needed, &right);
        }
    }

    /// A name without its middle, if it does not fit.
    pub fn shortened_name(&self, text: &str, width: usize) -> String {
        cut_middle(text, width, self.appearance.table_glyphs()).into_owned()
    }

    /// A line whose longest piece lost its middle, if it does not fit.
    pub fn shortened(&self, mut line: Line, width: usize) -> Line {
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

#[cfg(test)]
mod tests {
    use ratatui::style::Modifier;

    use crate::console::testing::TestConsole;
    use crate::console::theme::{GlyphSet, Theme, Themes};

    #[test]
    fn a_pane_has_a_title_rule_and_no_side_borders() {
        let cases = [(GlyphSet::Unicode, "━━ ", "── "), (GlyphSet::Plain, "== ", "-- ")];
        for (signs, focused, other) in cases {
            let mut stage = TestConsole::full();
            stage.model.signs = signs;
            stage.keys("1");
            let text = stage.draw(120, 40);
            let rules = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
            assert_eq!((rules(focused), rules(other)), (1, 1), "{text}");
            let ends = |line: &str| line.starts_with(['│', '|', '┌', '└']) || line.ends_with(['│', '|', '┐', '┘']);
            assert_eq!(text.lines().find(|line| ends(line)), None);
        }
    }

    #[test]
    fn what_is_behind_a_dialog_is_dim_and_the_dialog_has_its_own_ground() {
        let mut stage = TestConsole::full();
        stage.keys("?");
        let buffer = stage.buffer(120, 40, Theme::default());
        assert!(buffer[(1, 0)].modifier.contains(Modifier::DIM), "the header is behind");
        assert!(!buffer[(60, 2)].modifier.contains(Modifier::DIM), "the text of the dialog is not");
        let buffer = stage.buffer(120, 40, Themes::built_in().resolve("night").unwrap());
        assert_ne!(buffer[(1, 0)].bg, buffer[(60, 20)].bg);
    }
}
