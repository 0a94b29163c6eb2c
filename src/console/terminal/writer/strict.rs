//! A terminal for tests that is as poor as its dialect allows.
//!
//! Invariants:
//! - a sequence the dialect does not have, a wrapped line and a character outside synchronized output fail the test;
//! - erased cells get the current background only where the dialect says so, and vt100 always fills them.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthChar as _;

use crate::console::terminal::Dialect;

/// Width of characters on which terminals do not agree: the replacement character in East Asian fonts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ambiguous {
    Narrow,
    Wide,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Look {
    fg: Vec<u16>,
    bg: Vec<u16>,
    attributes: BTreeSet<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// Empty in the right half of a wide character.
    text: String,
    look: Look,
}

pub struct StrictTerminal {
    dialect: Dialect,
    ambiguous: Ambiguous,
    lines: Vec<Vec<Place>>,
    x: usize,
    y: usize,
    look: Look,
    /// First and last line that scroll.
    region: (usize, usize),
    in_frame: bool,
}

impl StrictTerminal {
    pub fn new(dialect: Dialect, ambiguous: Ambiguous, width: u16, height: u16) -> Self {
        let blank = Place { text: " ".to_owned(), look: Look::default() };
        let lines = vec![vec![blank; usize::from(width)]; usize::from(height)];
        let region = (0, usize::from(height) - 1);
        Self { dialect, ambiguous, lines, x: 0, y: 0, look: Look::default(), region, in_frame: false }
    }

    pub fn process(&mut self, bytes: &[u8]) {
        let mut rest = std::str::from_utf8(bytes).unwrap();
        while let Some(letter) = rest.chars().next() {
            if let Some(sequence) = rest.strip_prefix("\x1b[") {
                let end = sequence.find(|letter: char| letter.is_ascii_alphabetic()).unwrap();
                self.handle(&sequence[..end], sequence.as_bytes()[end]);
                rest = &sequence[end + 1..];
                continue;
            }
            match letter {
                '\x08' => self.x = self.x.checked_sub(1).expect("the cursor stays on the line"),
                letter => self.print(letter),
            }
            rest = &rest[letter.len_utf8()..];
        }
        assert!(!self.in_frame && self.look == Look::default() && self.region == (0, self.lines.len() - 1));
    }

    /// Every cell as it looks: a blank shows only its background and its lines.
    pub fn cells(&self) -> Vec<String> {
        let look = |place: &Place| {
            let Look { fg, bg, attributes } = &place.look;
            let visible = |code: &u16| place.text != " " || matches!(code, 4..=7 | 9);
            let attributes: Vec<_> = attributes.iter().filter(|code| visible(code)).collect();
            let fg = if place.text == " " && attributes.is_empty() { &Vec::new() } else { fg };
            format!("{:?} {fg:?} on {bg:?} {attributes:?}", place.text)
        };
        self.lines.iter().flatten().map(look).collect()
    }

    fn print(&mut self, letter: char) {
        assert!(self.in_frame, "{letter:?} outside a frame");
        let (x, y) = (self.x, self.y);
        let columns = match (letter, self.ambiguous) {
            ('\u{fffd}', Ambiguous::Wide) if x + 1 < self.lines[y].len() => 2,
            _ => letter.width().expect("no control characters"),
        };
        if columns == 0 {
            let last = self.lines[y][..x].iter_mut().rev().find(|place| !place.text.is_empty()).unwrap();
            last.text.push(letter);
            return;
        }
        assert!(x + columns <= self.lines[y].len(), "{letter:?} wraps in line {y}");
        self.clear(x..x + columns, &self.look.clone());
        self.lines[y][x].text = letter.to_string();
        if columns == 2 {
            self.lines[y][x + 1].text.clear();
        }
        self.x += columns;
    }

    /// Clears cells, and the other half of each wide character that is cut.
    fn clear(&mut self, columns: std::ops::Range<usize>, look: &Look) {
        let line = &mut self.lines[self.y];
        if line[columns.start].text.is_empty() {
            line[columns.start - 1].text = " ".to_owned();
        }
        if line.get(columns.end).is_some_and(|place| place.text.is_empty()) {
            line[columns.end].text = " ".to_owned();
        }
        line[columns].fill(Place { text: " ".to_owned(), look: look.clone() });
    }

