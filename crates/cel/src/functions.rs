//! The functions that can be evaluated here. The others compile, and are said to be not verifiable.
//!
//! Elsewhere: text functions (`texts`), list functions (`lists`).

use std::cmp::Ordering;

use super::eval::{Evaluator, Fault, error, key, no_overload};
use super::value::{Key, List, Map, Origin, Value};
use super::{convert, lists, texts};

/// `or` and `orValue` don't look at their argument when they have a value; what is no optional at all is one.
pub fn without_default(function: &str, target: &Value) -> Option<Value> {
    match (function, target) {
        ("or" | "orValue", Value::Optional(None)) => None,
        ("orValue", Value::Optional(Some(value))) => Some((**value).clone()),
        ("or" | "orValue", value) => Some(value.clone()),
        _ => None,
    }
}

/// Calls a function; `member` tells `a.f(b)` from `f(a, b)`.
pub fn call(evaluator: &mut Evaluator, function: &str, member: bool, args: Vec<Value>) -> Result<Value, Fault> {
    let found = match (member, args.as_slice()) {
        (false, [one]) => unary(function, one)?,
        (false, [one, other]) => binary(evaluator, function, one, other)?,
        (true, [target, rest @ ..]) => on_target(evaluator, function, target, rest)?,
        (false, _) | (true, []) => None,
    };
    match found {
        Some(value) => Ok(value),
        None => global(evaluator, function, member, &args),
    }
}

fn global(evaluator: &mut Evaluator, function: &str, member: bool, args: &[Value]) -> Result<Value, Fault> {
    match (member, function, args) {
        (false, "optional.none", []) => Ok(Value::Optional(None)),
        (false, "lists.range", [Value::Int(count)]) => lists::range(evaluator, *count),
        (false, "cel.@mapInsert", [map, key, value]) => insert(evaluator, map, key, value),
        _ => Err(Fault::NotVerifiable(format!("{function} is not evaluated here"))),
    }
}

fn unary(function: &str, one: &Value) -> Result<Option<Value>, Fault> {
    Ok(Some(match (function, one) {
        ("!_", Value::Bool(value)) => Value::Bool(!value),
        ("-_", Value::Int(value)) => Value::Int(value.checked_neg().ok_or_else(|| error("integer overflow"))?),
        ("-_", Value::Double(value)) => Value::Double(-value),
        ("!_" | "-_", _) => return Err(no_overload(function)),
        ("size", value) => size(value)?,
        ("dyn", value) => value.clone(),
        ("type", value) => Value::Type(value.type_name().to_owned()),
        ("optional.of", value) => Value::optional(Some(value.clone())),
        ("optional.ofNonZeroValue", value) => Value::optional(Some(value.clone()).filter(|value| !value.is_zero())),
        ("optional.unwrap", value) => lists::unwrap(value)?,
        ("isURL", Value::String(text)) => Value::Bool(crate::url::parse_request(text).is_ok()),
        ("bool" | "int" | "uint" | "double" | "string" | "bytes", value) => convert::convert(function, value)?,
        _ => return Ok(None),
    }))
}

fn binary(evaluator: &mut Evaluator, function: &str, one: &Value, other: &Value) -> Result<Option<Value>, Fault> {
    Ok(Some(match function {
        "_==_" => Value::Bool(equal(one, other)?),
        "_!=_" => Value::Bool(!equal(one, other)?),
        "_<_" => Value::Bool(order(function, one, other)? == Some(Ordering::Less)),
        "_<=_" => Value::Bool(order(function, one, other)?.is_some_and(Ordering::is_le)),
        "_>_" => Value::Bool(order(function, one, other)? == Some(Ordering::Greater)),
        "_>=_" => Value::Bool(order(function, one, other)?.is_some_and(Ordering::is_ge)),
        "_+_" => add(evaluator, one, other)?,
        "_-_" | "_*_" | "_/_" | "_%_" => convert::arithmetic(function, one, other)?,
        "@in" => Value::Bool(is_in(evaluator, one, other)?),
        "_[_]" => match one {
            Value::Optional(None) => Value::Optional(None),
            Value::Optional(Some(inner)) => Value::optional(index_if_there(inner, other)?),
            target => index(target, other)?.ok_or_else(|| error("no such key, or index out of bounds"))?,
        },
        "_[?_]" => match one {
            Value::Optional(None) => Value::Optional(None),
            Value::Optional(Some(inner)) => Value::optional(index_if_there(inner, other)?),
            target => Value::optional(index_if_there(target, other)?),
        },
        "matches" => texts::matches(evaluator, one, other)?,
        "sets.contains" | "sets.equivalent" | "sets.intersects" => lists::sets(evaluator, function, one, other)?,
        "cel.@mapInsert" => insert_all(evaluator, one, other)?,
        _ => return Ok(None),
    }))
}

/// Calls on a target: which functions there are depends on what it is.
fn on_target(
    evaluator: &mut Evaluator,
    function: &str,
    target: &Value,
    args: &[Value],
) -> Result<Option<Value>, Fault> {
    match (function, target, args) {
        ("size", _, []) => size(target).map(Some),
        ("matches", _, [pattern]) => texts::matches(evaluator, target, pattern).map(Some),
        ("hasValue", Value::Optional(value), []) => Ok(Some(Value::Bool(value.is_some()))),
        ("value", Value::Optional(value), []) => {
            let value = value.as_ref().ok_or_else(|| error("optional.none() dereference"))?;
            Ok(Some((**value).clone()))
        }
        // With a value they were answered before their argument was looked at.
        ("or" | "orValue", Value::Optional(None), [default]) => Ok(Some(default.clone())),
        (_, Value::String(text), _) => texts::call(evaluator, function, text, args),
        (_, Value::List(list), _) => lists::call(evaluator, function, list, args),
        _ if super::declare::signatures(function).is_some_and(|all| all.iter().any(|one| one.takes_object())) => {
            Ok(None)
        }
        _ => Err(no_overload(function)),
    }
}

