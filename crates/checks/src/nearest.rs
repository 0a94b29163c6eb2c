//! The known word that was most likely meant.

use strsim::levenshtein;

/// Beginnings shorter than this are the beginning of too much.
const BEGINNING_MIN: usize = 3;

/// The nearest of the known words, when it is near enough to be meant: the word is its beginning, or they differ by at
/// most a third of its letters (two in short words, and never all of them).
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let is_beginning = |name: &str| word.len() >= BEGINNING_MIN && name.starts_with(word);
    let is_slip = |name: &str, edits: usize| edits <= (name.chars().count() / 3).max(2) && edits < name.chars().count();
    known
        .iter()
        .map(|name| (!is_beginning(name), levenshtein(word, name), *name))
        .filter(|(_, edits, name)| is_beginning(name) || is_slip(name, *edits))
        .min()
        .map(|(_, _, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        let known = ["class", "match", "namespaces", "cap"];
        let cases = [
            ("a letter missing", "clas", Some("class")),
            ("a letter too many", "matchh", Some("match")),
            ("two changed", "mutsh", Some("match")),
            ("its beginning", "name", Some("namespaces")),
            ("singular", "namespace", Some("namespaces")),
            ("another word", "password", None),
            ("a short word is not every short word", "xyz", None),
            ("nothing", "", None),
        ];
        for (case, word, expected) in cases {
            assert_eq!(nearest(word, &known), expected, "case: {case}");
        }
        assert_eq!(nearest("anything", &[]), None);
    }
}
