//! A small YAML file as a tree with line numbers, for hand-written files.
//!
//! Elsewhere: recordings, which are large and are converted to JSON text (`yaml`).

#![expect(clippy::wildcard_enum_match_arm, reason = "Event is the YAML parser's enum and may grow")]

use std::collections::HashSet;

use serde_saphyr::granit_parser::{Event, Parser, Span};

use super::yaml::{Fault, is_plain, options};

/// The fleet file has four levels.
const DEPTH_MAX: usize = 16;

/// A value and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub line: u64,
    pub value: YamlValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum YamlValue {
    /// Absent or null.
    Empty,
    Text(String),
    Map(Vec<Entry>),
    Seq(Vec<Node>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub key: String,
    pub line: u64,
    pub value: Node,
}

/// One step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'s> {
    Key(&'s str),
    Item(usize),
}

impl Node {
    /// Returns the line of the value at a path, or of its last existing parent.
    pub(super) fn line_of(&self, path: &[Step<'_>]) -> u64 {
        let Some((step, rest)) = path.split_first() else { return self.line };
        match (step, &self.value) {
            (Step::Key(key), YamlValue::Map(entries)) => match entries.iter().find(|entry| entry.key == *key) {
                Some(entry) if rest.is_empty() => entry.line,
                Some(entry) => entry.value.line_of(rest),
                None => self.line,
            },
            (Step::Item(index), YamlValue::Seq(items)) => {
                items.get(*index).map_or(self.line, |item| item.line_of(rest))
            }
            (
                Step::Key(_) | Step::Item(_),
                YamlValue::Empty | YamlValue::Text(_) | YamlValue::Map(_) | YamlValue::Seq(_),
            ) => self.line,
        }
    }
}

/// Reads a file of one document.
///
/// # Errors
/// Not YAML, several documents, aliases, or a key twice.
pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { parser: Parser::new_from_str_with_options(text, options()), depth: 0 };
    let mut root = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
            _ if root.is_some() => return Err(fault(&span, "has a second document: keep one")),
            event => root = Some(reader.node(event, &span)?),
        }
    }
    Ok(root.unwrap_or(Node { line: 1, value: YamlValue::Empty }))
}

struct Reader<'t> {
    parser: Parser<'t, serde_saphyr::granit_parser::StrInput<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Fault> {
        self.parser.next_event().transpose().map_err(|error| Fault {
            line: error.marker().line() as u64,
            message: "is not valid YAML from here on: fix it",
        })
    }

    fn within(&mut self) -> Result<(Event<'t>, Span), Fault> {
        self.next()?.ok_or(Fault { line: 1, message: "ends in the middle of a value: fix it" })
    }

    fn node(&mut self, event: Event<'t>, span: &Span) -> Result<Node, Fault> {
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let empty = is_plain(style, tag.as_ref()) && matches!(text.as_ref(), "" | "~" | "null");
                if empty { YamlValue::Empty } else { YamlValue::Text(text.into_owned()) }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if self.depth == DEPTH_MAX => {
                return Err(fault(span, "is nested more than 16 levels deep: write it flatter"));
            }
            Event::SequenceStart(..) => YamlValue::Seq(self.deeper(Self::sequence)?),
            Event::MappingStart(..) => YamlValue::Map(self.deeper(Self::mapping)?),
            _ => return Err(fault(span, "has an alias, which is not supported here: write the value out")),
        };
        Ok(Node { line: span.start.line() as u64, value })
    }

    fn deeper<T>(&mut self, read: fn(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn sequence(&mut self) -> Result<Vec<Node>, Fault> {
        let mut items = Vec::new();
        loop {
            match self.within()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, &span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Vec<Entry>, Fault> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        loop {
            let (event, span) = self.within()?;
            let key = match event {
                Event::MappingEnd => return Ok(entries),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(fault(&span, "has a mapping key that is not plain text: write it as text")),
            };
            if !keys.insert(key.clone()) {
                return Err(fault(&span, "has the same key twice in one mapping: remove one"));
            }
            let (event, value_span) = self.within()?;
            let value = self.node(event, &value_span)?;
            entries.push(Entry { key, line: span.start.line() as u64, value });
        }
    }
}

fn fault(span: &Span, message: &'static str) -> Fault {
    Fault { line: span.start.line() as u64, message }
}
