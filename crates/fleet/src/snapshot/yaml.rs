//! Converts YAML documents to JSON text, event by event.
//!
//! Invariants:
//! - no tree is built: a value is copied from the file's text into the document's buffer, and both are wiped;
//! - `managedFields` is omitted: it is a third of most recordings, and nothing reads it;
//! - a [`Fault`] has a line and our own message.
//!
//! Elsewhere: the type of a plain scalar (`scalar`), the type of the document (`document`).

#![expect(clippy::wildcard_enum_match_arm, reason = "Event is the YAML parser's enum and may grow")]

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use serde_saphyr::granit_parser::{Event, Options, Parser, ScalarStyle, Tag};
use zeroize::Zeroizing;

use super::limits::Aliases;
use super::scalar::{write_plain, write_text};

/// Limit of text added by the aliases of a file. Recordings have none; a file of nested aliases would exhaust the memory.
const ALIAS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Deepest nesting. The API server itself allows less than this in most objects, and JSON readers about the same.
const DEPTH_MAX: usize = 100;

/// From this many keys on, a mapping keeps them in a set: below, a linear search is faster.
const KEYS_IN_A_ROW_MAX: usize = 32;

/// Why a file could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: u64,
    pub message: &'static str,
}

/// One document of a file, as JSON text.
pub(super) struct Document<'t> {
    /// First line of its content.
    pub line: u64,
    pub json: &'t str,
}

/// Passes each document of a YAML file to `each`, in order; empty ones are skipped. `aliases` counts over several files.
///
/// # Errors
/// The first problem. Documents before it have been passed on.
pub(super) fn documents(text: &str, aliases: &Aliases, mut each: impl FnMut(Document<'_>)) -> Result<(), Fault> {
    let mut parser = Parser::new_from_str_with_options(text, options());
    let mut writer = Writer::new(text.len(), aliases);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| Fault {
            line: error.marker().line() as u64,
            message: "is not valid YAML from here on: fix or remove it",
        })?;
        let line = span.start.line() as u64;
        match event {
            Event::DocumentStart(..) => writer.begin(),
            Event::DocumentEnd => {
                if let Some(line) = writer.line.filter(|_| writer.out.as_str() != "null") {
                    each(Document { line, json: &writer.out });
                }
            }
            other => writer.take(other, line).map_err(|message| Fault { line, message })?,
        }
    }
    Ok(())
}

/// Parser options: comments are dropped.
pub(super) fn options() -> Options {
    serde_saphyr::granit_parser::options! { emit_comments: false }
}

/// Position of a container in its object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An API object or a list of them.
    Object,
    Items,
    Metadata,
    /// Labels or annotations.
    Pairs,
    Other,
}

impl Role {
    fn of_child(self, key: &str) -> Self {
        match (self, key) {
            (Self::Object, "metadata") => Self::Metadata,
            (Self::Object, "items") => Self::Items,
            (Self::Items, _) => Self::Object,
            (Self::Metadata, "labels" | "annotations") => Self::Pairs,
            (Self::Object | Self::Metadata | Self::Pairs | Self::Other, _) => Self::Other,
        }
    }

    /// Whether the API has text here, so that a hand-written `resourceVersion: 812` is text as well.
    fn holds_text(self, key: &str) -> bool {
        match self {
            Self::Metadata => !matches!(key, "generation" | "deletionGracePeriodSeconds"),
            Self::Pairs => true,
            Self::Object | Self::Items | Self::Other => false,
        }
    }
}

/// The next element of a container.
enum Next {
    Key,
    /// The value of this key.
    Value(Key),
    Element,
}

/// The properties of a key that its value needs.
struct Key {
    role: Role,
    text: bool,
    skipped: bool,
}

struct Frame {
    next: Next,
    role: Role,
    entries: usize,
    keys: Keys,
    anchor: usize,
    start: usize,
}

#[derive(Default)]
struct Keys {
    row: Vec<u64>,
    set: HashSet<u64>,
}

impl Keys {
    /// Adds a key; returns whether it is new.
    fn add(&mut self, key: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        if self.row.len() < KEYS_IN_A_ROW_MAX {
            let new = !self.row.contains(&hash);
            self.row.push(hash);
            return new;
        }
        !self.row.contains(&hash) && self.set.insert(hash)
    }
}

