//! Bytes become [`RawObject`]s, straight into the parts projections may see.
//!
//! Always true:
//! - `managedFields` and annotations that carry whole objects are skipped, not stored;
//! - a Secret's values are read as length and digest and dropped inside the deserializer;
//! - an error says where, never what: serde's own messages quote the value they stumbled over.
//!
//! Not here: asking the server (`observe::list`, `observe::watch`), files (`fleet::snapshot`).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::digest::Digester;
use crate::world::{RawMeta, RawObject, RawOwner};

mod data;
mod list;
#[cfg(test)]
mod tests;

use data::{DataSeed, Encoding};
pub use list::{ListHead, TextList, items, list};

/// Annotations that hold a copy of the whole object, secrets included (CVE-2023-40029): never kept.
const COPIES_OF_THE_OBJECT: [&str; 2] = ["kubectl.kubernetes.io/last-applied-configuration", "kapp.k14s.io/original"];

/// What to expect of an object's `data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSort {
    /// Base64 text: lengths and digests only.
    Secret,
    /// Plain text.
    ConfigMap,
    /// Another kind: its `data`, if any, is a field like any other.
    Other,
}

impl DataSort {
    pub fn of(group: &str, kind: &str) -> Self {
        match (group, kind) {
            ("", "Secret") => Self::Secret,
            ("", "ConfigMap") => Self::ConfigMap,
            _ => Self::Other,
        }
    }
}

/// How to read the objects of one collection.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'r> {
    pub digester: &'r Digester,
    pub sort: DataSort,
    /// Keys of `data` that become digests.
    pub digested: &'r [&'static str],
    /// What list items are when they don't say so themselves (the API leaves it out).
    pub api_version: &'r str,
    pub kind: &'r str,
}

/// The answer does not have the shape it should have. Holds a place, no content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not the JSON it should be (line {line}, column {column})")]
pub struct Undecodable {
    pub line: usize,
    pub column: usize,
}

impl From<serde_json::Error> for Undecodable {
    fn from(error: serde_json::Error) -> Self {
        Self { line: error.line(), column: error.column() }
    }
}

impl<'r> Reader<'r> {
    /// Reads one object.
    ///
    /// # Errors
    /// Not JSON, or not an object with metadata.
    pub fn object<'a>(&self, text: &'a str) -> Result<RawObject<'a>, Undecodable> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let object = ObjectSeed(*self).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(object)
    }
}

/// Reads an object; used for single ones and inside lists.
#[derive(Clone, Copy)]
pub(super) struct ObjectSeed<'r>(pub(super) Reader<'r>);

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = RawObject<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = RawObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let reader = self.0;
        let mut object = RawObject {
            api_version: Cow::Owned(reader.api_version.to_owned()),
            kind: Cow::Owned(reader.kind.to_owned()),
            meta: RawMeta::default(),
            data: Vec::new(),
            fields: Vec::new(),
        };
        while let Some(Text(name)) = map.next_key()? {
            match (name.as_ref(), reader.sort) {
                ("apiVersion", _) => object.api_version = map.next_value::<Text<'de>>()?.0,
                ("kind", _) => object.kind = map.next_value::<Text<'de>>()?.0,
                ("metadata", _) => object.meta = map.next_value::<MetaWire<'de>>()?.0,
                ("data", DataSort::Secret) => {
                    map.next_value_seed(DataSeed::new(&mut object.data, reader, Encoding::Base64))?
                }
                ("stringData", DataSort::Secret) => {
                    map.next_value_seed(DataSeed::new(&mut object.data, reader, Encoding::Plain))?
                }
                ("type" | "immutable", DataSort::Secret) => object.fields.push((name, map.next_value()?)),
                (_, DataSort::Secret) => {
                    map.next_value::<IgnoredAny>()?;
                }
                ("data", DataSort::ConfigMap) => {
                    map.next_value_seed(DataSeed::new(&mut object.data, reader, Encoding::Text))?
                }
                ("binaryData", DataSort::ConfigMap) => {
                    map.next_value_seed(DataSeed::new(&mut object.data, reader, Encoding::Binary))?
                }
                (_, DataSort::ConfigMap | DataSort::Other) => {
                    object.fields.push((name, map.next_value::<&'de RawValue>()?))
                }
            }
        }
        object.data.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(object)
    }
}

/// A string that stays borrowed when it can.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or null")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed("")))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

struct MetaWire<'a>(RawMeta<'a>);

impl<'de> Deserialize<'de> for MetaWire<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetaVisitor;
        impl<'de> Visitor<'de> for MetaVisitor {
            type Value = MetaWire<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("metadata")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut meta = RawMeta::default();
                while let Some(Text(name)) = map.next_key()? {
                    read_meta_field(&name, &mut meta, &mut map)?;
                }
                Ok(MetaWire(meta))
            }
        }
        deserializer.deserialize_map(MetaVisitor)
    }
}

fn read_meta_field<'de, A: MapAccess<'de>>(name: &str, meta: &mut RawMeta<'de>, map: &mut A) -> Result<(), A::Error> {
    match name {
        "name" => meta.name = map.next_value::<Text<'de>>()?.0,
        "namespace" => meta.namespace = map.next_value::<Text<'de>>()?.0,
        "uid" => meta.uid = map.next_value::<Text<'de>>()?.0,
        "resourceVersion" => meta.resource_version = map.next_value::<Text<'de>>()?.0,
        "creationTimestamp" => meta.creation_timestamp = filled(map.next_value::<Text<'de>>()?.0),
        "deletionTimestamp" => meta.deletion_timestamp = filled(map.next_value::<Text<'de>>()?.0),
        "generation" => meta.generation = map.next_value()?,
        "labels" => meta.labels = map.next_value::<PairsWire<'de>>()?.0,
        "annotations" => meta.annotations = map.next_value::<PairsWire<'de>>()?.0,
        "ownerReferences" => meta.owners = map.next_value::<Option<Vec<RawOwner<'de>>>>()?.unwrap_or_default(),
        "finalizers" => {
            let texts = map.next_value::<Option<Vec<Text<'de>>>>()?.unwrap_or_default();
            meta.finalizers = texts.into_iter().map(|text| text.0).collect();
        }
        _ => {
            map.next_value::<IgnoredAny>()?;
        }
    }
    Ok(())
}

fn filled(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    (!text.is_empty()).then_some(text)
}

/// Labels or annotations, without those that hold a copy of the object.
struct PairsWire<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'de> Deserialize<'de> for PairsWire<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = PairsWire<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of strings")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(PairsWire(Vec::new()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(Text(key)) = map.next_key()? {
                    if COPIES_OF_THE_OBJECT.contains(&key.as_ref()) {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        pairs.push((key, map.next_value::<Text<'de>>()?.0));
                    }
                }
                Ok(PairsWire(pairs))
            }
        }
        deserializer.deserialize_any(PairsVisitor)
    }
}
