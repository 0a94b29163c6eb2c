//! Tracked fields of an object: the value as it may be shown, and the field manager that wrote it last.
//!
//! Invariants:
//! - of `managedFields` only the writers of tracked fields are kept, and nothing of a value that is secret: data is its
//!   length, and its digest where a fact compares it;
//! - what cannot be read is not known, and never spoils the object.
//!
//! Elsewhere: comparing two states (`object_edit`), field managers of other tools (`managed_by`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::fact::Interner;
use super::raw::{Digest, RawField, RawManagedEntry, RawManagedFields, RawObject};

/// Characters of a text that are kept.
const TEXT_CHARS_MAX: usize = 60;

/// A field whose changes are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackedField {
    /// What changes of it are called: `oidcProviders`.
    pub name: &'static str,
    /// The names on the way to it, `data` and a key for an entry of a Secret or ConfigMap.
    pub path: &'static [&'static str],
}

/// The value of a tracked field.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FieldValue {
    Absent,
    Text(Box<str>),
    /// A list or a map: how many entries, and a hash that tells contents apart.
    Entries {
        count: u32,
        hash: u64,
    },
    /// An entry of data, never its content.
    Data {
        bytes: u32,
        /// Means nothing outside this run.
        #[serde(skip)]
        digest: Option<Digest>,
    },
}

/// A field manager, and when it wrote last.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Writer {
    pub manager: Arc<str>,
    /// Seconds since 1970; a third of the size of an optional [`Timestamp`].
    second: i64,
}

/// The tracked fields of one object.
#[derive(Debug)]
pub(super) struct Tracked {
    /// In the order of [`super::Fact::TRACKED`].
    pub fields: Box<[(FieldValue, Option<Writer>)]>,
    /// The latest writer of anything but the status.
    pub newest: Option<Writer>,
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("unset"),
            Self::Text(text) => f.write_str(text),
            Self::Entries { count, .. } => write!(f, "{count}"),
            Self::Data { bytes, .. } => write!(f, "<{bytes} bytes>"),
        }
    }
}

impl Writer {
    pub fn new(manager: Arc<str>, at: Option<Timestamp>) -> Self {
        Self { manager, second: at.map_or(i64::MIN, Timestamp::as_second) }
    }

    /// When it wrote last, to the second.
    pub fn at(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.second).ok()
    }
}

impl Tracked {
    /// Reads the tracked fields; nothing for a fact without any.
    pub fn of(raw: &RawObject<'_>, tracked: &[TrackedField], pool: &mut Interner) -> Option<Box<Self>> {
        if tracked.is_empty() {
            return None;
        }
        let entries = raw.meta.managed_fields.as_ref().map(read_entries).unwrap_or_default();
        let mut writer = |entry: Option<&Entry<'_>>| entry.map(|one| Writer::new(pool.text(&one.manager), one.at));
        let field = |field: &TrackedField| {
            let owners = entries.iter().filter(|entry| entry.owns(field.path));
            (value(raw, field.path), owners.max_by_key(|entry| entry.at))
        };
        let fields: Vec<_> = tracked.iter().map(field).collect();
        let own = entries.iter().filter(|entry| entry.subresource.is_empty());
        let newest = writer(own.max_by_key(|entry| entry.at));
        let fields = fields.into_iter().map(|(value, owner)| (value, writer(owner))).collect();
        Some(Box::new(Self { fields, newest }))
    }

    /// Bytes beside those of the object's text.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.fields.len() * size_of::<(FieldValue, Option<Writer>)>()
    }
}

/// One field manager's entry, its fields still text.
struct Entry<'a> {
    manager: Cow<'a, str>,
    subresource: Cow<'a, str>,
    at: Option<Timestamp>,
    fields: &'a str,
}

#[derive(Deserialize)]
struct EntryWire<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "fieldsV1")]
    fields: Option<&'a RawValue>,
}

/// The children of a JSON object, still text.
type Children<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

impl Entry<'_> {
    /// Whether it lists the field, or all of something it is in.
    fn owns(&self, path: &[&str]) -> bool {
        let mut fields = self.fields;
        for name in path {
            let Ok(children) = serde_json::from_str::<Children<'_>>(fields) else { return false };
            match children.iter().find(|(key, _)| key.strip_prefix("f:") == Some(name)) {
                Some((_, child)) => fields = child.get(),
                None => return false,
            }
            if fields == "{}" {
                return true;
            }
        }
        true
    }
}

fn read_entries<'a>(raw: &'a RawManagedFields<'_>) -> Vec<Entry<'a>> {
    match raw {
        RawManagedFields::Json(text) => {
            let entries = serde_json::from_str::<Option<Vec<EntryWire<'a>>>>(text).ok().flatten().unwrap_or_default();
            let entry = |wire: EntryWire<'a>| Entry {
                manager: wire.manager,
                subresource: wire.subresource,
                at: wire.time.and_then(|time| time.parse().ok()),
                fields: wire.fields.map_or("", RawValue::get),
            };
            entries.into_iter().map(entry).collect()
        }
        RawManagedFields::Entries(entries) => {
            let entry = |entry: &'a RawManagedEntry<'_>| Entry {
                manager: Cow::Borrowed(entry.manager),
                subresource: Cow::Borrowed(entry.subresource),
                at: entry.second.and_then(|second| Timestamp::from_second(second).ok()),
                fields: std::str::from_utf8(entry.fields).unwrap_or_default(),
            };
            entries.iter().map(entry).collect()
        }
    }
}

/// The value at a path, without decoding what is beside it.
fn value(raw: &RawObject<'_>, path: &[&str]) -> FieldValue {
    if let ["data", key] = path
        && let Some(entry) = raw.entry(key)
    {
        return FieldValue::Data { bytes: entry.length, digest: entry.digest };
    }
    let Some((first, rest)) = path.split_first() else { return FieldValue::Absent };
    let Some((_, field)) = raw.fields.iter().find(|(name, _)| name == first) else { return FieldValue::Absent };
    match field {
        RawField::Json(json) => json_value(json.get(), rest),
        RawField::Text(text) => FieldValue::Text(shortened(text)),
        RawField::Boolean(is_set) => FieldValue::Text(is_set.to_string().into()),
    }
}

fn json_value(mut json: &str, path: &[&str]) -> FieldValue {
    for name in path {
        let Ok(children) = serde_json::from_str::<Children<'_>>(json) else { return FieldValue::Absent };
        let Some(child) = children.get(*name) else { return FieldValue::Absent };
        json = child.get();
    }
    let count = match json.as_bytes().first() {
        Some(b'"') => {
            return serde_json::from_str::<String>(json).map_or(FieldValue::Absent, |text| {
                if text.is_empty() { FieldValue::Absent } else { FieldValue::Text(shortened(&text)) }
            });
        }
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json).map_or(0, |items| items.len()),
        Some(b'{') => serde_json::from_str::<Children<'_>>(json).map_or(0, |children| children.len()),
        Some(b'n') | None => return FieldValue::Absent,
        Some(_) => return FieldValue::Text(shortened(json)),
    };
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    FieldValue::Entries { count: u32::try_from(count).unwrap_or(u32::MAX), hash: hasher.finish() }
}

fn shortened(text: &str) -> Box<str> {
    text.chars().take(TEXT_CHARS_MAX).collect::<String>().into()
}

#[cfg(test)]
mod tests;
