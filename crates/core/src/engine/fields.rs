//! Fields of an object as a JSON merge patch names them (RFC 7386): their present values, and whether they are as desired.
//!
//! Invariants: a list is one value, and null means that there is nothing.

use serde_json::{Map, Value};

/// What stands where a patch would write, in the shape of that patch. It is the patch that puts things back.
#[must_use]
pub fn fields_at(object: &Value, patch: &Value) -> Value {
    match patch {
        Value::Object(fields) if !fields.is_empty() => {
            let at = |(name, patch): (&String, &Value)| {
                (name.clone(), fields_at(object.get(name).unwrap_or(&Value::Null), patch))
            };
            // Below what is not there nothing is put back but its absence.
            if object.is_object() { Value::Object(fields.iter().map(at).collect()) } else { object.clone() }
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            object.clone()
        }
    }
}

/// Whether an object is as a patch wants it.
#[must_use]
pub fn has_fields(object: &Value, patch: &Value) -> bool {
    match patch {
        Value::Object(fields) => fields.iter().all(|(name, patch)| match (object.get(name), patch) {
            (None | Some(Value::Null), Value::Null) => true,
            (Some(value), patch) => has_fields(value, patch),
            (None, _) => false,
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => object == patch,
    }
}

/// What a person reads of a change of fields: `- ` and `+ ` lines.
#[must_use]
pub fn fields_diff(before: &Value, after: &Value) -> String {
    let mut diff = String::new();
    lines(before, after, 0, &mut diff);
    diff
}

fn lines(before: &Value, after: &Value, depth: usize, diff: &mut String) {
    let empty = Map::new();
    let (old, new) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let indent = "  ".repeat(depth);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let side = |fields: &Map<String, Value>| fields.get(name).filter(|value| !value.is_null()).cloned();
        match (side(old), side(new)) {
            (one, other) if one == other => {}
            (Some(one @ Value::Object(_)), Some(other @ Value::Object(_))) => {
                diff.push_str(&format!("  {indent}{name}:\n"));
                lines(&one, &other, depth + 1, diff);
            }
            (one, other) => {
                let line = |sign: char, value: Value| format!("{sign} {indent}{name}: {value}\n");
                diff.extend(one.map(|value| line('-', value)));
                diff.extend(other.map(|value| line('+', value)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// RFC 7386, as an API server does it.
    fn patched(object: &Value, patch: &Value) -> Value {
        let Value::Object(fields) = patch else { return patch.clone() };
        let mut whole = object.as_object().cloned().unwrap_or_default();
        for (name, patch) in fields {
            if patch.is_null() {
                whole.remove(name);
            } else {
                whole.insert(name.clone(), patched(whole.get(name).unwrap_or(&Value::Null), patch));
            }
        }
        Value::Object(whole)
    }

    #[test]
    fn a_patch_is_in_what_it_made_and_what_stood_there_puts_it_back() {
        let switch = json!({ "spec": { "type": "OIDC", "webhook": null } });
        let cases = [
            ("set and taken away", json!({ "spec": { "type": "X", "webhook": { "a": "b" }, "c": 1 } }), switch.clone()),
            ("nothing to take away", json!({ "spec": { "type": "X" } }), switch.clone()),
            ("no such field before", json!({ "spec": {} }), switch.clone()),
            ("no such table before", json!({ "kind": "A" }), switch),
            ("a list is one value", json!({ "spec": { "l": [1, 2] } }), json!({ "spec": { "l": [3] } })),
            ("null stood there", json!({ "spec": { "type": null } }), json!({ "spec": { "type": "Y" } })),
        ];
        for (case, before, patch) in cases {
            let after = patched(&before, &patch);
            assert!(has_fields(&after, &patch), "case: {case}: {after}");
            assert!(!has_fields(&before, &patch), "case: {case}: it changes something");
            let back = fields_at(&before, &patch);
            let again = patched(&after, &back);
            assert_eq!(fields_at(&again, &patch), back, "case: {case}: {again}");
        }
    }

    #[test]
    fn a_diff_shows_what_goes_and_what_comes() {
        let before = json!({ "spec": { "type": "IntegratedOAuth", "webhook": { "name": "w" }, "same": 1 } });
        let after = json!({ "spec": { "type": "OIDC", "webhook": null, "same": 1, "new": ["a"] } });
        let expected = "  spec:\n+   new: [\"a\"]\n-   type: \"IntegratedOAuth\"\n+   type: \"OIDC\"\n-   webhook: {\"name\":\"w\"}\n";
        assert_eq!(fields_diff(&before, &after), expected);
        assert_eq!(fields_diff(&after, &after), "");
    }
}
