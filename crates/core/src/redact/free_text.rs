//! Removes what looks like a credential from text of another program, for the log.
//!
//! Invariants: shapes decide, not names of programs; where a word could be a credential, it is removed, so that the log shows
//! no value that an object view masks. Beyond the known shapes: words that mix letters and digits, base64 in both alphabets,
//! hex, and values after words such as `password=`.

use super::shapes::{AWS_ID_CHARS, JWT_START, PEM_BEGIN, PEM_END, has_aws_id_prefix, is_secret_name, token_body};

/// Replaces what is removed.
const REMOVED: &str = "…";

/// Words this long that mix upper case, lower case and digits are keys: AWS secret keys have 40 letters, Azure's client
/// secrets 40, Google's API keys 39.
const MIXED_MIN: usize = 24;

/// Words this long without a separator are keys, whatever their letters.
const PLAIN_MIN: usize = 40;

/// Hexadecimal words this long are keys or digests.
const HEX_MIN: usize = 32;

/// The shortest token after its prefix. A log has no way to see what was removed by mistake, nor to call back a token.
const TOKEN_BODY_MIN: usize = 6;

/// The shortest JSON Web Token, or a piece of one.
const JWT_MIN: usize = 16;

/// Authentication schemes of HTTP, before their value.
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// The text without what looks like a credential.
pub fn without_credentials(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find(PEM_BEGIN) {
        shown.push_str(&without_words(&rest[..begin]));
        shown.push_str(REMOVED);
        // A block without an end was cut short: nothing after its beginning is shown.
        let after = rest[begin..].find(PEM_END).map(|end| &rest[begin + end + PEM_END.len()..]);
        rest = after.and_then(|after| after.split_once("-----")).map_or("", |(_, after)| after);
    }
    shown + &without_words(rest)
}

/// What the word before says about the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Anything,
    /// `password=`, `Authorization: Bearer`.
    Secret,
}

fn without_words(text: &str) -> String {
    let (mut shown, mut rest, mut expect) = (String::new(), text, Expect::Anything);
    while !rest.is_empty() {
        let length = rest.find(|letter| !is_word_letter(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let gap = after.find(is_word_letter).unwrap_or(after.len());
        let between = &after[..gap];
        let (word, tail) = named_value(word);
        shown.push_str(if expect == Expect::Secret || looks_secret(word) { REMOVED } else { word });
        shown.push_str(if tail.is_empty() { "" } else { "=" });
        shown.push_str(if tail.len() > 1 { REMOVED } else { "" });
        shown.push_str(between);
        expect = if word.is_empty() { expect } else { following(word, tail, between) };
        rest = &after[gap..];
    }
    shown
}

/// Splits `client_secret=x` after the name: `=` is a letter of base64, too.
fn named_value(word: &str) -> (&str, &str) {
    match word.split_once('=') {
        Some((name, value)) if is_secret_name(name) && !value.is_empty() => word.split_at(name.len()),
        Some(_) | None => (word, ""),
    }
}

fn following(word: &str, tail: &str, between: &str) -> Expect {
    let is_scheme = SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) && between.trim().is_empty();
    let assigns = between.trim_start_matches(['"', '\'', ' ']).starts_with([':', '=']) || word.ends_with('=');
    if tail.is_empty() && (is_scheme || (assigns && is_secret_name(word.trim_end_matches('=')))) {
        Expect::Secret
    } else {
        Expect::Anything
    }
}

fn is_word_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '+' | '=' | '/' | '.' | '~')
}

