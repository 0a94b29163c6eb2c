//! Functions on lists.

use std::cmp::Ordering;

use super::eval::{Evaluator, Fault, error, no_overload};
use super::value::{List, Value};

/// Calls a function on a list; nothing when lists don't have it here.
pub fn call(evaluator: &mut Evaluator, function: &str, list: &List, args: &[Value]) -> Result<Option<Value>, Fault> {
    let items = list.items.as_slice();
    evaluator.spend(items.len())?;
    let found = match (function, args) {
        ("join", []) => join(evaluator, items, "")?,
        ("join", [Value::String(by)]) => join(evaluator, items, by)?,
        ("slice", [Value::Int(start), Value::Int(end)]) => slice(items, *start, *end)?,
        ("reverse", []) => Value::list(items.iter().rev().cloned().collect()),
        ("sort" | "distinct", []) if items.is_empty() => Value::List(list.clone()),
        ("sort", []) => sort(items, items)?,
        ("@sortByAssociatedKeys", [Value::List(keys)]) if items.is_empty() && keys.items.is_empty() => {
            Value::List(list.clone())
        }
        ("@sortByAssociatedKeys", [Value::List(keys)]) => sort(items, &keys.items)?,
        ("distinct", []) => distinct(evaluator, items)?,
        ("flatten", []) => flatten(evaluator, items, 1)?,
        ("flatten", [Value::Int(depth)]) => flatten(evaluator, items, *depth)?,
        ("indexOf", [item]) => position(items.iter().position(|one| one.equals(item))),
        ("lastIndexOf", [item]) => position(items.iter().rposition(|one| one.equals(item))),
        ("isSorted", []) => Value::Bool(is_sorted(items)?),
        ("min", []) => extreme(items, Ordering::Less, "min")?,
        ("max", []) => extreme(items, Ordering::Greater, "max")?,
        ("sum", []) => sum(items)?,
        ("first", []) => Value::optional(items.first().cloned()),
        ("last", []) => Value::optional(items.last().cloned()),
        ("unwrapOpt", []) => unwrap(&Value::List(list.clone()))?,
        _ => return Err(no_overload(function)),
    };
    Ok(Some(found))
}

/// The values of those that have one.
pub fn unwrap(list: &Value) -> Result<Value, Fault> {
    let Value::List(List { items, .. }) = list else { return Err(no_overload("optional.unwrap")) };
    let mut values = Vec::new();
    for item in items.iter() {
        match item {
            Value::Optional(value) => values.extend(value.as_ref().map(|value| (**value).clone())),
            _ => return Err(error("value is not an optional")),
        }
    }
    Ok(Value::list(values))
}

/// `lists.range(3)` is `[0, 1, 2]`.
pub fn range(evaluator: &mut Evaluator, count: i64) -> Result<Value, Fault> {
    evaluator.spend(usize::try_from(count).unwrap_or_default())?;
    Ok(Value::list((0..count).map(Value::Int).collect()))
}

pub fn sets(evaluator: &mut Evaluator, function: &str, one: &Value, other: &Value) -> Result<Value, Fault> {
    let (Value::List(one), Value::List(other)) = (one, other) else { return Err(no_overload(function)) };
    evaluator.spend(one.items.len().saturating_mul(other.items.len()).saturating_mul(2))?;
    let within = |items: &[Value], item: &Value| items.iter().any(|one| one.equals(item));
    let contains = |outer: &[Value], inner: &[Value]| inner.iter().all(|item| within(outer, item));
    Ok(Value::Bool(match function {
        "sets.contains" => contains(&one.items, &other.items),
        "sets.equivalent" => contains(&one.items, &other.items) && contains(&other.items, &one.items),
        _ => other.items.iter().any(|item| within(&one.items, item)),
    }))
}

fn join(evaluator: &mut Evaluator, items: &[Value], by: &str) -> Result<Value, Fault> {
    let mut parts = Vec::with_capacity(items.len());
    for item in items {
        let Value::String(text) = item else { return Err(error("join: invalid input")) };
        evaluator.spend(text.len() + by.len())?;
        parts.push(text.as_ref());
    }
    Ok(Value::text(&parts.join(by)))
}

fn slice(items: &[Value], start: i64, end: i64) -> Result<Value, Fault> {
    let cannot = || error(format!("cannot slice({start}, {end}), list is length {}", items.len()));
    let range = usize::try_from(start).map_err(|_| cannot())?..usize::try_from(end).map_err(|_| cannot())?;
    items.get(range).map(|part| Value::list(part.to_vec())).ok_or_else(cannot)
}

/// Sorts items by their keys, which are all of one type that has an order.
fn sort(items: &[Value], keys: &[Value]) -> Result<Value, Fault> {
    if items.len() != keys.len() {
        return Err(error("expected a list of the same size as the associated keys list"));
    }
    let Some(first) = keys.first() else { return Ok(Value::list(Vec::new())) };
    if first.compare(first).is_none() {
        return Err(error("list elements must be comparable"));
    }
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(error("list elements must have the same type"));
    }
    let mut pairs: Vec<(&Value, &Value)> = keys.iter().zip(items).collect();
    // Upstream's sort may leave equal keys in any order, so only distinct ones have one answer.
    pairs.sort_by(|(one, _), (other, _)| one.compare(other).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|(_, item)| item.clone()).collect()))
}

fn distinct(evaluator: &mut Evaluator, items: &[Value]) -> Result<Value, Fault> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        evaluator.spend(kept.len())?;
        if !kept.iter().any(|one| one.equals(item)) {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn flatten(evaluator: &mut Evaluator, items: &[Value], depth: i64) -> Result<Value, Fault> {
    if depth < 0 {
        return Err(error("level must be non-negative"));
    }
    let mut flat = items.to_vec();
    // Values nest no deeper than JSON does, so the levels end before the number does.
    for _ in 0..depth {
        evaluator.spend(flat.len())?;
        if !flat.iter().any(|item| matches!(item, Value::List(_))) {
            break;
        }
        let level = std::mem::take(&mut flat);
        for item in level {
            match item {
                Value::List(list) => flat.extend(list.items.iter().cloned()),
                other => flat.push(other),
            }
        }
    }
    Ok(Value::list(flat))
}

fn position(found: Option<usize>) -> Value {
    Value::Int(found.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

fn is_sorted(items: &[Value]) -> Result<bool, Fault> {
    for pair in items.windows(2) {
        match pair[0].compare(&pair[1]) {
            Some(Ordering::Greater) => return Ok(false),
            Some(Ordering::Less | Ordering::Equal) => {}
            None => return Err(no_overload("isSorted")),
        }
    }
    Ok(true)
}

fn extreme(items: &[Value], wanted: Ordering, name: &str) -> Result<Value, Fault> {
    let mut items = items.iter();
    let mut best = items.next().ok_or_else(|| error(format!("{name} called on empty list")))?;
    for item in items {
        match item.compare(best) {
            Some(order) if order == wanted => best = item,
            Some(_) => {}
            None => return Err(no_overload(name)),
        }
    }
    Ok(best.clone())
}

/// Which zero upstream starts from is decided by the list's static type; with whole numbers there is no doubt.
fn sum(items: &[Value]) -> Result<Value, Fault> {
    let mut total: i64 = 0;
    for item in items {
        let Value::Int(number) = item else {
            return Err(Fault::NotVerifiable("sum is only evaluated for whole numbers here".to_owned()));
        };
        total = total.checked_add(*number).ok_or_else(|| error("integer overflow"))?;
    }
    Ok(Value::Int(total))
}
