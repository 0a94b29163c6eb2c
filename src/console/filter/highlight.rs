//! The letters of a cell that a filter matched.
//!
//! Elsewhere: which rows match (`matching`); the underline (`console::table`).

use std::ops::Range;

use super::starts::word_starts;
use super::term::{Filter, Sense, Test};

impl Filter {
    /// The ranges of a shown text that a word of the filter matched, in order and without overlaps.
    pub fn matched(&self, text: &str) -> Vec<Range<usize>> {
        let small = text.to_ascii_lowercase();
        let mut found: Vec<Range<usize>> = Vec::new();
        for term in self.terms.iter().filter(|term| term.sense == Sense::Is) {
            match &term.test {
                Test::Word(word) => {
                    let before = found.len();
                    found.extend(occurrences(&word.small, &small));
                    if found.len() == before {
                        found.extend(word_starts(&word.small, &small).unwrap_or_default());
                    }
                }
                Test::Contains(word) => found.extend(occurrences(word, &small)),
                Test::Fuzzy(fuzzy) => found.extend(fuzzy.plain.iter().flat_map(|word| letters(word, &small))),
                Test::State(_) | Test::Field(..) | Test::Older(_) | Test::Younger(_) => {}
            }
        }
        merged(found)
    }
}

fn occurrences(word: &str, text: &str) -> impl Iterator<Item = Range<usize>> {
    let length = word.len();
    text.match_indices(word).map(move |(at, _)| at..at + length)
}

/// The letters in their order; nothing unless the text has all of them.
fn letters(word: &str, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    for letter in word.chars() {
        let Some(at) = text[from..].find(letter) else { return Vec::new() };
        let end = from + at + letter.len_utf8();
        found.push(from + at..end);
        from = end;
    }
    found
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matched_letters_are_in_order_and_do_not_overlap() {
        type Case<'a> = (&'a str, &'a str, &'a str, &'a [(usize, usize)]);
        let cases: [Case<'_>; 10] = [
            ("every occurrence", "a", "a-b-a", &[(0, 1), (4, 5)]),
            ("in any letters", "EKS", "Eks-games", &[(0, 3)]),
            ("starts of words", "eksga", "eks-games", &[(0, 3), (4, 6)]),
            ("two words that overlap", "eks-g s-ga", "eks-games", &[(0, 6)]),
            ("letters in order", "~esm", "eks-games", &[(0, 1), (2, 3), (6, 7)]),
            ("not all letters", "~ezz", "eks-games", &[]),
            ("a quoted text", "\"s-g\"", "eks-games", &[(2, 5)]),
            ("an excluded word", "!eks", "eks-games", &[]),
            ("terms of other fields", "state:extra name~eks", "eks-games", &[]),
            ("letters beyond ASCII", "gr", "größer", &[(0, 2)]),
        ];
        for (case, filter, text, expected) in cases {
            let matched = Filter::parse(filter).unwrap().matched(text);
            let matched: Vec<(usize, usize)> = matched.into_iter().map(|range| (range.start, range.end)).collect();
            assert_eq!(matched, expected, "case: {case}");
        }
    }
}
