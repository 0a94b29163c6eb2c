//! A validator for the part of JSON Schema 2020-12 that the published schemas use.
//!
//! Invariants: a keyword that is not known is an error, so that nothing in a schema is silently not checked.
//!
//! Elsewhere: validation by an independent implementation (`tests/real/formats`).

use std::path::Path;

use serde_json::{Map, Value};

/// The schema of this name in `docs/schemas`.
pub fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schemas/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What of a value the schema of this name does not allow, each with its JSON pointer.
pub fn violations(name: &str, value: &Value) -> Vec<String> {
    let root = schema(name);
    let mut found = Vec::new();
    Validator { root: &root }.check(&root, value, "", &mut found);
    found
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let Value::Object(keywords) = schema else { return assert_eq!(*schema, Value::Bool(true), "{at}") };
        for (keyword, wants) in keywords {
            self.keyword(keywords, (keyword, wants), value, at, found);
        }
    }

    fn keyword(
        &self,
        all: &Map<String, Value>,
        (keyword, wants): (&str, &Value),
        value: &Value,
        at: &str,
        found: &mut Vec<String>,
    ) {
        let mut require = |holds: bool| {
            if !holds {
                found.push(format!("{at}: {value} breaks {keyword} {wants}"));
            }
        };
        match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = wants.as_str().unwrap().trim_start_matches('#');
                self.check(self.root.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")), value, at, found);
            }
            "type" => require(types(wants).any(|name| is_of(value, name))),
            "const" => require(value == wants),
            "enum" => require(wants.as_array().unwrap().contains(value)),
            "pattern" => require(value.as_str().is_none_or(|text| matches(wants.as_str().unwrap(), text))),
            "minimum" => require(value.as_i64().is_none_or(|number| number >= wants.as_i64().unwrap())),
            "maximum" => require(value.as_i64().is_none_or(|number| number <= wants.as_i64().unwrap())),
            "required" => {
                let names = wants.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                require(value.as_object().is_none_or(|members| names.clone().all(|name| members.contains_key(name))));
            }
            "oneOf" => {
                let options = wants.as_array().unwrap().iter();
                let fits = |option: &&Value| {
                    let mut violations = Vec::new();
                    self.check(option, value, at, &mut violations);
                    violations.is_empty()
                };
                require(options.filter(fits).count() == 1);
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(wants, item, &format!("{at}/{index}"), found);
                }
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wants.get(name) {
                        self.check(schema, member, &format!("{at}/{name}"), found);
                    }
                }
            }
            "propertyNames" => {
                for (name, _) in value.as_object().into_iter().flatten() {
                    self.check(wants, &Value::from(name.as_str()), &format!("{at}/{name}"), found);
                }
            }
            "additionalProperties" => {
                let known = |name: &str| all.get("properties").is_some_and(|known| known.get(name).is_some());
                for (name, member) in value.as_object().into_iter().flatten().filter(|(name, _)| !known(name)) {
                    match wants {
                        Value::Bool(false) => found.push(format!("{at}/{name}: unknown key")),
                        schema => self.check(schema, member, &format!("{at}/{name}"), found),
                    }
                }
            }
            other => panic!("the keyword {other} of a schema is not checked"),
        }
    }
}

fn types(wants: &Value) -> impl Iterator<Item = &str> {
    let many = wants.as_array().into_iter().flatten().filter_map(Value::as_str);
    many.chain(wants.as_str())
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).unwrap().is_match(text)
}
