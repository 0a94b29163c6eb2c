//! Picking single values out of JSON that may have any shape.
//!
//! Invariants: a value of another shape is distinguished from an absent one.

use serde_json::Value;

/// A value with another shape than its field promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Odd;

/// What is at the end of a path of keys. Null is nothing.
pub fn at<'v>(value: &'v Value, path: &[&str]) -> Result<Option<&'v Value>, Odd> {
    let mut place = value;
    for key in path {
        place = match place {
            Value::Null => return Ok(None),
            Value::Object(map) => map.get(*key).unwrap_or(&Value::Null),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => return Err(Odd),
        };
    }
    Ok(Some(place).filter(|value| !value.is_null()))
}

/// The text at the end of a path; empty where there is none.
pub fn text(value: &Value, path: &[&str]) -> Result<Box<str>, Odd> {
    match at(value, path)? {
        None => Ok("".into()),
        Some(Value::String(text)) => Ok(written(text).into()),
        Some(_) => Err(Odd),
    }
}

/// Text as written; blanks alone are nothing. Blanks around a word stay: no client trims them on the way to AWS,
/// so that `us-east-1 ` is not a region there.
pub fn written(text: &str) -> &str {
    if text.trim().is_empty() { "" } else { text }
}

/// The items of the list at the end of a path; none where it is something else.
pub fn items<'v>(value: &'v Value, path: &[&str]) -> &'v [Value] {
    match at(value, path) {
        Ok(Some(Value::Array(items))) => items,
        Ok(_) | Err(Odd) => &[],
    }
}

/// A count. Numbers below zero and fractions are none.
pub fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}
