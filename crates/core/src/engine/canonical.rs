//! One spelling for every JSON value, so that equal content has equal bytes and an id can be taken over it.
//!
//! Invariants:
//! - keys are sorted bytewise, there is no whitespace, and numbers are integers;
//! - a number that is no integer is an error: two programs may print the same fraction differently.

mod direct;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A value that has no single spelling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {number} is not an integer, and a plan holds integers only")]
pub struct NotCanonical {
    /// JSON pointer to the number.
    pub place: String,
    pub number: String,
}

/// The canonical text of a value.
///
/// # Errors
/// A number in it is not an integer.
pub fn canonical_text(value: &Value) -> Result<String, NotCanonical> {
    let mut text = String::new();
    write_value(value, &mut Vec::new(), &mut text)?;
    Ok(text)
}

/// `sha256:<hex>` over the canonical text of a value.
///
/// # Errors
/// A number in it is not an integer.
pub fn canonical_digest(value: &Value) -> Result<String, NotCanonical> {
    Ok(digest(canonical_text(value)?.as_bytes()))
}

/// The same over anything that has a JSON form, without making a tree of it.
///
/// # Errors
/// A number in it is not an integer.
///
/// # Assumes
/// The value has a JSON form at all: the keys of its maps are text.
pub fn canonical_digest_of<T: Serialize + ?Sized>(value: &T) -> Result<String, NotCanonical> {
    Ok(digest(&canonical_bytes(value)?))
}

/// The canonical text of anything that has a JSON form.
///
/// # Errors
/// A number in it is not an integer.
///
/// # Assumes
/// The value has a JSON form at all: the keys of its maps are text.
pub fn canonical_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, NotCanonical> {
    direct::text(value).or_else(|direct::NotDirect| {
        // The tree knows the place of a fraction, and spells whatever else is rare.
        let tree = serde_json::to_value(value).expect("the value is made of JSON values and text keys");
        canonical_text(&tree).map(String::into_bytes)
    })
}

fn digest(text: &[u8]) -> String {
    hex(Sha256::digest(text))
}

fn hex(digest: impl IntoIterator<Item = u8>) -> String {
    let mut text = String::from("sha256:");
    for byte in digest {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text
}

/// The digest of an object whose members are given one after another, so that its text is never held as a whole.
pub struct ObjectDigest {
    hash: Sha256,
    last: Option<&'static str>,
}

/// A list among the members of an [`ObjectDigest`].
pub struct ListDigest<'d> {
    hash: &'d mut Sha256,
    name: &'static str,
    items: usize,
}

impl ObjectDigest {
    pub fn new() -> Self {
        Self { hash: Sha256::new_with_prefix("{"), last: None }
    }

    /// Adds a member.
    ///
    /// # Errors
    /// A number in it is not an integer.
    ///
    /// # Panics
    /// The members are not given in the order of their names.
    pub fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NotCanonical> {
        self.name(name);
        self.hash.update(canonical_bytes(value).map_err(|error| error.below(name))?);
        Ok(())
    }

    /// Adds a list whose items `fill` gives.
    ///
    /// # Errors
    /// That of `fill`.
    ///
    /// # Panics
    /// As [`Self::member`].
    pub fn list(
        &mut self,
        name: &'static str,
        fill: impl FnOnce(&mut ListDigest<'_>) -> Result<(), NotCanonical>,
    ) -> Result<(), NotCanonical> {
        self.name(name);
        self.hash.update("[");
        fill(&mut ListDigest { hash: &mut self.hash, name, items: 0 })?;
        self.hash.update("]");
        Ok(())
    }

    /// `sha256:<hex>`
    pub fn finish(mut self) -> String {
        self.hash.update("}");
        hex(self.hash.finalize())
    }

    fn name(&mut self, name: &'static str) {
        assert!(self.last < Some(name), "{name} comes before {:?}", self.last);
        if self.last.replace(name).is_some() {
            self.hash.update(",");
        }
        self.hash.update(format!("{name:?}:"));
    }
}

impl ListDigest<'_> {
    /// Adds an item as [`canonical_bytes`] gives it.
    ///
    /// # Errors
    /// The item has no canonical text.
    pub fn item(&mut self, text: Result<Vec<u8>, NotCanonical>) -> Result<(), NotCanonical> {
        let text = text.map_err(|error| error.below(&self.items.to_string()).below(self.name))?;
        if self.items > 0 {
            self.hash.update(",");
        }
        self.hash.update(text);
        self.items += 1;
        Ok(())
    }
}

impl NotCanonical {
    /// The same number, seen from the value that holds this one under a key or index that needs no escaping.
    fn below(self, step: &str) -> Self {
        Self { place: format!("/{step}{}", self.place), ..self }
    }
}

