//! Whether a row gets through.

use jiff::{SignedDuration, Timestamp};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::term::{Field, Filter, Sense, Test, Value};
use crate::engine::State;

/// What of a row can be asked for. A text it does not have is empty.
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
    /// Since when it is as it is.
    pub since: Option<Timestamp>,
}

/// Room to work in, kept from row to row. One for a list is enough.
#[derive(Debug)]
pub struct Scratch {
    matcher: Matcher,
    /// The row as one text: `kind namespace/name cluster verdict`.
    row: String,
    /// The same, or a field, in small letters.
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
    /// The row's score when it gets through: how well the words fit, 0 without words.
    pub fn matches(&self, fields: &Fields<'_>, now: Timestamp, scratch: &mut Scratch) -> Option<u32> {
        // What is cheap to ask goes first; the row is written out only for words.
        let mut asks_words = false;
        for term in &self.terms {
            let holds = match &term.test {
                Test::Fuzzy(_) | Test::Contains(_) => {
                    asks_words = true;
                    continue;
                }
                Test::State(states) => fields.state.is_some_and(|state| states.contains(&state)),
                Test::Field(field, values) => field_holds(*field, values, fields, &mut scratch.small),
                Test::Older(span) => age(fields, now).is_some_and(|age| age > signed(*span)),
                Test::Younger(span) => age(fields, now).is_some_and(|age| age < signed(*span)),
            };
            if holds != (term.sense == Sense::Is) {
                return None;
            }
        }
        if asks_words { self.score_words(fields, scratch) } else { Some(0) }
    }

    fn score_words(&self, fields: &Fields<'_>, scratch: &mut Scratch) -> Option<u32> {
        let Scratch { matcher, row, small, characters } = scratch;
        write_row(fields, row);
        let mut score = 0;
        for term in &self.terms {
            match &term.test {
                Test::Fuzzy(fuzzy) => {
                    let found = fuzzy.atom.score(Utf32Str::new(row, characters), matcher);
                    match (found, term.sense) {
                        (Some(points), Sense::Is) => score += u32::from(points),
                        (None, Sense::IsNot) => {}
                        (None, Sense::Is) | (Some(_), Sense::IsNot) => return None,
                    }
                }
                Test::Contains(text) => {
                    if in_small_letters(row, small).contains(text.as_str()) != (term.sense == Sense::Is) {
                        return None;
                    }
                }
                Test::State(_) | Test::Field(..) | Test::Older(_) | Test::Younger(_) => {}
            }
        }
        Some(score)
    }
}

fn write_row(fields: &Fields<'_>, row: &mut String) {
    row.clear();
    for part in [fields.kind, " ", fields.namespace, "/", fields.name, " ", fields.cluster, " ", fields.verdict] {
        row.push_str(part);
    }
}

fn field_holds(field: Field, values: &[Value], fields: &Fields<'_>, small: &mut String) -> bool {
    let text = match field {
        Field::Domain => fields.domain,
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
        Value::Plain(wanted) => text.strip_prefix(wanted.as_str()).is_some_and(goes_on_after_a_sign),
        Value::Exact(wanted) => text == wanted,
        Value::Glob(glob) => glob.matches(text),
        Value::Inside(wanted) => text.contains(wanted.as_str()),
    })
}

/// Whether nothing follows, or something that a sign sets off: `hosted` is the beginning of `hosted-oidc`, `host` isn't.
fn goes_on_after_a_sign(rest: &str) -> bool {
    rest.chars().next().is_none_or(|letter| !letter.is_alphanumeric())
}

/// The text in small letters of ASCII. Most texts are, and stay where they are.
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
