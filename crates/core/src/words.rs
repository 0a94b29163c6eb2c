//! Words of the program that are read from files: names of checks, kinds, verdicts and columns.
//!
//! Invariants: in the program such a word is a constant, so that it costs nothing to copy. A word that is read gets a static
//! lifetime once, however often it is read, and the number and length of such words are limited.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, de};

/// A constant text. Written as this alias where it is read with [`read`]: a plain reference would borrow from the file.
pub type Word = &'static str;

/// The program has some hundred words; a session recording names no others.
const COUNT_MAX: usize = 16_384;
/// The longest is a sentence that introduces a check.
const BYTES_MAX: usize = 512;

static READ: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());

/// The word with this text; none when there are too many, or when it is too long.
pub fn word(text: &str) -> Option<Word> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(text) {
        return Some(known);
    }
    if read.len() >= COUNT_MAX || text.len() > BYTES_MAX {
        return None;
    }
    let new: Word = Box::leak(text.into());
    read.insert(new);
    Some(new)
}

/// Reads a field that is a word.
///
/// # Errors
/// It is no text, or there are too many words.
pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
    let text = String::deserialize(deserializer)?;
    word(&text).ok_or_else(|| de::Error::custom("too many words, or a word that is too long"))
}

/// Reads a field that is a list of words.
///
/// # Errors
/// As [`read`].
pub fn read_all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Word>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let words = texts.iter().map(|text| word(text));
    words.collect::<Option<_>>().ok_or_else(|| de::Error::custom("too many words, or a word that is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_once_and_a_long_text_is_no_word() {
        let (one, other) = (word("verdict-x"), word(&format!("verdict-{}", 'x')));
        assert!(one.zip(other).is_some_and(|(one, other)| std::ptr::eq(one, other)));
        assert_eq!(word(&"x".repeat(BYTES_MAX + 1)), None);
    }
}
