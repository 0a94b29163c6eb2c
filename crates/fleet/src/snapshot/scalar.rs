//! Converts a plain YAML scalar to JSON, by kubectl's rules.
//!
//! Invariants: a timestamp, a version like `1.2.3` and anything ambiguous stay text.
//!
//! kubectl reads YAML with the booleans and octal numbers of YAML 1.1, so a recording means the same here.

/// Writes the JSON form of a plain scalar.
pub(super) fn write_plain(out: &mut String, text: &str) {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => out.push_str("null"),
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => out.push_str("true"),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => out.push_str("false"),
        _ if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.')) => {
            write_text(out, text);
        }
        _ => match number(text) {
            Some(number) => out.push_str(&number),
            None => write_text(out, text),
        },
    }
}

/// Writes a JSON string.
pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain_from..at]);
        plain_from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

/// The JSON form of a number, or none if the text is not a number.
fn number(text: &str) -> Option<String> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    if digits.is_empty() {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(match digits.strip_prefix('0') {
            None => format!("{sign}{digits}"),
            Some("") => format!("{sign}0"),
            Some(octal) => match u64::from_str_radix(octal, 8) {
                Ok(value) => format!("{sign}{value}"),
                Err(_) => return None,
            },
        });
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(rest) = digits.strip_prefix(prefix) {
            let plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return u64::from_str_radix(rest, radix).ok().filter(|_| plain).map(|value| format!("{sign}{value}"));
        }
    }
    float(sign, digits)
}

fn float(sign: &str, digits: &str) -> Option<String> {
    let shape = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    if !shape || !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: f64 = digits.parse().ok()?;
    // JSON has no infinity; an overflow stays text.
    value.is_finite().then(|| serde_json::Number::from_f64(value).map(|number| format!("{sign}{number}")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_converted_like_in_kubectl() {
        let cases = [
            ("", "null"),
            ("~", "null"),
            ("true", "true"),
            ("on", "true"),
            ("No", "false"),
            ("0", "0"),
            ("-0", "-0"),
            ("42", "42"),
            ("+42", "42"),
            ("-42", "-42"),
            ("0644", "420"),
            ("0o17", "15"),
            ("0x1F", "31"),
            ("089", "\"089\""),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("1e3", "1000.0"),
            ("1e999", "\"1e999\""),
            ("18446744073709551616", "18446744073709551616"),
            ("-", "\"-\""),
            (".", "\".\""),
            ("1.2.3", "\"1.2.3\""),
            ("4.18.0-rc.1", "\"4.18.0-rc.1\""),
            ("10.0.0.0/14", "\"10.0.0.0/14\""),
            ("2026-11-16", "\"2026-11-16\""),
            ("2026-11-16T10:00:00Z", "\"2026-11-16T10:00:00Z\""),
            ("1_000", "\"1_000\""),
            ("infinity", "\"infinity\""),
            (".inf", "\".inf\""),
            ("y", "\"y\""),
            ("a \"b\" \\ \u{1b}", "\"a \\\"b\\\" \\\\ \\u001b\""),
        ];
        for (plain, json) in cases {
            let mut out = String::new();
            write_plain(&mut out, plain);
            assert_eq!(out, json, "plain: {plain}");
            assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "plain: {plain}");
        }
    }
}
