//! Faults of an entry in an account's file, and suggestions for misspelt words.

use super::yaml_tree::Step;

/// A fault of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntryFault {
    /// Path inside the entry.
    pub place: Vec<Step<'static>>,
    /// The problem and its fix.
    pub message: String,
}

/// Edit distance up to which a word counts as a misspelling, as for `instanceTypes` and `instance_type`.
const EDITS_MAX: usize = 2;

/// Returns the known word that an unknown one most likely means. Short words allow less.
pub(super) fn misspelling_of<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&word) {
        return None;
    }
    let edits = |known: &str| strsim::damerau_levenshtein(&word.to_lowercase(), known);
    let nearest = known.iter().min_by_key(|known| edits(known))?;
    (edits(nearest) <= (nearest.len() / 3).clamp(1, EDITS_MAX)).then_some(*nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_is_near_a_known_word_and_not_one_itself() {
        let known = ["kind", "id", "network", "network_id", "resources"];
        let cases = [
            ("resource", Some("resources")),
            ("Resources", Some("resources")),
            ("resuorces", Some("resources")),
            ("network", None),
            ("networkid", Some("network_id")),
            ("zone", None),
            ("ids", Some("id")),
            ("a", None),
        ];
        for (word, meant) in cases {
            assert_eq!(misspelling_of(word, &known), meant, "{word}");
        }
    }
}
