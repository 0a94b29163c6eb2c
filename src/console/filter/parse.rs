//! Parsing filters, with the position of errors.

use std::ops::Range;
use std::time::Duration;

use super::term::{self, Field, Filter, FuzzyWord, Sense, Term, Test, UNITS, Value};
use trueup_checks::nearest;
use trueup_core::engine::State;
use trueup_core::engine::glob::Glob;

/// An invalid part of a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FilterProblem {
    /// Byte range of the error, on character boundaries.
    pub at: Range<usize>,
    /// One sentence.
    pub message: String,
    /// The most likely intended word.
    pub nearest: Option<&'static str>,
}

/// Keys with all their spellings. `state` and `age` are not text fields.
const KEYS: [(&str, Key); 11] = [
    ("state", Key::State),
    ("domain", Key::Field(Field::Check)),
    ("cluster", Key::Field(Field::Cluster)),
    ("class", Key::Field(Field::Class)),
    ("verdict", Key::Field(Field::Verdict)),
    ("code", Key::Field(Field::Code)),
    ("kind", Key::Field(Field::Kind)),
    ("ns", Key::Field(Field::Namespace)),
    ("namespace", Key::Field(Field::Namespace)),
    ("name", Key::Field(Field::Name)),
    ("age", Key::Age),
];

/// The name of `match` on the screen.
const OK: &str = "ok";

#[derive(Clone, Copy)]
enum Key {
    State,
    Field(Field),
    Age,
}

/// A run of text without spaces, quotes removed.
struct Word {
    /// Its range, quotes included.
    at: Range<usize>,
    letters: Vec<Letter>,
}

struct Letter {
    at: usize,
    sign: Sign,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Bare(char),
    Quoted(char),
    /// An opening quote. Kept because an empty pair of quotes is a value too.
    Opens,
}

/// A value between commas.
struct Part {
    at: Range<usize>,
    text: String,
    quoted: bool,
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// The first invalid part.
    pub fn parse(text: &str) -> Result<Self, FilterProblem> {
        let terms = words(text)?.into_iter().map(term).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { terms })
    }
}

/// Every key that can be written before a `:`, `~`, `<` or `>`.
pub(super) fn keys() -> impl Iterator<Item = (&'static str, char)> {
    // The short spelling is offered.
    let offered = KEYS.iter().filter(|(name, _)| *name != "namespace");
    offered.map(|(name, key)| (*name, if matches!(key, Key::Age) { '>' } else { ':' }))
}

/// The operator usually written after a key.
fn sign_of(key: &str) -> char {
    keys().find(|(name, _)| *name == key).map_or(':', |(_, sign)| sign)
}

/// The text field of a key, if it is one.
pub(super) fn field_of(key: &str) -> Option<Field> {
    KEYS.iter().find_map(|(name, kind)| match kind {
        Key::Field(field) if name.eq_ignore_ascii_case(key) => Some(*field),
        Key::Field(_) | Key::State | Key::Age => None,
    })
}

/// Splits a text into words. Spaces inside quotes belong to the word.
fn words(text: &str) -> Result<Vec<Word>, FilterProblem> {
    let mut words = Vec::new();
    let mut letters: Option<Word> = None;
    let mut quote: Option<usize> = None;
    let mut characters = text.char_indices();
    while let Some((at, letter)) = characters.next() {
        let next = at + letter.len_utf8();
        if quote.is_none() && letter.is_whitespace() {
            words.extend(letters.take());
            continue;
        }
        let word = letters.get_or_insert_with(|| Word { at: at..at, letters: Vec::new() });
        word.at.end = next;
        match (letter, quote) {
            ('"', None) => {
                quote = Some(at);
                word.letters.push(Letter { at, sign: Sign::Opens });
            }
            ('"', Some(_)) => quote = None,
            ('\\', Some(_)) => {
                let (at, letter) = characters.next().unwrap_or((at, letter));
                word.at.end = at + letter.len_utf8();
                word.letters.push(Letter { at, sign: Sign::Quoted(letter) });
            }
            (letter, Some(_)) => word.letters.push(Letter { at, sign: Sign::Quoted(letter) }),
            (letter, None) => word.letters.push(Letter { at, sign: Sign::Bare(letter) }),
        }
    }
    if let Some(start) = quote {
        return Err(problem(start..text.len(), "Unclosed quote"));
    }
    words.extend(letters);
    Ok(words)
}

