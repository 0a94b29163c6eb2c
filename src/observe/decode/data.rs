//! The values in `data`: measured, digested where an interest asks for it, and dropped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::{Reader, Text};
use crate::observe::digest::Digester;
use crate::world::{DataEntry, Digest};

/// How a value in `data` is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// A Secret's value.
    Base64,
    /// A Secret's value given in a file as `stringData`.
    Plain,
    /// A ConfigMap's value.
    Text,
    /// A ConfigMap's `binaryData`.
    Binary,
}

pub(super) struct DataSeed<'s, 'r, 'de> {
    entries: &'s mut Vec<DataEntry<'de>>,
    reader: Reader<'r>,
    encoding: Encoding,
}

impl<'s, 'r, 'de> DataSeed<'s, 'r, 'de> {
    pub(super) fn new(entries: &'s mut Vec<DataEntry<'de>>, reader: Reader<'r>, encoding: Encoding) -> Self {
        Self { entries, reader, encoding }
    }
}

impl<'de> DeserializeSeed<'de> for DataSeed<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DataSeed<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of strings")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            let wanted = self.reader.digested.contains(&key.as_ref());
            let seed = ValueSeed { digester: self.reader.digester, encoding: self.encoding, wanted };
            let (length, digest, text) = map.next_value_seed(seed)?;
            // The API lets stringData win over data of the same key.
            self.entries.retain(|entry| entry.key != key);
            self.entries.push(DataEntry { key, length, digest, text });
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct ValueSeed<'r> {
    digester: &'r Digester,
    encoding: Encoding,
    wanted: bool,
}

type Measured<'de> = (u32, Option<Digest>, Option<Cow<'de, str>>);

impl ValueSeed<'_> {
    fn measure(&self, text: &str) -> (u32, Option<Digest>) {
        match self.encoding {
            Encoding::Base64 | Encoding::Binary => self.digester.base64_value(text, self.wanted),
            Encoding::Plain => self.digester.plain_value(text, self.wanted),
            Encoding::Text => {
                let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                (length, self.wanted.then(|| self.digester.digest(text.as_bytes())))
            }
        }
    }

    /// Only a ConfigMap's named text is handed on.
    fn keeps_text(&self) -> bool {
        self.wanted && self.encoding == Encoding::Text
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Measured<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Measured<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok((0, self.wanted.then(|| self.digester.digest(b"")), None))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        let (length, digest) = self.measure(text);
        Ok((length, digest, self.keeps_text().then_some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        let (length, digest) = self.measure(text);
        Ok((length, digest, self.keeps_text().then(|| Cow::Owned(text.to_owned()))))
    }
}
