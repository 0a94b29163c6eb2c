//! Completions of a filter.

use std::ops::Range;

use super::parse::{field_of, keys};
use super::term::Field;
use trueup_core::engine::State;

/// Known values, each in the order in which they are offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known<'a> {
    pub domains: Vec<&'a str>,
    pub clusters: Vec<&'a str>,
    pub classes: Vec<&'a str>,
    pub verdicts: Vec<&'a str>,
    pub codes: Vec<&'a str>,
    pub kinds: Vec<&'a str>,
    pub namespaces: Vec<&'a str>,
}

/// Options and the range they replace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// The bytes of the text that an option replaces.
    pub at: Range<usize>,
    pub options: Vec<String>,
}

/// Longer lists are not read: typing another letter is faster.
const OPTIONS_MAX: usize = 20;

/// Returns keys and values that continue the text before the cursor. Free words are not completed.
pub fn complete(text: &str, cursor: usize, known: &Known<'_>) -> Completions {
    let cursor = (0..=cursor.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let start = word_start(&text[..cursor]);
    let word = &text[start..cursor];
    let start = start + usize::from(word.starts_with(['!', '-']));
    let word = &text[start..cursor];
    match word.split_once([':', '~']) {
        None => {
            let options = keys().filter(|(key, _)| begins(key, word)).map(|(key, sign)| format!("{key}{sign}"));
            Completions { at: start..cursor, options: options.collect() }
        }
        Some((key, values)) => {
            let begun = values.rsplit(',').next().unwrap_or(values);
            let options = options(key, begun.trim_start_matches('"'), known);
            Completions { at: cursor - begun.len()..cursor, options }
        }
    }
}

/// Start of the last word. Spaces in quotes are part of it.
fn word_start(text: &str) -> usize {
    let (mut start, mut quoted) = (0, false);
    for (at, letter) in text.char_indices() {
        quoted ^= letter == '"';
        if letter.is_whitespace() && !quoted {
            start = at + letter.len_utf8();
        }
    }
    start
}

/// The values of a key, prefix matches first.
fn options(key: &str, begun: &str, known: &Known<'_>) -> Vec<String> {
    let words = State::ALL.map(State::as_str);
    let values: &[&str] = match field_of(key) {
        Some(Field::Check) => &known.domains,
        Some(Field::Cluster) => &known.clusters,
        Some(Field::Class) => &known.classes,
        Some(Field::Verdict) => &known.verdicts,
        Some(Field::Code) => &known.codes,
        Some(Field::Kind) => &known.kinds,
        Some(Field::Namespace) => &known.namespaces,
        // There are too many names for completion.
        Some(Field::Name) => &[],
        None if key.eq_ignore_ascii_case("state") => &words,
        None => &[],
    };
    let small = begun.to_ascii_lowercase();
    let inside = |value: &&&str| !begins(value, begun) && value.to_ascii_lowercase().contains(&small);
    let first = values.iter().filter(|value| begins(value, begun));
    first.chain(values.iter().filter(inside)).take(OPTIONS_MAX).map(|value| quoted_if_needed(value)).collect()
}

fn begins(whole: &str, beginning: &str) -> bool {
    whole.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

fn quoted_if_needed(value: &str) -> String {
    let is_bare = !value.is_empty()
        && !value.contains(|letter: char| letter.is_whitespace() || matches!(letter, '"' | ',' | '*' | '?'));
    if is_bare { value.to_owned() } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) }
}
