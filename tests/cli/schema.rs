//! `trueup schema`, and every file that the tests hold or write against it.
//!
//! Plans that other tests of this binary print pass through [`require_valid_output`], called by the fixture.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use trueup_core::engine::{GateName, Reason, State, TargetSource, Undo, Verb};

use super::fixture::{FLEET, guest_with_an_orphan, run, run_with_state};
use super::schema_support::{schema, violations};

/// Requires that a plan or history on stdout, and the plan written with `--out`, are valid.
pub fn require_valid_output(args: &[String], output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    for value in documents(&text) {
        require_valid(&value, args);
    }
    let written = args.iter().position(|arg| arg == "--out").and_then(|place| args.get(place + 1));
    if let Some(text) = written.filter(|_| output.status.success()).and_then(|path| fs::read_to_string(path).ok()) {
        documents(&text).for_each(|value| require_valid(&value, args));
    }
}

/// The whole text as JSON, or its lines.
fn documents(text: &str) -> impl Iterator<Item = Value> {
    let whole: Option<Value> = serde_json::from_str(text).ok();
    let lines = text.lines().filter(|_| whole.is_none()).filter_map(|line| serde_json::from_str(line).ok());
    let lines: Vec<Value> = lines.collect();
    whole.into_iter().chain(lines)
}

fn require_valid(value: &Value, args: &[String]) {
    let name = match value["schema"].as_str() {
        Some("trueup/plan/v1") => "plan",
        Some("trueup/history/v1") => "journal",
        _ => return,
    };
    let found = violations(name, value);
    assert!(found.is_empty(), "{args:?}: {found:#?}");
}

#[test]
fn the_command_prints_the_published_schemas() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["plan", "journal", "fleet", "config"] {
        let output = run(&dir, &["schema", name]);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schemas/{name}.json"));
        assert!(output.status.success() && output.stdout == fs::read(path).unwrap(), "{name}");
        let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

#[test]
fn the_words_of_the_plan_schema_are_those_of_plans() {
    let schema = schema("plan");
    let words = |pointer: &str| schema.pointer(pointer).unwrap().clone();
    let cases = [
        ("/$defs/state/enum", json!(State::ALL.map(State::as_str))),
        ("/$defs/verb/enum", json!(Verb::ALL.map(Verb::as_str))),
        ("/$defs/blocked/properties/gate/enum", json!(GateName::ALL.map(GateName::as_str))),
        ("/$defs/action/properties/reason/enum", json!(Reason::ALL.map(Reason::as_str))),
        ("/$defs/action/properties/undo/enum", json!(Undo::ALL.map(Undo::as_str))),
        ("/$defs/target/properties/source/enum", json!(TargetSource::ALL.map(TargetSource::as_str))),
    ];
    for (pointer, expected) in cases {
        assert_eq!(words(pointer), expected, "{pointer}");
    }
}

#[test]
fn a_plan_may_have_more_keys_and_not_other_words() {
    let dir = guest_with_an_orphan();
    let output = run_with_state(&dir, &["plan", "--from", "$TMP", "-o", "json"]);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(violations("plan", &plan), [""; 0]);
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit, bool); 6] = [
        ("another key", |plan| plan["later"] = json!(1), true),
        ("another key of a finding", |plan| plan["findings"][0]["later"] = json!({}), true),
        ("another state", |plan| plan["findings"][0]["state"] = json!("fine"), false),
        ("no target", |plan| drop(plan["actions"][0].as_object_mut().unwrap().remove("target")), false),
        ("a fraction", |plan| plan["actions"][0]["tier"] = json!(1.5), false),
        ("another schema", |plan| plan["schema"] = json!("trueup/plan/v2"), false),
    ];
    for (case, edit, expected) in edits {
        let mut plan = plan.clone();
        edit(&mut plan);
        assert_eq!(violations("plan", &plan).is_empty(), expected, "case: {case}");
    }
}

