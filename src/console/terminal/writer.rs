//! A frame as bytes.
//!
//! Invariants:
//! - a frame is one run of bytes inside synchronized output (`?2026`), and an equal frame is no bytes at all;
//! - every frame starts and ends with the plain pen, so that nothing of it leaks into what others write;
//! - after a sign whose width terminals disagree about, the cursor is placed anew;
//! - a cell that would steer the terminal, or turn the text around it, is written as a sign that does not.
//!
//! Elsewhere: the write itself (`guard`), what is in the cells (`view`).

use std::io::Write as _;
use std::iter::Peekable;

use ratatui::buffer::{Buffer, BufferDiff, Cell, CellWidth as _};
use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr;

use super::color::ColorDepth;
use super::sgr::{Pen, RESET};

/// Where the terminal's cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cursor {
    #[default]
    Hidden,
    /// In a line that is being typed.
    At(Position),
}

/// Turns frames into bytes, and remembers what the terminal's cursor does.
#[derive(Debug)]
pub struct Writer {
    depth: ColorDepth,
    cursor: Cursor,
    bytes: Vec<u8>,
}

const SYNC_BEGIN: &[u8] = b"\x1b[?2026h";
const SYNC_END: &[u8] = b"\x1b[?2026l";
const CURSOR_SHOW: &[u8] = b"\x1b[?25h";
const CURSOR_HIDE: &[u8] = b"\x1b[?25l";
const CLEAR: &[u8] = b"\x1b[2J";

/// Shown for what must not be: one column, in every font.
const REPLACED: &str = "\u{fffd}";

impl Writer {
    pub fn new(depth: ColorDepth) -> Self {
        Self { depth, cursor: Cursor::Hidden, bytes: Vec::new() }
    }

    /// The bytes that turn the previous frame into the next. A frame of another size is painted whole.
    pub fn frame(&mut self, previous: &Buffer, next: &Buffer, cursor: Cursor) -> &[u8] {
        if previous.area != next.area {
            return self.repaint(next, cursor);
        }
        self.bytes.clear();
        let mut changes = Changes::between(previous, next);
        let is_still = changes.differing.peek().is_none();
        if is_still && self.cursor == cursor {
            return &self.bytes;
        }
        self.bytes.extend_from_slice(SYNC_BEGIN);
        if !is_still && self.cursor != Cursor::Hidden {
            // Terminals without synchronized output would show it jump.
            self.bytes.extend_from_slice(CURSOR_HIDE);
            self.cursor = Cursor::Hidden;
        }
        self.write_changes(changes);
        self.finish(cursor)
    }

    /// The bytes that paint the whole frame on a terminal nothing is known of: after a resize, a stop, another program.
    pub fn repaint(&mut self, next: &Buffer, cursor: Cursor) -> &[u8] {
        self.bytes.clear();
        for start in [SYNC_BEGIN, RESET, CURSOR_HIDE, CLEAR] {
            self.bytes.extend_from_slice(start);
        }
        self.cursor = Cursor::Hidden;
        self.write_changes(Changes::between(&Buffer::empty(next.area), next));
        self.finish(cursor)
    }

    fn finish(&mut self, cursor: Cursor) -> &[u8] {
        match cursor {
            Cursor::Hidden if self.cursor == Cursor::Hidden => {}
            Cursor::Hidden => self.bytes.extend_from_slice(CURSOR_HIDE),
            Cursor::At(Position { x, y }) => {
                self.place(x, y);
                self.bytes.extend_from_slice(CURSOR_SHOW);
            }
        }
        self.cursor = cursor;
        self.bytes.extend_from_slice(SYNC_END);
        &self.bytes
    }

