//! Answers without what no two servers share: uids and versions become symbols, times become a mark.
//!
//! Always true:
//! - the same uid or version is the same symbol throughout a sequence, and different ones are different symbols, so that
//!   "unchanged" and "changed" stay visible;
//! - a field that is absent stays absent; only its value is replaced.
//!
//! Not here: judging differences (`compare`).
//!
//! # Limits
//!
//! The version of a list and of a bookmark counts every write in the cluster, other sequences' too. It is marked, not
//! named. `managedFields` keep who, how and which fields, not when.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The symbols of one sequence on one server, in order of first appearance.
#[derive(Debug)]
pub struct Symbols {
    namespace: String,
    uids: BTreeMap<String, usize>,
    versions: BTreeMap<String, usize>,
}

impl Symbols {
    pub fn new(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), uids: BTreeMap::new(), versions: BTreeMap::new() }
    }

    /// The answer as it would look on any server that behaves the same.
    pub fn normalise(&mut self, body: &Value) -> Value {
        match body {
            Value::Object(fields) => self.object(fields),
            Value::Array(items) => items.iter().map(|item| self.normalise(item)).collect(),
            Value::String(text) => Value::String(self.text(text)),
            Value::Null | Value::Bool(_) | Value::Number(_) => body.clone(),
        }
    }

    fn object(&mut self, fields: &Map<String, Value>) -> Value {
        let shares_version = fields.contains_key("items") || is_bookmark(fields);
        let mut normal = Map::new();
        for (key, value) in fields {
            let value = match (key.as_str(), value) {
                ("metadata", Value::Object(metadata)) if shares_version => self.shared_metadata(metadata),
                ("uid", Value::String(uid)) => Value::String(self.uid(uid)),
                ("resourceVersion", Value::String(version)) => Value::String(self.version(version)),
                ("creationTimestamp" | "deletionTimestamp", Value::String(_)) => json!("<time>"),
                ("managedFields", Value::Array(entries)) => managers(entries),
                ("causes", Value::Array(causes)) => self.causes(causes),
                (_, value) => self.normalise(value),
            };
            normal.insert(key.clone(), value);
        }
        Value::Object(normal)
    }

    fn shared_metadata(&mut self, metadata: &Map<String, Value>) -> Value {
        let mark = |key: &str, value: &Value| match key {
            "resourceVersion" => json!("<cluster version>"),
            "continue" if value != "" => json!("<token>"),
            _ => value.clone(),
        };
        metadata.iter().map(|(key, value)| (key.clone(), mark(key, value))).collect::<Map<_, _>>().into()
    }

    /// The causes of a refusal, sorted: a real server collects them from a map, in any order.
    fn causes(&mut self, causes: &[Value]) -> Value {
        let mut sorted: Vec<_> = causes.iter().map(|cause| self.normalise(cause)).collect();
        sorted.sort_by_key(Value::to_string);
        Value::Array(sorted)
    }

    fn uid(&mut self, uid: &str) -> String {
        let next = self.uids.len();
        format!("<uid {}>", self.uids.entry(uid.to_owned()).or_insert(next))
    }

    fn version(&mut self, version: &str) -> String {
        let next = self.versions.len();
        format!("<version {}>", self.versions.entry(version.to_owned()).or_insert(next))
    }

    /// Replaces what this sequence knows by its symbol, wherever it stands as a word of its own.
    fn text(&mut self, text: &str) -> String {
        // The numbers of a standard and of an example are no versions, even when a server hands just these out.
        let text = without_callsite(text).replace("RFC 1123", "RFC-1123").replace("'12345'", "'one-two-three'");
        let mut normal = String::with_capacity(text.len());
        let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|letter| in_word(letter) != in_word(first)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            normal.push_str(&self.as_str(word));
            rest = after;
        }
        normal
    }

    fn as_str(&mut self, word: &str) -> String {
        if word == self.namespace {
            "<namespace>".to_owned()
        } else if is_uid(word) {
            self.uid(word)
        } else if self.versions.contains_key(word) {
            self.version(word)
        } else {
            word.to_owned()
        }
    }
}

/// Takes out the line of source that a scheme is named after: it depends on how the server was compiled.
fn without_callsite(text: &str) -> String {
    match text.split_once(" in scheme \"") {
        Some((before, _)) => format!("{before} in scheme <callsite>"),
        None => text.to_owned(),
    }
}

/// A bookmark's object has no name; every other object of a watch has one.
fn is_bookmark(fields: &Map<String, Value>) -> bool {
    let named = |metadata: &Value| metadata.get("name").is_some();
    fields.get("apiVersion").is_some() && fields.get("metadata").is_some_and(|metadata| !named(metadata))
}

fn is_uid(word: &str) -> bool {
    let parts: Vec<_> = word.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && word.chars().all(|letter| letter == '-' || letter.is_ascii_hexdigit())
}

/// Who wrote what and how. Sorted, because a real server sorts by time, in whole seconds.
fn managers(entries: &[Value]) -> Value {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or("-").to_owned();
    let reduce = |entry: &Value| {
        let who = ["manager", "operation", "subresource", "apiVersion"].map(|key| text(entry, key));
        (who.join(" "), entry["fieldsV1"].clone())
    };
    let mut reduced: Vec<_> = entries.iter().map(reduce).collect();
    reduced.sort_by(|left, right| left.0.cmp(&right.0));
    json!(reduced)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "6f1c2f0e-1111-4222-8333-444455556666";

    fn object(version: &str) -> Value {
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "uid": UID, "resourceVersion": version}})
    }

    #[test]
    fn an_unchanged_version_keeps_its_symbol_and_a_new_one_gets_another() {
        let mut symbols = Symbols::new("ns");
        let shown: Vec<_> = ["71", "72", "71"]
            .map(|version| symbols.normalise(&object(version))["metadata"]["resourceVersion"].clone())
            .to_vec();
        assert_eq!(shown, ["<version 0>", "<version 1>", "<version 0>"]);
    }

    #[test]
    fn messages_name_what_they_are_about_by_symbol() {
        let mut symbols = Symbols::new("sequence-7");
        symbols.normalise(&object("71"));
        let cases = [
            ("a known version", "meta: 71, 710 and v71", "meta: <version 0>, 710 and v71"),
            ("a uid", &format!("UID: {UID}."), "UID: <uid 0>."),
            ("the namespace", "in \"sequence-7\", not sequence-70", "in \"<namespace>\", not sequence-70"),
        ];
        for (case, message, expected) in cases {
            assert_eq!(symbols.normalise(&json!(message)), json!(expected), "case: {case}");
        }
    }

    #[test]
    fn a_field_that_is_absent_stays_absent() {
        let mut symbols = Symbols::new("ns");
        let list = json!({"items": [], "metadata": {"resourceVersion": "9", "remainingItemCount": 2}});
        let expected =
            json!({"items": [], "metadata": {"resourceVersion": "<cluster version>", "remainingItemCount": 2}});
        assert_eq!(symbols.normalise(&list), expected);
    }
}
