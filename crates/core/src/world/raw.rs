//! One object as it came over the wire, borrowed from the buffer it was read into, for a projection to pick from.
//!
//! Invariants:
//! - the last-applied annotation is not in it, and `managedFields` is there undecoded, for [`super::ManagedBy`] and
//!   [`super::TrackedField`] alone;
//! - of a Secret it holds key names, lengths and keyed digests: [`RawObject::field`] has no `data` to give. The value of
//!   a key is there only while the object is projected, when a fact names the key in
//!   [`REDUCED_KEYS`](super::Fact::REDUCED_KEYS), and is wiped with it.
//!
//! Elsewhere: reading bytes (`observe::decode`).

use std::borrow::Cow;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

/// An object's parts, as far as projections may see them.
#[derive(Debug)]
pub struct RawObject<'a> {
    pub api_version: Cow<'a, str>,
    pub kind: Cow<'a, str>,
    pub meta: RawMeta<'a>,
    /// Entries of `data`, `binaryData` (and `stringData` in files) of Secrets and ConfigMaps, sorted by key.
    pub data: Vec<DataEntry<'a>>,
    /// The other top-level fields, not decoded yet.
    pub fields: Vec<(Cow<'a, str>, RawField<'a>)>,
}

/// A field as it came.
#[derive(Debug, Clone, Copy)]
pub enum RawField<'a> {
    Json(&'a RawValue),
    /// Of a protobuf message.
    Text(&'a str),
    Boolean(bool),
}

/// The part of `metadata` that judgements use.
#[derive(Debug, Default)]
pub struct RawMeta<'a> {
    pub name: Cow<'a, str>,
    pub namespace: Cow<'a, str>,
    pub uid: Cow<'a, str>,
    pub resource_version: Cow<'a, str>,
    pub creation_timestamp: Option<Cow<'a, str>>,
    pub deletion_timestamp: Option<Cow<'a, str>>,
    pub generation: Option<i64>,
    pub labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub annotations: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub owners: Vec<RawOwner<'a>>,
    pub finalizers: Vec<Cow<'a, str>>,
    /// `managedFields`, which is read only where another tool manages the object or a fact tracks fields.
    pub managed_fields: Option<RawManagedFields<'a>>,
}

/// Who owns which fields, as it came.
#[derive(Debug)]
pub enum RawManagedFields<'a> {
    /// The whole list as JSON text.
    Json(&'a str),
    /// The entries of a protobuf message.
    Entries(Vec<RawManagedEntry<'a>>),
}

/// One field manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawManagedEntry<'a> {
    pub manager: &'a str,
    pub subresource: &'a str,
    /// When it wrote last, in seconds since 1970.
    pub second: Option<i64>,
    /// `fieldsV1`: JSON in either encoding.
    pub fields: &'a [u8],
}

/// An owner reference.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawOwner<'a> {
    #[serde(borrow, default)]
    pub api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub uid: Cow<'a, str>,
    #[serde(default)]
    pub controller: Option<bool>,
    #[serde(default)]
    pub block_owner_deletion: Option<bool>,
}

/// One key of a Secret's or ConfigMap's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataEntry<'a> {
    pub key: Cow<'a, str>,
    /// Length of the value in bytes (decoded, for Secrets).
    pub length: u32,
    /// Present for the keys the interest named.
    pub digest: Option<Digest>,
    /// The text of a ConfigMap's named key. Never set for Secrets.
    pub text: Option<Cow<'a, str>>,
    /// The bytes of a Secret's key that a fact reduces. Absent for other keys, and where the value is no base64.
    pub bytes: Option<SecretBytes>,
}

/// A secret value on its way through a projection: it can be looked at and not kept, and is wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Makes something of the value. Every call of this is a place where a secret could get out.
    pub fn reduce<T>(&self, reduce: impl FnOnce(&[u8]) -> T) -> T {
        reduce(&self.0)
    }
}

impl std::fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretBytes(…)")
    }
}

/// 128 bits of a keyed hash. The key lives in memory for one run, so a digest means nothing outside it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 16]);

impl std::fmt::Debug for Digest {
    /// Prints nothing of the digest: it must not reach logs, plans or the journal.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digest(…)")
    }
}

