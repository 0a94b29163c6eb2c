//! Functions on texts. Places in a text count characters, not bytes.

use super::CelError;
use super::convert::double_text;
use super::eval::{Evaluator, Fault, error, no_overload};
use super::pattern;
use super::value::Value;

/// Calls a function on a text; nothing when texts don't have it.
pub fn call(evaluator: &mut Evaluator, function: &str, text: &str, args: &[Value]) -> Result<Option<Value>, Fault> {
    evaluator.spend(text.len())?;
    let boolean = |value| Ok(Some(Value::Bool(value)));
    let made = |text: &str| Ok(Some(Value::text(text)));
    match (function, args) {
        ("contains", [Value::String(part)]) => boolean(text.contains(part.as_ref())),
        ("startsWith", [Value::String(part)]) => boolean(text.starts_with(part.as_ref())),
        ("endsWith", [Value::String(part)]) => boolean(text.ends_with(part.as_ref())),
        ("lowerAscii", []) => made(&text.to_ascii_lowercase()),
        ("upperAscii", []) => made(&text.to_ascii_uppercase()),
        ("trim", []) => made(text.trim()),
        ("charAt", [Value::Int(at)]) => char_at(text, *at).map(Some),
        ("substring", [Value::Int(start)]) => substring(text, *start, length(text)).map(Some),
        ("substring", [Value::Int(start), Value::Int(end)]) => substring(text, *start, *end).map(Some),
        ("indexOf", [Value::String(part)]) => index_of(text, part, 0).map(Some),
        ("indexOf", [Value::String(part), Value::Int(from)]) => index_of(text, part, *from).map(Some),
        ("lastIndexOf", [Value::String(part)]) => Ok(Some(last_index(text, part))),
        ("lastIndexOf", [Value::String(part), Value::Int(from)]) => last_index_from(text, part, *from).map(Some),
        ("replace", [Value::String(old), Value::String(new)]) => replace(evaluator, text, old, new, -1).map(Some),
        ("replace", [Value::String(old), Value::String(new), Value::Int(count)]) => {
            replace(evaluator, text, old, new, *count).map(Some)
        }
        ("split", [Value::String(by)]) => Ok(Some(split(text, by, -1))),
        ("split", [Value::String(by), Value::Int(count)]) => Ok(Some(split(text, by, *count))),
        ("find", [Value::String(wanted)]) => {
            let found = compile(evaluator, wanted)?.find(text).map_or("", |found| found.as_str()).to_owned();
            made(&found)
        }
        ("findAll", [Value::String(wanted)]) => find_all(evaluator, text, wanted, -1).map(Some),
        ("findAll", [Value::String(wanted), Value::Int(count)]) => find_all(evaluator, text, wanted, *count).map(Some),
        ("format", [Value::List(list)]) => format(text, &list.items).map(Some),
        (
            "contains" | "startsWith" | "endsWith" | "lowerAscii" | "upperAscii" | "trim" | "charAt" | "substring"
            | "indexOf" | "lastIndexOf" | "replace" | "split" | "find" | "findAll",
            _,
        ) => Err(no_overload(function)),
        ("format" | "validate", _) => Ok(None),
        _ => Err(no_overload(function)),
    }
}

/// `a.matches(b)`, anywhere in the text.
pub fn matches(evaluator: &mut Evaluator, text: &Value, wanted: &Value) -> Result<Value, Fault> {
    let (Value::String(text), Value::String(wanted)) = (text, wanted) else { return Err(no_overload("matches")) };
    evaluator.spend(text.len())?;
    Ok(Value::Bool(compile(evaluator, wanted)?.is_match(text)))
}

/// Compiling costs most: a pattern made in a loop is compiled each time around.
const COMPILE_COST: usize = 2000;

fn compile(evaluator: &mut Evaluator, wanted: &str) -> Result<regex::Regex, Fault> {
    evaluator.spend(COMPILE_COST + wanted.len())?;
    pattern::compile(wanted).map_err(|bad| match bad {
        CelError::Wrong(why) => Fault::Error(why),
        CelError::NotVerifiable(why) => Fault::NotVerifiable(why),
    })
}

fn find_all(evaluator: &mut Evaluator, text: &str, wanted: &str, count: i64) -> Result<Value, Fault> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let regex = compile(evaluator, wanted)?;
    let found: Vec<&str> = regex.find_iter(text).take(count).map(|found| found.as_str()).collect();
    evaluator.spend(found.len())?;
    Ok(Value::strings(found))
}