fn term(word: Word) -> Result<Term, FilterProblem> {
    let Word { at, letters } = word;
    let excluded = matches!(letters.first(), Some(Letter { sign: Sign::Bare('!' | '-'), .. }));
    let (sense, letters) = if excluded { (Sense::IsNot, &letters[1..]) } else { (Sense::Is, &letters[..]) };
    if letters.is_empty() {
        return Err(problem(at, "Nothing to exclude, as in !class:dev"));
    }
    let test = match operator(letters) {
        None => free_word(sense, &at, letters)?,
        Some((place, sign)) => {
            let asked = Asked {
                key: joined(&letters[..place]),
                key_at: letters[0].at..letters[place].at,
                operator: sign,
                end: at.end,
                values: parts(&letters[place + 1..], at.end),
            };
            asked.test()?
        }
    };
    Ok(Term { sense, test })
}

/// The first operator and its position.
fn operator(letters: &[Letter]) -> Option<(usize, char)> {
    let is_key = |one: &Letter| matches!(one.sign, Sign::Bare(letter) if letter.is_ascii_alphabetic());
    let place = letters.iter().position(|one| !is_key(one)).filter(|place| *place > 0)?;
    match letters[place].sign {
        Sign::Bare(sign @ (':' | '~' | '<' | '>')) => Some((place, sign)),
        Sign::Bare(_) | Sign::Quoted(_) | Sign::Opens => None,
    }
}

fn free_word(sense: Sense, at: &Range<usize>, letters: &[Letter]) -> Result<Test, FilterProblem> {
    let is_fuzzy = matches!(letters.first(), Some(Letter { sign: Sign::Bare('~'), .. }));
    let letters = if is_fuzzy { &letters[1..] } else { letters };
    let text = joined(letters);
    if text.is_empty() {
        let message = if is_fuzzy { "No letters after ~, as in ~extclient" } else { "Nothing in the quotes" };
        return Err(problem(at.clone(), message));
    }
    if is_fuzzy {
        return Ok(Test::Fuzzy(FuzzyWord::new(&text)));
    }
    let exact = letters.iter().any(|one| !matches!(one.sign, Sign::Bare(_))) || sense == Sense::IsNot;
    Ok(if exact { Test::Contains(text.to_ascii_lowercase()) } else { Test::Word(term::Word::new(&text)) })
}

/// A key with its values, as typed.
struct Asked {
    key: String,
    key_at: Range<usize>,
    operator: char,
    /// End of the word.
    end: usize,
    values: Vec<Part>,
}

impl Asked {
    fn test(&self) -> Result<Test, FilterProblem> {
        let Self { key, key_at, operator, end, values } = self;
        let Some((_, kind)) = KEYS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)) else {
            return Err(self.unknown_key());
        };
        if let Some(empty) = values.iter().find(|part| part.text.is_empty() && !part.quoted) {
            return Err(problem(empty.at.clone(), &format!("No value after {key}{operator}")));
        }
        let whole = key_at.start..*end;
        match (kind, operator) {
            (Key::State, ':') => Ok(Test::State(values.iter().map(state).collect::<Result<_, _>>()?)),
            (Key::Field(field), ':') => Ok(Test::Field(*field, values.iter().map(value).collect())),
            (Key::Field(field), '~') => {
                let inside = |part: &Part| Value::Inside(part.text.to_ascii_lowercase());
                Ok(Test::Field(*field, values.iter().map(inside).collect()))
            }
            (Key::Age, '>') => Ok(Test::Older(span(values)?)),
            (Key::Age, '<') => Ok(Test::Younger(span(values)?)),
            (Key::Age, _) => Err(problem(whole, "Write age>5m or age<2h")),
            (Key::State, _) => Err(problem(whole, "Write state:extra,drift")),
            (Key::Field(_), _) => {
                let message = format!("{operator} compares ages only: write {key}: or {key}~");
                Err(problem(key_at.end..key_at.end + 1, &message))
            }
        }
    }

    fn unknown_key(&self) -> FilterProblem {
        let Self { key, key_at, operator, end: _, values: _ } = self;
        let near = nearest(&key.to_ascii_lowercase(), &KEYS.map(|(name, _)| name));
        let message = match near {
            Some(near) => format!("Unknown key {key}{operator} (did you mean {near}{}?)", sign_of(near)),
            None => format!("Unknown key {key}{operator} (quote the word to search for it)"),
        };
        FilterProblem { at: key_at.clone(), message, nearest: near }
    }
}

