//! Encodes frames as bytes.
//!
//! Invariants:
//! - a frame is one run of bytes inside synchronized output (`?2026`), and an equal frame is no bytes;
//! - every frame starts and ends with reset attributes, so that nothing leaks into other output;
//! - after a character of ambiguous width the cursor is placed explicitly;
//! - control and bidirectional characters in cells are replaced.
//!
//! Elsewhere: the write itself (`guard`), the content of cells (`view`).

use std::io::Write as _;
use std::iter::Peekable;

use ratatui::buffer::{Buffer, BufferDiff, Cell, CellWidth as _};
use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr;

use super::color::ColorDepth;
use super::sgr::{Pen, RESET};

/// Position of the terminal's cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cursor {
    #[default]
    Hidden,
    /// In a text field.
    At(Position),
}

/// Encodes frames and tracks the cursor.
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

/// Replacement character: one column in every font.
const REPLACED: &str = "\u{fffd}";

impl Writer {
    pub fn new(depth: ColorDepth) -> Self {
        Self { depth, cursor: Cursor::Hidden, bytes: Vec::new() }
    }

    /// Encodes the difference between two frames. A frame of another size is painted in full.
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

    /// Encodes a whole frame for a terminal of unknown content: after a resize, a suspend, another program.
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
        // The next write position, as far as known.
        let mut at: Option<(u16, u16)> = None;
        // Row of the last character, and the column after it.
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
                // One column in some terminals: the second is blanked before, because blanking it after would cut the character
                // where it has two.
                self.bytes.extend_from_slice(b"  ");
                self.place(x, y);
            }
            self.bytes.extend_from_slice(text.as_bytes());
            let end = x + advance.columns();
            covered = (y, end);
            changes.written_up_to(end, y);
            at = match advance {
                // In the last column terminals differ in pending wraps.
                Advance::Sure(_) if end < right => Some((end, y)),
                Advance::Sure(_) | Advance::Unsure | Advance::UnsureOfTwo => None,
            };
        }
        pen.change(Pen::default(), &mut self.bytes);
    }

    /// Moves the cursor by the shorter of two sequences.
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

/// The cells to write, in order: changed ones, and those the terminal blanks itself.
///
/// A character written over the left half of a wide one leaves the right half empty. Terminals blank it in different
/// styles, and ratatui's diff does not always include it.
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

    /// Records that the terminal was written up to this column, and which cell that blanks.
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

/// How far a character moves the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advance {
    Sure(u16),
    /// Joined and combining characters.
    Unsure,
    /// One or two columns: emoji.
    UnsureOfTwo,
}

impl Advance {
    /// The smallest number of columns.
    fn columns(self) -> u16 {
        match self {
            Self::Sure(columns) => columns,
            Self::Unsure => 1,
            Self::UnsureOfTwo => 2,
        }
    }
}

/// A cell's symbol as it is written.
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
        // East Asian scripts, on which terminals agree.
        2 if is_single && symbol < "\u{1f000}" => (symbol, Advance::Sure(2)),
        2 => (symbol, Advance::UnsureOfTwo),
        _ => (symbol, Advance::Unsure),
    }
}

/// A cell's symbol without control or bidirectional characters.
pub fn shown(symbol: &str) -> &str {
    spoken(symbol).0
}

/// Whether a character controls the terminal or changes the text direction.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
