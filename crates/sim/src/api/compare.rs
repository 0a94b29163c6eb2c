//! Comparing, merging and cutting objects by their shape.
//!
//! Invariants:
//! - a path is in at most one of removed, modified and added;
//! - parts that are equal are skipped before any path is built, so that a small change in a big object is cheap.
//!
//! Elsewhere: who owns the paths (`managed`, `apply`). The rules are those of
//! `sigs.k8s.io/structured-merge-diff/v6/typed`.

#![expect(clippy::wildcard_enum_match_arm, reason = "JSON has six types and a match needs one or two")]

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{Element, FieldSet};
use super::shape::Shape;

/// Fields that a write added, modified and removed.
#[derive(Debug, Default)]
pub struct Comparison {
    pub removed: FieldSet,
    pub modified: FieldSet,
    pub added: FieldSet,
}

impl Comparison {
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    fn attach(&mut self, element: Element, below: Self) {
        self.removed.attach(element.clone(), below.removed);
        self.modified.attach(element.clone(), below.modified);
        self.added.attach(element, below.added);
    }

    fn mark(&mut self, element: Element, presence: Presence) {
        match presence {
            Presence::OnlyBefore => self.removed.members.insert(element),
            Presence::OnlyAfter => self.added.members.insert(element),
            Presence::Both => self.modified.members.insert(element),
        };
    }
}

#[derive(Clone, Copy)]
enum Presence {
    OnlyBefore,
    OnlyAfter,
    Both,
}

/// Compares two whole objects.
pub fn compare(before: &Value, after: &Value, shape: Shape<'_>) -> Comparison {
    let mut out = Comparison::default();
    compare_maps(before.as_object(), after.as_object(), shape, &mut out);
    out
}

fn compare_maps(
    before: Option<&Map<String, Value>>,
    after: Option<&Map<String, Value>>,
    shape: Shape<'_>,
    out: &mut Comparison,
) {
    for (name, value) in before.into_iter().flatten() {
        let other = after.and_then(|after| after.get(name));
        if other != Some(value) {
            compare_item(Element::field(name), Some(value), other, shape.field(name), out);
        }
    }
    for (name, value) in after.into_iter().flatten() {
        if before.is_none_or(|before| !before.contains_key(name)) {
            compare_item(Element::field(name), None, Some(value), shape.field(name), out);
        }
    }
}

/// Compares the values at one path; `before` and `after` differ.
fn compare_item(
    element: Element,
    before: Option<&Value>,
    after: Option<&Value>,
    shape: Shape<'_>,
    out: &mut Comparison,
) {
    let presence = match (before, after) {
        (Some(_), None) => Presence::OnlyBefore,
        (None, Some(_)) => Presence::OnlyAfter,
        (Some(_), Some(_)) => Presence::Both,
        (None, None) => return,
    };
    let mut below = Comparison::default();
    compare_maps(as_map(before, shape), as_map(after, shape), shape, &mut below);
    compare_lists(as_list(before, shape), as_list(after, shape), shape, &mut below);
    out.attach(element.clone(), below);
    if !changed_only_in_parts(before, after, shape) {
        out.mark(element, presence);
    }
}

