//! One object as it came over the wire, borrowed from the buffer it was read into, for a projection to pick from.
//!
//! Invariants:
//! - the last-applied annotation is not in it, and `managedFields` is there as text, for [`super::ManagedBy`] alone;
//! - of a Secret it holds key names, lengths and keyed digests: [`RawObject::field`] has no `data` to give. The value of
//!   a key is there only while the object is projected, when a fact names the key in
//!   [`REDUCED_KEYS`](super::Fact::REDUCED_KEYS), and is wiped with it.
//!
//! Elsewhere: reading bytes (`observe::decode`).

use std::borrow::Cow;

use serde::Deserialize;
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
    /// The other top-level fields, still as JSON text.
    pub fields: Vec<(Cow<'a, str>, &'a RawValue)>,
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
    /// The JSON text of `managedFields`, which is read only where another tool manages the object.
    pub managed_fields: Option<&'a str>,
}

/// An owner reference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
        serde_json::from_str::<Option<T>>(raw.get()).map(Option::unwrap_or_default).map_err(|error| {
            self.misfit(format!("field {name} has another shape (line {}, column {})", error.line(), error.column()))
        })
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
        meta.text_len() + data + fields.iter().map(|(name, raw)| name.len() + raw.get().len()).sum::<usize>()
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