/// The first TOML block of a page.
fn toml_block(page: &str) -> Value {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let (_, rest) = text.split_once("```toml\n").unwrap();
    let value: toml::Value = toml::from_str(rest.split_once("```").unwrap().0).unwrap();
    without_dates(value)
}

/// TOML as JSON, where dates are text.
fn without_dates(value: toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => json!(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(without_dates).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, without_dates(value))).collect())
        }
        plain => serde_json::to_value(plain).unwrap(),
    }
}

#[test]
fn the_documented_config_is_valid_and_unknown_keys_are_not() {
    let config = toml_block("docs/config.md");
    assert_eq!(violations("config", &config), [""; 0]);
    for (case, text) in [
        ("unknown table", "[saftey]\n"),
        ("unknown key", "[safety]\nsetle = \"30s\"\n"),
        ("two effects", "[[policy]]\ndeny = \"x\"\ncap = 1\n"),
        ("no reason", "[[accept]]\nfinding = \"x\"\nuntil = 2026-12-31\n"),
        ("a misspelt class", "[[clusters]]\nmatch = \"x\"\nclass = \"test\"\n"),
    ] {
        let config = without_dates(toml::from_str(text).unwrap());
        assert!(!violations("config", &config).is_empty(), "case: {case}");
    }
}

#[test]
fn every_key_of_the_config_schema_is_one_that_trueup_knows() {
    let schema = schema("config");
    let dir = tempfile::tempdir().unwrap();
    let tables = schema["properties"].as_object().unwrap().iter().filter(|(name, _)| *name != "defaults");
    let mut config = String::new();
    for (name, table) in tables {
        let (of_many, head) = match table["type"].as_str() {
            Some("array") => (&table["items"], format!("[[{name}]]")),
            _ => (table, format!("[{name}]")),
        };
        config += &format!("{head}\n");
        // An empty inline table is the wrong type for most keys, and known all the same.
        let keys = of_many["properties"].as_object().unwrap().keys();
        config += &keys.map(|key| format!("{key} = {{}}\n")).collect::<String>();
    }
    let domains = schema["properties"]["domains"]["properties"].as_object().unwrap();
    let checks = domains.iter().filter(|(_, table)| table["type"] == "object");
    for (name, table) in checks {
        config = config.replace(&format!("{name} = {{}}\n"), "");
        let keys = table["properties"].as_object().unwrap().keys();
        config += &format!("[domains.{name}]\n{}", keys.map(|key| format!("{key} = {{}}\n")).collect::<String>());
    }
    let path = dir.path().join("config.toml");
    fs::write(&path, &config).unwrap();
    let output = run(&dir, &["plan", "--from", "$TMP", "--config", path.to_str().unwrap()]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("and got a table"), "{errors}");
    let unknown: Vec<&str> = errors.lines().filter(|line| line.contains("unknown key")).collect();
    assert_eq!(unknown, [""; 0], "{config}");
}

#[test]
fn every_key_that_the_config_knows_is_in_its_schema() {
    let checks = trueup_checks::registry::entries();
    let schema = schema("config");
    for entry in checks {
        let table = &schema["properties"]["domains"]["properties"][entry.name.0]["properties"];
        let keys: Vec<&String> = table.as_object().unwrap_or_else(|| panic!("{}", entry.name.0)).keys().collect();
        let mut known = entry.known_keys.to_vec();
        known.sort_unstable();
        assert_eq!(keys, known, "{}", entry.name.0);
    }
}

#[test]
fn fleet_files_of_the_tests_are_valid_and_unknown_keys_are_not() {
    let fleet: Value = serde_saphyr::from_str(FLEET).unwrap();
    assert_eq!(violations("fleet", &fleet), [""; 0]);
    for text in ["clustres: {}", "clusters: { a: { clas: prod } }", "clusters: { a: { class: test } }"] {
        let fleet: Value = serde_saphyr::from_str(text).unwrap();
        assert!(!violations("fleet", &fleet).is_empty(), "{text}");
    }
}
