//! Whether an expression compiles, and what type it has.
//!
//! Invariants: nothing is evaluated; an expression that passes here is one kube-apiserver starts with.

use super::CelError;
use super::ast::{Expr, Literal, Loop, OptMap};
use super::declare::{Signature, signatures, type_named};
use super::types::{Bindings, Type, USER, most_general};
use super::{Scope, literals};

/// Checks an expression and gives its type.
///
/// # Errors
/// It does not compile, or uses something that cannot be checked here.
pub fn check(expr: &Expr, scope: Scope) -> Result<Type, CelError> {
    let variable = match scope {
        Scope::Claims => ("claims".to_owned(), Type::map(Type::String, Type::Any)),
        Scope::User => ("user".to_owned(), Type::Object(USER)),
    };
    let mut checker = Checker {
        bindings: Bindings::default(),
        variables: vec![variable],
        aggregates: Vec::new(),
        exempt: 0,
        elements: Vec::new(),
        formats: Vec::new(),
    };
    let found = checker.check(expr)?;
    checker.check_aggregates()?;
    for (text, types) in &checker.formats {
        let types: Vec<Type> = types.iter().map(|one| checker.bindings.settle(one)).collect();
        literals::check_format(text, &types)?;
    }
    literals::check(expr)?;
    Ok(checker.bindings.settle(&found))
}

struct Checker {
    bindings: Bindings,
    /// Innermost last.
    variables: Vec<(String, Type)>,
    /// The types that have to agree in the end: elements of a list, keys or values of a map.
    aggregates: Vec<Vec<Type>>,
    /// How many `format` calls are around, in which lists may be mixed.
    exempt: usize,
    /// The types of the elements of the list that was looked at last.
    elements: Vec<Type>,
    /// Formats with the types of their arguments.
    formats: Vec<(String, Vec<Type>)>,
}

fn wrong(message: impl Into<String>) -> CelError {
    CelError::Wrong(message.into())
}

impl Checker {
    fn check(&mut self, expr: &Expr) -> Result<Type, CelError> {
        match expr {
            Expr::Literal(literal) => Ok(literal_type(literal)),
            Expr::Ident(name) => self.name(name).ok_or_else(|| wrong(format!("undeclared reference to '{name}'"))),
            Expr::Select { operand, field, test } => self.select(expr, operand, field, *test),
            Expr::OptSelect { operand, field } => {
                let operand = self.check(operand)?;
                let (selected, _) = self.field(&operand, field)?;
                Ok(self.bindings.resolve(&Type::optional(selected)))
            }
            Expr::Call { function, target, args } => self.call(function, target.as_deref(), args),
            Expr::Logic { op: _, operands } => {
                for operand in operands {
                    let found = self.check(operand)?;
                    if !self.bindings.assign(&found, &Type::Bool) {
                        return Err(wrong(format!("a bool is wanted, and this is {}", self.bindings.settle(&found))));
                    }
                }
                Ok(Type::Bool)
            }
            Expr::List(items) => {
                let items = items.iter().map(|item| (&item.value, item.optional));
                self.aggregate(items).map(Type::list)
            }
            Expr::Map(entries) => {
                let keys = self.aggregate(entries.iter().map(|entry| (&entry.key, false)))?;
                let values = self.aggregate(entries.iter().map(|entry| (&entry.value, entry.optional)))?;
                Ok(Type::map(keys, values))
            }
            Expr::Message(name) => match name.starts_with("google.protobuf.") || name == USER {
                true => Err(CelError::NotVerifiable(format!("it makes a message {name}"))),
                false => Err(wrong(format!("undeclared reference to '{name}'"))),
            },
            Expr::Loop(each) => self.each(each),
            Expr::OptMap(map) => self.opt_map(map),
        }
    }

    fn name(&self, name: &str) -> Option<Type> {
        let variable = self.variables.iter().rev().find(|(known, _)| known == name);
        variable.map(|(_, found)| found.clone()).or_else(|| type_named(name))
    }

