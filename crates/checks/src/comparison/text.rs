//! A tree as indented text, like YAML, for a person who wants to read all of it.
//!
//! Invariants: JSON in a text is written as a tree, certificates are one line each, credentials are lengths.

use serde_json::Value;

use super::value::{certificates, json_in, shown};

/// The lines of a tree; none for nothing.
pub fn tree_lines(tree: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if !super::is_empty(tree) {
        branch(tree, 0, &mut lines);
    }
    lines
}

fn branch(value: &Value, depth: usize, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| entry(&format!("{key}:"), value, depth, lines)),
        Value::Array(items) => items.iter().for_each(|item| entry("-", item, depth, lines)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            lines.extend(leaf(value).iter().map(|text| indented(depth, text)));
        }
    }
}

fn entry(label: &str, value: &Value, depth: usize, lines: &mut Vec<String>) {
    if let Value::String(text) = value
        && let Some(tree) = json_in(text)
    {
        lines.push(indented(depth, label));
        return branch(&tree, depth + 1, lines);
    }
    match leaf(value).as_slice() {
        [one] => lines.push(indented(depth, &format!("{label} {one}"))),
        [] => {
            lines.push(indented(depth, label));
            branch(value, depth + 1, lines);
        }
        many => {
            lines.push(indented(depth, label));
            lines.extend(many.iter().map(|text| indented(depth + 1, text)));
        }
    }
}

fn indented(depth: usize, text: &str) -> String {
    format!("{}{text}", "  ".repeat(depth))
}

/// The lines of a value without parts; none for one with parts.
fn leaf(value: &Value) -> Vec<String> {
    match value {
        Value::Null => vec!["nothing".to_owned()],
        Value::Bool(flag) => vec![flag.to_string()],
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => match certificates(text) {
            found if found.is_empty() => vec![shown(text)],
            found => found,
        },
        Value::Array(items) if items.is_empty() => vec!["[]".to_owned()],
        Value::Object(fields) if fields.is_empty() => vec!["{}".to_owned()],
        Value::Array(_) | Value::Object(_) => Vec::new(),
    }
}
