//! Search in a text: on a screen of text, in the detail, and in the help.
//!
//! Invariants: matching ignores ASCII case and looks at lines as they are shown, wrapped.
//! Elsewhere: lists are filtered, not searched.

use tui_input::Input;

/// Text typed to be found, and the match the user is at.
#[derive(Debug)]
pub struct Finder {
    pub place: FinderPlace,
    pub phase: FinderPhase,
    pub input: Input,
    /// The current match, by its place among all.
    pub at: usize,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinderPlace {
    /// The text of the screen, or of its detail.
    Screen,
    Help,
}

/// Whether keys are typed into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinderPhase {
    Typing,
    /// Matches stay marked, and keys step through them.
    Kept,
}

/// A match: the line, and the bytes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundText {
    pub line: usize,
    pub bytes: std::ops::Range<usize>,
}

impl Finder {
    pub fn new(place: FinderPlace) -> Self {
        Self { place, phase: FinderPhase::Typing, input: Input::default(), at: 0 }
    }

    /// Every match in these lines, in order.
    pub fn matches(&self, lines: impl Iterator<Item = String>) -> Vec<FoundText> {
        let needle = self.input.value().to_ascii_lowercase();
        if needle.trim().is_empty() {
            return Vec::new();
        }
        let in_line = |(line, text): (usize, String)| {
            let text = text.to_ascii_lowercase();
            let starts: Vec<usize> = text.match_indices(&needle).map(|(at, _)| at).collect();
            starts.into_iter().map(move |at| (line, at)).collect::<Vec<_>>()
        };
        let length = needle.len();
        let found = lines.enumerate().flat_map(in_line);
        found.map(|(line, at)| FoundText { line, bytes: at..at + length }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_is_found_whatever_its_case() {
        let mut finder = Finder::new(FinderPlace::Screen);
        let lines = || ["a Secret, secret".to_owned(), "größe".to_owned(), "secrets".to_owned()].into_iter();
        let at = |finder: &Finder| -> Vec<(usize, usize)> {
            finder.matches(lines()).into_iter().map(|found| (found.line, found.bytes.start)).collect()
        };
        assert_eq!(at(&finder), [], "nothing typed");
        for (typed, expected) in [("secret", vec![(0, 2), (0, 10), (2, 0)]), ("ße", vec![(1, 4)]), ("x", vec![])] {
            finder.input = Input::new(typed.to_owned());
            assert_eq!(at(&finder), expected, "case: {typed}");
        }
    }
}
