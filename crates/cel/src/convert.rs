//! Arithmetic, and values of one type made into another.

use super::eval::{Fault, error, no_overload};
use super::value::Value;

/// `_-_`, `_*_`, `_/_`, `_%_`, and `_+_` on numbers. Numbers of different types don't mix.
pub fn arithmetic(function: &str, one: &Value, other: &Value) -> Result<Value, Fault> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => {
            if matches!(function, "_/_" | "_%_") && *other == 0 {
                return Err(error(if function == "_/_" { "division by zero" } else { "modulus by zero" }));
            }
            let result = match function {
                "_+_" => one.checked_add(*other),
                "_-_" => one.checked_sub(*other),
                "_*_" => one.checked_mul(*other),
                "_/_" => one.checked_div(*other),
                _ => one.checked_rem(*other),
            };
            result.map(Value::Int).ok_or_else(|| error("integer overflow"))
        }
        (Value::Uint(one), Value::Uint(other)) => {
            if matches!(function, "_/_" | "_%_") && *other == 0 {
                return Err(error(if function == "_/_" { "division by zero" } else { "modulus by zero" }));
            }
            let result = match function {
                "_+_" => one.checked_add(*other),
                "_-_" => one.checked_sub(*other),
                "_*_" => one.checked_mul(*other),
                "_/_" => one.checked_div(*other),
                _ => one.checked_rem(*other),
            };
            result.map(Value::Uint).ok_or_else(|| error("unsigned integer overflow"))
        }
        (Value::Double(one), Value::Double(other)) => match function {
            "_+_" => Ok(Value::Double(one + other)),
            "_-_" => Ok(Value::Double(one - other)),
            "_*_" => Ok(Value::Double(one * other)),
            "_/_" => Ok(Value::Double(one / other)),
            _ => Err(no_overload(function)),
        },
        _ => Err(no_overload(function)),
    }
}

/// Makes a value of the type that is named.
///
/// # Errors
/// It can't be made.
pub fn convert(to: &str, value: &Value) -> Result<Value, Fault> {
    let impossible = || error(format!("type conversion error from '{}' to '{to}'", value.type_name()));
    let converted = match (to, value) {
        ("bool", Value::Bool(_))
        | ("int", Value::Int(_))
        | ("uint", Value::Uint(_))
        | ("double", Value::Double(_))
        | ("string", Value::String(_))
        | ("bytes", Value::Bytes(_)) => Some(value.clone()),
        ("bool", Value::String(text)) => match text.as_ref() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ("int", Value::String(text)) => text.parse().ok().map(Value::Int),
        ("int", Value::Uint(number)) => i64::try_from(*number).ok().map(Value::Int),
        ("int", Value::Double(number)) => double_to_int(*number).map(Value::Int),
        // Go takes no sign before an unsigned number.
        ("uint", Value::String(text)) if !text.starts_with('+') => text.parse().ok().map(Value::Uint),
        ("uint", Value::Int(number)) => u64::try_from(*number).ok().map(Value::Uint),
        ("uint", Value::Double(number)) => double_to_uint(*number).map(Value::Uint),
        ("double", Value::String(text)) => text.parse().ok().map(Value::Double),
        ("double", Value::Int(number)) => Some(Value::Double(as_double(i128::from(*number)))),
        ("double", Value::Uint(number)) => Some(Value::Double(as_double(i128::from(*number)))),
        ("string", Value::Bool(value)) => Some(Value::text(if *value { "true" } else { "false" })),
        ("string", Value::Int(number)) => Some(Value::text(&number.to_string())),
        ("string", Value::Uint(number)) => Some(Value::text(&number.to_string())),
        ("string", Value::Double(number)) => Some(Value::text(&double_text(*number))),
        ("string", Value::Bytes(bytes)) => std::str::from_utf8(bytes).ok().map(Value::text),
        ("bytes", Value::String(text)) => Some(Value::Bytes(text.as_bytes().into())),
        _ => return Err(no_overload(to)),
    };
    converted.ok_or_else(impossible)
}

#[expect(clippy::cast_precision_loss, reason = "a double holds no more")]
fn as_double(number: i128) -> f64 {
    number as f64
}

/// Both ends of the range are out: upstream refuses what a double can't tell from them.
#[expect(clippy::cast_possible_truncation, reason = "the range is looked at")]
fn double_to_int(number: f64) -> Option<i64> {
    let fits = number > -9_223_372_036_854_775_808.0 && number < 9_223_372_036_854_775_808.0;
    fits.then_some(number as i64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is looked at")]
fn double_to_uint(number: f64) -> Option<u64> {
    let fits = (0.0..18_446_744_073_709_551_616.0).contains(&number);
    fits.then_some(number as u64)
}

/// A double as Go prints it with `%g`: the shortest digits, with an exponent below 0.0001 and from a million on.
pub fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_go_writes_them() {
        let cases = [
            (1.0, "1"),
            (123_456.0, "123456"),
            (1_000_000.0, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5, "-1.5"),
            (1.7e9, "1.7e+09"),
            (f64::INFINITY, "+Inf"),
        ];
        for (number, expected) in cases {
            assert_eq!(double_text(number), expected);
        }
    }
}
