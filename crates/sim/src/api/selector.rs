//! Label and field selectors.
//!
//! Invariants: an empty selector matches everything; a requirement is parsed once before it is evaluated.
//!
//! Elsewhere: the fields a kind can be selected by (`list`). The grammar and the messages are those of
//! `k8s.io/apimachinery/pkg/labels` and `fields`.

#![expect(clippy::wildcard_enum_match_arm, reason = "a parser rejects every token that it does not expect")]

use serde_json::{Map, Value};

use super::field_error::quoted;
use super::naming;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

/// A parsed `labelSelector`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<(String, Test)>);

impl LabelSelector {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokenize(text), at: 0 };
        parser.selector().map(Self)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.0.iter().all(|(key, test)| {
            let value = labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
            match (test, value) {
                (Test::Exists, value) => value.is_some(),
                (Test::Absent, value) => value.is_none(),
                (Test::In(values), Some(value)) => values.iter().any(|one| one == value),
                (Test::NotIn(values), Some(value)) => !values.iter().any(|one| one == value),
                (Test::NotIn(_), None) => true,
                (Test::Greater(bound), Some(value)) => value.parse::<i64>().is_ok_and(|number| number > *bound),
                (Test::Less(bound), Some(value)) => value.parse::<i64>().is_ok_and(|number| number < *bound),
                (Test::In(_) | Test::Greater(_) | Test::Less(_), None) => false,
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(&'static str),
    End,
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Symbol(symbol) => symbol,
            Self::End => "",
        }
    }
}

/// Longest first, so that `==` is not read as `=`.
const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", "<", ">"];

fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = rest[symbol.len()..].trim_start();
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || "=!(),<>".contains(c)).unwrap_or(rest.len());
        tokens.push(Token::Word(rest[..end].into()));
        rest = rest[end..].trim_start();
    }
    tokens.push(Token::End);
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn selector(&mut self) -> Result<Vec<(String, Test)>, String> {
        let mut requirements = Vec::new();
        if *self.peek() == Token::End {
            return Ok(requirements);
        }
        loop {
            if !matches!(self.peek(), Token::Word(_) | Token::Symbol("!")) {
                return Err(format!("found '{}', expected: !, identifier, or 'end of string'", self.peek().text()));
            }
            let requirement = self.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?;
            requirements.push(requirement);
            match self.take() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => {
                    if !matches!(self.peek(), Token::Word(_) | Token::Symbol("!")) {
                        return Err(format!("found '{}', expected: identifier after ','", self.peek().text()));
                    }
                }
                other => {
                    return Err(format!("found '{}', expected: ',' or 'end of string'", other.text()));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<(String, Test), String> {
        let negated = *self.peek() == Token::Symbol("!");
        if negated {
            self.at += 1;
        }
        let key = match self.take() {
            Token::Word(key) => key,
            other => return Err(format!("found '{}', expected: identifier", other.text())),
        };
        if let Some(wrong) = naming::qualified_name_errors(&key).first() {
            return Err(format!("key: Invalid value: {}: {wrong}", quoted(&key)));
        }
        if negated {
            return Ok((key, Test::Absent));
        }
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok((key, Test::Exists));
        }
        let test = self.test()?;
        let values: &[String] = match &test {
            Test::In(values) | Test::NotIn(values) => values,
            Test::Exists | Test::Absent | Test::Greater(_) | Test::Less(_) => &[],
        };
        for value in values {
            if let Some(wrong) = naming::label_value_errors(value).first() {
                return Err(format!("values[0][{key}]: Invalid value: {}: {wrong}", quoted(value)));
            }
        }
        Ok((key, test))
    }

    fn test(&mut self) -> Result<Test, String> {
        match self.take() {
            Token::Symbol("=" | "==") => Ok(Test::In(vec![self.value()])),
            Token::Symbol("!=") => Ok(Test::NotIn(vec![self.value()])),
            Token::Symbol(">") => self.number().map(Test::Greater),
            Token::Symbol("<") => self.number().map(Test::Less),
            Token::Word(word) if word == "in" => self.values().map(Test::In),
            Token::Word(word) if word == "notin" => self.values().map(Test::NotIn),
            other => Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", other.text())),
        }
    }

    fn value(&mut self) -> String {
        match self.peek() {
            Token::Word(_) => self.take().text().to_owned(),
            Token::Symbol(_) | Token::End => String::new(),
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let text = self.value();
        text.parse().map_err(|_| {
            format!(
                "values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                quoted(&text)
            )
        })
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.take() {
            Token::Symbol("(") => {}
            other => return Err(format!("found '{}' expected: '('", other.text())),
        }
        let mut values = vec![self.value()];
        loop {
            match self.take() {
                Token::Symbol(")") => return Ok(values),
                Token::Symbol(",") if *self.peek() == Token::End => {
                    return Err("found '', expected: ',', or identifier".into());
                }
                Token::Symbol(",") => values.push(self.value()),
                other => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
            }
        }
    }
}

/// A parsed `fieldSelector`: equalities and inequalities.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<FieldTest>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldTest {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut tests = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let split = part
                .split_once("!=")
                .map(|(field, value)| (field, value, false))
                .or_else(|| part.split_once("==").map(|(field, value)| (field, value, true)))
                .or_else(|| part.split_once('=').map(|(field, value)| (field, value, true)));
            let Some((field, value, equal)) = split else {
                return Err(format!("invalid selector: '{text}'; can't understand '{part}'"));
            };
            tests.push(FieldTest { field: field.trim().into(), value: value.into(), equal });
        }
        Ok(Self(tests))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|test| test.field.as_str())
    }

    /// The value a field must have, if the selector fixes it.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|test| test.equal && test.field == field).map(|test| test.value.as_str())
    }

    pub fn require(&mut self, field: &str, value: &str) {
        self.0.push(FieldTest { field: field.into(), value: value.into(), equal: true });
    }

    pub fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|test| (field_text(object, &test.field) == test.value) == test.equal)
    }
}

/// A field by its dotted path; a missing field reads as empty.
fn field_text(object: &Value, path: &str) -> String {
    let found = path.split('.').try_fold(object, |value, part| value.get(part));
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