    fn erased(&self) -> Look {
        let bg = if self.dialect.erases_in_color() { self.look.bg.clone() } else { Vec::new() };
        Look { bg, ..Look::default() }
    }

    fn handle(&mut self, parameters: &str, end: u8) {
        let numbers: Vec<u16> = parameters.split(';').map(|text| text.parse().unwrap_or(0)).collect();
        let (width, height) = (self.lines[0].len(), self.lines.len());
        let count = usize::from(numbers[0].max(1));
        assert!(!matches!(end, b'X' | b'r' | b'L' | b'M') || self.dialect.edits_lines(), "{:?}", self.dialect);
        assert!(
            !matches!(end, b'B' | b'C' | b'D' | b'K' | b'X') || self.x < width,
            "the cursor is past the last column"
        );
        match (parameters, end) {
            ("?2026", b'h') => self.in_frame = true,
            ("?2026", b'l') => self.in_frame = false,
            ("?25", b'h' | b'l') => {}
            ("2", b'J') => (0..height).for_each(|y| {
                self.y = y;
                self.clear(0..width, &self.erased());
            }),
            (_, b'H') => (self.y, self.x) = (count - 1, usize::from(numbers.get(1).map_or(1, |x| *x)) - 1),
            (_, b'B') => self.y = (self.y + count).min(self.region.1),
            (_, b'C') => self.x = (self.x + count).min(width - 1),
            (_, b'D') => self.x = self.x.saturating_sub(count),
            ("", b'K') => self.clear(self.x..width, &self.erased()),
            (_, b'X') => self.clear(self.x..(self.x + count).min(width), &self.erased()),
            ("", b'r') => (self.region, self.x, self.y) = ((0, height - 1), 0, 0),
            (_, b'r') => (self.region, self.x, self.y) = ((count - 1, usize::from(numbers[1]) - 1), 0, 0),
            (_, b'M' | b'L') => self.scroll(count, end),
            (_, b'm') => self.set_look(&numbers),
            other => panic!("unknown sequence {other:?}"),
        }
        assert!(self.x <= width && self.y < height, "the cursor left the screen: {parameters}{}", end as char);
    }

    fn scroll(&mut self, count: usize, end: u8) {
        assert!((self.region.0..=self.region.1).contains(&self.y), "outside the region");
        assert_eq!(self.look, Look::default(), "terminals differ in the background of new lines");
        let lines = &mut self.lines[self.y..=self.region.1];
        let count = count.min(lines.len());
        let new = match end {
            b'M' => {
                lines.rotate_left(count);
                lines.len() - count..lines.len()
            }
            _ => {
                lines.rotate_right(count);
                0..count
            }
        };
        for line in &mut lines[new] {
            line.fill(Place { text: " ".to_owned(), look: Look::default() });
        }
    }

    fn set_look(&mut self, numbers: &[u16]) {
        let mut rest = numbers;
        while let [code, more @ ..] = rest {
            rest = more;
            let long = match more {
                [5, ..] => 2,
                [2, ..] => 4,
                _ => 0,
            };
            match *code {
                0 => self.look = Look::default(),
                1..=9 => drop(self.look.attributes.insert(*code)),
                22 => self.look.attributes.retain(|code| !matches!(code, 1 | 2)),
                25 => self.look.attributes.retain(|code| !matches!(code, 5 | 6)),
                23..=29 => drop(self.look.attributes.remove(&(code - 20))),
                39 => self.look.fg.clear(),
                49 => self.look.bg.clear(),
                38 => (self.look.fg, rest) = (more[..long].to_vec(), &more[long..]),
                48 => (self.look.bg, rest) = (more[..long].to_vec(), &more[long..]),
                30..=37 | 90..=97 => self.look.fg = vec![*code],
                40..=47 | 100..=107 => self.look.bg = vec![code - 10],
                other => panic!("unknown attribute {other}"),
            }
        }
    }
}
