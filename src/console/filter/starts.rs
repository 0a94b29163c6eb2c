//! Matching a word against the starts of words that follow each other: `eksgam` fits `eks-games-kubeconfig`.
//!
//! Invariants: words are runs of letters and digits; no word between two matched ones is skipped. A typed separator is one:
//! `eks-games` does not fit `eks-shared-games`. Both texts are in lower case.

use std::ops::Range;

/// The parts of the text that the word consists of; none where it does not fit. A part is at least one letter.
pub(super) fn word_starts(word: &str, text: &str) -> Option<Vec<Range<usize>>> {
    let (word, bytes) = (word.as_bytes(), text.as_bytes());
    let mut parts = Vec::new();
    runs(bytes).find(|start| {
        parts.clear();
        follow(word, bytes, *start, &mut parts)
    })?;
    parts.iter().all(|part| text.get(part.clone()).is_some()).then_some(parts)
}

/// Matches the rest of the word from the start of a word of the text, the longest part first.
fn follow(word: &[u8], text: &[u8], start: usize, parts: &mut Vec<Range<usize>>) -> bool {
    let skipped = word.iter().take_while(|byte| !is_letter(**byte)).count();
    let word = &word[skipped..];
    let pairs = word.iter().zip(&text[start..]);
    let longest = pairs.take_while(|(typed, there)| typed == there && is_letter(**typed)).count();
    // Where words are typed apart, each is one.
    let least = match word.iter().position(|byte| !is_letter(*byte)) {
        Some(end) => end,
        None if skipped > 0 => word.len(),
        None => 1,
    };
    let next = next_run(text, start);
    for length in (least.max(1)..=longest).rev() {
        let rest = &word[length..];
        parts.push(start..start + length);
        if rest.iter().all(|byte| !is_letter(*byte)) || next.is_some_and(|next| follow(rest, text, next, parts)) {
            return true;
        }
        parts.pop();
    }
    false
}

/// Where words start.
fn runs(text: &[u8]) -> impl Iterator<Item = usize> {
    (0..text.len()).filter(|at| is_letter(text[*at]) && at.checked_sub(1).is_none_or(|before| !is_letter(text[before])))
}

fn next_run(text: &[u8], start: usize) -> Option<usize> {
    let end = start + text[start..].iter().position(|byte| !is_letter(*byte))?;
    Some(end + text[end..].iter().position(|byte| is_letter(*byte))?)
}

/// Letters beyond ASCII consist of bytes beyond ASCII.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_fits_the_starts_of_words_that_follow_each_other() {
        let name = "eks-games-kubeconfig";
        let cases = [
            ("one part", "eks", Some(vec!["eks"])),
            ("two parts", "eksgam", Some(vec!["eks", "gam"])),
            ("initials", "egk", Some(vec!["e", "g", "k"])),
            ("from the middle", "gk", Some(vec!["g", "k"])),
            ("with separators", "e-g-k", Some(vec!["e", "g", "k"])),
            ("a part is tried shorter", "ek", Some(vec!["ek"])),
            ("a skipped word", "ekskube", None),
            ("a word typed apart is one", "ek-sg", None),
            ("not a start", "ames", None),
            ("more than there is", "egkx", None),
            ("nothing", "", None),
            ("separators only", "--", None),
        ];
        for (case, word, expected) in cases {
            let found = word_starts(word, name).map(|parts| parts.into_iter().map(|part| &name[part]).collect());
            assert_eq!(found, expected, "case: {case}");
        }
        let ends = |word, name| {
            word_starts(word, name)
                .map(|parts| parts.into_iter().map(|part| (part.start, part.end)).collect::<Vec<_>>())
        };
        assert_eq!(ends("aab", "a-aab"), Some(vec![(2, 5)]));
        assert_eq!(ends("aaab", "aa-ab"), Some(vec![(0, 2), (3, 5)]));
    }
}
