//! Styled lines, wrapped to a width.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::console::theme::Role;

/// A line: pieces with roles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line(pub Vec<(String, Role)>);

impl Line {
    pub fn blank() -> Self {
        Self::default()
    }

    pub fn of(text: impl Into<String>, role: Role) -> Self {
        Self(vec![(text.into(), role)])
    }

    pub fn and(mut self, text: impl Into<String>, role: Role) -> Self {
        self.0.push((text.into(), role));
        self
    }

    /// The same line with another after it.
    pub fn joined(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn plain(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }
}

/// Wraps a text, between words where possible. Continuation lines are indented.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(indent + 8);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        // Measured incrementally: measuring the whole line for each character would be quadratic.
        let (mut line, mut used) = (String::new(), 0);
        for word in words(paragraph) {
            let needed = word.width();
            if used + needed > width && !line.trim().is_empty() {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)).trim_end().to_owned());
                used = indent;
                if word.trim().is_empty() {
                    continue;
                }
            }
            if used + needed <= width {
                line.push_str(word);
                used += needed;
                continue;
            }
            for grapheme in word.graphemes(true) {
                let needed = grapheme.width();
                if used + needed > width {
                    lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
                    used = indent;
                }
                line.push_str(grapheme);
                used += needed;
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Words and the spaces between them: paths and addresses stay whole where they fit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let blank = rest.chars().next()?.is_whitespace();
        let end = rest.find(|letter: char| letter.is_whitespace() != blank).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// A text as lines of one role.
pub fn wrapped(text: &str, width: usize, indent: usize, role: Role) -> Vec<Line> {
    wrap(text, width, indent).into_iter().map(|line| Line::of(line, role)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_between_words_with_an_indent() {
        let cases = [
            ("fits", "one two", 10, 0, vec!["one two"]),
            ("breaks", "one two three four", 9, 2, vec!["one two", "  three", "  four"]),
            ("a word that is too long", "abcdefghijklmnop", 10, 0, vec!["abcdefghij", "klmnop"]),
            ("a path", "see ~/.kube/config there", 16, 0, vec!["see", "~/.kube/config", "there"]),
            ("paragraphs", "a\nb", 10, 2, vec!["a", "b"]),
            ("wide letters", "日本語日本語", 8, 0, vec!["日本語日", "本語"]),
            ("nothing", "", 10, 0, vec![""]),
        ];
        for (case, text, width, indent, expected) in cases {
            assert_eq!(wrap(text, width, indent), expected, "case: {case}");
        }
    }
}
