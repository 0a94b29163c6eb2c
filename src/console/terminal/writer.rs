//! Encodes frames as bytes.
//!
//! Invariants:
//! - a frame is one run of bytes inside synchronized output (`?2026`), and an equal frame is no bytes;
//! - every frame starts and ends with reset attributes, so that nothing leaks into other output;
//! - after a character of ambiguous width the cursor is placed explicitly;
//! - control and bidirectional characters in cells are replaced.
//!
//! Elsewhere: the write itself (`guard`), the content of cells (`view`), the bytes of a line (`line`).

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position;

use super::color::ColorDepth;
use super::dialect::Dialect;
use super::line::{LineEncoder, place};
use super::scroll::Scroll;
use super::sgr::RESET;

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
    dialect: Dialect,
    cursor: Cursor,
    bytes: Vec<u8>,
    /// Lines that differ, in order.
    changed: Vec<u16>,
}

const SYNC_BEGIN: &[u8] = b"\x1b[?2026h";
const SYNC_END: &[u8] = b"\x1b[?2026l";
const CURSOR_SHOW: &[u8] = b"\x1b[?25h";
const CURSOR_HIDE: &[u8] = b"\x1b[?25l";
const CLEAR: &[u8] = b"\x1b[2J";

impl Writer {
    pub fn new(depth: ColorDepth, dialect: Dialect) -> Self {
        Self { depth, dialect, cursor: Cursor::Hidden, bytes: Vec::new(), changed: Vec::new() }
    }

    /// Encodes the difference between two frames. A frame of another size is painted in full. The previous frame is left
    /// with its lines moved where the terminal moved them.
    pub fn frame(&mut self, previous: &mut Buffer, next: &Buffer, cursor: Cursor) -> &[u8] {
        if previous.area != next.area {
            return self.repaint(next, cursor);
        }
        self.bytes.clear();
        self.find_changed(previous, next);
        if self.changed.is_empty() && self.cursor == cursor {
            return &self.bytes;
        }
        self.bytes.extend_from_slice(SYNC_BEGIN);
        if !self.changed.is_empty() && self.cursor != Cursor::Hidden {
            // Terminals without synchronized output would show it jump.
            self.bytes.extend_from_slice(CURSOR_HIDE);
            self.cursor = Cursor::Hidden;
        }
        if self.dialect.edits_lines()
            && let Some(scroll) = Scroll::find(previous, next, &self.changed)
        {
            scroll.write(&mut self.bytes);
            scroll.apply(previous);
            self.find_changed(previous, next);
        }
        self.write_changes(previous, next);
        if self.bytes.len() == SYNC_BEGIN.len() && self.cursor == cursor {
            // Only text colours of blanks changed, which are not visible.
            self.bytes.clear();
            return &self.bytes;
        }
        self.finish(cursor)
    }

    /// Encodes a whole frame for a terminal of unknown content: after a resize, a suspend, another program.
    pub fn repaint(&mut self, next: &Buffer, cursor: Cursor) -> &[u8] {
        self.bytes.clear();
        for start in [SYNC_BEGIN, RESET, CURSOR_HIDE, CLEAR] {
            self.bytes.extend_from_slice(start);
        }
        self.cursor = Cursor::Hidden;
        let blank = Buffer::empty(next.area);
        self.find_changed(&blank, next);
        self.write_changes(&blank, next);
        self.finish(cursor)
    }

    fn finish(&mut self, cursor: Cursor) -> &[u8] {
        match cursor {
            Cursor::Hidden if self.cursor == Cursor::Hidden => {}
            Cursor::Hidden => self.bytes.extend_from_slice(CURSOR_HIDE),
            Cursor::At(Position { x, y }) => {
                place(x, y, &mut self.bytes);
                self.bytes.extend_from_slice(CURSOR_SHOW);
            }
        }
        self.cursor = cursor;
        self.bytes.extend_from_slice(SYNC_END);
        &self.bytes
    }

    fn find_changed(&mut self, previous: &Buffer, next: &Buffer) {
        self.changed.clear();
        self.changed.extend(
            (0..).zip(lines(previous).zip(lines(next))).filter(|(_, (one, other))| one != other).map(|(y, _)| y),
        );
    }

    fn write_changes(&mut self, previous: &Buffer, next: &Buffer) {
        let width = usize::from(next.area.width);
        let mut encoder = LineEncoder::new(&mut self.bytes, self.depth, self.dialect);
        for y in &self.changed {
            let cells = usize::from(*y) * width..(usize::from(*y) + 1) * width;
            encoder.write(*y, &previous.content[cells.clone()], &next.content[cells]);
        }
        encoder.finish();
    }
}

/// The cells of each line.
fn lines(buffer: &Buffer) -> impl Iterator<Item = &[Cell]> {
    buffer.content.chunks_exact(usize::from(buffer.area.width).max(1))
}

#[cfg(test)]
mod strict;
#[cfg(test)]
pub use strict::{Ambiguous, StrictTerminal};
#[cfg(test)]
mod tests;
