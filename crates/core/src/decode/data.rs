//! The values in `data`: measured, digested and lent to a projection where an interest asks for it, and dropped.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::{Zeroize as _, Zeroizing};

use super::cursor::Cursor;
use super::digest::Digester;
use super::{Reader, Undecodable};
use crate::world::{DataEntry, Digest, SecretBytes};

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

/// Reads the map at the cursor into entries.
pub(super) fn read_data<'a>(
    cursor: &mut Cursor<'a>,
    reader: Reader<'_>,
    encoding: Encoding,
    entries: &mut Vec<DataEntry<'a>>,
) -> Result<(), Undecodable> {
    if cursor.null() {
        return Ok(());
    }
    cursor.fields(|cursor, key| {
        let wanted = reader.digested.contains(&key.as_ref());
        let value = cursor.string_or_null()?.unwrap_or_default();
        let (length, digest) = encoding.measure(&value, reader.digester, wanted);
        let bytes = if reader.reduced.contains(&key.as_ref()) { encoding.lend(&value) } else { None };
        let text = encoding.hand_on(value, wanted);
        // The API lets stringData win over data of the same key.
        entries.retain(|entry| entry.key != key);
        entries.push(DataEntry { key, length, digest, text, bytes });
        Ok(())
    })
}

impl Encoding {
    /// The entry of a value that came as its bytes. Nothing when it should be text and is not.
    pub fn entry_of_bytes<'a>(self, key: &'a str, value: &'a [u8], reader: Reader<'_>) -> Option<DataEntry<'a>> {
        let wanted = reader.digested.contains(&key);
        let is_reduced = reader.reduced.contains(&key);
        let (length, digest) = match self {
            Self::Base64 | Self::Binary => reader.digester.bytes_value(value, wanted),
            Self::Plain | Self::Text => self.measure(std::str::from_utf8(value).ok()?, reader.digester, wanted),
        };
        let text = match self {
            Self::Text if wanted => Some(Cow::Borrowed(std::str::from_utf8(value).ok()?)),
            Self::Base64 | Self::Binary | Self::Plain | Self::Text => None,
        };
        let bytes = match self {
            Self::Base64 | Self::Plain if is_reduced => Some(SecretBytes::new(Zeroizing::new(value.to_vec()))),
            Self::Base64 | Self::Binary | Self::Plain | Self::Text => None,
        };
        Some(DataEntry { key: Cow::Borrowed(key), length, digest, text, bytes })
    }

    fn measure(self, value: &str, digester: &Digester, wanted: bool) -> (u32, Option<Digest>) {
        match self {
            Self::Base64 | Self::Binary => digester.base64_value(value, wanted),
            Self::Plain => digester.plain_value(value, wanted),
            Self::Text => {
                let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
                (length, wanted.then(|| digester.digest(value.as_bytes())))
            }
        }
    }

    /// A Secret's value as it is mounted. Nothing when it is no base64, which only a file can hold.
    fn lend(self, value: &str) -> Option<SecretBytes> {
        let bytes = match self {
            Self::Base64 => {
                let folded: Zeroizing<String> = Zeroizing::new(value.split_ascii_whitespace().collect());
                STANDARD.decode(folded.as_bytes()).ok()?
            }
            Self::Plain => value.as_bytes().to_vec(),
            Self::Text | Self::Binary => return None,
        };
        Some(SecretBytes::new(Zeroizing::new(bytes)))
    }

    /// Only a ConfigMap's named text is handed on. A copy that had to be made of anything else is wiped.
    fn hand_on(self, value: Cow<'_, str>, wanted: bool) -> Option<Cow<'_, str>> {
        if wanted && self == Self::Text {
            return Some(value);
        }
        if let Cow::Owned(mut copy) = value {
            copy.zeroize();
        }
        None
    }
}
