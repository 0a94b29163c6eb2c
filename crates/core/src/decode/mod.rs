//! Bytes become [`RawObject`]s, straight into the parts projections may see.
//!
//! Invariants:
//! - `managedFields` stays unread text, and annotations that carry whole objects are skipped;
//! - a Secret's values are read as length and digest and dropped inside the deserializer, but for the keys a fact reduces:
//!   those live until the object was projected, and are wiped then;
//! - an error says where, never what: serde's own messages quote the value they stumbled over.
//!
//! Elsewhere: asking the server (`observe::list`, `observe::watch`), files (`fleet::snapshot`).

use std::borrow::Cow;

use crate::world::{RawField, RawManagedFields, RawMeta, RawObject, RawOwner};

mod cursor;
mod data;
mod digest;
mod list;
pub mod projection;
mod protobuf;
pub mod recorded;
pub mod recording;
#[cfg(test)]
mod tests;
mod wire;

pub use digest::Digester;

use cursor::Cursor;
use data::{Encoding, read_data};
pub use list::{ListHead, TextList, items, list};
pub use protobuf::{is_protobuf, protobuf_list};
pub use wire::MalformedProtobuf;

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
            // A context of the user's own kubeconfig files holds what lets one in.
            ("", "Secret") | ("local.trueup", "Context") => Self::Secret,
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
    /// Keys of a Secret's `data` whose bytes are handed to the projection.
    pub reduced: &'r [&'static str],
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
    pub fn object<'a>(&self, text: &'a str) -> Result<RawObject<'a>, Undecodable>
    where
        'r: 'a,
    {
        let mut cursor = Cursor::new(text);
        let object = self.read(&mut cursor)?;
        cursor.end()?;
        Ok(object)
    }

    /// An object of the list's kind, before its fields are read.
    fn empty_object<'a>(&self) -> RawObject<'a>
    where
        'r: 'a,
    {
        RawObject {
            api_version: Cow::Borrowed(self.api_version),
            kind: Cow::Borrowed(self.kind),
            meta: RawMeta::default(),
            data: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// Reads the object at the cursor; used for single ones and inside lists.
    fn read<'a>(&self, cursor: &mut Cursor<'a>) -> Result<RawObject<'a>, Undecodable>
    where
        'r: 'a,
    {
        let mut object = self.empty_object();
        cursor.fields(|cursor, name| self.read_field(cursor, name, &mut object))?;
        object.data.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(object)
    }

    fn read_field<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        name: Cow<'a, str>,
        object: &mut RawObject<'a>,
    ) -> Result<(), Undecodable> {
        let data = &mut object.data;
        match (name.as_ref(), self.sort) {
            ("apiVersion", _) => object.api_version = text(cursor)?,
            ("kind", _) => object.kind = text(cursor)?,
            ("metadata", _) => cursor.fields(|cursor, name| read_meta_field(cursor, &name, &mut object.meta))?,
            ("data", DataSort::Secret) => read_data(cursor, *self, Encoding::Base64, data)?,
            ("stringData", DataSort::Secret) => read_data(cursor, *self, Encoding::Plain, data)?,
            ("data", DataSort::ConfigMap) => read_data(cursor, *self, Encoding::Text, data)?,
            ("binaryData", DataSort::ConfigMap) => read_data(cursor, *self, Encoding::Binary, data)?,
            ("type" | "immutable", DataSort::Secret) | (_, DataSort::ConfigMap | DataSort::Other) => {
                object.fields.push((name, RawField::Json(cursor.raw()?)));
            }
            (_, DataSort::Secret) => {
                cursor.skip()?;
            }
        }
        Ok(())
    }
}

fn read_meta_field<'a>(cursor: &mut Cursor<'a>, name: &str, meta: &mut RawMeta<'a>) -> Result<(), Undecodable> {
    match name {
        "name" => meta.name = text(cursor)?,
        "namespace" => meta.namespace = text(cursor)?,
        "uid" => meta.uid = text(cursor)?,
        "resourceVersion" => meta.resource_version = text(cursor)?,
        "creationTimestamp" => meta.creation_timestamp = cursor.string_or_null()?.filter(|text| !text.is_empty()),
        "deletionTimestamp" => meta.deletion_timestamp = cursor.string_or_null()?.filter(|text| !text.is_empty()),
        "generation" => {
            meta.generation = serde_json::from_str(cursor.skip()?).map_err(|_| cursor.bad())?;
        }
        "labels" => meta.labels = pairs(cursor)?,
        "annotations" => meta.annotations = pairs(cursor)?,
        "ownerReferences" => list_of(cursor, &mut meta.owners, read_owner)?,
        "finalizers" => list_of(cursor, &mut meta.finalizers, text)?,
        "managedFields" => meta.managed_fields = Some(RawManagedFields::Json(cursor.skip()?)),
        _ => {
            cursor.skip()?;
        }
    }
    Ok(())
}

fn read_owner<'a>(cursor: &mut Cursor<'a>) -> Result<RawOwner<'a>, Undecodable> {
    let mut owner = RawOwner::default();
    cursor.fields(|cursor, name| {
        match name.as_ref() {
            "apiVersion" => owner.api_version = text(cursor)?,
            "kind" => owner.kind = text(cursor)?,
            "name" => owner.name = text(cursor)?,
            "uid" => owner.uid = text(cursor)?,
            "controller" => owner.controller = serde_json::from_str(cursor.skip()?).map_err(|_| cursor.bad())?,
            "blockOwnerDeletion" => {
                owner.block_owner_deletion = serde_json::from_str(cursor.skip()?).map_err(|_| cursor.bad())?;
            }
            _ => {
                cursor.skip()?;
            }
        }
        Ok(())
    })?;
    Ok(owner)
}

/// A string; null reads as an empty one.
fn text<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Undecodable> {
    Ok(cursor.string_or_null()?.unwrap_or_default())
}

/// Go writes an empty list as null.
fn list_of<'a, T>(
    cursor: &mut Cursor<'a>,
    into: &mut Vec<T>,
    mut read: impl FnMut(&mut Cursor<'a>) -> Result<T, Undecodable>,
) -> Result<(), Undecodable> {
    if cursor.null() {
        return Ok(());
    }
    cursor.items(|cursor| {
        into.push(read(cursor)?);
        Ok(())
    })
}

type TextPairs<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// Labels or annotations, without those that hold a copy of the object.
fn pairs<'a>(cursor: &mut Cursor<'a>) -> Result<TextPairs<'a>, Undecodable> {
    let mut pairs = Vec::new();
    if cursor.null() {
        return Ok(pairs);
    }
    cursor.fields(|cursor, key| {
        if COPIES_OF_THE_OBJECT.contains(&key.as_ref()) {
            cursor.skip()?;
        } else {
            pairs.push((key, text(cursor)?));
        }
        Ok(())
    })?;
    Ok(pairs)
}
