//! Encodes the difference between two lines of the screen.
//!
//! Invariants:
//! - both halves of a wide character are written when one of them changed, in the previous frame or in the next;
//! - the cell after a character of unsure width is written with it, and no character leaves the last column;
//! - a blank has no text colour: it is written in whatever colour is set, and compared by its background;
//! - erased cells look like blanks that were written.
//!
//! Elsewhere: which lines (`writer`, `scroll`), attributes (`sgr`), characters (`glyph`).

use std::io::Write as _;

use ratatui::buffer::Cell;

use super::color::ColorDepth;
use super::dialect::Dialect;
use super::glyph::{Advance, Glyph};
use super::sgr::Pen;

/// Writes lines, and tracks the terminal's cursor and attributes.
#[derive(Debug)]
pub struct LineEncoder<'w> {
    bytes: &'w mut Vec<u8>,
    depth: ColorDepth,
    dialect: Dialect,
    pen: Pen,
    /// The next write position, as far as known.
    at: Option<(u16, u16)>,
    columns: Vec<Column>,
}

/// State of one column of a line.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    /// Whether it looks different in the next frame.
    differs: bool,
    /// Whether it is the right half of a wide character in the next frame.
    is_half: bool,
    /// Whether it is a right half in either frame.
    is_joined: bool,
    /// Whether its character may cover the next column, in either frame.
    is_unsure: bool,
}

impl<'w> LineEncoder<'w> {
    /// Starts with reset attributes.
    pub fn new(bytes: &'w mut Vec<u8>, depth: ColorDepth, dialect: Dialect) -> Self {
        Self { bytes, depth, dialect, pen: Pen::default(), at: None, columns: Vec::new() }
    }

    /// Writes what changed in line `y`.
    pub fn write(&mut self, y: u16, previous: &[Cell], next: &[Cell]) {
        self.compare(previous, next);
        let Some(last) = self.columns.iter().rposition(|column| column.differs) else { return };
        let mut x = self.columns.iter().position(|column| column.differs).unwrap_or(last);
        while x <= last {
            if !self.columns[x].differs || self.columns[x].is_half {
                x += 1;
            } else if let Some(end) = self.erase(x, y, last, next) {
                x = end;
            } else {
                self.reach_within(x, y, next);
                x += self.put(x, y, next);
            }
        }
    }

    /// Resets the attributes.
    pub fn finish(mut self) {
        self.set_pen(Pen::default());
    }

    fn compare(&mut self, previous: &[Cell], next: &[Cell]) {
        self.columns.clear();
        let (mut half_before, mut half_next, mut any_spreads) = (false, false, false);
        for (before, after) in previous.iter().zip(next) {
            let differs = half_before != half_next || !half_next && !self.looks_same(before, after);
            let is_joined = half_before || half_next;
            let (before, after) = (Glyph::of(before), Glyph::of(after));
            let is_unsure = before.advance == Advance::Unsure || after.advance == Advance::Unsure;
            self.columns.push(Column { differs, is_half: half_next, is_joined, is_unsure });
            any_spreads |= is_joined || is_unsure;
            half_before = !half_before && before.columns() == 2;
            half_next = !half_next && after.columns() == 2;
        }
        if any_spreads {
            self.spread();
        }
    }

    /// Marks both columns of a wide character when either changed, and the column that a changed character may cover.
    fn spread(&mut self) {
        for x in 1..self.columns.len() {
            let (left, column) = (self.columns[x - 1], &mut self.columns[x]);
            column.differs |= left.differs && (column.is_joined || left.is_unsure);
        }
        for x in (1..self.columns.len()).rev() {
            self.columns[x - 1].differs |= self.columns[x].is_joined && self.columns[x].differs;
        }
    }

    fn looks_same(&self, before: &Cell, after: &Cell) -> bool {
        if before.symbol() != after.symbol() {
            return false;
        }
        let same_style = before.fg == after.fg && before.bg == after.bg && before.modifier == after.modifier;
        same_style || after.symbol() == " " && Pen::of(before, self.depth).blank_looks_like(Pen::of(after, self.depth))
    }