/// Whether two granular maps or lists differ only in their parts and not as a whole.
fn changed_only_in_parts(before: Option<&Value>, after: Option<&Value>, shape: Shape<'_>) -> bool {
    match (before, after) {
        (Some(Value::Object(_)), Some(Value::Object(_) | Value::Null))
        | (Some(Value::Null), Some(Value::Object(_))) => !shape.is_atomic_map(),
        (Some(Value::Array(_)), Some(Value::Array(_))) => !shape.list_keys().is_atomic(),
        _ => false,
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Grain {
    Leaf,
    Map,
    List,
}

/// Whether a value is a leaf or has parts. Empty containers are leaves.
fn grain(value: &Value, shape: Shape<'_>) -> Grain {
    match value {
        Value::Object(map) if !map.is_empty() && !shape.is_atomic_map() => Grain::Map,
        Value::Array(list) if !list.is_empty() && !shape.list_keys().is_atomic() => Grain::List,
        _ => Grain::Leaf,
    }
}

fn as_map<'a>(value: Option<&'a Value>, shape: Shape<'_>) -> Option<&'a Map<String, Value>> {
    value.filter(|value| grain(value, shape) == Grain::Map).and_then(Value::as_object)
}

fn as_list<'a>(value: Option<&'a Value>, shape: Shape<'_>) -> &'a [Value] {
    let list = value.filter(|value| grain(value, shape) == Grain::List).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn compare_lists(before: &[Value], after: &[Value], shape: Shape<'_>, out: &mut Comparison) {
    let before = keyed(before, shape);
    let after = keyed(after, shape);
    for (element, value) in &before {
        let other = after.iter().find(|(other, _)| other == element).map(|(_, value)| *value);
        if other != Some(*value) {
            compare_item(element.clone(), Some(value), other, shape.items(), out);
        }
    }
    for (element, value) in &after {
        if !before.iter().any(|(other, _)| other == element) {
            compare_item(element.clone(), None, Some(value), shape.items(), out);
        }
    }
}

fn keyed<'a>(list: &'a [Value], shape: Shape<'_>) -> Vec<(Element, &'a Value)> {
    let keys = shape.list_keys();
    list.iter().enumerate().map(|(index, item)| (keys.element(index, item), item)).collect()
}

/// All the fields an object sets.
pub fn field_set(object: &Value, shape: Shape<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    match grain(object, shape) {
        Grain::Leaf => {}
        Grain::Map => {
            for (name, value) in object.as_object().into_iter().flatten() {
                let element = Element::field(name);
                let child = shape.field(name);
                // An empty keyed list has no members; an empty map is a member.
                let says_nothing = value.as_array().is_some_and(Vec::is_empty) && !child.list_keys().is_atomic();
                if grain(value, child) == Grain::Leaf && !says_nothing || !shape.names(name) {
                    out.members.insert(element.clone());
                }
                out.attach(element, field_set(value, child));
            }
        }
        Grain::List => {
            for (element, item) in keyed(as_list(Some(object), shape), shape) {
                out.members.insert(element.clone());
                out.attach(element, field_set(item, shape.items()));
            }
        }
    }
    out
}

/// Merges `over` into `base`; keyed lists are merged item by item.
pub fn merge(base: &Value, over: &Value, shape: Shape<'_>) -> Value {
    match (base, over) {
        (Value::Object(base_map), Value::Object(over_map)) if !shape.is_atomic_map() => {
            let mut out = base_map.clone();
            for (name, value) in over_map {
                let merged = match base_map.get(name) {
                    Some(existing) => merge(existing, value, shape.field(name)),
                    None => value.clone(),
                };
                out.insert(name.clone(), merged);
            }
            Value::Object(out)
        }
        (Value::Array(base_list), Value::Array(over_list)) if !shape.list_keys().is_atomic() => {
            Value::Array(merge_lists(&keyed(base_list, shape), &keyed(over_list, shape), shape))
        }
        _ => over.clone(),
    }
}

/// Items in the order of `over`; items only in `base` stay before the item that followed them.
fn merge_lists(base: &[(Element, &Value)], over: &[(Element, &Value)], shape: Shape<'_>) -> Vec<Value> {
    let find = |list: &[(Element, &Value)], element: &Element| list.iter().position(|(other, _)| other == element);
    let merged = |(element, item): &(Element, &Value)| match find(base, element) {
        Some(place) => merge(base[place].1, item, shape.items()),
        None => (*item).clone(),
    };
    let (mut out, mut left, mut right) = (Vec::new(), 0, 0);
    while left < base.len() || right < over.len() {
        let in_over = base.get(left).map(|(element, _)| find(over, element));
        match in_over {
            Some(None) => {
                out.push(base[left].1.clone());
                left += 1;
            }
            // Already taken together with the item of the same key, or later in the order of `over`.
            Some(Some(place)) if place < right || is_shared_between(base, &over[right..place]) => left += 1,
            Some(Some(place)) if place == right => {
                out.push(merged(&over[right]));
                (left, right) = (left + 1, right + 1);
            }
            Some(Some(_)) | None => {
                out.push(merged(&over[right]));
                right += 1;
            }
        }
    }
    out
}

/// Whether one of these items is also in `base` and therefore comes first.
fn is_shared_between(base: &[(Element, &Value)], items: &[(Element, &Value)]) -> bool {
    items.iter().any(|(element, _)| base.iter().any(|(other, _)| other == element))
}

/// Adds the struct fields that are parents of the set's members.
pub fn with_named_parents(set: &FieldSet, shape: Shape<'_>) -> FieldSet {
    let mut out = FieldSet { members: set.members.clone(), children: BTreeMap::new() };
    for (element, below) in &set.children {
        let child = match element {
            Element::Field(name) => {
                if shape.names(name) {
                    out.members.insert(element.clone());
                }
                shape.field(name)
            }
            Element::Key(_) | Element::Item(_) | Element::Index(_) => shape.items(),
        };
        out.children.insert(element.clone(), with_named_parents(below, child));
    }
    out
}

/// Returns the object without the paths in `set`; none if nothing is left.
pub fn without(object: &Value, set: &FieldSet, shape: Shape<'_>) -> Option<Value> {
    match grain(object, shape) {
        Grain::Leaf => Some(object.clone()),
        Grain::Map => {
            let mut out = Map::new();
            for (name, value) in object.as_object().into_iter().flatten() {
                let element = Element::field(name);
                if set.members.contains(&element) {
                    continue;
                }
                let kept = match set.children.get(&element) {
                    // A container that is emptied and not itself in the set stays as null: another manager still owns it.
                    Some(below) => without(value, below, shape.field(name)).unwrap_or(Value::Null),
                    None => value.clone(),
                };
                out.insert(name.clone(), kept);
            }
            (!out.is_empty()).then_some(Value::Object(out))
        }
        Grain::List => {
            let mut out = Vec::new();
            for (element, item) in keyed(as_list(Some(object), shape), shape) {
                if set.members.contains(&element) {
                    continue;
                }
                let kept = match set.children.get(&element) {
                    Some(below) => without(item, below, shape.items()),
                    None => Some(item.clone()),
                };
                out.extend(kept);
            }
            (!out.is_empty()).then_some(Value::Array(out))
        }
    }
}
