//! Validation of names, labels and keys, with the messages of kube-apiserver.
//!
//! Invariants: each function returns every error in the order of kube-apiserver; a valid value gives an empty list.
//!
//! Elsewhere: the field of an error (`validate`). The messages are those of
//! `k8s.io/apimachinery/pkg/api/validate/content` v0.36.3.

use super::kinds::NameRule;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_KEY_WRONG: &str =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

pub fn name_errors(rule: NameRule, name: &str) -> Vec<String> {
    match rule {
        NameRule::Subdomain => subdomain_errors(name),
        NameRule::Label => label_errors(name),
        NameRule::PathSegment => path_segment_errors(name),
    }
}

/// A generateName may end in a dash: characters are appended.
pub fn prefix_errors(rule: NameRule, prefix: &str) -> Vec<String> {
    match (rule, prefix.strip_suffix('-')) {
        (NameRule::PathSegment, _) | (_, None) => name_errors(rule, prefix),
        (_, Some(stem)) => name_errors(rule, &format!("{stem}a")),
    }
}

pub fn subdomain_errors(text: &str) -> Vec<String> {
    let mut errors = length_errors(text, 253);
    if !is_subdomain(text) {
        errors.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{LABEL}(\\.{LABEL})*')"
        ));
    }
    errors
}

pub fn label_errors(text: &str) -> Vec<String> {
    let mut errors = length_errors(text, 63);
    if !is_label(text) {
        errors.push(if is_subdomain(text) {
            "must not contain dots".into()
        } else {
            format!(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                 and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                 '{LABEL}')"
            )
        });
    }
    errors
}

pub fn path_segment_errors(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    let wrong = ["/", "%"].into_iter().filter(|wrong| text.contains(wrong));
    wrong.map(|wrong| format!("may not contain '{wrong}'")).collect()
}

/// Label keys, annotation keys, finalizers.
pub fn qualified_name_errors(text: &str) -> Vec<String> {
    let shape = || {
        format!(
            "{LABEL_KEY_WRONG} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{LABEL_KEY}')"
        )
    };
    let mut errors = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".into());
            } else {
                errors.extend(subdomain_errors(prefix).into_iter().map(|error| format!("prefix part {error}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                shape()
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".into());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 characters".into());
    }
    if !is_label_key(name) {
        errors.push(format!("name part {}", shape()));
    }
    errors
}

pub fn label_value_errors(text: &str) -> Vec<String> {
    let mut errors = length_errors(text, 63);
    if !text.is_empty() && !is_label_key(text) {
        errors.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({LABEL_KEY})?')"
        ));
    }
    errors
}

/// Keys of ConfigMaps and Secrets.
pub fn config_key_errors(text: &str) -> Vec<String> {
    let mut errors = length_errors(text, 253);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || !text.chars().all(allowed) {
        errors.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
             'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
                .into(),
        );
    }
    match text {
        "." => errors.push("must not be '.'".into()),
        ".." => errors.push("must not be '..'".into()),
        _ if text.starts_with("..") => errors.push("must not start with '..'".into()),
        _ => {}
    }
    errors
}

fn length_errors(text: &str, chars_max: usize) -> Vec<String> {
    let error = (text.len() > chars_max).then(|| format!("must be no more than {chars_max} characters"));
    error.into_iter().collect()
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_label_key(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.chars().all(inner) && edge(text.chars().next()) && edge(text.chars().last())
}
