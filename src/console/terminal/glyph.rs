//! Cells as characters for the terminal, and how far each moves the cursor.
//!
//! Invariants: control and bidirectional characters are replaced.

use ratatui::buffer::Cell;
use unicode_width::UnicodeWidthStr;

/// Replacement character: one column, in some East Asian fonts two.
const REPLACED: &str = "\u{fffd}";

/// A cell's character and its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyph<'c> {
    pub text: &'c str,
    pub advance: Advance,
}

/// How far a character moves the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    One,
    Two,
    /// One column, and in some terminals two: joined and combining characters, the replacement character.
    Unsure,
    /// One or two columns: emoji.
    UnsureOfTwo,
}

impl<'c> Glyph<'c> {
    pub fn of(cell: &'c Cell) -> Self {
        let (text, advance) = spoken(cell.symbol());
        Self { text, advance }
    }

    /// The character, or a blank where it needs more columns than the line has left: it would wrap.
    pub fn within(self, columns: usize) -> Self {
        if usize::from(self.columns()) <= columns { self } else { Self { text: " ", advance: Advance::One } }
    }

    pub fn is_blank(&self) -> bool {
        self.text == " "
    }

    /// Number of columns the character takes on the screen.
    pub fn columns(&self) -> u16 {
        match self.advance {
            Advance::One | Advance::Unsure => 1,
            Advance::Two | Advance::UnsureOfTwo => 2,
        }
    }
}

/// A cell's symbol without control or bidirectional characters.
pub fn shown(symbol: &str) -> &str {
    spoken(symbol).0
}

fn spoken(symbol: &str) -> (&str, Advance) {
    if let [b' '..=b'~'] = symbol.as_bytes() {
        return (symbol, Advance::One);
    }
    if symbol.is_empty() {
        return (" ", Advance::One);
    }
    let width = symbol.width();
    if width == 0 || symbol == REPLACED || symbol.chars().any(steers) {
        return (REPLACED, Advance::Unsure);
    }
    let is_single = symbol.chars().nth(1).is_none();
    match width {
        1 if is_single => (symbol, Advance::One),
        // East Asian scripts, on which terminals agree.
        2 if is_single && symbol < "\u{1f000}" => (symbol, Advance::Two),
        2 => (symbol, Advance::UnsureOfTwo),
        _ => (symbol, Advance::Unsure),
    }
}

/// Whether a character controls the terminal or changes the text direction.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
