//! Matching rows against a filter.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::starts::word_starts;
use super::term::{Field, Filter, FuzzyWord, Sense, Test, Value};
use crate::console::kind::short_kind;
use trueup_core::engine::State;

/// Searchable fields of a row. Absent fields are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    pub state: Option<State>,
    pub domain: &'a str,
    pub cluster: &'a str,
    pub class: &'a str,
    pub verdict: &'a str,
    pub codes: &'a [&'a str],
    pub kind: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
    /// Time of the last change.
    pub since: Option<Timestamp>,
}

/// How badly a row fits the words of a filter: 0 is the best. Sums over the words.
pub type Misfit = u32;

/// The fits of one word, the best first. A fuzzy word fits worse than any other.
const NAME: Misfit = 0;
const NAME_BEGINS: Misfit = 1;
const NAME_WORD_BEGINS: Misfit = 2;
const NAME_CONTAINS: Misfit = 3;
const ELSEWHERE: Misfit = 4;
const NAME_STARTS: Misfit = 5;
const STARTS_ELSEWHERE: Misfit = 6;
const FUZZY: Misfit = 16;

/// Buffers reused from row to row. One per list is enough.
#[derive(Debug)]
pub struct Scratch {
    matcher: Matcher,
    /// The row as one text, in lower case.
    row: String,
    /// The parts of it that words are searched in: namespace, name, cluster and verdict.
    parts: [Range<usize>; 4],
    /// A field in lower case.
    small: String,
    characters: Vec<char>,
}

/// Index of the name in [`Scratch::parts`].
const NAME_PART: usize = 1;

impl Default for Scratch {
    fn default() -> Self {
        let matcher = Matcher::new(Config::DEFAULT);
        let parts = [0..0, 0..0, 0..0, 0..0];
        Self { matcher, row: String::new(), parts, small: String::new(), characters: Vec::new() }
    }
}

impl Filter {
    /// Returns whether the row is shown.
    pub fn shows(&self, fields: &Fields<'_>, now: Timestamp, scratch: &mut Scratch) -> bool {
        self.misfit(fields, now, scratch).is_some()
    }

    /// Returns how badly a row fits when it is shown: called ten thousand times per keystroke. 0 without words.
    pub fn misfit(&self, fields: &Fields<'_>, now: Timestamp, scratch: &mut Scratch) -> Option<Misfit> {
        if !self.tests_hold(fields, now, &mut scratch.small) {
            return None;
        }
        let mut words = self.terms.iter().filter(|term| term.test.is_word()).peekable();
        if words.peek().is_some() {
            scratch.write_row(fields);
        }
        let mut misfit: Misfit = 0;
        for term in words {
            let found = word_misfit(&term.test, scratch);
            match term.sense {
                Sense::Is => misfit = misfit.saturating_add(found?),
                Sense::IsNot if found.is_some() => return None,
                Sense::IsNot => {}
            }
        }
        Some(misfit)
    }

    /// Whether every term except words matches. Checked first: only words need the row's text.
    fn tests_hold(&self, fields: &Fields<'_>, now: Timestamp, small: &mut String) -> bool {
        self.terms.iter().all(|term| {
            let holds = match &term.test {
                Test::Word(_) | Test::Fuzzy(_) | Test::Contains(_) => return true,
                Test::State(states) => fields.state.is_some_and(|state| states.contains(&state)),
                Test::Field(field, values) => field_holds(*field, values, fields, small),
                Test::Older(span) => age(fields, now).is_some_and(|age| age > signed(*span)),
                Test::Younger(span) => age(fields, now).is_some_and(|age| age < signed(*span)),
            };
            holds == (term.sense == Sense::Is)
        })
    }
}

impl Scratch {
    /// Writes the text that words are searched in: `kind namespace/name cluster verdict`.
    fn write_row(&mut self, fields: &Fields<'_>) {
        let Self { row, parts, .. } = self;
        row.clear();
        row.push_str(fields.kind);
        let texts = [(" ", fields.namespace), ("/", fields.name), (" ", fields.cluster), (" ", fields.verdict)];
        for (part, (separator, text)) in parts.iter_mut().zip(texts) {
            row.push_str(separator);
            *part = row.len()..row.len() + text.len();
            row.push_str(text);
        }
        row.make_ascii_lowercase();
    }

