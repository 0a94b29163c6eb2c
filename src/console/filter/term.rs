//! Terms of a filter and their printed form.

use std::fmt;
use std::time::Duration;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};

use trueup_core::engine::State;
use trueup_core::engine::glob::Glob;

/// A filter: every term must match. Without terms it matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub(super) terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub sense: Sense,
    pub test: Test,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    Is,
    IsNot,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// A text in the row, or the starts of words that follow each other.
    Word(Word),
    /// Letters in order, anywhere in the row.
    Fuzzy(FuzzyWord),
    /// A text in the row, in lower case.
    Contains(String),
    State(Vec<State>),
    Field(Field, Vec<Value>),
    Older(Duration),
    Younger(Duration),
}

/// A word as typed, and in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    word: String,
    pub small: String,
}

/// A word after `~`, and its matcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FuzzyWord {
    word: String,
    pub atom: Atom,
    /// The word in lower case if it is ASCII: enough for a quick check.
    pub plain: Option<String>,
}

/// A text field of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Check,
    Cluster,
    Class,
    Verdict,
    Code,
    Kind,
    Namespace,
    Name,
}

/// Expected value of a field, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// The field, or its prefix up to a separator.
    Plain(String),
    /// The exact field.
    Exact(String),
    Glob(Glob),
    /// Anywhere inside the field.
    Inside(String),
}

impl Filter {
    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether rows can fit it better or worse: it has words that are searched for.
    pub fn has_words(&self) -> bool {
        self.terms.iter().any(|term| term.sense == Sense::Is && term.test.is_word())
    }

    /// Whether it selects rows by state.
    pub fn names_states(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::State(_)))
    }
}

impl Test {
    /// Whether it searches the text of a row.
    pub fn is_word(&self) -> bool {
        match self {
            Self::Word(_) | Self::Fuzzy(_) | Self::Contains(_) => true,
            Self::State(_) | Self::Field(..) | Self::Older(_) | Self::Younger(_) => false,
        }
    }
}

impl Word {
    pub fn new(word: &str) -> Self {
        Self { word: word.to_owned(), small: word.to_ascii_lowercase() }
    }
}

impl FuzzyWord {
    pub fn new(word: &str) -> Self {
        let atom = Atom::new(word, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false);
        Self { word: word.to_owned(), atom, plain: word.is_ascii().then(|| word.to_ascii_lowercase()) }
    }
}

impl Field {
    pub fn key(self) -> &'static str {
        match self {
            Self::Check => "domain",
            Self::Cluster => "cluster",
            Self::Class => "class",
            Self::Verdict => "verdict",
            Self::Code => "code",
            Self::Kind => "kind",
            Self::Namespace => "ns",
            Self::Name => "name",
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{term}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sense == Sense::IsNot {
            f.write_str("!")?;
        }
        match &self.test {
            Test::Word(word) => f.write_str(&word.word),
            Test::Fuzzy(fuzzy) if fuzzy.word.contains(|letter: char| letter.is_whitespace() || letter == '"') => {
                write!(f, "~{}", Quoted(&fuzzy.word))
            }
            Test::Fuzzy(fuzzy) => write!(f, "~{}", fuzzy.word),
            Test::Contains(text) => write!(f, "{}", Quoted(text)),
            Test::State(states) => {
                let words: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
                write!(f, "state:{}", words.join(","))
            }
            Test::Field(field, values) => {
                let operator = if matches!(values.first(), Some(Value::Inside(_))) { '~' } else { ':' };
                write!(f, "{}{operator}", field.key())?;
                for (index, value) in values.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "," };
                    write!(f, "{separator}{value}")?;
                }
                Ok(())
            }
            Test::Older(span) => write!(f, "age>{}", Span(*span)),
            Test::Younger(span) => write!(f, "age<{}", Span(*span)),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Glob(glob) => f.write_str(glob.as_str()),
            Self::Exact(text) | Self::Inside(text) => write!(f, "{}", Quoted(text)),
        }
    }
}

/// A text in quotes, with inner quotes escaped.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = self.0.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "\"{escaped}\"")
    }
}

/// Units of an age, the largest first.
pub(super) const UNITS: [(char, u64); 5] = [('w', 7 * 24 * 3600), ('d', 24 * 3600), ('h', 3600), ('m', 60), ('s', 1)];

/// A duration in as few units as possible: `2h30m`.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0.as_secs();
        if left == 0 {
            return f.write_str("0s");
        }
        for (letter, seconds) in UNITS {
            if left >= seconds {
                write!(f, "{}{letter}", left / seconds)?;
                left %= seconds;
            }
        }
        Ok(())
    }
}