struct Writer<'a> {
    out: Zeroizing<String>,
    frames: Vec<Frame>,
    /// Where in `out` the values with an anchor are. Copies would add up: each of nested anchors holds the ones inside.
    anchors: HashMap<usize, Range<usize>>,
    /// Depth inside an omitted value.
    skipping: usize,
    /// Of the whole file.
    alias_bytes: usize,
    aliases: &'a Aliases,
    line: Option<u64>,
}

type Refusal = &'static str;

impl<'a> Writer<'a> {
    fn new(text_len: usize, aliases: &'a Aliases) -> Self {
        // JSON is rarely longer than its YAML text; growing the buffer would leave copies behind.
        let out = Zeroizing::new(String::with_capacity(text_len + text_len / 4));
        Self { out, frames: Vec::new(), anchors: HashMap::new(), skipping: 0, alias_bytes: 0, aliases, line: None }
    }

    fn begin(&mut self) {
        self.out.clear();
        self.frames.clear();
        self.anchors.clear();
        (self.skipping, self.line) = (0, None);
    }

    fn take(&mut self, event: Event<'_>, line: u64) -> Result<(), Refusal> {
        if self.skipping > 0 {
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => self.skipping += 1,
                Event::SequenceEnd | Event::MappingEnd => self.skipping -= 1,
                _ => {}
            }
            return Ok(());
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, is_plain(style, tag.as_ref()), anchor, line),
            Event::MappingStart(_, anchor, _) => self.open('{', Next::Key, anchor, line),
            Event::SequenceStart(_, anchor, _) => self.open('[', Next::Element, anchor, line),
            Event::MappingEnd => self.close('}'),
            Event::SequenceEnd => self.close(']'),
            Event::Alias(anchor) => self.alias(anchor),
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: &str, plain: bool, anchor: usize, line: u64) -> Result<(), Refusal> {
        self.line.get_or_insert(line);
        if let Some(frame) = self.frames.last_mut().filter(|frame| matches!(frame.next, Next::Key)) {
            return frame.key(&mut self.out, text, plain);
        }
        let Some(key) = self.value() else { return Ok(()) };
        let start = self.out.len();
        let as_text = !plain || (key.text && !matches!(text, "" | "~" | "null"));
        if as_text {
            write_text(&mut self.out, text);
        } else {
            write_plain(&mut self.out, text);
        }
        self.remember(anchor, start);
        Ok(())
    }

    fn open(&mut self, bracket: char, next: Next, anchor: usize, line: u64) -> Result<(), Refusal> {
        self.line.get_or_insert(line);
        if self.frames.last().is_some_and(|frame| matches!(frame.next, Next::Key)) {
            return Err("has a mapping key that is not plain text: write it as text");
        }
        let Some(key) = self.value() else {
            self.skipping = 1;
            return Ok(());
        };
        if self.frames.len() >= DEPTH_MAX {
            return Err("is nested more than 100 levels deep: write it flatter");
        }
        let start = self.out.len();
        self.out.push(bracket);
        self.frames.push(Frame { next, role: key.role, entries: 0, keys: Keys::default(), anchor, start });
        Ok(())
    }

    fn close(&mut self, bracket: char) -> Result<(), Refusal> {
        self.out.push(bracket);
        if let Some(frame) = self.frames.pop() {
            self.remember(frame.anchor, frame.start);
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize) -> Result<(), Refusal> {
        if self.frames.last().is_some_and(|frame| matches!(frame.next, Next::Key)) {
            return Err("has an alias as a mapping key: write the key out");
        }
        if self.value().is_none() {
            return Ok(());
        }
        let Some(range) = self.anchors.get(&anchor).cloned() else {
            return Err("has an alias to an omitted value: write the value out");
        };
        self.alias_bytes += range.len();
        if self.alias_bytes > ALIAS_BYTES_MAX {
            return Err("has aliases that expand to more than 8 MiB: write the values out");
        }
        if self.aliases.add(range.len()).is_err() {
            return Err("has one alias too many for the whole snapshot: write the values out");
        }
        let json = Zeroizing::new(self.out[range].to_owned());
        self.out.push_str(&json);
        Ok(())
    }

    /// Advances to the next value of the innermost container and returns its key, or none when it is omitted.
    fn value(&mut self) -> Option<Key> {
        let Some(frame) = self.frames.last_mut() else {
            return Some(Key { role: Role::Object, text: false, skipped: false });
        };
        let key = match std::mem::replace(&mut frame.next, Next::Key) {
            Next::Value(key) => key,
            Next::Element | Next::Key => {
                frame.next = Next::Element;
                if frame.entries > 0 {
                    self.out.push(',');
                }
                frame.entries += 1;
                Key { role: frame.role.of_child(""), text: false, skipped: false }
            }
        };
        (!key.skipped).then_some(key)
    }

    fn remember(&mut self, anchor: usize, start: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, start..self.out.len());
        }
    }
}

