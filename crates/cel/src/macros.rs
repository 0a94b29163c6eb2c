//! The calls that are written out before types are looked at: `has`, the loops over lists and maps, optionals.

use super::ast::{Expr, Item, Literal, Logic, Loop, OptMap};

/// Where a loop carries its value; no name in an expression can be this one.
const CARRIED: &str = "@result";

/// A call on nothing: `has(a.b)` and functions.
///
/// # Errors
/// `has` is asked about something that is no field.
pub fn global_call(name: String, mut args: Vec<Expr>) -> Result<Expr, String> {
    if name == "has" && args.len() == 1 {
        return match args.remove(0) {
            Expr::Select { operand, field, test: false } => Ok(Expr::Select { operand, field, test: true }),
            _ => Err("has() wants a field, as in has(claims.email)".to_owned()),
        };
    }
    Ok(Expr::Call { function: name, target: None, args })
}

/// A call on a target: macros and functions.
///
/// # Errors
/// A macro's variable is no plain name.
pub fn member_call(name: String, target: Expr, args: Vec<Expr>) -> Result<Expr, String> {
    match (name.as_str(), args.len()) {
        ("all", 2 | 3) => each(target, args, all),
        ("exists", 2 | 3) => each(target, args, exists),
        ("exists_one", 2 | 3) | ("existsOne", 3) => each(target, args, exists_one),
        ("map", 2) => each(target, args, collect),
        ("map", 3) => filtered(target, args, 1, collect_step),
        ("filter", 2) => filter(target, args),
        ("transformList", 3) => each(target, args, collect),
        ("transformList", 4) => filtered(target, args, 2, collect_step),
        ("transformMap", 3 | 4) => transform_map(target, args),
        ("transformMapEntry", 3 | 4) => transform_entries(target, args),
        ("optMap", 2) => opt_map(target, args, false),
        ("optFlatMap", 2) => opt_map(target, args, true),
        ("sortBy", 2) => sort_by(target, args),
        _ => Ok(Expr::Call { function: name, target: Some(Box::new(target)), args }),
    }
}

