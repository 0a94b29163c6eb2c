//! Text from outside, made fit to leave the program.
//!
//! Invariants: whatever a cluster or a file says, nothing that a terminal would act upon, and nothing that hides or
//! reorders text, leaves here unescaped. Pager, clipboard, files, logs and titles accept [`Printable`] only.
//!
//! Names with escape sequences in them are data like others: they are shown, not obeyed and not dropped.

mod shell;

use std::fmt::{self, Write as _};
use std::ops::Deref;

pub use shell::{ShellCommand, shell_word};

/// What the reader's terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    Unicode,
    Ascii,
}

/// Text in which nothing steers a terminal, hides or reorders other text.
///
/// # Guarantees
/// Every constructor escapes, and there is no other way to build one. Escaping twice changes nothing, so text that was
/// composed of escaped parts can be passed through a constructor once more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Printable(String);

impl serde::Serialize for Printable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Printable {
    /// Escapes again: a file may say what no constructor does.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <String as serde::Deserialize>::deserialize(deserializer).map(|text| Self::lines(&text))
    }
}

impl Printable {
    /// One line: line breaks and tabs are escaped like other control characters.
    pub fn line(text: &str) -> Self {
        Self(escaped(text, misleads))
    }

    /// Several lines: line feeds are kept, everything else is escaped as in [`Printable::line`].
    pub fn lines(text: &str) -> Self {
        Self(escaped(text, |letter| letter != '\n' && misleads(letter)))
    }

    /// Several lines with colours: line feeds and colour codes (SGR) are kept, everything else is escaped.
    pub fn styled(text: &str) -> Self {
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find(COLOR_START) {
            let length = color_code_length(&rest[at..]);
            shown.push_str(&Self::lines(&rest[..at]));
            match length {
                Some(length) => shown.push_str(&rest[at..at + length]),
                None => shown.push_str(&Self::lines(COLOR_START)),
            }
            rest = &rest[at + length.unwrap_or(COLOR_START.len())..];
        }
        shown.push_str(&Self::lines(rest));
        Self(shown)
    }

    /// JSON with escapes of JSON: the same value for every parser.
    pub fn json(json: &str) -> Self {
        Self(printable_json(json))
    }

    /// The same text and a line feed.
    #[must_use]
    pub fn ended(mut self) -> Self {
        self.0.push('\n');
        self
    }

    /// The first characters of the text.
    #[must_use]
    pub fn cut(&self, chars_max: usize) -> Self {
        Self(self.0.chars().take(chars_max).collect())
    }
}