impl Frame {
    fn key(&mut self, out: &mut String, text: &str, plain: bool) -> Result<(), Refusal> {
        if plain && text == "<<" {
            return Err("has a merge key (<<), which is not supported: write the fields out");
        }
        if !self.keys.add(text) {
            return Err("has the same key twice in one mapping: remove one");
        }
        let skipped = self.role == Role::Metadata && text == "managedFields";
        if !skipped {
            if self.entries > 0 {
                out.push(',');
            }
            self.entries += 1;
            write_text(out, text);
            out.push(':');
        }
        self.next = Next::Value(Key { role: self.role.of_child(text), text: self.role.holds_text(text), skipped });
        Ok(())
    }
}

/// Whether a scalar may be something other than text.
pub(super) fn is_plain(style: ScalarStyle, tag: Option<&Cow<'_, Tag>>) -> bool {
    let untagged = tag
        .is_none_or(|tag| ["int", "float", "bool", "null"].into_iter().any(|core| tag.is_yaml_core_schema_tag(core)));
    style == ScalarStyle::Plain && untagged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(u64, String)>, Result<(), Fault>) {
        let mut all = Vec::new();
        let end =
            documents(text, &Aliases::new(u64::MAX), |document| all.push((document.line, document.json.to_owned())));
        (all, end)
    }

    #[test]
    fn documents_become_json() {
        let cases = [
            ("nothing", "", vec![]),
            ("comments alone", "# a\n---\n# b\n", vec![]),
            (
                "two documents",
                "a: 1\n---\n\nb: [x, {y: 'z'}]\n",
                vec![(1, "{\"a\":1}"), (4, "{\"b\":[\"x\",{\"y\":\"z\"}]}")],
            ),
            ("block text", "a: |\n  x\n  y\nb: >-\n  x\n  y\n", vec![(1, "{\"a\":\"x\\ny\\n\",\"b\":\"x y\"}")]),
            (
                "quoted numbers stay text",
                "a: '1'\nb: \"2\"\nc: !!str 3\nd: !x 4",
                vec![(1, "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\",\"d\":\"4\"}")],
            ),
            (
                "metadata is text",
                "metadata: {resourceVersion: 812, generation: 3, labels: {a: true, b: 1.10, c: null}}",
                vec![(
                    1,
                    "{\"metadata\":{\"resourceVersion\":\"812\",\"generation\":3,\"labels\":{\"a\":\"true\",\"b\":\"1.10\",\"c\":null}}}",
                )],
            ),
            (
                "elsewhere it is not",
                "spec: {metadata: {count: 5}}",
                vec![(1, "{\"spec\":{\"metadata\":{\"count\":5}}}")],
            ),
            (
                "managed fields are left out",
                "items:\n- metadata:\n    managedFields:\n    - {a: [b]}\n    name: x\n",
                vec![(1, "{\"items\":[{\"metadata\":{\"name\":\"x\"}}]}")],
            ),
            (
                "aliases",
                "a: &x {b: [1]}\nc: *x\nd: &y text\ne: *y",
                vec![(1, "{\"a\":{\"b\":[1]},\"c\":{\"b\":[1]},\"d\":\"text\",\"e\":\"text\"}")],
            ),
        ];
        for (case, text, expected) in cases {
            let (all, end) = read(text);
            let all: Vec<(u64, &str)> = all.iter().map(|(line, json)| (*line, json.as_str())).collect();
            assert_eq!((all, end), (expected, Ok(())), "case: {case}");
        }
    }

    #[test]
    fn a_fault_has_a_line_and_never_quotes_the_file() {
        let cases = [
            ("broken", "a: 1\nb: [s3cret\n", "not valid YAML"),
            ("tab", "a:\n\t- s3cret: x\n", "not valid YAML"),
            ("same key", "a: 1\nb: 2\na: s3cret\n", "same key twice"),
            ("merge", "a: &x {s3cret: 1}\nb:\n  <<: *x\n", "merge key"),
            ("complex key", "a: 1\n? [s3cret]\n: 2\n", "not plain text"),
            ("unknown alias", "a: *s3cret\n", "not valid YAML"),
        ];
        for (case, text, expected) in cases {
            let (_, end) = read(text);
            let fault = end.expect_err(case);
            assert!(fault.message.contains(expected), "case: {case}: {fault:?}");
            assert!(!fault.message.contains("s3cret") && fault.line > 0, "case: {case}: {fault:?}");
        }
    }

    #[test]
    fn documents_before_a_broken_one_are_kept() {
        let (all, end) = read("a: 1\n---\nb: [\n");
        assert_eq!((all.len(), end.is_err()), (1, true));
    }

    #[test]
    fn nested_aliases_do_not_exhaust_the_memory() {
        let mut text = String::from("a0: &a0 [xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]\n");
        for level in 1..30 {
            let below = level - 1;
            text.push_str(&format!("a{level}: &a{level} [*a{below}, *a{below}, *a{below}, *a{below}]\n"));
        }
        assert!(read(&text).1.is_err_and(|fault| fault.message.contains("8 MiB")));
    }

    #[test]
    fn nested_anchors_cost_nothing_until_they_are_used() {
        let text = "x".repeat(1 << 16);
        let open: String = (0..90).map(|level| format!("&a{level} [")).collect();
        let document = format!("a: {open}{text}{}\n", "]".repeat(90));
        let aliases = Aliases::new(u64::MAX);
        let mut writer = Writer::new(document.len(), &aliases);
        let mut parser = Parser::new_from_str_with_options(&document, options());
        while let Some(Ok((event, _))) = parser.next_event() {
            if let other @ (Event::Scalar(..) | Event::MappingStart(..) | Event::SequenceStart(..)) = event {
                writer.take(other, 1).unwrap();
            } else if let other @ (Event::MappingEnd | Event::SequenceEnd) = event {
                writer.take(other, 1).unwrap();
            }
        }
        assert_eq!(writer.anchors.len(), 90);
        assert!(writer.out.capacity() < 2 * document.len(), "{} bytes", writer.out.capacity());
        assert_eq!(writer.alias_bytes, 0);
    }

    #[test]
    fn aliases_count_over_all_documents_and_files() {
        let one = format!("a: &x {}\nb: *x\n", "x".repeat(3 << 20));
        let three = [one.as_str(), one.as_str(), one.as_str()].join("---\n");
        let fault = read(&three).1.expect_err("9 MiB in one file");
        assert!(fault.message.contains("8 MiB"), "{fault:?}");
        let aliases = Aliases::new(4 << 20);
        assert!(documents(&one, &aliases, |_| {}).is_ok());
        let fault = documents(&one, &aliases, |_| {}).expect_err("6 MiB in two files");
        assert!(fault.message.contains("whole snapshot") && aliases.is_over(), "{fault:?}");
    }

    #[test]
    fn deep_nesting_is_a_fault_and_no_overflow_of_the_stack() {
        for open in ["[", "{a: ", "- "] {
            let fault = read(&format!("a:\n  {}", open.repeat(100_000))).1.expect_err("too deep");
            assert!(fault.message.contains("100 levels") || fault.message.contains("not valid YAML"), "{fault:?}");
        }
        assert!(read(&format!("a: {}{}\n", "[".repeat(98), "]".repeat(98))).1.is_ok());
    }

    #[test]
    fn a_mapping_with_many_keys_detects_duplicates() {
        let mut text: String = (0..200).map(|index| format!("k{index}: 1\n")).collect();
        assert!(read(&text).1.is_ok());
        text.push_str("k150: 2\n");
        assert_eq!(read(&text).1.map_err(|fault| fault.line), Err(201));
    }
}
