//! Lines that moved between two frames, as one sequence.
//!
//! Invariants: after [`Scroll::apply`] the previous buffer is what the terminal shows after [`Scroll::write`]; the
//! difference to the next frame is then encoded as usual, so that a poor choice costs bytes and never a wrong cell.

use std::io::Write as _;

use ratatui::buffer::{Buffer, Cell};

/// Lines that moved up or down within a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scroll {
    /// First line of the region.
    top: u16,
    /// Last line of the region.
    bottom: u16,
    lines: u16,
    direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Distances that are looked for: a key moves a list by one line, the wheel by three.
const LINES_MAX: u16 = 3;
/// Lines that have to be saved: the sequence takes some 20 bytes, a changed line at least 9.
const SAVED_MIN: usize = 3;

impl Scroll {
    /// Finds the scroll that saves most lines. `changed` are the lines that differ, in order.
    pub fn find(previous: &Buffer, next: &Buffer, changed: &[u16]) -> Option<Self> {
        if changed.len() < SAVED_MIN {
            return None;
        }
        let distances = (1..=LINES_MAX).flat_map(|lines| [(lines, Direction::Up), (lines, Direction::Down)]);
        let scored = distances.filter_map(|(lines, direction)| scored(previous, next, changed, lines, direction));
        scored.max_by_key(|(saved, _)| *saved).filter(|(saved, _)| *saved >= SAVED_MIN).map(|(_, scroll)| scroll)
    }

    /// Writes the sequence: sets the region, deletes or inserts lines at its top, resets the region. Attributes must be
    /// reset: terminals differ in the background of new lines. The cursor is at the start of the screen afterwards.
    pub fn write(self, out: &mut Vec<u8>) {
        let Self { top, bottom, lines, direction } = self;
        let letter = match direction {
            Direction::Up => 'M',
            Direction::Down => 'L',
        };
        write!(out, "\x1b[{};{}r\x1b[{}H\x1b[{lines}{letter}\x1b[r", top + 1, bottom + 1, top + 1)
            .expect("writing to memory does not fail");
    }

    /// Moves the lines of a buffer as the terminal does.
    pub fn apply(self, buffer: &mut Buffer) {
        let width = usize::from(buffer.area.width);
        let region = usize::from(self.top) * width..(usize::from(self.bottom) + 1) * width;
        let cells = &mut buffer.content[region];
        let moved = usize::from(self.lines) * width;
        let blank = match self.direction {
            Direction::Up => {
                cells.rotate_left(moved);
                cells.len() - moved..cells.len()
            }
            Direction::Down => {
                cells.rotate_right(moved);
                0..moved
            }
        };
        cells[blank].fill(Cell::EMPTY);
    }
}

/// A scroll by a distance, and how many lines it saves.
fn scored(
    previous: &Buffer,
    next: &Buffer,
    changed: &[u16],
    lines: u16,
    direction: Direction,
) -> Option<(usize, Scroll)> {
    let height = next.area.height;
    let source = |y: u16| match direction {
        Direction::Up => Some(y + lines).filter(|y| *y < height),
        Direction::Down => y.checked_sub(lines),
    };
    let fits = |y: u16| source(y).is_some_and(|from| line(previous, from) == line(next, y));
    let mut moved = changed.iter().copied().filter(|y| fits(*y));
    let first = moved.next()?;
    let (last, count) = moved.fold((first, 1), |(_, count), y| (y, count + 1));
    // Lines that were right and are not after the scroll.
    let spoiled = (first..=last).filter(|y| changed.binary_search(y).is_err() && !fits(*y)).count();
    let saved = usize::checked_sub(count, spoiled + usize::from(lines))?;
    let (top, bottom) = match direction {
        Direction::Up => (first, last + lines),
        Direction::Down => (first - lines, last),
    };
    Some((saved, Scroll { top, bottom, lines, direction }))
}

fn line(buffer: &Buffer, y: u16) -> &[Cell] {
    let width = usize::from(buffer.area.width);
    let start = usize::from(y) * width;
    &buffer.content[start..start + width]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: [&str; 6], after: [&str; 6]) -> Option<(String, Buffer)> {
        let (mut previous, next) = (Buffer::with_lines(before), Buffer::with_lines(after));
        let changed: Vec<u16> = (0..6).filter(|y| line(&previous, *y) != line(&next, *y)).collect();
        let scroll = Scroll::find(&previous, &next, &changed)?;
        let mut bytes = Vec::new();
        scroll.write(&mut bytes);
        scroll.apply(&mut previous);
        Some((String::from_utf8(bytes).unwrap().replace('\x1b', "ESC"), previous))
    }

    #[test]
    fn lines_that_moved_are_found() {
        let cases = [
            (
                "up, below a title",
                ["title", "1", "2", "3", "4", "5"],
                ["title", "2", "3", "4", "5", "6"],
                "ESC[2;6rESC[2HESC[1MESC[r",
                ["title", "2", "3", "4", "5", ""],
            ),
            (
                "down, above a footer",
                ["1", "2", "3", "4", "5", "end"],
                ["0", "1", "2", "3", "4", "end"],
                "ESC[1;5rESC[1HESC[1LESC[r",
                ["", "1", "2", "3", "4", "end"],
            ),
            (
                "one line changed as well",
                ["1", "2", "3", "4", "5", "6"],
                ["2", "3", "x", "5", "6", "7"],
                "ESC[1;6rESC[1HESC[1MESC[r",
                ["2", "3", "4", "5", "6", ""],
            ),
        ];
        for (case, before, after, bytes, shown) in cases {
            let mut expected = Buffer::with_lines(before);
            for (y, text) in (0..).zip(shown) {
                let line = format!("{text:<width$}", width = usize::from(expected.area.width));
                expected.set_string(0, y, line, ratatui::style::Style::new());
            }
            assert_eq!(found(before, after), Some((bytes.to_owned(), expected)), "case: {case}");
        }
    }

    #[test]
    fn a_scroll_that_saves_too_little_is_not_used() {
        let cases = [
            ("nothing moved", ["1", "2", "3", "4", "5", "6"], ["a", "b", "c", "d", "e", "f"]),
            ("three lines moved, one is new", ["1", "2", "3", "4", "x", "y"], ["2", "3", "4", "5", "x", "y"]),
            ("too far", ["1", "2", "3", "4", "5", "6"], ["5", "6", "7", "8", "9", "0"]),
        ];
        for (case, before, after) in cases {
            assert_eq!(found(before, after), None, "case: {case}");
        }
    }
}
