//! Literals that are looked at before anything runs: patterns, durations, times, conversions, formats.
//!
//! Upstream refuses an expression whose literal can only fail, so it does not compile here either.

use super::CelError;
use super::ast::{Expr, Literal};
use super::eval::Fault;
use super::pattern;
use super::types::Type;
use super::{convert, eval};

/// Looks at every call in the expression.
///
/// # Errors
/// A literal can only fail, or is unknown here.
pub fn check(expr: &Expr) -> Result<(), CelError> {
    match expr {
        Expr::Literal(_) | Expr::Ident(_) | Expr::Message(_) => Ok(()),
        Expr::Select { operand, .. } | Expr::OptSelect { operand, .. } => check(operand),
        Expr::Call { function, target, args } => {
            call(function, target.as_deref(), args)?;
            args.iter().chain(target.as_deref()).try_for_each(check)
        }
        Expr::Logic { op: _, operands } => operands.iter().try_for_each(check),
        Expr::List(items) => items.iter().try_for_each(|item| check(&item.value)),
        // Upstream breaks down on bytes as the key of a map that is written out.
        Expr::Map(entries)
            if is_constant(expr)
                && entries.iter().any(|entry| matches!(entry.key, Expr::Literal(Literal::Bytes(_)))) =>
        {
            Err(CelError::Wrong("bytes cannot be the key of a map".to_owned()))
        }
        Expr::Map(entries) => entries.iter().try_for_each(|entry| check(&entry.key).and_then(|()| check(&entry.value))),
        Expr::Loop(each) => {
            [&each.range, &each.start, &each.condition, &each.step, &each.result].into_iter().try_for_each(check)
        }
        Expr::OptMap(map) => check(&map.target).and_then(|()| check(&map.body)),
    }
}

fn call(function: &str, target: Option<&Expr>, args: &[Expr]) -> Result<(), CelError> {
    match (function, target, args) {
        // Upstream looks at the first argument too, which is the text where `matches` is no member.
        ("matches", None, args) => {
            args.iter().filter_map(literal_text).try_for_each(|text| pattern::compile(text).map(drop))
        }
        ("matches" | "find" | "findAll", Some(_), [wanted, ..]) => {
            literal_text(wanted).map_or(Ok(()), |text| pattern::compile(text).map(drop))
        }
        ("duration" | "timestamp", None, [arg]) => moment(function, arg),
        ("bool" | "int" | "uint" | "double" | "string" | "bytes", None, [arg]) => {
            let Some(literal) = constant(arg) else { return Ok(()) };
            match convert::convert(function, &eval::from_literal(literal)) {
                Ok(_) => Ok(()),
                Err(Fault::Error(why)) => Err(CelError::Wrong(why)),
                Err(Fault::NotVerifiable(why)) => Err(CelError::NotVerifiable(why)),
            }
        }
        ("_[_]" | "_[?_]", None, [_, index]) if !can_be_index(index) => {
            Err(CelError::Wrong("an index is a text, a number or a bool".to_owned()))
        }
        _ => Ok(()),
    }
}

fn literal_text(expr: &Expr) -> Option<&str> {
    if let Expr::Literal(Literal::String(text)) = expr { Some(text) } else { None }
}

/// A literal, also one that `dyn` only hides the type of.
fn constant(expr: &Expr) -> Option<&Literal> {
    match expr {
        Expr::Literal(literal) => Some(literal),
        Expr::Call { function, target: None, args } if function == "dyn" => args.first().and_then(constant),
        _ => None,
    }
}

/// Whether something that is known beforehand could be an index.
fn can_be_index(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Bytes(_) | Literal::Null) => false,
        Expr::List(_) | Expr::Map(_) => !is_constant(expr),
        _ => true,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::List(items) => items.iter().all(|item| !item.optional && is_constant(&item.value)),
        Expr::Map(entries) => {
            entries.iter().all(|entry| !entry.optional && is_constant(&entry.key) && is_constant(&entry.value))
        }
        _ => false,
    }
}