    fn fuzzy_score(&mut self, fuzzy: &FuzzyWord) -> Option<u16> {
        // Letters beyond ASCII have accents and cases, which the matcher handles.
        let is_quick = self.row.is_ascii();
        if is_quick && fuzzy.plain.as_ref().is_some_and(|plain| !has_letters(plain, &self.row)) {
            return None;
        }
        fuzzy.atom.score(Utf32Str::new(&self.row, &mut self.characters), &mut self.matcher)
    }
}

/// How badly a word fits the row; none where it does not.
fn word_misfit(test: &Test, scratch: &mut Scratch) -> Option<Misfit> {
    match test {
        Test::Word(word) => text_misfit(&word.small, scratch).or_else(|| starts_misfit(&word.small, scratch)),
        Test::Contains(text) => text_misfit(text, scratch),
        Test::Fuzzy(fuzzy) => scratch.fuzzy_score(fuzzy).map(|score| FUZZY + Misfit::from(u16::MAX - score)),
        Test::State(_) | Test::Field(..) | Test::Older(_) | Test::Younger(_) => Some(0),
    }
}

fn text_misfit(text: &str, scratch: &Scratch) -> Option<Misfit> {
    let name = &scratch.row[scratch.parts[NAME_PART].clone()];
    let begins_word = |at: usize| name[..at].chars().next_back().is_none_or(|letter| !letter.is_alphanumeric());
    match name.find(text) {
        Some(0) if name.len() == text.len() => Some(NAME),
        Some(0) => Some(NAME_BEGINS),
        Some(_) if name.match_indices(text).any(|(at, _)| begins_word(at)) => Some(NAME_WORD_BEGINS),
        Some(_) => Some(NAME_CONTAINS),
        None => scratch.row.contains(text).then_some(ELSEWHERE),
    }
}

fn starts_misfit(text: &str, scratch: &Scratch) -> Option<Misfit> {
    let fits = |part: &Range<usize>| word_starts(text, &scratch.row[part.clone()]).is_some();
    if fits(&scratch.parts[NAME_PART]) {
        return Some(NAME_STARTS);
    }
    scratch.parts.iter().any(fits).then_some(STARTS_ELSEWHERE)
}

/// Whether the row contains these letters in this order.
fn has_letters(plain: &str, row: &str) -> bool {
    let mut letters = row.bytes();
    plain.bytes().all(|wanted| letters.any(|letter| letter == wanted))
}

fn field_holds(field: Field, values: &[Value], fields: &Fields<'_>, small: &mut String) -> bool {
    let text = match field {
        Field::Check => fields.domain,
        Field::Cluster => fields.cluster,
        Field::Class => fields.class,
        Field::Verdict => fields.verdict,
        Field::Kind => {
            return any_holds(values, fields.kind, small) || any_holds(values, &short_kind(fields.kind), small);
        }
        Field::Namespace => fields.namespace,
        Field::Name => fields.name,
        Field::Code => return fields.codes.iter().any(|code| any_holds(values, code, small)),
    };
    any_holds(values, text, small)
}

fn any_holds(values: &[Value], text: &str, small: &mut String) -> bool {
    let text = in_small_letters(text, small);
    values.iter().any(|value| match value {
        Value::Plain(wanted) => text.strip_prefix(wanted.as_str()).is_some_and(continues_after_a_sign),
        Value::Exact(wanted) => text == wanted,
        Value::Glob(glob) => glob.matches(text),
        Value::Inside(wanted) => text.contains(wanted.as_str()),
    })
}

/// Whether the rest is empty or starts with a separator: `hosted` is a prefix of `hosted-oidc`, `host` is not.
fn continues_after_a_sign(rest: &str) -> bool {
    rest.chars().next().is_none_or(|letter| !letter.is_alphanumeric())
}

/// The text in ASCII lower case. Most texts are already and are not copied.
fn in_small_letters<'t>(text: &'t str, small: &'t mut String) -> &'t str {
    if !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return text;
    }
    small.clear();
    small.push_str(text);
    small.make_ascii_lowercase();
    small
}

fn age(fields: &Fields<'_>, now: Timestamp) -> Option<SignedDuration> {
    fields.since.map(|since| now.duration_since(since))
}

fn signed(span: std::time::Duration) -> SignedDuration {
    SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX)
}
