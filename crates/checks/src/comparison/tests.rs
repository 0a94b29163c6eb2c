//! Each kind of difference, and how values are shown.

use serde_json::{Value, json};

use super::{FieldComparison, Relation, compare_trees};
use trueup_core::engine::State;

const CERTIFICATE: &str = include_str!("../../../net/src/fixtures/ec.crt");

fn rows(state: State, expected: &Value, actual: &Value) -> Vec<String> {
    let word = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
    let line = |row: FieldComparison| {
        let sign = match row.relation {
            Relation::Same => "=",
            Relation::Differs => "~",
            Relation::Missing => "+",
            Relation::Extra => "-",
            Relation::NotCompared => ".",
        };
        format!("{sign} {} | {} | {}", row.path, word(&row.expected), word(&row.actual))
    };
    compare_trees(state, expected, actual).into_iter().map(line).collect()
}

#[test]
fn each_field_is_compared_and_differences_come_first() {
    let cases = [
        ("nothing", State::Match, json!({}), json!({}), vec![]),
        (
            "a moved server",
            State::Drift,
            json!({ "exists": true, "type": "x", "server": "https://a" }),
            json!({ "exists": true, "type": "x", "server": "https://b", "issued": "today" }),
            vec!["~ server | https://a | https://b", "= type | x | x", ". issued | - | today"],
        ),
        (
            "an object that should not exist",
            State::Extra,
            json!({}),
            json!({ "exists": true, "data": { "clientSecret": "<40 bytes>" } }),
            vec!["- object | absent | present", "- clientSecret | - | <40 bytes>"],
        ),
        (
            "an object that is missing",
            State::Missing,
            json!({ "exists": true, "data": { "clientSecret": "<40 bytes>" } }),
            json!({}),
            vec!["+ object | present | absent", "+ clientSecret | <40 bytes> | -"],
        ),
        (
            "a list that should be empty",
            State::Stale,
            json!({ "finalizers": [] }),
            json!({ "finalizers": ["a", "b"] }),
            vec!["- finalizers | - | a", "- finalizers | - | b"],
        ),
        (
            "tags of others are not compared",
            State::Drift,
            json!({ "tags": ["own", "uid"] }),
            json!({ "tags": ["own", "team"] }),
            vec!["+ tags | uid | -", "= tags | own | own", ". tags | - | team"],
        ),
        (
            "a list that is closed",
            State::Drift,
            json!({ "authorities": ["a", "b"] }),
            json!({ "authorities": ["b", "c"] }),
            vec!["+ authorities | a | -", "- authorities | - | c", "= authorities | b | b"],
        ),
        (
            "a field that should not be set",
            State::Error,
            json!({ "exec": null }),
            json!({ "exec": "aws" }),
            vec!["- exec | - | aws"],
        ),
        (
            "elements are known by name",
            State::Drift,
            json!({ "providers": [{ "name": "a", "url": "x" }] }),
            json!({ "providers": [{ "name": "a", "url": "y" }] }),
            vec!["~ providers[a].url | x | y", "= providers[a].name | a | a"],
        ),
    ];
    for (case, state, expected, actual, lines) in cases {
        assert_eq!(rows(state, &expected, &actual), lines, "case: {case}");
    }
}

#[test]
fn json_is_compared_by_path_and_its_bytes_are_compared_too() {
    let file = |text: &str| json!({ "data": { "auth-config.json": text } });
    let differing = rows(State::Drift, &file(r#"{"jwt":[{"url":"a"}]}"#), &file(r#"{"jwt":[{"url":"b"}]}"#));
    assert_eq!(differing[0], "~ auth-config.json: jwt[0].url | a | b");
    let spaced = rows(State::Drift, &file(r#"{"a":1}"#), &file(r#"{"a": 1}"#));
    assert_eq!(spaced.len(), 2);
    assert!(spaced[0].starts_with("~ auth-config.json (bytes) | 7 bytes, sha256 "), "{spaced:?}");
    assert_eq!(spaced[1], "= auth-config.json: a | 1 | 1");
}

#[test]
fn certificates_are_shown_by_subject_and_end_and_credentials_by_length() {
    let bundle = json!({ "data": { "ca-bundle.crt": CERTIFICATE } });
    let [row] = &rows(State::Match, &bundle, &bundle)[..] else { panic!("one certificate is one row") };
    assert!(row.starts_with("= ca-bundle.crt | ") && row.contains(", until 2") && row.contains(", sha256 "), "{row}");
    let text = "password: hunter2";
    let secret = rows(State::Extra, &json!({}), &json!({ "note": text, "long": "line\n".repeat(9) }));
    assert!(secret.contains(&"- note | - | <17 bytes>".to_owned()), "{secret:?}");
    assert!(secret.iter().any(|row| row.contains("9 lines, 45 bytes, sha256 ")), "{secret:?}");
}