    /// Erases the blanks from `x` on, where that is shorter than writing them. Returns the column after them.
    fn erase(&mut self, x: usize, y: u16, last: usize, next: &[Cell]) -> Option<usize> {
        let pen = Pen::of(&next[x], self.depth);
        if !pen.is_plain_on_blank() || !(pen.has_default_background() || self.dialect.erases_in_color()) {
            return None;
        }
        let is_same = |cell: &Cell| Glyph::of(cell).is_blank() && Pen::of(cell, self.depth).blank_looks_like(pen);
        let length = next[x..].iter().take_while(|cell| is_same(cell)).count();
        if length == 0 {
            return None;
        }
        let end = x + length;
        let written = end.min(last + 1) - x;
        let sequence = if end == next.len() {
            "\x1b[K".to_owned()
        } else if self.dialect.edits_lines() {
            format!("\x1b[{written}X")
        } else {
            return None;
        };
        // The cursor does not move: further cells of the line need a move.
        let moved = if end > last { 0 } else { sequence.len() };
        if written <= sequence.len() + moved {
            return None;
        }
        self.reach_within(x, y, next);
        if !self.pen.blank_looks_like(pen) {
            self.set_pen(pen);
        }
        self.bytes.extend_from_slice(sequence.as_bytes());
        Some(end)
    }

    /// Writes the character at a column. Returns its width.
    fn put(&mut self, x: usize, y: u16, next: &[Cell]) -> usize {
        let (cell, glyph) = (&next[x], Glyph::of(&next[x]).within(next.len() - x));
        let wanted = Pen::of(cell, self.depth);
        if !(glyph.is_blank() && self.pen.blank_looks_like(wanted)) {
            self.set_pen(wanted);
        }
        let column = x as u16;
        if glyph.advance == Advance::UnsureOfTwo {
            // One column in some terminals: the second is blanked before, because blanking it after would cut the character
            // where it has two.
            self.bytes.extend_from_slice(b"  ");
            place(column, y, self.bytes);
        }
        self.bytes.extend_from_slice(glyph.text.as_bytes());
        let end = x + usize::from(glyph.columns());
        self.at = match glyph.advance {
            // In the last column terminals differ in pending wraps.
            Advance::One | Advance::Two if end < next.len() => Some((end as u16, y)),
            Advance::One | Advance::Two | Advance::Unsure | Advance::UnsureOfTwo => None,
        };
        usize::from(glyph.columns())
    }

    /// Moves the cursor to a column, over a short gap by writing its cells again.
    fn reach_within(&mut self, x: usize, y: u16, next: &[Cell]) {
        if let Some((here, row)) = self.at
            && row == y
            && usize::from(here) < x
        {
            let gap = usize::from(here)..x;
            let by_move = move_within(x - usize::from(here)).len();
            let is_simple = |place: usize| {
                let (cell, glyph) = (&next[place], Glyph::of(&next[place]));
                let wanted = Pen::of(cell, self.depth);
                let fits = wanted == self.pen || glyph.is_blank() && self.pen.blank_looks_like(wanted);
                fits && glyph.advance == Advance::One && !self.columns[place].is_joined
            };
            let bytes: usize = gap.clone().map(|place| Glyph::of(&next[place]).text.len()).sum();
            if bytes <= by_move && gap.clone().all(is_simple) {
                gap.for_each(|place| self.bytes.extend_from_slice(Glyph::of(&next[place]).text.as_bytes()));
                self.at = Some((x as u16, y));
                return;
            }
        }
        reach(self.at, (x as u16, y), self.bytes);
        self.at = Some((x as u16, y));
    }

    fn set_pen(&mut self, wanted: Pen) {
        self.pen.change(wanted, self.bytes);
        self.pen = wanted;
    }
}

/// Moves the cursor by the shortest sequence.
fn reach(at: Option<(u16, u16)>, (x, y): (u16, u16), out: &mut Vec<u8>) {
    if at == Some((x, y)) {
        return;
    }
    let start = out.len();
    place(x, y, out);
    let Some((column, row)) = at else { return };
    let down = match y.checked_sub(row) {
        Some(0) => String::new(),
        Some(1) => "\x1b[B".to_owned(),
        Some(lines) => format!("\x1b[{lines}B"),
        None => return,
    };
    let aside = match (column.checked_sub(x), x.checked_sub(column)) {
        (Some(0), _) => String::new(),
        // A backspace is one byte, `ESC[nD` at least four.
        (Some(left @ 1..=4), _) => "\x08".repeat(usize::from(left)),
        (Some(left), _) => format!("\x1b[{left}D"),
        (None, Some(right)) => move_within(usize::from(right)),
        (None, None) => return,
    };
    if down.len() + aside.len() < out.len() - start {
        out.truncate(start);
        out.extend_from_slice(down.as_bytes());
        out.extend_from_slice(aside.as_bytes());
    }
}

fn move_within(right: usize) -> String {
    match right {
        1 => "\x1b[C".to_owned(),
        right => format!("\x1b[{right}C"),
    }
}

/// Places the cursor explicitly.
pub fn place(x: u16, y: u16, out: &mut Vec<u8>) {
    write!(out, "\x1b[{};{}H", y + 1, x + 1).expect("writing to memory does not fail");
}