fn write_value<'v>(value: &'v Value, place: &mut Vec<Step<'v>>, out: &mut String) -> Result<(), NotCanonical> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::String(text) => write_text(text, out),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            write!(out, "{number}").expect("writing to a string cannot fail");
        }
        Value::Number(number) => {
            return Err(NotCanonical { place: pointer(place), number: number.to_string() });
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, out);
                step(item, Step::Index(index), place, out)?;
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                separate(index, out);
                write_text(key, out);
                out.push(':');
                step(item, Step::Key(key), place, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// One step of the way from the top to a value.
enum Step<'v> {
    Index(usize),
    Key(&'v str),
}

fn step<'v>(item: &'v Value, next: Step<'v>, place: &mut Vec<Step<'v>>, out: &mut String) -> Result<(), NotCanonical> {
    place.push(next);
    write_value(item, place, out)?;
    place.pop();
    Ok(())
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("a string is always JSON"));
}

fn pointer(place: &[Step<'_>]) -> String {
    place.iter().fold(String::new(), |mut text, step| {
        match step {
            Step::Index(index) => write!(text, "/{index}"),
            Step::Key(key) => write!(text, "/{}", key.replace('~', "~0").replace('/', "~1")),
        }
        .expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn keys_are_sorted_bytewise_and_nothing_is_spaced() {
        let value = json!({ "b": [1, -2, 18446744073709551615u64], "a": { "é": null, "z": "x\n\"" }, "B": true });
        assert_eq!(
            canonical_text(&value).unwrap(),
            r#"{"B":true,"a":{"z":"x\n\"","é":null},"b":[1,-2,18446744073709551615]}"#
        );
    }

    #[test]
    fn the_digest_is_the_sha256_of_the_text() {
        // echo -n '{}' | sha256sum
        let expected = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(canonical_digest(&json!({})).unwrap(), expected);
    }

    #[test]
    fn a_fraction_is_refused_with_its_place() {
        let cases = [
            ("a fraction", json!({ "a/b": [0, { "c": 1.5 }] }), "/a~1b/1/c"),
            ("a whole number written as a fraction", json!([1.0]), "/0"),
        ];
        for (case, value, place) in cases {
            assert_eq!(canonical_text(&value).unwrap_err().place, place, "case: {case}");
        }
    }

    /// Fields in no order, and every form serde knows that JSON has a spelling for.
    #[derive(Serialize)]
    struct Mixed {
        zeta: (u8, char),
        alpha: Option<String>,
        middle: BTreeMap<&'static str, Shape>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        empty: Vec<u8>,
        beta: Vec<Shape>,
    }

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(i8),
        Tuple(u8, ()),
        Struct { z: bool, a: Option<u8> },
    }

    #[test]
    fn every_form_of_a_typed_value_is_written_like_its_tree() {
        let shapes = || vec![Shape::Unit, Shape::New(-3), Shape::Tuple(1, ()), Shape::Struct { z: true, a: None }];
        let mixed = Mixed {
            zeta: (9, 'é'),
            alpha: Some("x\u{1b}\"".to_owned()),
            middle: [("b\"", Shape::Struct { z: false, a: Some(1) }), ("a", Shape::Unit)].into(),
            empty: Vec::new(),
            beta: shapes(),
        };
        let tree = serde_json::to_value(&mixed).unwrap();
        assert_eq!(direct::text(&mixed).unwrap(), canonical_text(&tree).unwrap().into_bytes());
        assert_eq!(canonical_digest_of(&mixed).unwrap(), canonical_digest(&tree).unwrap());
    }

    #[test]
    fn a_fraction_in_a_typed_value_is_refused_with_its_place() {
        let cases = [("a fraction", Some(1.5), Err("/0/1".to_owned())), ("none", None, Ok(()))];
        for (case, number, expected) in cases {
            let outcome = canonical_digest_of(&[(1, number)]).map(drop).map_err(|error| error.place);
            assert_eq!(outcome, expected, "case: {case}");
        }
    }

    #[test]
    fn an_object_given_in_parts_has_the_digest_of_the_whole() {
        let whole = json!({ "a": [], "b": [1, { "z": "x\n" }, null], "c": { "y": 1, "x": [2] } });
        let mut digest = ObjectDigest::new();
        digest.list("a", |_| Ok(())).unwrap();
        let fill = |list: &mut ListDigest<'_>| {
            whole["b"].as_array().unwrap().iter().try_for_each(|item| list.item(canonical_bytes(item)))
        };
        digest.list("b", fill).unwrap();
        digest.member("c", &whole["c"]).unwrap();
        assert_eq!(digest.finish(), canonical_digest(&whole).unwrap());
        assert_eq!(ObjectDigest::new().finish(), canonical_digest(&json!({})).unwrap());
        let fraction =
            |list: &mut ListDigest<'_>| [1.0, 1.5].iter().try_for_each(|one| list.item(canonical_bytes(one)));
        assert_eq!(ObjectDigest::new().list("a", fraction).unwrap_err().place, "/a/0");
        assert_eq!(ObjectDigest::new().member("a", &[(1, 1.5)]).unwrap_err().place, "/a/0/1");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..4).prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn reading_canonical_text_gives_the_value_back(value in any_value()) {
            let text = canonical_text(&value).unwrap();
            let again: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical_text(&again).unwrap(), text);
            prop_assert_eq!(again, value);
        }

        #[test]
        fn writing_directly_gives_the_text_of_the_tree(value in any_value()) {
            let text = canonical_text(&value).unwrap();
            prop_assert_eq!(direct::text(&value).unwrap(), text.into_bytes());
        }
    }
}
