//! Patterns over a whole text: `*` is any run of characters, `?` is exactly one, everything else is itself.
//!
//! Invariants: matching never fails and never takes more than pattern length × text length steps.
//! Elsewhere: paths. `*` crosses `/`, because finding ids are matched as one text.

use std::fmt;

/// A pattern, checked where it enters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Glob(String);

impl TryFrom<String> for Glob {
    type Error = EmptyGlob;

    fn try_from(text: String) -> Result<Self, EmptyGlob> {
        Self::parse(&text)
    }
}

/// A pattern that matches nothing on purpose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a pattern cannot be empty; `*` matches everything")]
pub struct EmptyGlob;

impl Glob {
    /// Takes a pattern in.
    ///
    /// # Errors
    /// The pattern is empty: it would match nothing, which is more often a slip than a wish.
    pub fn parse(text: &str) -> Result<Self, EmptyGlob> {
        if text.is_empty() { Err(EmptyGlob) } else { Ok(Self(text.to_owned())) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can match more than one text.
    pub fn is_glob(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// Whether the pattern covers the text from its first character to its last.
    pub fn matches(&self, text: &str) -> bool {
        let mut pattern = self.0.chars();
        let mut rest = text.chars();
        // Where to go on when a later character does not fit: behind the last star, one character further each time.
        let mut retry = None;
        loop {
            let rest_here = rest.clone();
            match (pattern.next(), rest.next()) {
                (None, None) => return true,
                (Some('*'), _) => {
                    retry = Some((pattern.clone(), rest_here.clone()));
                    rest = rest_here;
                }
                (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {}
                _ => {
                    let Some((after_star, mut from)) = retry.take() else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    pattern = after_star.clone();
                    rest = from.clone();
                    retry = Some((after_star, from));
                }
            }
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_covers_the_whole_text_or_nothing() {
        let cases = [
            ("stage-*", "stage-", true),
            ("stage-*", "stage-eu/1", true),
            ("stage-*", "my-stage-1", false),
            ("*", "", true),
            ("?", "", false),
            ("?", "é", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("*ab", "aab", true),
            ("**", "x", true),
            ("plain", "plain", true),
            ("plain", "plain2", false),
            ("[a]", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Glob::parse(pattern).unwrap().matches(text), expected, "{pattern} on {text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_signs_matches_itself_and_no_other(text in "[a-z/.é-]{1,12}", other in "[a-z/.é-]{1,12}") {
            let glob = Glob::parse(&text).unwrap();
            prop_assert!(glob.matches(&text));
            prop_assert_eq!(glob.matches(&other), text == other);
        }

        #[test]
        fn a_text_is_covered_by_its_beginning_and_a_star(text in ".{1,12}", cut in 0usize..12) {
            let plain = text.replace(['*', '?'], "x");
            let beginning: String = plain.chars().take(cut).collect();
            let glob = Glob::parse(&(beginning + "*")).unwrap();
            prop_assert!(glob.matches(&plain));
        }
    }
}
