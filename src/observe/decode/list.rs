//! Lists: many objects in one answer, handed on one by one.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{ObjectSeed, Reader, Text, Undecodable};
use crate::world::RawObject;

/// The head of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListHead {
    #[serde(default)]
    pub resource_version: String,
    #[serde(default, rename = "continue")]
    pub continue_token: String,
    #[serde(default)]
    pub remaining_item_count: Option<u64>,
}

/// Reads a list, handing each object to `each` as it is met, and returns the head.
///
/// # Errors
/// The whole list is refused when any part of it has another shape; [`items`] reads such a list object by object.
pub fn list(reader: Reader<'_>, body: &[u8], each: &mut dyn FnMut(&RawObject<'_>)) -> Result<ListHead, Undecodable> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let head = ListSeed { reader, each }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(head)
}

struct ListSeed<'r, 'e> {
    reader: Reader<'r>,
    each: &'e mut dyn FnMut(&RawObject<'_>),
}

impl<'de> DeserializeSeed<'de> for ListSeed<'_, '_> {
    type Value = ListHead;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ListHead, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_, '_> {
    type Value = ListHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListHead, A::Error> {
        let mut head = None;
        let mut items = false;
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "metadata" => head = Some(map.next_value()?),
                "items" => {
                    items = true;
                    map.next_value_seed(ItemsSeed { reader: self.reader, each: &mut *self.each })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // A 200 without items is no list: reading it as an empty one would prove an absence nobody stated.
        if !items {
            return Err(serde::de::Error::missing_field("items"));
        }
        head.ok_or_else(|| serde::de::Error::missing_field("metadata"))
    }
}

struct ItemsSeed<'r, 'e> {
    reader: Reader<'r>,
    each: &'e mut dyn FnMut(&RawObject<'_>),
}

impl<'de> DeserializeSeed<'de> for ItemsSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemsSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    /// Go writes an empty list as null.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(object) = seq.next_element_seed(ObjectSeed(self.reader))? {
            (self.each)(&object);
        }
        Ok(())
    }
}

/// A list whose items are still text, for lists in which one object has another shape than its kind promises.
#[derive(Debug, Deserialize)]
pub struct TextList<'a> {
    pub metadata: ListHead,
    #[serde(borrow, deserialize_with = "null_is_empty")]
    pub items: Vec<&'a RawValue>,
}

/// Reads the frame of a list alone.
///
/// # Errors
/// Not JSON, or no list.
pub fn items(body: &[u8]) -> Result<TextList<'_>, Undecodable> {
    Ok(serde_json::from_slice(body)?)
}

/// Go writes an empty list as null; a list without the field is no list.
fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<&'de RawValue>, D::Error> {
    Ok(Option::<Vec<&'de RawValue>>::deserialize(deserializer)?.unwrap_or_default())
}
