//! Matching rows against a filter.

use jiff::{SignedDuration, Timestamp};
use nucleo_matcher::pattern::Atom;
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::term::{Field, Filter, Sense, Term, Test, Value};
use trueup_core::engine::State;

/// Searchable fields of a row. Absent fields are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    pub state: Option<State>,
    /// Further states of a row that stands for several findings.
    pub also: &'a [State],
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

/// Buffers reused from row to row. One per list is enough.
#[derive(Debug)]
pub struct Scratch {
    matcher: Matcher,
    /// The row as one text.
    row: String,
    /// The row, or a field, in lower case.
    small: String,
    characters: Vec<char>,
}

impl Default for Scratch {
    fn default() -> Self {
        let matcher = Matcher::new(Config::DEFAULT);
        Self { matcher, row: String::new(), small: String::new(), characters: Vec::new() }
    }
}

impl Filter {
    /// Returns whether the row is shown: called ten thousand times per keystroke.
    ///
    /// The same as `matches(…).is_some()`, without the score, which takes most of the time.
    pub fn shows(&self, fields: &Fields<'_>, now: Timestamp, scratch: &mut Scratch) -> bool {
        self.tests_hold(fields, now, &mut scratch.small) && self.words().all(|term| word_holds(term, fields, scratch))
    }

    /// Returns the row's score when it is shown: how well the words fit, 0 without words.
    pub fn matches(&self, fields: &Fields<'_>, now: Timestamp, scratch: &mut Scratch) -> Option<u32> {
        if !self.tests_hold(fields, now, &mut scratch.small) {
            return None;
        }
        let mut score = 0;
        for term in self.words() {
            match (&term.test, term.sense) {
                (Test::Fuzzy(fuzzy), Sense::Is) => score += u32::from(scratch.score(&fuzzy.atom, fields)?),
                (_, _) if word_holds(term, fields, scratch) => {}
                (_, _) => return None,
            }
        }
        Some(score)
    }

    /// Whether every term except words matches. Checked first: only words need the row's text.
    fn tests_hold(&self, fields: &Fields<'_>, now: Timestamp, small: &mut String) -> bool {
        self.terms.iter().all(|term| {
            let holds = match &term.test {
                Test::Fuzzy(_) | Test::Contains(_) => return true,
                Test::State(states) => fields.state.iter().chain(fields.also).any(|state| states.contains(state)),
                Test::Field(field, values) => field_holds(*field, values, fields, small),
                Test::Older(span) => age(fields, now).is_some_and(|age| age > signed(*span)),
                Test::Younger(span) => age(fields, now).is_some_and(|age| age < signed(*span)),
            };
            holds == (term.sense == Sense::Is)
        })
    }

    fn words(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| matches!(term.test, Test::Fuzzy(_) | Test::Contains(_)))
    }
}

impl Scratch {
    fn score(&mut self, atom: &Atom, fields: &Fields<'_>) -> Option<u16> {
        let Self { matcher, row, small: _, characters } = self;
        write_row(fields, row);
        atom.score(Utf32Str::new(row, characters), matcher)
    }
}

fn word_holds(term: &Term, fields: &Fields<'_>, scratch: &mut Scratch) -> bool {
    let found = match &term.test {
        Test::Fuzzy(fuzzy) => match &fuzzy.plain {
            Some(plain) if row_parts(fields).iter().all(|part| part.is_ascii()) => has_letters(plain, fields),
            // Letters beyond ASCII have accents and cases, which the matcher handles.
            Some(_) | None => scratch.score(&fuzzy.atom, fields).is_some(),
        },
        Test::Contains(text) => {
            write_row(fields, &mut scratch.row);
            in_small_letters(&scratch.row, &mut scratch.small).contains(text.as_str())
        }
        Test::State(_) | Test::Field(..) | Test::Older(_) | Test::Younger(_) => return true,
    };
    found == (term.sense == Sense::Is)
}

/// Whether the row contains these letters in this order.
fn has_letters(plain: &str, fields: &Fields<'_>) -> bool {
    let mut wanted = plain.bytes();
    let Some(mut next) = wanted.next() else { return true };
    for letter in row_parts(fields).iter().flat_map(|part| part.bytes()) {
        if letter.to_ascii_lowercase() == next {
            match wanted.next() {
                Some(letter) => next = letter,
                None => return true,
            }
        }
    }
    false
}

/// The text that words are searched in: `kind namespace/name cluster verdict`.
fn row_parts<'a>(fields: &Fields<'a>) -> [&'a str; 9] {
    [fields.kind, " ", fields.namespace, "/", fields.name, " ", fields.cluster, " ", fields.verdict]
}

fn write_row(fields: &Fields<'_>, row: &mut String) {
    row.clear();
    for part in row_parts(fields) {
        row.push_str(part);
    }
}

fn field_holds(field: Field, values: &[Value], fields: &Fields<'_>, small: &mut String) -> bool {
    let text = match field {
        Field::Check => fields.domain,
        Field::Cluster => fields.cluster,
        Field::Class => fields.class,
        Field::Verdict => fields.verdict,
        Field::Kind => fields.kind,
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