/// A duration or a time that is written out.
fn moment(function: &str, arg: &Expr) -> Result<(), CelError> {
    let wrong = || Err(CelError::Wrong(format!("this cannot be made a {function}")));
    match (function, constant(arg)) {
        (_, None) => Ok(()),
        ("duration", Some(Literal::String(text))) => duration(text),
        ("timestamp", Some(Literal::String(text))) => timestamp(text),
        ("timestamp", Some(Literal::Int(_))) => Ok(()),
        (_, Some(_)) => wrong(),
    }
}

/// Go's durations: numbers with units, `1h30m`, a bare `0`.
fn duration(text: &str) -> Result<(), CelError> {
    let wrong = || CelError::Wrong(format!("{text:?} is not a duration"));
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let number = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').ok_or_else(wrong)?;
        let digits = &rest[..number];
        if digits.matches('.').count() > 1 || !digits.contains(|letter: char| letter.is_ascii_digit()) {
            return Err(wrong());
        }
        let unit =
            ["ns", "us", "µs", "μs", "ms", "s", "m", "h"].into_iter().find(|unit| rest[number..].starts_with(unit));
        // `m` is also the beginning of `ms`, which stands before it in the list.
        rest = &rest[number + unit.ok_or_else(wrong)?.len()..];
        if digits.len() > 15 {
            return Err(CelError::NotVerifiable("a duration has very many digits".to_owned()));
        }
    }
    Ok(())
}

fn timestamp(text: &str) -> Result<(), CelError> {
    // Go takes exactly this form; jiff takes more, so the shape is looked at as well.
    let shaped = text.len() >= 20 && text.is_ascii() && text.as_bytes()[10] == b'T';
    match text.parse::<jiff::Timestamp>() {
        Ok(_) if shaped => Ok(()),
        Ok(_) | Err(_) => Err(CelError::Wrong(format!("{text:?} is not a time like 2026-11-16T10:00:00Z"))),
    }
}

/// Every verb of a format is known, and has an argument of a type it can show.
pub fn check_format(text: &str, args: &[Type]) -> Result<(), CelError> {
    let wrong = |message: &str| Err(CelError::Wrong(format!("format: {message}")));
    let mut args = args.iter();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '%' || letters.next_if_eq(&'%').is_some() {
            continue;
        }
        let mut verb = letters.next();
        let precise = verb == Some('.');
        while verb.is_some_and(|letter| letter == '.' || letter.is_ascii_digit()) {
            verb = letters.next();
        }
        let Some(verb) = verb.filter(|verb| "sdfebxXo".contains(*verb)) else {
            return wrong("there is a verb that is not known");
        };
        if precise && !matches!(verb, 'f' | 'e') {
            return Err(CelError::NotVerifiable("format has a precision where none is usual".to_owned()));
        }
        let Some(arg) = args.next() else { return wrong("there are too few arguments") };
        if !shows(verb, arg) {
            return wrong(&format!("%{verb} cannot show {arg}"));
        }
    }
    if args.next().is_some() { wrong("there are too many arguments") } else { Ok(()) }
}

fn shows(verb: char, arg: &Type) -> bool {
    match (verb, arg) {
        (_, Type::Dyn) => true,
        ('s', Type::List(of)) => **of != Type::Any,
        ('s', Type::Map(key, value)) => **key != Type::Any && **value != Type::Any,
        ('s', other) => !matches!(other, Type::Any | Type::Error | Type::Optional(_) | Type::Object(_) | Type::Free(_)),
        ('d' | 'o', Type::Int | Type::Uint) => true,
        ('f' | 'e', Type::Double | Type::String) => true,
        ('b', Type::Int | Type::Uint | Type::Bool) => true,
        ('x' | 'X', Type::Int | Type::Uint | Type::String | Type::Bytes) => true,
        _ => false,
    }
}
