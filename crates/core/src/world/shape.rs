//! A JSON object, as opposed to every other JSON value.
//!
//! Serde's derived structs read a list as their fields in order, so that `"spec": ["x"]` would pass for a spec that
//! asks for little. What a projection reads as a struct it wraps in [`Obj`], or reads with one of the functions here
//! (`deserialize_with`), for which null is the same as absent.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A struct that is read from an object, or is its default where JSON says null. A list is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Obj<T>(pub T);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Obj<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjVisitor(PhantomData))
    }
}

struct ObjVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjVisitor<T> {
    type Value = Obj<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Obj(T::default()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Obj)
    }
}

/// Reads an object into a struct; null is its default.
///
/// # Errors
/// It is another JSON value.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Obj::deserialize(from).map(|Obj(value)| value)
}

/// Reads an object that may be absent, where absent is not the same as empty.
///
/// # Errors
/// It is another JSON value.
pub fn optional_object<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Option::<Obj<T>>::deserialize(from).map(|value| value.map(|Obj(value)| value))
}

/// Reads a list of objects.
///
/// # Errors
/// It is another JSON value.
pub fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<Vec<T>, D::Error> {
    optional_objects(from).map(Option::unwrap_or_default)
}

/// Reads a list of objects that may be absent, where absent is not the same as empty.
///
/// # Errors
/// It is another JSON value.
pub fn optional_objects<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let list = Option::<Vec<Obj<T>>>::deserialize(from)?;
    Ok(list.map(|list| list.into_iter().map(|Obj(value)| value).collect()))
}

/// Reads a value whose default stands for null: a text, a number, a flag.
///
/// # Errors
/// It is another JSON value.
pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug, Default, PartialEq)]
    #[serde(default)]
    struct Spec {
        name: Option<String>,
    }

    #[test]
    fn only_an_object_or_null_is_read_as_a_struct() {
        let named = Spec { name: Some("x".to_owned()) };
        let cases = [
            (r#"{"name":"x"}"#, Some(named)),
            ("{}", Some(Spec::default())),
            ("null", Some(Spec::default())),
            (r#"["x"]"#, None),
            ("[]", None),
            (r#""x""#, None),
            ("5", None),
            ("true", None),
        ];
        for (text, expected) in cases {
            let read: Option<Obj<Spec>> = serde_json::from_str(text).ok();
            assert_eq!(read.map(|object| object.0), expected, "{text}");
        }
    }
}