fn looks_secret(word: &str) -> bool {
    let any = |is: fn(&u8) -> bool| word.bytes().any(|letter| is(&letter));
    let is_mixed = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit);
    let has_prefix = |start: usize| {
        let is_jwt = word[start..].starts_with(JWT_START) && word.len() - start >= JWT_MIN;
        is_jwt || token_body(&word[start..]).is_some_and(|body| body.len() >= TOKEN_BODY_MIN)
    };
    let starts = word.char_indices().filter(|(at, _)| *at == 0 || !word.as_bytes()[at - 1].is_ascii_alphanumeric());
    let mut pieces = word.split(['/', '.', '~', '+', '=', '-', '_']);
    let is_key = |piece: &str| {
        let is_hex = piece.len() >= HEX_MIN && piece.bytes().all(|letter| letter.is_ascii_hexdigit());
        let is_aws = piece.len() >= AWS_ID_CHARS && has_aws_id_prefix(piece);
        is_hex || is_aws
    };
    let is_plain_run = |piece: &str| piece.len() >= PLAIN_MIN;
    (word.len() >= MIXED_MIN && is_mixed)
        || (word.contains('~') && word.len() >= MIXED_MIN)
        || word.split(['/', '.']).any(is_plain_run)
        || starts.into_iter().any(|(at, _)| has_prefix(at))
        || pieces.any(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_credential_is_removed() {
        let pem = "-----BEGIN PRIVATE KEY-----\nMIIabc\ndef\n-----END PRIVATE KEY-----";
        let cases = [
            ("AWS id", "key AKIAIOSFODNN7EXAMPLE is off", "key … is off"),
            ("AWS session id", "ASIAIOSFODNN7EXAMPLE", "…"),
            ("AWS secret", "got wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY.", "got …"),
            ("AWS secret with plus", "x wJal+XUtnFEMI/K7MDENG/bPxRfiCY+AMPLEKEY y", "x … y"),
            ("Azure client secret", "secret abc8Q~defghijklmnopqrstuvwxyz0123456.x-y_z bad", "secret … bad"),
            ("Azure refresh token", "0.AXoA1234-abcd_EFGH.AgABAAEAAAD", "…"),
            ("Google token", "token ya29.a0AfH6SMBx-y_z expired", "token … expired"),
            ("Google API key", "AIzaSyA-1234567890abcdefghijklmnopqrstu", "…"),
            ("Google client secret", "GOCSPX-abc-def-ghi", "…"),
            ("JWT", "eyJhbGciOiJSUzI1NiJ9.eyJpYW0iOiJ4In0.c2ln-_x", "…"),
            ("JWT after a name", "id=eyJhbGciOiJSUzI1NiJ9.eyJpYW0iOiJ4In0.c2ln", "…"),
            ("OpenShift", "sha256~abc_def-ghi", "…"),
            ("PEM", &format!("key: {pem} end"), "key: … end"),
            ("PEM cut short", "key -----BEGIN RSA PRIVATE KEY-----\nMIIabc", "key …"),
            ("hex", "digest 0123456789abcdef0123456789abcdef", "digest …"),
            ("base64", "c2VjcmV0IHZhbHVlIHdpdGggYSBsb3Qgb2YgdGV4dA==", "…"),
            ("one long word", &"x".repeat(PLAIN_MIN), "…"),
            ("password", "password: hunter2, user: ann", "password: …, user: ann"),
            ("JSON", r#"{"access_token":"abc","user":"ann"}"#, r#"{"access_token":"…","user":"ann"}"#),
            ("form", "client_secret=hunter2&user=ann", "client_secret=…&user=ann"),
            ("flag", "--client-secret=hunter2 failed", "--client-secret=… failed"),
            ("header", "Authorization: Bearer abc", "Authorization: Bearer …"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(without_credentials(text), expected, "case: {case}");
        }
    }

    #[test]
    fn what_helps_a_person_stays() {
        let cases = [
            "The SSO session has expired; run aws sso login",
            "error: token expired 4m ago",
            "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/token",
            "arn:aws:iam::123456789012:role/eks-admin is not authorized",
            "/usr/local/bin/aws-iam-authenticator: no such file",
            "dial tcp 10.0.0.1:443: i/o timeout",
            "2026-11-16T10:00:00Z",
        ];
        for text in cases {
            assert_eq!(without_credentials(text), text);
        }
    }
}
