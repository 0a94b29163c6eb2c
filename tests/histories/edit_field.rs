//! Editing one field of a plan file: every field of the plan and of its actions, with values of its own shape or another's.
//!
//! Invariants: [`FIELDS`] is complete: it is compared with every plan that is edited.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::seeded_rng::SeededRng;

/// A field of a plan file. `id` and `mark` are computed after every edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Plan(&'static str),
    /// Of one of its actions.
    Action(&'static str),
}

pub const FIELDS: [Field; 27] = [
    Field::Plan("schema"),
    Field::Plan("created_at"),
    Field::Plan("expires_at"),
    Field::Plan("engine"),
    Field::Plan("targets"),
    Field::Plan("observations"),
    Field::Plan("findings"),
    Field::Plan("actions"),
    Field::Plan("summary"),
    Field::Action("id"),
    Field::Action("finding"),
    Field::Action("origin"),
    Field::Action("domain"),
    Field::Action("cluster"),
    Field::Action("verb"),
    Field::Action("target"),
    Field::Action("preconditions"),
    Field::Action("rests_on"),
    Field::Action("selected"),
    Field::Action("reason"),
    Field::Action("ownership"),
    Field::Action("tier"),
    Field::Action("diff"),
    Field::Action("change"),
    Field::Action("undo"),
    Field::Action("depends_on"),
    Field::Action("blocked_by"),
];

impl Field {
    pub fn as_str(self) -> String {
        match self {
            Self::Plan(name) => name.to_owned(),
            Self::Action(name) => format!("actions[].{name}"),
        }
    }
}

/// Panics when [`FIELDS`] is not the list of fields of this plan.
pub fn check_complete(plan: &Value) {
    let keys =
        |value: &Value| -> BTreeSet<String> { value.as_object().into_iter().flat_map(Map::keys).cloned().collect() };
    let (mut of_plan, mut of_action) = (BTreeSet::from(["id", "mark"].map(str::to_owned)), BTreeSet::new());
    for field in FIELDS {
        match field {
            Field::Plan(name) => of_plan.insert(name.to_owned()),
            Field::Action(name) => of_action.insert(name.to_owned()),
        };
    }
    assert_eq!(
        (keys(plan), keys(&plan["actions"][0])),
        (of_plan, of_action),
        "FIELDS lacks a field, or has one too many"
    );
}

/// Gives a field another value. Whether it changed.
pub fn edit_field(rng: &mut SeededRng, plan: &mut Value, field: Field) -> bool {
    let mut others = Vec::new();
    let pointer = match field {
        Field::Plan(name) => format!("/{name}"),
        Field::Action(name) => {
            let actions = plan["actions"].as_array().map_or(&[][..], Vec::as_slice);
            others.extend(actions.iter().map(|action| action[name].clone()));
            format!("/actions/{}/{name}", rng.below(actions.len()))
        }
    };
    let mut values = Vec::new();
    collect(plan, &mut values);
    let Some(found) = plan.pointer_mut(&pointer) else { return false };
    let before = found.clone();
    match rng.below(10) {
        0 => *found = Value::Null,
        1 => *found = empty(found),
        2 | 3 if !others.is_empty() => *found = rng.pick(&others).clone(),
        4 => shrink_or_repeat(rng, found),
        _ => {
            let leaf = pick_leaf(rng, found);
            let alike: Vec<&Value> = values.iter().filter(|value| is_alike(value, leaf)).collect();
            *leaf = match rng.below(4) {
                0 => empty(leaf),
                1 if leaf.is_string() => rng.pick(&KNOWN_WORDS).to_owned().into(),
                _ if alike.is_empty() => empty(leaf),
                _ => (*rng.pick(&alike)).clone(),
            };
        }
    }
    *found != before
}

/// Words that mean something in some field.
const KNOWN_WORDS: [&str; 14] = [
    "delete",
    "create",
    "label",
    "complete",
    "superfluous",
    "cluster-deleted",
    "dev",
    "guest-0",
    "guest-1",
    "s-0",
    "m-0",
    "config",
    "2026-11-16T10:00:00Z",
    "2026-11-30T10:00:00Z",
];

fn empty(value: &Value) -> Value {
    match value {
        Value::Null => json!(""),
        Value::Bool(was) => json!(!was),
        Value::Number(number) => json!(number.as_i64().unwrap_or(0) - 1),
        Value::String(_) => json!(""),
        Value::Array(items) if items.is_empty() => json!(["a1"]),
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
    }
}

/// Takes one item or key away, or has an item twice.
fn shrink_or_repeat(rng: &mut SeededRng, value: &mut Value) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let place = rng.below(items.len());
            if rng.permille(500) {
                items.remove(place);
            } else {
                items.push(items[place].clone());
            }
        }
        Value::Object(keys) if !keys.is_empty() => {
            let name = key_at(rng, keys);
            keys.remove(&name);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            *value = empty(value);
        }
    }
}

fn key_at(rng: &mut SeededRng, keys: &Map<String, Value>) -> String {
    let place = rng.below(keys.len());
    keys.keys().nth(place).cloned().unwrap_or_default()
}

/// A value without further values in it.
fn pick_leaf<'v>(rng: &mut SeededRng, value: &'v mut Value) -> &'v mut Value {
    let inner = match &*value {
        Value::Array(items) => items.len(),
        Value::Object(keys) => keys.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    if inner == 0 {
        return value;
    }
    match value {
        Value::Array(items) => {
            let place = rng.below(inner);
            pick_leaf(rng, &mut items[place])
        }
        Value::Object(keys) => {
            let name = key_at(rng, keys);
            pick_leaf(rng, &mut keys[&name])
        }
        leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => leaf,
    }
}

fn is_alike(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Every value without further values in it.
fn collect(value: &Value, leaves: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, leaves)),
        Value::Object(keys) => keys.values().for_each(|item| collect(item, leaves)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => leaves.push(value.clone()),
    }
}
