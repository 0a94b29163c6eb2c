//! Text from outside, made fit to be printed.
//!
//! Invariants: whatever a cluster or a file says, nothing that a terminal would act upon, and nothing that hides or
//! reorders text, leaves here unescaped. Everything that is printed and is not our own words comes through here.
//!
//! Names with escape sequences in them are data like others: they are shown, not obeyed and not dropped.

use std::fmt::Write as _;

/// What the reader's terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    Unicode,
    Ascii,
}

/// Values longer than this say nothing more to a person; the whole one is in the JSON.
const CHARS_MAX: usize = 500;

/// One line of text that can be printed.
pub fn printable(text: &str, charset: Charset) -> String {
    if text.len() <= CHARS_MAX && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for (count, letter) in text.chars().enumerate() {
        if count == CHARS_MAX {
            line.push_str(match charset {
                Charset::Unicode => "…",
                Charset::Ascii => "...",
            });
            break;
        }
        let foreign = charset == Charset::Ascii && !letter.is_ascii();
        if foreign || misleads(letter) {
            write!(line, "\\u{{{:x}}}", u32::from(letter)).expect("writing to a string does not fail");
        } else {
            line.push(letter);
        }
    }
    line
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

/// A word as a shell reads it: what comes from clusters may hold anything, and is never run.
pub fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:@,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
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
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("tags nobody sees", "a\u{e0041}", "a\\u{e0041}"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(printable(text, Charset::Unicode), expected, "case: {case}");
        }
        assert_eq!(printable("größe", Charset::Ascii), "gr\\u{f6}\\u{df}e");
    }

    #[test]
    fn a_shell_reads_a_word_as_it_is_and_runs_nothing_of_it() {
        let cases = [
            ("https://idp.example:8443/a", "https://idp.example:8443/a"),
            ("a,b", "a,b"),
            ("", "''"),
            ("$(reboot)", "'$(reboot)'"),
            ("a'; reboot '", "'a'\\''; reboot '\\'''"),
            ("a\nb", "'a\nb'"),
            ("a&b", "'a&b'"),
        ];
        for (text, expected) in cases {
            assert_eq!(shell_word(text), expected, "case: {text}");
        }
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
}
