//! Names and identities: every word that could be mixed up is its own type, checked once where it enters.
//!
//! Invariants: an id never holds more than the text it was read from; comparing two ids is comparing bytes.
//! Elsewhere: how a name is shown (the printer escapes it).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::words::Word;

/// Makes a newtype over shared text. The types don't convert into each other.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(Arc<str>);

        impl Ord for $name {
            /// By the text. The same shared text needs no look at it: lookups by id meet it at every step.
            fn cmp(&self, other: &Self) -> Ordering {
                if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer).map(Self::new)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id! {
    /// The name people use for a cluster. Not its identity: that is [`super::ClusterIdentity`].
    ClusterName
}
text_id! {
    /// A namespace of a cluster.
    Namespace
}
text_id! {
    /// An object's name inside its namespace and kind.
    ObjectName
}

/// The unique id the API server gave an object. Most are UUIDs and are kept in 16 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Uid {
    Uuid([u8; 16]),
    Text(Box<str>),
}

impl Uid {
    pub fn parse(text: &str) -> Self {
        parse_uuid(text).map_or_else(|| Self::Text(text.into()), Self::Uuid)
    }

    /// Whether the object came without a uid (files written by hand).
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = match self {
            Self::Text(text) => return f.write_str(text),
            Self::Uuid(bytes) => bytes,
        };
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Reads the canonical lower-case form only, so that printing gives back the same bytes.
fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.as_bytes();
    if text.len() != 36 {
        return None;
    }
    let mut bytes = [0u8; 16];
    let mut nibbles = 0;
    for (index, &character) in text.iter().enumerate() {
        if matches!(index, 8 | 13 | 18 | 23) {
            if character != b'-' {
                return None;
            }
            continue;
        }
        let value = match character {
            b'0'..=b'9' => character - b'0',
            b'a'..=b'f' => character - b'a' + 10,
            _ => return None,
        };
        bytes[nibbles / 2] |= if nibbles % 2 == 0 { value << 4 } else { value };
        nibbles += 1;
    }
    Some(bytes)
}

/// The version of an object or of a list.
///
/// Numbers are comparable within one resource of one cluster (stable since Kubernetes 1.35); anything else is opaque.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ResourceVersion {
    Number(u64),
    Text(Box<str>),
}

impl ResourceVersion {
    pub fn parse(text: &str) -> Self {
        let canonical = !text.is_empty() && (text == "0" || !text.starts_with('0'));
        match text.parse::<u64>() {
            Ok(number) if canonical && text.bytes().all(|b| b.is_ascii_digit()) => Self::Number(number),
            _ => Self::Text(text.into()),
        }
    }

    /// Whether this version is known to come before `other`. Opaque versions never are.
    pub fn is_older_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(this), Self::Number(that)) => this < that,
            (Self::Number(_) | Self::Text(_), Self::Text(_)) | (Self::Text(_), Self::Number(_)) => false,
        }
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A kind of object as the API serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Resource {
    #[serde(deserialize_with = "crate::words::read")]
    pub group: Word,
    #[serde(deserialize_with = "crate::words::read")]
    pub version: Word,
    #[serde(deserialize_with = "crate::words::read")]
    pub kind: Word,
    #[serde(deserialize_with = "crate::words::read")]
    pub plural: Word,
    pub namespaced: bool,
}

impl Ord for Resource {
    /// By group, version, kind and plural. Two uses of one constant are mostly the same text, which needs no look at it.
    fn cmp(&self, other: &Self) -> Ordering {
        let Self { group, version, kind, plural, namespaced } = self;
        text_order(group, other.group)
            .then_with(|| text_order(version, other.version))
            .then_with(|| text_order(kind, other.kind))
            .then_with(|| text_order(plural, other.plural))
            .then_with(|| namespaced.cmp(&other.namespaced))
    }
}

impl PartialOrd for Resource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn text_order(one: &str, other: &str) -> Ordering {
    if std::ptr::eq(one, other) { Ordering::Equal } else { one.cmp(other) }
}

impl Resource {
    /// `v1` for core kinds, `group/version` for the others.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// `v1/secrets`: how plans and snapshots name a resource.
    pub fn path(&self) -> String {
        format!("{}/{}", self.api_version(), self.plural)
    }
}

/// Where an object lives inside one collection.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Key {
    pub namespace: Option<Namespace>,
    pub name: ObjectName,
}

impl Key {
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self { namespace: namespace.filter(|text| !text.is_empty()).map(Namespace::new), name: ObjectName::new(name) }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_uid_prints_the_bytes_it_was_read_from(text in "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|.{0,40}") {
            prop_assert_eq!(Uid::parse(&text).to_string(), text);
        }

        #[test]
        fn a_version_prints_the_bytes_it_was_read_from(text in "[0-9]{1,25}|0*[0-9]{0,5}|.{0,12}") {
            prop_assert_eq!(ResourceVersion::parse(&text).to_string(), text);
        }
    }

    #[test]
    fn names_and_kinds_are_ordered_by_their_text_whether_or_not_they_share_it() {
        let shared = ObjectName::new("b");
        let texts = ["", "a", "b", "ba", "c"];
        for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (*one, *other))) {
            let name = |text: &str| if text == "b" { shared.clone() } else { ObjectName::new(text) };
            assert_eq!(name(one).cmp(&name(other)), one.cmp(other), "{one} {other}");
            assert_eq!(ObjectName::new(one).cmp(&ObjectName::new(other)), one.cmp(other), "{one} {other}");
        }
        let kind = |group, plural, namespaced| Resource { group, version: "v1", kind: "K", plural, namespaced };
        let sorted = [kind("", "a", false), kind("", "a", true), kind("", "b", false), kind("g", "a", false)];
        assert!(sorted.is_sorted() && sorted.windows(2).all(|pair| pair[0] < pair[1] && pair[0] != pair[1]));
    }

    #[test]
    fn only_numbers_can_be_older() {
        let cases = [("9", "10", true), ("10", "9", false), ("7", "7", false), ("a", "b", false), ("1", "b", false)];
        for (this, that, older) in cases {
            let (this, that) = (ResourceVersion::parse(this), ResourceVersion::parse(that));
            assert_eq!(this.is_older_than(&that), older, "{this} before {that}");
        }
    }
}
