//! Strategic merge patch, as far as kubectl's label, annotate, patch and apply use it on built-in kinds.
//!
//! Invariants: directives (`$patch`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`, `$retainKeys`) are never
//! stored in the object.
//!
//! Elsewhere: custom resources, for which kube-apiserver refuses this patch type.

use serde_json::{Map, Value};

use super::shape::{ListKeys, Shape};

pub fn merge(object: &Value, patch: &Map<String, Value>, shape: Shape<'_>) -> Value {
    if patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        return Value::Object(without_directives(patch));
    }
    let mut out = object.as_object().cloned().unwrap_or_default();
    if let Some(kept) = patch.get("$retainKeys").and_then(Value::as_array) {
        out.retain(|key, _| kept.iter().any(|name| name.as_str() == Some(key)));
    }
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
            remove_items(&mut out, field, value);
        }
    }
    for (key, value) in without_directives(patch) {
        let child = shape.field(&key);
        let merged = match (&value, out.get(&key)) {
            (Value::Null, _) => {
                out.remove(&key);
                continue;
            }
            (Value::Object(deeper), existing) => merge(existing.unwrap_or(&Value::Null), deeper, child),
            (Value::Array(items), existing) => merge_list(existing, items, child),
            (other, _) => (*other).clone(),
        };
        out.insert(key, merged);
    }
    Value::Object(out)
}

fn without_directives(patch: &Map<String, Value>) -> Map<String, Value> {
    patch.iter().filter(|(key, _)| !key.starts_with('$')).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn remove_items(out: &mut Map<String, Value>, field: &str, items: &Value) {
    if let (Some(Value::Array(list)), Some(items)) = (out.get_mut(field), items.as_array()) {
        list.retain(|item| !items.contains(item));
    }
}

fn merge_list(existing: Option<&Value>, items: &[Value], shape: Shape<'_>) -> Value {
    let existing = existing.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let directive = |item: &Value| item.get("$patch").and_then(Value::as_str).map(str::to_owned);
    match shape.list_keys() {
        ListKeys::Atomic => items.into(),
        ListKeys::Set => {
            let mut out = existing.to_vec();
            out.extend(items.iter().filter(|item| !existing.contains(item)).cloned());
            out.into()
        }
        keys @ (ListKeys::By(_) | ListKeys::Named(_)) => {
            let mut out = existing.to_vec();
            for (index, item) in items.iter().enumerate() {
                let element = keys.element(index, item);
                let at = out.iter().enumerate().position(|(index, other)| keys.element(index, other) == element);
                match (at, directive(item).as_deref(), item.as_object()) {
                    (Some(at), Some("delete"), _) => {
                        out.remove(at);
                    }
                    (None, Some("delete"), _) => {}
                    (Some(at), _, Some(fields)) => out[at] = merge(&out[at], fields, shape.items()),
                    (None, _, Some(fields)) => out.push(Value::Object(without_directives(fields))),
                    (_, _, None) => out.push(item.clone()),
                }
            }
            out.into()
        }
    }
}
