//! JSON as Go's encoder writes it: no spaces, and more escapes than JSON needs.

use std::fmt::Write as _;

/// An object with the fields that are there, in this order.
pub fn object<const N: usize>(fields: [(&str, Option<String>); N]) -> String {
    let mut out = String::from("{");
    for (name, value) in fields {
        let Some(value) = value else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        write!(out, "\"{name}\":{value}").expect("writing to a string does not fail");
    }
    out.push('}');
    out
}

/// A list of values that are JSON already.
pub fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// A text. Go also escapes what HTML and old JavaScript would stumble over.
pub fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for letter in value.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                write!(out, "\\u{:04x}", u32::from(letter)).expect("writing to a string does not fail");
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}