    fn select(&mut self, whole: &Expr, operand: &Expr, field: &str, test: bool) -> Result<Type, CelError> {
        if let Some(found) = whole.qualified_name().and_then(|name| self.name(&name)) {
            return Ok(found);
        }
        let operand = self.check(operand)?;
        let (selected, was_optional) = self.field(&operand, field)?;
        if test {
            return Ok(Type::Bool);
        }
        let selected = if was_optional { Type::optional(selected) } else { selected };
        Ok(self.bindings.resolve(&selected))
    }

    /// The type of a field, and whether the operand was an optional.
    fn field(&mut self, operand: &Type, field: &str) -> Result<(Type, bool), CelError> {
        let (target, was_optional) = match self.bindings.resolve(operand) {
            Type::Optional(of) => (*of, true),
            other => (other, false),
        };
        let selected = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(USER) => user_field(field).ok_or_else(|| wrong(format!("user has no field {field}")))?,
            Type::Object(name) => return Err(wrong(format!("{name} has no field {field}"))),
            Type::Free(_) => {
                self.bindings.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            Type::Dyn | Type::Any | Type::Error => Type::Dyn,
            other => return Err(wrong(format!("{other} has no fields, so there is no {field}"))),
        };
        Ok((selected, was_optional))
    }

    fn call(&mut self, function: &str, target: Option<&Expr>, args: &[Expr]) -> Result<Type, CelError> {
        let exempt = usize::from(function == "format" && target.is_some());
        self.exempt += exempt;
        let mut types = Vec::with_capacity(args.len() + 1);
        for arg in args {
            types.push(self.check(arg)?);
        }
        if let ("format", Some(Expr::Literal(Literal::String(text))), [Expr::List(_)]) = (function, target, args) {
            self.formats.push((text.clone(), std::mem::take(&mut self.elements)));
        }
        if let Some(target) = target {
            let qualified = target.qualified_name().map(|prefix| format!("{prefix}.{function}"));
            if let Some(known) = qualified.as_deref().and_then(signatures) {
                self.exempt -= exempt;
                return self.resolve(function, known, false, &types);
            }
            types.insert(0, self.check(target)?);
        }
        self.exempt -= exempt;
        let known = signatures(function).ok_or_else(|| wrong(format!("there is no function {function}")))?;
        self.resolve(function, known, target.is_some(), &types)
    }

    /// The type a call gives: of the one signature that fits, or dyn where several do and don't agree.
    fn resolve(&mut self, function: &str, known: &[Signature], member: bool, types: &[Type]) -> Result<Type, CelError> {
        let mut result: Option<Type> = None;
        for signature in known.iter().filter(|signature| signature.member == member) {
            let (args, gives) = signature.instantiate(&mut self.bindings);
            if !self.bindings.assign_all(types, &args) {
                continue;
            }
            let gives = self.bindings.resolve(&gives);
            result = match result {
                None => Some(gives),
                Some(before) if before.is_dynamic() || before == gives => Some(before),
                Some(_) => Some(Type::Dyn),
            };
        }
        result.ok_or_else(|| {
            let types: Vec<String> = types.iter().map(|found| self.bindings.settle(found).to_string()).collect();
            let takes = types.join(", ");
            wrong(match member {
                true => format!("there is no {function} on ({takes})"),
                false => format!("there is no {} for ({takes})", readable(function)),
            })
        })
    }

