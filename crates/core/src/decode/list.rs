//! Lists: many objects in one answer, handed on one by one.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use super::cursor::Cursor;
use super::{Reader, Undecodable};
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
    /// The list's own kind, which stands beside its metadata. Empty when the list does not say.
    #[serde(skip)]
    pub kind: String,
}

/// Reads a list, handing each object to `each` as it is met, and returns the head.
///
/// # Errors
/// The whole list is refused when any part of it has another shape; [`items`] reads such a list object by object.
pub fn list<'a>(
    reader: Reader<'a>,
    body: &'a [u8],
    each: &mut dyn FnMut(&RawObject<'_>),
) -> Result<ListHead, Undecodable> {
    let text = std::str::from_utf8(body).map_err(|_| Undecodable { line: 1, column: 1 })?;
    let mut cursor = Cursor::new(text);
    let (mut head, mut items, mut kind) = (None::<ListHead>, false, String::new());
    cursor.fields(|cursor, name| {
        match name.as_ref() {
            "metadata" => head = Some(serde_json::from_str(cursor.skip()?)?),
            "kind" => kind = cursor.string_or_null()?.unwrap_or_default().into_owned(),
            "items" => {
                items = true;
                read_items(cursor, reader, each)?;
            }
            _ => {
                cursor.skip()?;
            }
        }
        Ok(())
    })?;
    // A 200 without items is not a list: reading it as an empty one would prove an absence the server did not state.
    let head = head.filter(|_| items).ok_or_else(|| cursor.bad())?;
    cursor.end()?;
    Ok(ListHead { kind, ..head })
}

fn read_items<'a>(
    cursor: &mut Cursor<'a>,
    reader: Reader<'a>,
    each: &mut dyn FnMut(&RawObject<'_>),
) -> Result<(), Undecodable> {
    // Go writes an empty list as null.
    if cursor.null() {
        return Ok(());
    }
    cursor.items(|cursor| {
        each(&reader.read(cursor)?);
        Ok(())
    })
}

/// A list whose items are still text, for lists in which one object has another shape than its kind promises.
#[derive(Debug, Deserialize)]
pub struct TextList<'a> {
    #[serde(default)]
    pub kind: String,
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

/// Go writes an empty list as null; a list without the field is not a list.
fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<&'de RawValue>, D::Error> {
    Ok(Option::<Vec<&'de RawValue>>::deserialize(deserializer)?.unwrap_or_default())
}
