//! A tree as paths and values: objects by their keys, lists of objects by the name of each, texts of JSON and PEM opened.
//!
//! Invariants: the order is the tree's own; the same tree gives the same leaves.

use serde_json::{Map, Value};

use super::value::{certificates, fingerprint, json_in, shown};

/// One value of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    pub path: String,
    pub value: LeafValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeafValue {
    Text(String),
    /// `null`: it should not be there, or is not.
    Nothing,
    EmptyList,
}

impl Leaf {
    pub fn is_empty_list(&self) -> bool {
        self.value == LeafValue::EmptyList
    }

    /// Whether it stands for no value.
    pub fn is_none(&self) -> bool {
        match self.value {
            LeafValue::Nothing | LeafValue::EmptyList => true,
            LeafValue::Text(_) => false,
        }
    }

    pub fn text(&self) -> Option<String> {
        match &self.value {
            LeafValue::Text(text) => Some(text.clone()),
            LeafValue::Nothing | LeafValue::EmptyList => None,
        }
    }
}

/// The key under which Secrets and ConfigMaps have their content: it is dropped from paths.
const DATA: &str = "data";
/// Fields by which an element of a list is known, the first that it has.
const NAMES: [&str; 4] = ["name", "clientID", "issuerURL", "type"];

pub fn flatten(tree: &Value) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    match tree {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::Object(content) if key == DATA && is_free(content, fields) => {
                        content.iter().for_each(|(key, value)| branch(key, value, &mut leaves));
                    }
                    Value::Object(_)
                    | Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_) => branch(key, value, &mut leaves),
                }
            }
        }
        Value::Null => {}
        Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => branch("value", tree, &mut leaves),
    }
    leaves
}

/// Whether the keys of the content cannot be confused with the other fields.
fn is_free(content: &Map<String, Value>, fields: &Map<String, Value>) -> bool {
    content.keys().all(|key| !fields.contains_key(key))
}

fn branch(path: &str, value: &Value, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Null => push(path, LeafValue::Nothing, leaves),
        Value::Bool(flag) => push(path, LeafValue::Text(if *flag { "yes" } else { "no" }.to_owned()), leaves),
        Value::Number(number) => push(path, LeafValue::Text(number.to_string()), leaves),
        Value::String(text) => string(path, text, leaves),
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| branch(&format!("{path}.{key}"), value, leaves));
        }
        Value::Array(items) if items.is_empty() => push(path, LeafValue::EmptyList, leaves),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                match item {
                    Value::Object(_) | Value::Array(_) => {
                        branch(&format!("{path}[{}]", name_of(item, place)), item, leaves);
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => branch(path, item, leaves),
                }
            }
        }
    }
}

/// What an element is known by: its name, else its place.
fn name_of(item: &Value, place: usize) -> String {
    let name = NAMES.iter().find_map(|key| item.get(key).and_then(Value::as_str)).filter(|name| !name.is_empty());
    name.map_or_else(|| place.to_string(), str::to_owned)
}

/// Text: JSON by its paths, certificates by subject and end, everything else in one line.
fn string(path: &str, text: &str, leaves: &mut Vec<Leaf>) {
    if let Some(tree) = json_in(text) {
        let root = format!("{path}: ");
        let mut inner = Vec::new();
        match &tree {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| branch(key, value, &mut inner)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                branch("", &tree, &mut inner);
            }
        }
        leaves.extend(inner.into_iter().map(|leaf| Leaf { path: format!("{root}{}", leaf.path), ..leaf }));
        // The same JSON may be written in other bytes, and operators compare bytes.
        return push(&format!("{path} (bytes)"), LeafValue::Text(fingerprint(text)), leaves);
    }
    let certificates = certificates(text);
    if certificates.is_empty() {
        return push(path, LeafValue::Text(shown(text)), leaves);
    }
    certificates.into_iter().for_each(|text| push(path, LeafValue::Text(text), leaves));
}

fn push(path: &str, value: LeafValue, leaves: &mut Vec<Leaf>) {
    leaves.push(Leaf { path: path.to_owned(), value });
}