impl Deref for Printable {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Printable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Printable> for String {
    fn from(text: Printable) -> Self {
        text.0
    }
}

/// What a colour code begins with.
const COLOR_START: &str = "\u{1b}[";
/// The longest colour code: two colours with three numbers each.
const COLOR_CODE_MAX: usize = 48;

/// The length of the colour code that a text begins with: `ESC [ 1;31 m`.
fn color_code_length(text: &str) -> Option<usize> {
    let end = text.find('m').filter(|end| *end < COLOR_CODE_MAX)?;
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b';' || byte == b':';
    text[COLOR_START.len()..end].bytes().all(is_number).then_some(end + 1)
}

/// Values longer than this say nothing more to a person; the whole one is in the JSON.
const CHARS_MAX: usize = 500;

/// One line of text that can be printed, cut to a length that a person reads.
pub fn printable(text: &str, charset: Charset) -> String {
    if text.len() <= CHARS_MAX && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let end = text.char_indices().nth(CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let mut line =
        escaped(&text[..end], |letter| misleads(letter) || (charset == Charset::Ascii && !letter.is_ascii()));
    if end < text.len() {
        line.push_str(match charset {
            Charset::Unicode => "…",
            Charset::Ascii => "...",
        });
    }
    line
}

/// The text with some characters as `\u{…}`.
fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_escaped(letter) {
            write!(safe, "\\u{{{:x}}}", u32::from(letter)).expect("writing to a string does not fail");
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// JSON text in which what a terminal would act upon is written as an escape: the same JSON for every parser.
pub fn printable_json(json: &str) -> String {
    // Looked at in blocks and without leaving one early, which compiles to a few wide instructions a block.
    let is_plain = |block: &[u8]| block.iter().fold(true, |plain, &byte| plain & (is_plain(byte) | (byte == b'\n')));
    if json.as_bytes().chunks(64).all(is_plain) {
        return json.to_owned();
    }
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter == '\n' || !misleads(letter) {
            safe.push(letter);
            continue;
        }
        // Outside of strings JSON has no such characters, so an escape is always allowed here.
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(safe, "\\u{unit:04x}").expect("writing to a string does not fail");
        }
    }
    safe
}

/// Whether a byte is an ASCII character that is shown as it is, as nearly all of them are.
fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

/// Whether a character steers the terminal, breaks the line, hides, or reorders what stands around it.
pub fn misleads(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_kept_and_nothing_else_that_steers_a_terminal() {
        let cases = [
            ("colours", "\u{1b}[1;31mred\u{1b}[0m\n", "\u{1b}[1;31mred\u{1b}[0m\n"),
            ("a true colour", "\u{1b}[38;2;1;2;3mx", "\u{1b}[38;2;1;2;3mx"),
            ("a cursor move", "\u{1b}[2Jm", "\\u{1b}[2Jm"),
            ("a clipboard write", "\u{1b}]52;c;x\u{7}m", "\\u{1b}]52;c;x\\u{7}m"),
            ("a private mode", "\u{1b}[?25lm", "\\u{1b}[?25lm"),
            ("unfinished", "a\u{1b}[", "a\\u{1b}["),
            ("one inside another", "\u{1b}[\u{1b}[31mx", "\\u{1b}[\u{1b}[31mx"),
            ("a C1 control", "\u{9b}31mx", "\\u{9b}31mx"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(&*Printable::styled(text), expected, "case: {case}");
        }
    }

    #[test]
    fn nothing_that_steers_a_terminal_or_hides_text_gets_through() {
        let cases = [
            ("plain", "old-secret", "old-secret"),
            ("letters of the world", "größe 名前", "größe 名前"),
            ("escape sequence", "\x1b[2Jx", "\\u{1b}[2Jx"),
            ("C1 control", "a\u{9b}31m", "a\\u{9b}31m"),
            ("delete", "a\x7f", "a\\u{7f}"),
            ("line breaks", "a\r\nb\u{2028}c", "a\\u{d}\\u{a}b\\u{2028}c"),
            ("tab", "a\tb", "a\\u{9}b"),
            ("reordering", "a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("zero width", "a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("invisible tags", "a\u{e0041}", "a\\u{e0041}"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(printable(text, Charset::Unicode), expected, "case: {case}");
        }
        assert_eq!(printable("größe", Charset::Ascii), "gr\\u{f6}\\u{df}e");
    }

    #[test]
    fn long_values_are_cut() {
        let cut = printable(&"x".repeat(CHARS_MAX + 1), Charset::Unicode);
        assert_eq!(cut.chars().count(), CHARS_MAX + 1);
        assert!(cut.ends_with("x…"));
        assert_eq!(printable(&"x".repeat(CHARS_MAX), Charset::Ascii), "x".repeat(CHARS_MAX));
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "a": "\x1b\u{9b}\u{202e}\u{e0041}\x7f\n", "b": ["ö"] });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = printable_json(&text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        assert!(!safe.chars().any(|letter| letter != '\n' && misleads(letter)), "{safe}");
    }

    #[test]
    fn only_escaped_text_is_printable_and_escaping_twice_changes_nothing() {
        let text = "a\x1b]52;c;x\x07\tb\r\n\u{9b}c\u{202e}\u{70f}d\u{1bca0}";
        let line = Printable::line(text);
        assert_eq!(&*line, "a\\u{1b}]52;c;x\\u{7}\\u{9}b\\u{d}\\u{a}\\u{9b}c\\u{202e}\\u{70f}d\\u{1bca0}");
        let lines = Printable::lines(text);
        assert_eq!(&*lines, "a\\u{1b}]52;c;x\\u{7}\\u{9}b\\u{d}\n\\u{9b}c\\u{202e}\\u{70f}d\\u{1bca0}");
        assert_eq!((Printable::line(&line), Printable::lines(&lines)), (line, lines));
    }
}