/// An object that does not have the shape its kind promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {what}")]
pub struct Misfit {
    /// `Secret openshift-config/x`, as far as it could be read.
    pub object: String,
    /// What does not fit. Holds no value from the object.
    pub what: String,
}

impl<'a> RawObject<'a> {
    /// Decodes one top-level field, or its default when the field is absent or null.
    ///
    /// # Errors
    /// The field has another shape. The message names the field and the place, never its content.
    pub fn field<T: Deserialize<'a> + Default>(&self, name: &str) -> Result<T, Misfit> {
        let Some((_, raw)) = self.fields.iter().find(|(field, _)| field == name) else {
            return Ok(T::default());
        };
        raw.decode().map_err(|place| self.misfit(format!("field {name} has another shape{place}")))
    }

    /// Length of all text a projection can see: what a fact keeps of the object is hardly more.
    pub fn text_len(&self) -> usize {
        let Self { api_version: _, kind: _, meta, data, fields } = self;
        let entry = |entry: &DataEntry<'_>| {
            let seen =
                entry.text.as_ref().map_or(0, |text| text.len()) + entry.bytes.as_ref().map_or(0, SecretBytes::len);
            entry.key.len() + seen
        };
        let data: usize = data.iter().map(entry).sum();
        meta.text_len() + data + fields.iter().map(|(name, raw)| name.len() + raw.text_len()).sum::<usize>()
    }

    pub fn entry(&self, key: &str) -> Option<&DataEntry<'a>> {
        self.data.iter().find(|entry| entry.key == key)
    }

    pub fn misfit(&self, what: impl Into<String>) -> Misfit {
        Misfit { object: self.describe(), what: what.into() }
    }

    /// `Secret openshift-config/x`.
    pub fn describe(&self) -> String {
        let (kind, meta) = (&self.kind, &self.meta);
        match meta.namespace.as_ref() {
            "" => format!("{kind} {}", meta.name),
            namespace => format!("{kind} {namespace}/{}", meta.name),
        }
    }
}

impl<'a> RawField<'a> {
    /// Decodes the field, or gives its default when it is null.
    ///
    /// # Errors
    /// The field has another shape: the place where that shows, never its content.
    fn decode<T: Deserialize<'a> + Default>(&self) -> Result<T, String> {
        let decoded = match self {
            Self::Json(raw) => serde_json::from_str::<Option<T>>(raw.get())
                .map_err(|error| format!(" (line {}, column {})", error.line(), error.column()))?,
            Self::Text(_) | Self::Boolean(_) => Option::<T>::deserialize(*self).map_err(|_| String::new())?,
        };
        Ok(decoded.unwrap_or_default())
    }

    fn text_len(&self) -> usize {
        match self {
            Self::Json(raw) => raw.get().len(),
            Self::Text(text) => text.len(),
            Self::Boolean(_) => 0,
        }
    }
}

/// Decodes the fields that came as protobuf; JSON has a deserializer of its own.
impl<'de> Deserializer<'de> for RawField<'de> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Json(raw) => visitor.visit_borrowed_str(raw.get()),
            Self::Text(text) => visitor.visit_borrowed_str(text),
            Self::Boolean(is_set) => visitor.visit_bool(is_set),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl RawMeta<'_> {
    pub fn label(&self, key: &str) -> Option<&str> {
        find(&self.labels, key)
    }

    pub fn annotation(&self, key: &str) -> Option<&str> {
        find(&self.annotations, key)
    }

    fn text_len(&self) -> usize {
        let pairs = |pairs: &[(Cow<'_, str>, Cow<'_, str>)]| {
            pairs.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>()
        };
        let owner =
            |owner: &RawOwner<'_>| owner.api_version.len() + owner.kind.len() + owner.name.len() + owner.uid.len();
        let named = self.name.len() + self.namespace.len() + self.uid.len() + self.resource_version.len();
        let listed =
            self.owners.iter().map(owner).sum::<usize>() + self.finalizers.iter().map(|text| text.len()).sum::<usize>();
        named + listed + pairs(&self.labels) + pairs(&self.annotations)
    }
}

fn find<'p>(pairs: &'p [(Cow<'_, str>, Cow<'_, str>)], key: &str) -> Option<&'p str> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_ref())
}
