//! Field errors, worded as in Go.
//!
//! Invariants: the wording is that of `k8s.io/apimachinery/pkg/util/validation/field` v0.36.3.
//!
//! Elsewhere: finding the errors (`validate`), the response (`status`).

use super::status::Cause;

/// One error of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    reason: &'static str,
    field: String,
    body: String,
}

impl FieldError {
    /// `value` is already rendered: quoted text, or JSON.
    pub fn invalid(field: impl Into<String>, value: &str, detail: &str) -> Self {
        let body = format!("Invalid value: {value}: {detail}");
        Self { reason: "FieldValueInvalid", field: field.into(), body }
    }

    /// The value has another type than in the schema.
    pub fn other_type(field: &str, found: &str, expected: &str) -> Self {
        let body = format!("Invalid value: {0}: {field} in body must be of type {expected}: {0}", quoted(found));
        Self { reason: "FieldValueTypeInvalid", field: field.into(), body }
    }

    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        let body = with_detail("Required value", detail);
        Self { reason: "FieldValueRequired", field: field.into(), body }
    }

    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        let body = with_detail("Forbidden", detail);
        Self { reason: "FieldValueForbidden", field: field.into(), body }
    }

    pub fn not_supported(field: impl Into<String>, value: &str, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|text| quoted(text)).collect();
        let body = format!("Unsupported value: {value}: supported values: {}", supported.join(", "));
        Self { reason: "FieldValueNotSupported", field: field.into(), body }
    }

    pub fn too_long(field: impl Into<String>, bytes_max: usize) -> Self {
        let body = format!("Too long: may not be more than {bytes_max} bytes");
        Self { reason: "FieldValueTooLong", field: field.into(), body }
    }

    /// Field and message in one sentence.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.field, self.body)
    }

    pub fn cause(&self) -> Cause {
        Cause { reason: self.reason, message: self.body.clone(), field: self.field.clone() }
    }
}

fn with_detail(head: &str, detail: &str) -> String {
    if detail.is_empty() { head.into() } else { format!("{head}: {detail}") }
}

/// Joins errors like Go's aggregate: each message once, brackets only around several.
pub fn aggregate(errors: &[FieldError]) -> String {
    let mut sentences: Vec<String> = Vec::with_capacity(errors.len());
    for error in errors {
        let sentence = error.sentence();
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    match sentences.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// Quotes text as Go's `%q` does.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
