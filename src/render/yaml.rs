//! JSON values as YAML, in the block style of kubectl.
//!
//! Invariants: parsers of YAML 1.1 and 1.2 read the same tree; a text is plain only where no parser takes it for anything
//! else, and what a terminal would act upon is an escape.

use std::fmt::Write as _;

use serde_json::Value;
use trueup_core::engine::text::{Printable, misleads};

/// Renders the members of an object, or nothing for a value of another kind.
pub fn members(value: &Value) -> Printable {
    let mut text = String::new();
    if let Value::Object(members) = value {
        members.iter().for_each(|(key, value)| member(key, value, 0, &mut text));
    }
    Printable::lines(&text)
}

/// Renders a value of any kind.
pub fn document(value: &Value) -> Printable {
    match value {
        Value::Object(all) if !all.is_empty() => members(value),
        Value::Array(items) => Printable::lines(&items.iter().map(|value| item(value).to_string()).collect::<String>()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            let mut text = String::new();
            flat(value, 0, &mut text);
            Printable::lines(&text)
        }
    }
}

/// Renders an item of a list.
pub fn item(value: &Value) -> Printable {
    let mut text = String::new();
    list_item(value, 0, &mut text);
    Printable::lines(&text)
}

const STEP: usize = 2;

fn member(key: &str, value: &Value, indent: usize, out: &mut String) {
    pad(indent, out);
    scalar(key, indent, Position::Key, out);
    out.push(':');
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            members.iter().for_each(|(key, value)| member(key, value, indent + STEP, out));
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            items.iter().for_each(|value| list_item(value, indent, out));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            out.push(' ');
            flat(value, indent, out);
        }
    }
}

fn list_item(value: &Value, indent: usize, out: &mut String) {
    // The first line of the item starts after the dash.
    let mut inner = String::new();
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(key, value)| member(key, value, indent + STEP, &mut inner));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().for_each(|value| list_item(value, indent + STEP, &mut inner));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            pad(indent + STEP, &mut inner);
            flat(value, indent, &mut inner);
        }
    }
    pad(indent, out);
    out.push_str("- ");
    out.push_str(&inner[indent + STEP..]);
}

/// A value that starts on the line of its key or dash, and its line feed.
fn flat(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => scalar(text, indent, Position::Value, out),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Key,
    Value,
}

fn scalar(text: &str, indent: usize, position: Position, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else if position == Position::Value && is_literal(text) {
        literal(text, indent, out);
    } else {
        quoted(text, out);
    }
}

/// Words that some parser reads as something other than text.
const RESERVED: [&str; 9] = ["false", "n", "no", "null", "off", "on", "true", "y", "yes"];

/// Whether every parser reads the text as this text without quotes. It starts with a letter, so that it is no number, time
/// or mark of YAML.
fn is_plain(text: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b" -_./:@()+;".contains(&byte);
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.bytes().all(is_usual)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

/// Whether the text can be a literal block: several lines of characters that are shown as they are.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\n'])
        && !text.chars().any(|letter| letter != '\n' && is_escaped(letter))
}

fn literal(text: &str, indent: usize, out: &mut String) {
    out.push_str(if text.ends_with('\n') { "|\n" } else { "|-\n" });
    for line in text.lines() {
        if !line.is_empty() {
            pad(indent + STEP, out);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Whether a character is written as an escape. Two of them are not allowed in YAML at all.
fn is_escaped(letter: char) -> bool {
    misleads(letter) || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if !is_escaped(letter) => out.push(letter),
            _ => {
                let code = u32::from(letter);
                let written = match code {
                    0..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
                written.expect("writing to a string does not fail");
            }
        }
    }
    out.push('"');
}

fn pad(columns: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', columns));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn every_value_reads_back_as_it_was() {
        let texts = [
            "",
            "a",
            "on",
            "NO",
            "null",
            "~",
            "1",
            "0x1f",
            "1e3",
            "12:30:00",
            "2026-11-16T10:00:00Z",
            "a: b",
            "a #b",
            "- a",
            "a:",
            " a",
            "a ",
            "#a",
            "&a",
            "*a",
            "!a",
            "%a",
            "@a",
            "`a",
            "'a'",
            "\"a\"",
            "{a}",
            "[a]",
            "a, b",
            "|",
            ">",
            "=",
            "<<",
            "---",
            "...",
            "---\na",
            "a\nb",
            "a\nb\n",
            "a\n\n",
            "\na",
            " a\nb",
            "a\n  b\n\nc",
            "a\n \nb",
            "a\r\nb",
            "a\tb\nc",
            "\u{1b}[31m",
            "\u{202e}x",
            "\u{e0041}",
            "\u{fffe}",
            "größe 名前",
            "a\\b\"c",
            "sha256:ab",
            "orphan-certain",
            "C:\\x",
        ];
        for text in texts {
            let value = json!({ "text": text, "list": [text, { "in": text, "also": [text] }, [text, text]], text: 1 });
            let shown = members(&value);
            assert_eq!(read(&shown), value, "text: {text:?}: {shown}");
            assert!(!shown.chars().any(|letter| letter != '\n' && misleads(letter)), "text: {text:?}: {shown}");
        }
        let value = json!({ "a": null, "b": [true, false, 1, -2], "c": {}, "d": [], "e": [[], {}, [[1]]], "f": { "g": { "h": 1 } } });
        assert_eq!(read(&members(&value)), value);
    }

    #[test]
    fn trees_look_as_kubectl_prints_them() {
        let value = json!({
            "diff": "- kind: Secret\n- name: x\n", "items": [{ "name": "a", "tags": ["x", "1"] }, "two words"], "none": null,
        });
        let expected = "\
diff: |
  - kind: Secret
  - name: x
items:
- name: a
  tags:
  - x
  - \"1\"
- two words
none: null
";
        assert_eq!(&*members(&value), expected);
        assert_eq!(&*item(&json!({ "a": 1, "b": { "c": 2 } })), "- a: 1\n  b:\n    c: 2\n");
    }
}