    /// The common type of a literal's elements; the strict look at them comes in the end.
    fn aggregate<'e>(&mut self, items: impl Iterator<Item = (&'e Expr, bool)>) -> Result<Type, CelError> {
        let mut common: Option<Type> = None;
        let mut all = Vec::new();
        for (value, optional) in items {
            let mut found = self.check(value)?;
            if optional {
                found = match self.bindings.resolve(&found) {
                    Type::Optional(of) => *of,
                    // Upstream's compiler breaks down on these; inside of `format` it does not look.
                    other if other.is_dynamic() && self.exempt > 0 => other,
                    other => return Err(wrong(format!("an optional is wanted after ?, and this is {other}"))),
                };
            }
            common = match common {
                None => Some(found.clone()),
                Some(before) if self.bindings.assign(&before, &found) => Some(most_general(&before, &found)),
                Some(_) => Some(Type::Dyn),
            };
            all.push(found);
        }
        match self.exempt {
            0 => self.aggregates.push(all),
            _ => self.elements = all,
        }
        Ok(common.unwrap_or_else(|| self.bindings.fresh()))
    }

    /// In the end every element of a literal has the very same type: a claim's `any` beside a string has not.
    fn check_aggregates(&self) -> Result<(), CelError> {
        for all in &self.aggregates {
            let mut settled = all.iter().map(|found| self.bindings.settle(found));
            let Some(first) = settled.next() else { continue };
            if let Some(other) = settled.find(|other| *other != first) {
                return Err(wrong(format!("elements are of one type: {first} and {other} stand together")));
            }
        }
        Ok(())
    }

    fn each(&mut self, each: &Loop) -> Result<Type, CelError> {
        let range = self.check(&each.range)?;
        let start = self.check(&each.start)?;
        let range = self.bindings.resolve(&range);
        let (element, second) = match &range {
            Type::List(of) if each.second.is_some() => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Free(_) => {
                self.bindings.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => return Err(wrong(format!("{other} cannot be looped over: a list or map is wanted"))),
        };
        let depth = self.variables.len();
        self.variables.push((each.carried.clone(), start.clone()));
        self.variables.push((each.variable.clone(), element));
        if let Some(name) = &each.second {
            self.variables.push((name.clone(), second));
        }
        let condition = self.check(&each.condition)?;
        self.expect(&Type::Bool, &condition)?;
        let step = self.check(&each.step)?;
        self.expect(&start, &step)?;
        self.variables.truncate(depth + 1);
        let result = self.check(&each.result)?;
        self.variables.truncate(depth);
        Ok(self.bindings.resolve(&result))
    }

    fn expect(&mut self, wanted: &Type, found: &Type) -> Result<(), CelError> {
        if self.bindings.assign(wanted, found) {
            return Ok(());
        }
        let (wanted, found) = (self.bindings.settle(wanted), self.bindings.settle(found));
        Err(wrong(format!("{wanted} is wanted, and this is {found}")))
    }

    fn opt_map(&mut self, map: &OptMap) -> Result<Type, CelError> {
        let target = self.check(&map.target)?;
        let value = self.bindings.fresh();
        if !self.bindings.assign(&target, &Type::optional(value.clone())) {
            return Err(wrong(format!("an optional is wanted, and this is {}", self.bindings.settle(&target))));
        }
        let value = self.bindings.resolve(&value);
        self.variables.push((map.variable.clone(), value));
        let body = self.check(&map.body);
        self.variables.pop();
        let body = body?;
        if !map.flat {
            return Ok(self.bindings.resolve(&Type::optional(body)));
        }
        // The other branch is optional.none(), and both have to agree.
        let none = Type::optional(self.bindings.fresh());
        if !self.bindings.assign(&body, &none) {
            return Err(wrong(format!("an optional is wanted, and this is {}", self.bindings.settle(&body))));
        }
        Ok(self.bindings.resolve(&body))
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

fn user_field(field: &str) -> Option<Type> {
    match field {
        "username" | "uid" => Some(Type::String),
        "groups" => Some(Type::list(Type::String)),
        "extra" => Some(Type::map(Type::String, Type::list(Type::String))),
        _ => None,
    }
}

/// `_+_` is known to people as `+`.
fn readable(function: &str) -> String {
    let operator: String = function.chars().filter(|letter| !matches!(letter, '_' | '@')).collect();
    let is_operator = function.starts_with(['_', '@', '!', '-']);
    if is_operator { operator } else { function.to_owned() }
}
