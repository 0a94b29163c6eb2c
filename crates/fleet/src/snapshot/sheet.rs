//! A small YAML file as a tree that knows its lines, for files people write by hand.
//!
//! Not here: recordings, which are large and become JSON text (`yaml`).

use serde_saphyr::granit_parser::{Event, Parser, Span};

use super::yaml::{Fault, is_plain, options};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub line: u64,
    pub value: Sheet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sheet {
    /// Nothing was written, or null.
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
    /// The line of what a path leads to; where it ends early, of the last value on the way.
    pub(super) fn line_of(&self, path: &[Step<'_>]) -> u64 {
        let Some((step, rest)) = path.split_first() else { return self.line };
        match (step, &self.value) {
            (Step::Key(key), Sheet::Map(entries)) => match entries.iter().find(|entry| entry.key == *key) {
                Some(entry) if rest.is_empty() => entry.line,
                Some(entry) => entry.value.line_of(rest),
                None => self.line,
            },
            (Step::Item(index), Sheet::Seq(items)) => items.get(*index).map_or(self.line, |item| item.line_of(rest)),
            (Step::Key(_) | Step::Item(_), Sheet::Empty | Sheet::Text(_) | Sheet::Map(_) | Sheet::Seq(_)) => self.line,
        }
    }
}

/// Reads a file of one document.
///
/// # Errors
/// Not YAML, several documents, aliases, or a key twice.
pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { parser: Parser::new_from_str_with_options(text, options()) };
    let mut root = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
            _ if root.is_some() => return Err(fault(&span, "has a second document: keep one")),
            event => root = Some(reader.node(event, &span)?),
        }
    }
    Ok(root.unwrap_or(Node { line: 1, value: Sheet::Empty }))
}

struct Reader<'t> {
    parser: Parser<'t, serde_saphyr::granit_parser::StrInput<'t>>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Fault> {
        self.parser.next_event().transpose().map_err(|error| Fault {
            line: error.marker().line() as u64,
            says: "is not valid YAML from here on: fix it",
        })
    }

    fn within(&mut self) -> Result<(Event<'t>, Span), Fault> {
        self.next()?.ok_or(Fault { line: 1, says: "ends in the middle of a value: fix it" })
    }

    fn node(&mut self, event: Event<'t>, span: &Span) -> Result<Node, Fault> {
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let empty = is_plain(style, tag.as_ref()) && matches!(text.as_ref(), "" | "~" | "null");
                if empty { Sheet::Empty } else { Sheet::Text(text.into_owned()) }
            }
            Event::SequenceStart(..) => Sheet::Seq(self.sequence()?),
            Event::MappingStart(..) => Sheet::Map(self.mapping()?),
            _ => return Err(fault(span, "has an alias, which is not read here: write the value out")),
        };
        Ok(Node { line: span.start.line() as u64, value })
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
        loop {
            let (event, span) = self.within()?;
            let key = match event {
                Event::MappingEnd => return Ok(entries),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(fault(&span, "has a mapping key that is no plain text: write it as text")),
            };
            if entries.iter().any(|entry| entry.key == key) {
                return Err(fault(&span, "has the same key twice in one mapping: remove one"));
            }
            let (event, value_span) = self.within()?;
            let value = self.node(event, &value_span)?;
            entries.push(Entry { key, line: span.start.line() as u64, value });
        }
    }
}

fn fault(span: &Span, says: &'static str) -> Fault {
    Fault { line: span.start.line() as u64, says }
}