fn size(value: &Value) -> Result<Value, Fault> {
    let size = match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.items.len(),
        Value::Map(map) if map.origin != Origin::Variable => map.entries.len(),
        _ => return Err(no_overload("size")),
    };
    i64::try_from(size).map(Value::Int).map_err(|_| error("integer overflow"))
}

fn equal(one: &Value, other: &Value) -> Result<bool, Fault> {
    let is_variable = |value: &Value| matches!(value, Value::Map(Map { origin: Origin::Variable, .. }));
    if is_variable(one) || is_variable(other) {
        return Err(Fault::NotVerifiable("it compares all claims at once".to_owned()));
    }
    Ok(one.equals(other))
}

/// The order of two values of sorts that can be ordered.
fn order(function: &str, one: &Value, other: &Value) -> Result<Option<Ordering>, Fault> {
    match one.compare(other) {
        Some(order) => Ok(Some(order)),
        None if one.is_number() && other.is_number() => Err(error("NaN values cannot be ordered")),
        None => Err(no_overload(function)),
    }
}

fn add(evaluator: &mut Evaluator, one: &Value, other: &Value) -> Result<Value, Fault> {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            evaluator.spend(one.len() + other.len())?;
            Ok(Value::String(format!("{one}{other}").into()))
        }
        (Value::Bytes(one), Value::Bytes(other)) => {
            evaluator.spend(one.len() + other.len())?;
            Ok(Value::Bytes([&one[..], &other[..]].concat().into()))
        }
        // An empty list adds nothing, not even another way to be held.
        (Value::List(List { items, .. }), Value::List(_)) if items.is_empty() => Ok(other.clone()),
        (Value::List(_), Value::List(List { items, .. })) if items.is_empty() => Ok(one.clone()),
        (Value::List(one), Value::List(other)) => {
            evaluator.spend(one.items.len() + other.items.len())?;
            let items = one.items.iter().chain(other.items.iter()).cloned().collect();
            Ok(Value::list(items))
        }
        _ => convert::arithmetic("_+_", one, other),
    }
}

fn is_in(evaluator: &mut Evaluator, one: &Value, container: &Value) -> Result<bool, Fault> {
    match container {
        Value::List(list) => {
            evaluator.spend(list.items.len())?;
            Ok(list.items.iter().any(|item| item.equals(one)))
        }
        Value::Map(map) if map.origin != Origin::Variable => match (map.origin, one) {
            (Origin::Json, Value::String(name)) => Ok(map.entries.contains_key(&Key::String(name.clone()))),
            (Origin::Json, _) => Err(no_overload("@in")),
            (Origin::Expression | Origin::Variable, one) => Ok(map.entries.contains_key(&key(one)?)),
        },
        _ => Err(no_overload("@in")),
    }
}

/// What stands at an index or under a key; nothing when nothing does.
fn index(target: &Value, at: &Value) -> Result<Option<Value>, Fault> {
    match (target, at) {
        (Value::List(list), at) => {
            let index = match at {
                Value::Int(index) => *index,
                Value::Uint(index) => i64::try_from(*index).map_err(|_| error("index out of range"))?,
                Value::Double(index) if index.fract() == 0.0 && index.abs() < 9e15 => {
                    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                    let index = *index as i64;
                    index
                }
                other => return Err(error(format!("unsupported index type '{}' in list", other.type_name()))),
            };
            Ok(usize::try_from(index).ok().and_then(|index| list.items.get(index)).cloned())
        }
        (Value::Map(map), at) => match (map.origin, at) {
            (_, Value::String(name)) => Ok(map.find(&Key::String(name.clone())).cloned()),
            (Origin::Variable | Origin::Json, _) => Err(no_overload("_[_]")),
            (Origin::Expression, at) => Ok(map.find(&key(at)?).cloned()),
        },
        _ => Err(no_overload("_[_]")),
    }
}

/// As [`index`], where something that has no elements has none there.
fn index_if_there(target: &Value, at: &Value) -> Result<Option<Value>, Fault> {
    match target {
        Value::List(_) | Value::Map(_) => index(target, at),
        _ => Ok(None),
    }
}

fn insert(evaluator: &mut Evaluator, map: &Value, at: &Value, value: &Value) -> Result<Value, Fault> {
    let Value::Map(map) = map else { return Err(no_overload("cel.@mapInsert")) };
    evaluator.spend(map.entries.len())?;
    let mut entries = (*map.entries).clone();
    if entries.insert(key(at)?, value.clone()).is_some() {
        return Err(error("insert failed: key already exists"));
    }
    Ok(Value::Map(Map { entries: entries.into(), origin: Origin::Expression }))
}

fn insert_all(evaluator: &mut Evaluator, map: &Value, more: &Value) -> Result<Value, Fault> {
    let (Value::Map(map), Value::Map(more)) = (map, more) else { return Err(no_overload("cel.@mapInsert")) };
    evaluator.spend(map.entries.len() + more.entries.len())?;
    let mut entries = (*map.entries).clone();
    for (key, value) in more.entries.iter() {
        if entries.insert(key.clone(), value.clone()).is_some() {
            return Err(error("insert failed: key already exists"));
        }
    }
    Ok(Value::Map(Map { entries: entries.into(), origin: Origin::Expression }))
}
