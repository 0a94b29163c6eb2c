//! What an expression gives for a token.
//!
//! Invariants:
//! - the work is bounded: every step and everything that is made counts against one budget;
//! - what upstream refuses at login is a [`Fault::Error`]; what cannot be decided here is a [`Fault::NotVerifiable`], and
//!   neither is ever taken for a value.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ast::{Expr, Literal, Logic, Loop, OptMap};
use super::declare::{signatures, type_named};
use super::functions;
use super::value::{Key, List, Map, Origin, Value};

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Upstream has no value either.
    Error(String),
    NotVerifiable(String),
}

/// Steps and bytes an expression may take: upstream stops at a million units of its own, which are smaller.
const BUDGET: u64 = 20_000_000;

/// Evaluates an expression with one variable.
///
/// # Errors
/// There is no value.
pub fn evaluate(expr: &Expr, name: &str, variable: &Value) -> Result<Value, Fault> {
    let variables = vec![(name.to_owned(), Ok(variable.clone()))];
    Evaluator { variables, left: BUDGET }.eval(expr)
}

pub struct Evaluator {
    /// Innermost last. A loop may carry an error: `exists` continues until something is true.
    variables: Vec<(String, Result<Value, Fault>)>,
    left: u64,
}

pub fn error(message: impl Into<String>) -> Fault {
    Fault::Error(message.into())
}

pub fn no_overload(function: &str) -> Fault {
    Fault::Error(format!("no such overload: {function}"))
}

impl Evaluator {
    /// Takes from the budget.
    pub fn spend(&mut self, units: usize) -> Result<(), Fault> {
        let units = u64::try_from(units).unwrap_or(u64::MAX);
        self.left = self
            .left
            .checked_sub(units)
            .ok_or_else(|| Fault::NotVerifiable("the expression takes more work than is done here".to_owned()))?;
        Ok(())
    }

    fn eval(&mut self, expr: &Expr) -> Result<Value, Fault> {
        self.spend(1)?;
        match expr {
            Expr::Literal(literal) => Ok(from_literal(literal)),
            Expr::Ident(name) => {
                self.name(name).unwrap_or_else(|| Err(error(format!("undeclared reference to '{name}'"))))
            }
            Expr::Select { operand, field, test } => self.select(expr, operand, field, *test),
            Expr::OptSelect { operand, field } => {
                let operand = self.eval(operand)?;
                let target = match operand {
                    Value::Optional(None) => return Ok(Value::Optional(None)),
                    Value::Optional(Some(value)) => (*value).clone(),
                    other => other,
                };
                Ok(Value::optional(find_field(&target, field, Missing::IsNone)?))
            }
            Expr::Call { function, target, args } => self.call(function, target.as_deref(), args),
            Expr::Logic { op, operands } => self.logic(*op, operands),
            Expr::List(items) => self.list(items),
            Expr::Map(entries) => self.map(entries),
            Expr::Message(name) => Err(Fault::NotVerifiable(format!("it makes a message {name}"))),
            Expr::Loop(each) => self.each(each),
            Expr::OptMap(map) => self.opt_map(map),
        }
    }

    fn name(&self, name: &str) -> Option<Result<Value, Fault>> {
        let variable = self.variables.iter().rev().find(|(known, _)| known == name);
        variable.map(|(_, value)| value.clone()).or_else(|| type_named(name).map(|_| Ok(Value::Type(name.to_owned()))))
    }

    fn select(&mut self, whole: &Expr, operand: &Expr, field: &str, test: bool) -> Result<Value, Fault> {
        if let Some(found) = whole.qualified_name().and_then(|name| self.name(&name)) {
            return found;
        }
        let operand = self.eval(operand)?;
        if test {
            let target = match &operand {
                Value::Optional(None) => return Ok(Value::Bool(false)),
                Value::Optional(Some(value)) => value,
                other => other,
            };
            return Ok(Value::Bool(find_field(target, field, Missing::IsNone)?.is_some()));
        }
        match &operand {
            Value::Optional(None) => Ok(operand),
            Value::Optional(Some(value)) => Ok(Value::optional(find_field(value, field, Missing::IsNone)?)),
            other => find_field(other, field, Missing::IsError)?.ok_or_else(|| error(format!("no such key: {field}"))),
        }
    }

    fn call(&mut self, function: &str, target: Option<&Expr>, args: &[Expr]) -> Result<Value, Fault> {
        if let (None, "_?_:_", [condition, then, otherwise]) = (target, function, args) {
            return match self.eval(condition)? {
                Value::Bool(true) => self.eval(then),
                Value::Bool(false) => self.eval(otherwise),
                _ => Err(no_overload(function)),
            };
        }
        if let (None, "@not_strictly_false", [arg]) = (target, function, args) {
            return Ok(Value::Bool(!matches!(self.eval(arg), Ok(Value::Bool(false)))));
        }
        let mut values = Vec::with_capacity(args.len() + 1);
        let mut name = function.to_owned();
        let mut member = false;
        if let Some(target) = target {
            let qualified = target.qualified_name().map(|prefix| format!("{prefix}.{function}"));
            match qualified.filter(|name| signatures(name).is_some()) {
                Some(qualified) => name = qualified,
                None => {
                    let target = self.eval(target)?;
                    if let Some(kept) = functions::without_default(function, &target) {
                        return Ok(kept);
                    }
                    member = true;
                    values.push(target);
                }
            }
        }
        for arg in args {
            values.push(self.eval(arg)?);
        }
        functions::call(self, &name, member, values)
    }