fn length(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

fn out_of_range(at: i64) -> Fault {
    error(format!("index out of range: {at}"))
}

fn char_at(text: &str, at: i64) -> Result<Value, Fault> {
    if at < 0 || at > length(text) {
        return Err(out_of_range(at));
    }
    let at = usize::try_from(at).map_err(|_| out_of_range(at))?;
    Ok(Value::text(&text.chars().nth(at).map(String::from).unwrap_or_default()))
}

fn substring(text: &str, start: i64, end: i64) -> Result<Value, Fault> {
    if start > end {
        return Err(error(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let length = length(text);
    if let Some(bad) = [start, end].into_iter().find(|at| *at < 0 || *at > length) {
        return Err(out_of_range(bad));
    }
    let count = |number: i64| usize::try_from(number).map_err(|_| out_of_range(number));
    let part: String = text.chars().skip(count(start)?).take(count(end - start)?).collect();
    Ok(Value::text(&part))
}

fn index_of(text: &str, part: &str, from: i64) -> Result<Value, Fault> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let skipped = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let Some((start, _)) = text.char_indices().nth(skipped) else { return Ok(Value::Int(-1)) };
    let found = text[start..].find(part).map(|at| from + length(&text[start..start + at]));
    Ok(Value::Int(found.unwrap_or(-1)))
}

fn last_index(text: &str, part: &str) -> Value {
    let found = text.rfind(part).map(|at| length(&text[..at]));
    Value::Int(found.unwrap_or(-1))
}

fn last_index_from(text: &str, part: &str, from: i64) -> Result<Value, Fault> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    if from >= length(text) {
        return Ok(Value::Int(-1));
    }
    // A find may start at `from` and go on behind it.
    let end = usize::try_from(from).unwrap_or(usize::MAX).saturating_add(part.chars().count());
    let cut = text.char_indices().nth(end).map_or(text.len(), |(at, _)| at);
    Ok(last_index(&text[..cut], part))
}

fn replace(evaluator: &mut Evaluator, text: &str, old: &str, new: &str, count: i64) -> Result<Value, Fault> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let most = text.chars().count().saturating_add(1).min(count);
    evaluator.spend(text.len().saturating_add(most.saturating_mul(new.len())))?;
    Ok(Value::text(&text.replacen(old, new, count)))
}

/// Go's `SplitN`: no limit below zero, nothing at zero; an empty separator splits between characters.
fn split(text: &str, by: &str, count: i64) -> Value {
    let Some(count) = (count >= 0).then(|| usize::try_from(count).unwrap_or(usize::MAX)) else {
        return if by.is_empty() {
            Value::strings(text.chars().map(String::from))
        } else {
            Value::strings(text.split(by))
        };
    };
    if count == 0 {
        return Value::strings(std::iter::empty::<&str>());
    }
    if !by.is_empty() {
        return Value::strings(text.splitn(count, by));
    }
    let mut parts: Vec<String> = text.chars().take(count - 1).map(String::from).collect();
    let rest: String = text.chars().skip(count - 1).collect();
    if !rest.is_empty() {
        parts.push(rest);
    }
    Value::strings(parts)
}

/// The two plain verbs of `format`; the others are not evaluated here.
fn format(pattern: &str, args: &[Value]) -> Result<Value, Fault> {
    let unknown = || Fault::NotVerifiable("only %s, %d and %% of format are evaluated here".to_owned());
    let mut out = String::new();
    let mut args = args.iter();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let verb = letters.next();
        if verb == Some('%') {
            out.push('%');
            continue;
        }
        let value = args.next().ok_or_else(|| error("index out of range: too few arguments to format"))?;
        match (verb, value) {
            (Some('s'), Value::String(text)) => out.push_str(text),
            (Some('s'), Value::Bool(value)) => out.push_str(&value.to_string()),
            (Some('s' | 'd'), Value::Int(number)) => out.push_str(&number.to_string()),
            (Some('s' | 'd'), Value::Uint(number)) => out.push_str(&number.to_string()),
            (Some('s'), Value::Double(number)) if number.fract() == 0.0 && number.abs() < 1e6 => {
                out.push_str(&double_text(*number));
            }
            (Some('s'), Value::Null) => out.push_str("null"),
            _ => return Err(unknown()),
        }
    }
    Ok(Value::text(&out))
}
