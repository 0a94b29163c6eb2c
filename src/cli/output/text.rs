//! Laying text out by the width it has on a screen.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub fn width(text: &str) -> usize {
    text.width()
}

/// The text with blanks behind it up to a width.
pub fn padded(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The text with blanks before it up to a width.
pub fn right(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{}{text}", " ".repeat(blanks))
}

/// A name that fits: long ones lose their middle, because their ends tell them apart.
pub fn without_middle(text: &str, columns: usize, dots: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(dots));
    let tail = room.div_ceil(2);
    let end: Vec<char> = take_width(text.chars().rev(), tail);
    let start: String = take_width(text.chars(), room - tail).into_iter().collect();
    let end: String = end.into_iter().rev().collect();
    format!("{start}{dots}{end}")
}

/// A sentence that fits: its end goes.
pub fn without_end(text: &str, columns: usize, dots: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let start: String = take_width(text.chars(), columns.saturating_sub(width(dots))).into_iter().collect();
    format!("{}{dots}", start.trim_end())
}

/// A text over as many lines as it needs, broken between words. Lines after the first are indented.
///
/// Without a width (pipes and files) it stays one line. A word that is longer than a line is broken inside.
pub fn wrapped(text: &str, columns: Option<usize>, indent: usize) -> Vec<String> {
    let room = columns.map(|columns| columns.max(indent + ROOM_MIN));
    let Some(room) = room.filter(|room| visible_width(text) > *room) else {
        return vec![text.to_owned()];
    };
    let start = text.len() - text.trim_start().len();
    let mut line = " ".repeat(start);
    let (mut lines, mut is_empty) = (Vec::new(), true);
    for word in text.split_whitespace() {
        let gap = usize::from(!is_empty);
        if !is_empty && visible_width(&line) + gap + visible_width(word) > room {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        for letter in word.chars() {
            if visible_width(&line) + letter.width().unwrap_or(0) > room {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            }
            line.push(letter);
        }
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The width of a text that may be painted: colour sequences take no room.
fn visible_width(text: &str) -> usize {
    let mut painted = false;
    let plain = text.chars().filter(|letter| {
        painted = painted || *letter == '\u{1b}';
        let counts = !painted;
        painted = painted && *letter != 'm';
        counts
    });
    plain.map(|letter| letter.width().unwrap_or(0)).sum()
}

/// However narrow the screen, a line has room for a short word beside its indent.
const ROOM_MIN: usize = 8;

fn take_width(letters: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    letters
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words_and_indented() {
        let cases: [(&str, &str, Option<usize>, &[&str]); 7] = [
            ("no width", "one two three", None, &["one two three"]),
            ("fits", "one two", Some(10), &["one two"]),
            ("between words", "one two three four", Some(12), &["one two", "  three four"]),
            ("its blanks are kept while it fits", "- a:   b", Some(10), &["- a:   b"]),
            ("colours take no room", "\u{1b}[2mone two\u{1b}[0m", Some(10), &["\u{1b}[2mone two\u{1b}[0m"]),
            ("an indent of its own", "  one two three", Some(12), &["  one two", "  three"]),
            ("a word that is too long", "abcdefghijklmnop", Some(12), &["abcdefghijkl", "  mnop"]),
        ];
        for (case, text, columns, expected) in cases {
            assert_eq!(wrapped(text, columns, 2), expected, "case: {case}");
        }
    }

    #[test]
    fn long_names_lose_their_middle_and_sentences_their_end() {
        let cases = [
            ("fits", "abcdef", 6, "abcdef", "abcdef"),
            ("too long", "abcdefgh", 6, "ab…fgh", "abcde…"),
            ("wide letters", "名前名前名前", 7, "名…前", "名前名…"),
            ("no room at all", "abcdef", 1, "…", "…"),
            ("a blank at the cut", "abcd efgh", 6, "ab…fgh", "abcd…"),
        ];
        for (case, text, columns, middle, end) in cases {
            assert_eq!(without_middle(text, columns, "…"), middle, "case: {case}");
            assert_eq!(without_end(text, columns, "…"), end, "case: {case}");
            assert!(width(&without_middle(text, columns, "…")) <= columns, "case: {case}");
        }
    }
}
