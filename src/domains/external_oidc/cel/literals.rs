//! Literals that are looked at before anything runs: patterns, durations, times, conversions, formats.
//!
//! Upstream refuses an expression whose literal can only fail, so it does not compile here either.

use super::CelError;
use super::ast::{Expr, Literal};
use super::eval::Fault;
use super::pattern;
use super::{convert, eval};

/// Looks at every call in the expression.
///
/// # Errors
/// A literal can only fail, or can't be judged here.
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
        Expr::Map(entries) => entries.iter().try_for_each(|entry| check(&entry.key).and_then(|()| check(&entry.value))),
        Expr::Loop(each) => {
            [&each.range, &each.start, &each.goes_on, &each.step, &each.result].into_iter().try_for_each(check)
        }
        Expr::OptMap(map) => check(&map.target).and_then(|()| check(&map.body)),
    }
}

fn call(function: &str, target: Option<&Expr>, args: &[Expr]) -> Result<(), CelError> {
    match (function, target, args) {
        // Upstream looks at the first argument, which is the text where `matches` is no member.
        ("matches", _, [Expr::Literal(Literal::String(text)), ..]) => pattern::compile(text).map(drop),
        ("matches", None, [_, Expr::Literal(Literal::String(text))])
        | ("find" | "findAll", Some(_), [Expr::Literal(Literal::String(text)), ..]) => pattern::compile(text).map(drop),
        ("duration", None, [Expr::Literal(Literal::String(text))]) => duration(text),
        ("timestamp", None, [Expr::Literal(Literal::String(text))]) => timestamp(text),
        ("bool" | "int" | "uint" | "double" | "string" | "bytes", None, [Expr::Literal(literal)]) => {
            match convert::convert(function, &eval::from_literal(literal)) {
                Ok(_) => Ok(()),
                Err(Fault::Error(why)) => Err(CelError::Wrong(why)),
                Err(Fault::NotVerifiable(why)) => Err(CelError::NotVerifiable(why)),
            }
        }
        ("format", Some(Expr::Literal(Literal::String(text))), [Expr::List(items)]) => format(text, items.len()),
        _ => Ok(()),
    }
}

/// Go's durations: numbers with units, `1h30m`, a bare `0`.
fn duration(text: &str) -> Result<(), CelError> {
    let wrong = || CelError::Wrong(format!("{text:?} is no duration"));
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
        Ok(_) | Err(_) => Err(CelError::Wrong(format!("{text:?} is no time like 2026-11-16T10:00:00Z"))),
    }
}

/// Every verb of a format is known, and there is an argument for it.
fn format(text: &str, count: usize) -> Result<(), CelError> {
    let mut wanted = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            continue;
        }
        if letters.next_if_eq(&'%').is_some() {
            continue;
        }
        let mut verb = letters.next();
        while verb.is_some_and(|letter| letter == '.' || letter.is_ascii_digit()) {
            verb = letters.next();
        }
        match verb {
            Some('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o') => wanted += 1,
            Some(_) | None => return Err(CelError::Wrong("format has a verb that is not known".to_owned())),
        }
    }
    match wanted.cmp(&count) {
        std::cmp::Ordering::Greater => Err(CelError::Wrong("format has too few arguments".to_owned())),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(CelError::NotVerifiable("format has arguments it does not use".to_owned())),
    }
}
