//! Text layout by display width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub fn width(text: &str) -> usize {
    text.width()
}

/// The text, padded with spaces at the end.
pub fn padded(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The text, padded with spaces at the start.
pub fn right(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{}{text}", " ".repeat(blanks))
}

/// A name that fits: the middle is cut, because the ends differ most.
pub fn without_middle(text: &str, columns: usize, dots: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let available = columns.saturating_sub(width(dots));
    let tail = available.div_ceil(2);
    let end: Vec<char> = take_width(text.chars().rev(), tail);
    let start: String = take_width(text.chars(), available - tail).into_iter().collect();
    let end: String = end.into_iter().rev().collect();
    format!("{start}{dots}{end}")
}

/// A sentence that fits: the end is cut.
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
    let available = columns.map(|columns| columns.max(indent + COLUMNS_MIN));
    let Some(available) = available.filter(|available| visible_width(text) > *available) else {
        return vec![text.to_owned()];
    };
    let start = text.len() - text.trim_start().len();
    let mut line = " ".repeat(start);
    let (mut lines, mut is_empty) = (Vec::new(), true);
    for word in text.split_whitespace() {
        let gap = usize::from(!is_empty);
        if !is_empty && visible_width(&line) + gap + visible_width(word) > available {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        for letter in word.chars() {
            if visible_width(&line) + letter.width().unwrap_or(0) > available {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            }
            line.push(letter);
        }
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The display width of a text without its colour sequences.
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

/// Minimum width of the text after the indent.
const COLUMNS_MIN: usize = 8;

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
            ("colours have no width", "\u{1b}[2mone two\u{1b}[0m", Some(10), &["\u{1b}[2mone two\u{1b}[0m"]),
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
            ("one column", "abcdef", 1, "…", "…"),
            ("a blank at the cut", "abcd efgh", 6, "ab…fgh", "abcd…"),
        ];
        for (case, text, columns, middle, end) in cases {
            assert_eq!(without_middle(text, columns, "…"), middle, "case: {case}");
            assert_eq!(without_end(text, columns, "…"), end, "case: {case}");
            assert!(width(&without_middle(text, columns, "…")) <= columns, "case: {case}");
        }
    }
}
