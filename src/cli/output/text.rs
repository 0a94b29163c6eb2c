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
