//! What stands for a secret value in a gathered snapshot: one text per distinct value.
//!
//! Invariants: a placeholder holds nothing of the value but, where it fits, its length; equal values have equal
//! placeholders and different ones different placeholders, in one gathering and in no other.

use std::collections::HashMap;

use trueup_core::decode::Digester;
use trueup_core::world::Digest;

/// Numbers the distinct values of one gathering.
pub struct Placeholders {
    digester: Digester,
    numbers: HashMap<Digest, usize>,
}

impl Placeholders {
    pub fn new(digester: Digester) -> Self {
        Self { digester, numbers: HashMap::new() }
    }

    /// `redacted-7`, filled up to the length of the value. An empty value stays empty: that is what it says.
    pub fn of(&mut self, value: &[u8]) -> String {
        if value.is_empty() {
            return String::new();
        }
        let mut text = self.short(value);
        let missing = value.len().saturating_sub(text.len());
        // A letter outside the alphabet of base64, so that the text is never taken for it.
        text.extend(std::iter::repeat_n('-', missing));
        text
    }

    /// `redacted-7`
    pub fn short(&mut self, value: &[u8]) -> String {
        let next = self.numbers.len() + 1;
        let number = self.numbers.entry(self.digester.digest(value)).or_insert(next);
        format!("redacted-{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_equal_exactly_where_the_value_is() {
        let mut placeholders = Placeholders::new(Digester::new(&[7; 32]));
        let one = placeholders.of(b"a value of some length");
        assert_eq!(one, "redacted-1------------");
        assert_eq!(placeholders.of(b"x"), "redacted-2");
        assert_eq!(placeholders.of(b"y"), "redacted-3");
        assert_eq!(placeholders.of(b"a value of some length"), one);
        assert_eq!(placeholders.of(b""), "");
    }
}