    /// One operand can decide alone, whatever became of the others.
    fn logic(&mut self, op: Logic, operands: &[Expr]) -> Result<Value, Fault> {
        let decides = op == Logic::Or;
        let mut fault: Option<Fault> = None;
        for operand in operands {
            let found = match self.eval(operand) {
                Ok(Value::Bool(value)) if value == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => continue,
                Ok(_) => no_overload(if decides { "_||_" } else { "_&&_" }),
                Err(found) => found,
            };
            // An undecidable part might have decided, so it outweighs an error.
            fault = match (fault, found) {
                (Some(Fault::NotVerifiable(why)), _) => Some(Fault::NotVerifiable(why)),
                (_, Fault::NotVerifiable(why)) => Some(Fault::NotVerifiable(why)),
                (Some(first), _) => Some(first),
                (None, found) => Some(found),
            };
        }
        fault.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn list(&mut self, items: &[super::ast::Item]) -> Result<Value, Fault> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match (self.eval(&item.value)?, item.optional) {
                (value, false) => values.push(value),
                (Value::Optional(value), true) => values.extend(value.map(|value| (*value).clone())),
                (_, true) => return Err(error("cannot initialize optional list element from non-optional value")),
            }
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &[super::ast::Entry]) -> Result<Value, Fault> {
        let mut map = BTreeMap::new();
        for entry in entries {
            let key = key(&self.eval(&entry.key)?)?;
            let value = match (self.eval(&entry.value)?, entry.optional) {
                (value, false) => value,
                (Value::Optional(None), true) => continue,
                (Value::Optional(Some(value)), true) => (*value).clone(),
                (_, true) => return Err(error("cannot initialize optional entry from non-optional value")),
            };
            map.insert(key, value);
        }
        Ok(Value::Map(Map { entries: Rc::new(map), origin: Origin::Expression }))
    }

    fn each(&mut self, each: &Loop) -> Result<Value, Fault> {
        let range = self.eval(&each.range)?;
        let elements = elements(&range, each.second.is_some())?;
        let depth = self.variables.len();
        let start = self.eval(&each.start);
        self.variables.push((each.carried.clone(), start));
        for (first, second) in elements {
            self.spend(1)?;
            self.variables.push((each.variable.clone(), Ok(first)));
            if let Some(name) = &each.second {
                self.variables.push((name.clone(), Ok(second)));
            }
            let condition = self.eval(&each.condition);
            let step = match condition {
                Ok(Value::Bool(true)) => Some(self.eval(&each.step)),
                _ => None,
            };
            self.variables.truncate(depth + 1);
            let Some(step) = step else { break };
            self.variables[depth].1 = step;
        }
        let result = self.eval(&each.result);
        self.variables.truncate(depth);
        result
    }

    fn opt_map(&mut self, map: &OptMap) -> Result<Value, Fault> {
        let value = match self.eval(&map.target)? {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(value)) => (*value).clone(),
            _ => return Err(no_overload("hasValue")),
        };
        self.variables.push((map.variable.clone(), Ok(value)));
        let body = self.eval(&map.body);
        self.variables.pop();
        body.map(|body| if map.flat { body } else { Value::optional(Some(body)) })
    }
}

pub fn from_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::text(text),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
    }
}

/// What a field that is not there means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    IsError,
    IsNone,
}

fn find_field(target: &Value, field: &str, missing: Missing) -> Result<Option<Value>, Fault> {
    match (target, missing) {
        (Value::Map(map), _) => Ok(map.find(&Key::String(field.into())).cloned()),
        (Value::List(_), _) => Err(error("unsupported index type 'string' in list")),
        (_, Missing::IsNone) => Ok(None),
        (_, Missing::IsError) => Err(error(format!("no such key: {field}"))),
    }
}

/// A value as the key of a map that an expression makes.
pub fn key(value: &Value) -> Result<Key, Fault> {
    match value {
        Value::Bool(value) => Ok(Key::Bool(*value)),
        Value::Int(value) => Ok(Key::Int(*value)),
        Value::String(text) => Ok(Key::String(text.clone())),
        Value::Uint(_) => Err(Fault::NotVerifiable("a map has unsigned numbers as keys".to_owned())),
        other => Err(error(format!("unsupported key type: {}", other.type_name()))),
    }
}

/// What a loop goes over, in order: elements, or keys and values.
fn elements(range: &Value, pairs: bool) -> Result<Vec<(Value, Value)>, Fault> {
    match range {
        Value::List(List { items, .. }) if pairs => {
            let index = |index: usize| i64::try_from(index).map_or(Value::Null, Value::Int);
            Ok(items.iter().enumerate().map(|(at, item)| (index(at), item.clone())).collect())
        }
        Value::List(List { items, .. }) => Ok(items.iter().map(|item| (item.clone(), Value::Null)).collect()),
        Value::Map(Map { origin: Origin::Variable, .. }) if pairs => {
            Err(Fault::NotVerifiable("it loops over all claims with two variables".to_owned()))
        }
        // Upstream's variable hands out its values where a map hands out its keys.
        Value::Map(Map { origin: Origin::Variable, entries }) => {
            Ok(entries.values().map(|value| (value.clone(), Value::Null)).collect())
        }
        Value::Map(Map { entries, .. }) => {
            Ok(entries.iter().map(|(key, value)| (from_key(key), value.clone())).collect())
        }
        other => Err(error(format!("got '{}', expected iterable type", other.type_name()))),
    }
}

fn from_key(key: &Key) -> Value {
    match key {
        Key::Bool(value) => Value::Bool(*value),
        Key::Int(value) => Value::Int(*value),
        Key::String(text) => Value::String(text.clone()),
    }
}