/// Everything of a loop but its range and variables.
struct LoopParts {
    start: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

/// Splits the variables off the arguments: all but the last `bodies`.
fn variables(args: &mut Vec<Expr>, bodies: usize) -> Result<(String, Option<String>), String> {
    let bodies = args.split_off(args.len() - bodies);
    let names: Option<Vec<String>> = std::mem::replace(args, bodies)
        .into_iter()
        .map(|arg| if let Expr::Ident(name) = arg { Some(name) } else { None })
        .collect();
    let mut names = names.ok_or("a loop's variable has to be a plain name")?.into_iter();
    let (first, second) = (names.next().unwrap_or_default(), names.next());
    if second.as_ref() == Some(&first) {
        return Err(format!("the name {first} is used for both variables"));
    }
    if [Some(&first), second.as_ref()].into_iter().flatten().any(|name| name == "__result__") {
        return Err("__result__ cannot be a loop's variable".to_owned());
    }
    Ok((first, second))
}

fn build_loop(range: Expr, names: (String, Option<String>), parts: LoopParts) -> Expr {
    let LoopParts { start, condition, step, result } = parts;
    let (variable, second) = names;
    let carried = CARRIED.to_owned();
    Expr::Loop(Box::new(Loop { range, variable, second, carried, start, condition, step, result }))
}

/// A loop with one body.
fn each(range: Expr, mut args: Vec<Expr>, parts: impl Fn(Expr) -> LoopParts) -> Result<Expr, String> {
    let names = variables(&mut args, 1)?;
    Ok(build_loop(range, names, parts(args.remove(0))))
}

/// A loop with a condition before its body.
fn filtered(
    range: Expr,
    mut args: Vec<Expr>,
    variable_count: usize,
    step: impl Fn(Expr) -> Expr,
) -> Result<Expr, String> {
    debug_assert_eq!(args.len(), variable_count + 2, "a condition and a body stand behind the variables");
    let names = variables(&mut args, 2)?;
    let (condition, body) = (args.remove(0), args.remove(0));
    let step = conditional(condition, step(body), carried());
    Ok(build_loop(
        range,
        names,
        LoopParts { start: Expr::List(Vec::new()), condition: truth(true), step, result: carried() },
    ))
}

fn all(body: Expr) -> LoopParts {
    LoopParts {
        start: truth(true),
        condition: Expr::call("@not_strictly_false", vec![carried()]),
        step: Expr::Logic { op: Logic::And, operands: vec![carried(), body] },
        result: carried(),
    }
}

fn exists(body: Expr) -> LoopParts {
    let not_yet = Expr::call("!_", vec![carried()]);
    LoopParts {
        start: truth(false),
        condition: Expr::call("@not_strictly_false", vec![not_yet]),
        step: Expr::Logic { op: Logic::Or, operands: vec![carried(), body] },
        result: carried(),
    }
}

fn exists_one(body: Expr) -> LoopParts {
    let one = || Expr::literal(Literal::Int(1));
    LoopParts {
        start: Expr::literal(Literal::Int(0)),
        condition: truth(true),
        step: conditional(body, Expr::call("_+_", vec![carried(), one()]), carried()),
        result: Expr::call("_==_", vec![carried(), one()]),
    }
}

fn collect(body: Expr) -> LoopParts {
    LoopParts { start: Expr::List(Vec::new()), condition: truth(true), step: collect_step(body), result: carried() }
}

fn collect_step(body: Expr) -> Expr {
    Expr::call("_+_", vec![carried(), Expr::List(vec![Item { value: body, optional: false }])])
}

fn filter(range: Expr, args: Vec<Expr>) -> Result<Expr, String> {
    let Some(Expr::Ident(name)) = args.first().cloned() else {
        return Err("a loop's variable has to be a plain name".to_owned());
    };
    let keep = collect_step(Expr::Ident(name));
    each(range, args, |condition| LoopParts {
        start: Expr::List(Vec::new()),
        condition: truth(true),
        step: conditional(condition, keep.clone(), carried()),
        result: carried(),
    })
}

fn transform_map(range: Expr, mut args: Vec<Expr>) -> Result<Expr, String> {
    let bodies = args.len() - 2;
    let names = variables(&mut args, bodies)?;
    let key = Expr::Ident(names.0.clone());
    let value = args.pop().unwrap_or(Expr::Literal(Literal::Null));
    insertion(range, names, args.pop(), vec![carried(), key, value])
}

fn transform_entries(range: Expr, mut args: Vec<Expr>) -> Result<Expr, String> {
    let bodies = args.len() - 2;
    let names = variables(&mut args, bodies)?;
    let entries = args.pop().unwrap_or(Expr::Literal(Literal::Null));
    insertion(range, names, args.pop(), vec![carried(), entries])
}

fn insertion(
    range: Expr,
    names: (String, Option<String>),
    condition: Option<Expr>,
    args: Vec<Expr>,
) -> Result<Expr, String> {
    let insert = Expr::call("cel.@mapInsert", args);
    let step = match condition {
        Some(condition) => conditional(condition, insert, carried()),
        None => insert,
    };
    Ok(build_loop(
        range,
        names,
        LoopParts { start: Expr::Map(Vec::new()), condition: truth(true), step, result: carried() },
    ))
}

fn opt_map(target: Expr, mut args: Vec<Expr>, flat: bool) -> Result<Expr, String> {
    let body = args.pop().unwrap_or(Expr::Literal(Literal::Null));
    let Some(Expr::Ident(variable)) = args.pop() else {
        return Err("the variable of optMap has to be a plain name".to_owned());
    };
    Ok(Expr::OptMap(Box::new(OptMap { target, variable, body, flat })))
}

/// The target is bound to a name, its keys are collected, and both lists are sorted together.
fn sort_by(target: Expr, args: Vec<Expr>) -> Result<Expr, String> {
    if matches!(target, Expr::Literal(_) | Expr::Map(_) | Expr::Message(_)) {
        return Err("sortBy wants a list".to_owned());
    }
    let bound = || Expr::ident("@__sortBy_input__");
    let keys = each(bound(), args, collect)?;
    let sorted =
        Expr::Call { function: "@sortByAssociatedKeys".to_owned(), target: Some(Box::new(bound())), args: vec![keys] };
    Ok(Expr::Loop(Box::new(Loop {
        range: Expr::List(Vec::new()),
        variable: "#unused".to_owned(),
        second: None,
        carried: "@__sortBy_input__".to_owned(),
        start: target,
        condition: truth(false),
        step: bound(),
        result: sorted,
    })))
}

fn carried() -> Expr {
    Expr::ident(CARRIED)
}

fn truth(value: bool) -> Expr {
    Expr::literal(Literal::Bool(value))
}

fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::call("_?_:_", vec![condition, then, otherwise])
}