/// The values between commas. A comma in quotes belongs to its value.
fn parts(letters: &[Letter], end: usize) -> Vec<Part> {
    let start = letters.first().map_or(end, |one| one.at);
    let mut parts = vec![Part { at: start..start, text: String::new(), quoted: false }];
    for one in letters {
        let next = match one.sign {
            Sign::Bare(letter) | Sign::Quoted(letter) => one.at + letter.len_utf8(),
            Sign::Opens => one.at + 1,
        };
        if one.sign == Sign::Bare(',') {
            parts.push(Part { at: next..next, text: String::new(), quoted: false });
        } else if let Some(part) = parts.last_mut() {
            part.at.end = next;
            match one.sign {
                Sign::Bare(letter) | Sign::Quoted(letter) => part.text.push(letter),
                Sign::Opens => part.quoted = true,
            }
        }
    }
    parts
}

fn value(part: &Part) -> Value {
    let text = part.text.to_ascii_lowercase();
    if part.quoted {
        return Value::Exact(text);
    }
    match Glob::parse(&text) {
        Ok(glob) if text.contains(['*', '?']) => Value::Glob(glob),
        Ok(_) | Err(_) => Value::Plain(text),
    }
}

fn state(part: &Part) -> Result<State, FilterProblem> {
    let word = part.text.to_ascii_lowercase();
    if word == OK {
        return Ok(State::Match);
    }
    if let Some(state) = State::ALL.into_iter().find(|state| state.as_str() == word) {
        return Ok(state);
    }
    let near = nearest(&word, &State::ALL.map(State::as_str));
    let message = match near {
        Some(near) => format!("Unknown state {word} (did you mean {near}?)"),
        None => format!("Unknown state {word} (states: {})", State::ALL.map(State::as_str).join(", ")),
    };
    Err(FilterProblem { at: part.at.clone(), message, nearest: near })
}

/// `5m`, `2h30m`, `1w`.
fn span(values: &[Part]) -> Result<Duration, FilterProblem> {
    let [part] = values else {
        let at = values.first().map_or(0, |part| part.at.start)..values.last().map_or(0, |part| part.at.end);
        return Err(problem(at, "Expected one duration, such as 5m"));
    };
    let bad = || problem(part.at.clone(), "Expected a duration, such as 30s, 5m, 2h30m, 4d or 1w");
    let mut rest = part.text.as_str();
    let mut seconds: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(bad)?;
        let number: u64 = rest[..digits].parse().map_err(|_| bad())?;
        let letter = rest[digits..].chars().next().ok_or_else(bad)?;
        let (_, unit) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&letter)).ok_or_else(bad)?;
        seconds = number.checked_mul(*unit).and_then(|more| seconds.checked_add(more)).ok_or_else(bad)?;
        rest = &rest[digits + letter.len_utf8()..];
    }
    if part.text.is_empty() { Err(bad()) } else { Ok(Duration::from_secs(seconds)) }
}

fn joined(letters: &[Letter]) -> String {
    let letter = |one: &Letter| match one.sign {
        Sign::Bare(letter) | Sign::Quoted(letter) => Some(letter),
        Sign::Opens => None,
    };
    letters.iter().filter_map(letter).collect()
}

fn problem(at: Range<usize>, message: &str) -> FilterProblem {
    FilterProblem { at, message: message.to_owned(), nearest: None }
}