    fn write_changes(&mut self, mut changes: Changes<'_>) {
        let right = changes.next.area.right();
        let mut pen = Pen::default();
        // Where the terminal will write next, as far as that is sure.
        let mut at: Option<(u16, u16)> = None;
        // What the last sign covers: its row, and the column after it.
        let mut covered = (0, 0);
        while let Some((x, y, cell)) = changes.next() {
            if y == covered.0 && x < covered.1 {
                continue;
            }
            self.reach(at, x, y);
            let wanted = Pen::of(cell, self.depth);
            pen.change(wanted, &mut self.bytes);
            pen = wanted;
            let (text, advance) = spoken(cell.symbol());
            if advance == Advance::UnsureOfTwo {
                // One column to some terminals: the second is blanked before, since after would cut the sign in half
                // where it has two.
                self.bytes.extend_from_slice(b"  ");
                self.place(x, y);
            }
            self.bytes.extend_from_slice(text.as_bytes());
            let end = x + advance.columns();
            covered = (y, end);
            changes.written_up_to(end, y);
            at = match advance {
                // In the last column the terminal waits to wrap, each in its own way.
                Advance::Sure(_) if end < right => Some((end, y)),
                Advance::Sure(_) | Advance::Unsure | Advance::UnsureOfTwo => None,
            };
        }
        pen.change(Pen::default(), &mut self.bytes);
    }

    /// Moves the cursor, by the shorter of the two ways.
    fn reach(&mut self, at: Option<(u16, u16)>, x: u16, y: u16) {
        match at {
            Some(here) if here == (x, y) => {}
            Some((here, row)) if row == y && here + 1 == x => self.bytes.extend_from_slice(b"\x1b[C"),
            Some((here, row)) if row == y && here < x => {
                write!(self.bytes, "\x1b[{}C", x - here).expect("writing to memory does not fail");
            }
            Some(_) | None => self.place(x, y),
        }
    }

    fn place(&mut self, x: u16, y: u16) {
        write!(self.bytes, "\x1b[{};{}H", y + 1, x + 1).expect("writing to memory does not fail");
    }
}

/// The cells to write, in order: those that differ, and those a terminal spoils by itself.
///
/// A letter written over the left half of a wide one leaves the right half without a letter. Terminals blank it, each in
/// a style of its own, and ratatui's diff does not always say it again.
struct Changes<'b> {
    differing: Peekable<BufferDiff<'b, 'b>>,
    spoiled: Option<(u16, u16)>,
    previous: &'b Buffer,
    next: &'b Buffer,
}

impl<'b> Changes<'b> {
    fn between(previous: &'b Buffer, next: &'b Buffer) -> Self {
        Self { differing: previous.diff_iter(next).peekable(), spoiled: None, previous, next }
    }

    /// Notes that the terminal was written to up to this column, and what that spoils.
    fn written_up_to(&mut self, end: u16, y: u16) {
        let was_wide = self.previous[(end - 1, y)].cell_width() > 1;
        self.spoiled = (was_wide && end < self.next.area.right()).then_some((end, y));
    }

    fn next(&mut self) -> Option<(u16, u16, &'b Cell)> {
        let Some((x, y)) = self.spoiled.take() else { return self.differing.next() };
        let differs = self.differing.peek().is_some_and(|(other, row, _)| *row == y && *other <= x);
        if differs { self.differing.next() } else { Some((x, y, &self.next[(x, y)])) }
    }
}

/// How far the terminal's cursor moves with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advance {
    Sure(u16),
    /// Joined and combined letters.
    Unsure,
    /// Two columns, or one: emoji.
    UnsureOfTwo,
}

impl Advance {
    /// The columns that are surely no others'.
    fn columns(self) -> u16 {
        match self {
            Self::Sure(columns) => columns,
            Self::Unsure => 1,
            Self::UnsureOfTwo => 2,
        }
    }
}

/// A cell's sign as it may be written.
fn spoken(symbol: &str) -> (&str, Advance) {
    if let [b' '..=b'~'] = symbol.as_bytes() {
        return (symbol, Advance::Sure(1));
    }
    if symbol.is_empty() {
        return (" ", Advance::Sure(1));
    }
    let width = symbol.width();
    if width == 0 || symbol.chars().any(steers) {
        return (REPLACED, Advance::Unsure);
    }
    let is_single = symbol.chars().nth(1).is_none();
    match width {
        1 if is_single => (symbol, Advance::Sure(1)),
        // The scripts of East Asia, on which terminals agree.
        2 if is_single && symbol < "\u{1f000}" => (symbol, Advance::Sure(2)),
        2 => (symbol, Advance::UnsureOfTwo),
        _ => (symbol, Advance::Unsure),
    }
}

/// A cell's sign as it may be shown anywhere: one that would steer or turn text around is replaced.
pub fn shown(symbol: &str) -> &str {
    spoken(symbol).0
}

/// Whether a character is an order to the terminal, or changes the direction of what stands around it.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
