//! What is wrong with an entry of an account's file, and which word a slip of the pen was meant to be.

use super::sheet::Step;

/// What is wrong with an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Odd {
    /// Where in the entry.
    pub place: Vec<Step<'static>>,
    /// What is wrong and what to do.
    pub says: String,
}

/// How many letters a word may be off to be taken for another, as `instanceTypes` and `instance_type` are.
const SLIP_MAX: usize = 2;

/// The known word that another, which is none of them, was most likely meant to be. Short words forgive less.
pub(super) fn slip<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&word) {
        return None;
    }
    let edits = |known: &str| strsim::damerau_levenshtein(&word.to_lowercase(), known);
    let nearest = known.iter().min_by_key(|known| edits(known))?;
    (edits(nearest) <= (nearest.len() / 3).clamp(1, SLIP_MAX)).then_some(*nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_a_word_and_no_word_itself() {
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
            assert_eq!(slip(word, &known), meant, "{word}");
        }
    }
}
