//! Lists of Secrets, ConfigMaps and metadata in Kubernetes' protobuf encoding, read into the same [`RawObject`]s as JSON.
//!
//! Invariants:
//! - an object reads the same from protobuf as from JSON: digests, lengths, absent and empty fields;
//! - a Secret's values are measured, digested and lent as in JSON, and never copied otherwise;
//! - a list whose envelope does not name a kind is refused.
//!
//! Elsewhere: the wire format (`wire`), which lists are requested so (`observe::request`). Field numbers are those of
//! `k8s.io/api/core/v1/generated.proto` and `k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto`.

use std::borrow::Cow;

use jiff::Timestamp;

use super::data::Encoding;
use super::list::ListHead;
use super::wire::{MalformedProtobuf, Message, Value};
use super::{COPIES_OF_THE_OBJECT, DataSort, Reader};
use crate::world::{DataEntry, RawField, RawManagedEntry, RawManagedFields, RawMeta, RawObject, RawOwner};

/// What every protobuf answer of an API server begins with.
const MAGIC: &[u8] = b"k8s\0";

type Read<T = ()> = Result<T, MalformedProtobuf>;

/// Whether an answer is in protobuf. JSON cannot begin like this.
pub fn is_protobuf(body: &[u8]) -> bool {
    body.starts_with(MAGIC)
}

/// Reads a list, handing each object to `each` as it is met, and returns the head.
///
/// # Errors
/// The whole list is refused when any part of it has another shape.
pub fn protobuf_list<'a>(reader: Reader<'a>, body: &'a [u8], each: &mut dyn FnMut(&RawObject<'_>)) -> Read<ListHead> {
    let envelope = body.strip_prefix(MAGIC).ok_or(MalformedProtobuf)?;
    let (mut kind, mut list) = ("", None);
    Message(envelope).fields(|number, value| {
        match number {
            1 => value.message()?.fields(|number, value| {
                if number == 2 {
                    kind = value.text()?;
                }
                Ok(())
            })?,
            2 => list = Some(value.message()?),
            _ => {}
        }
        Ok(())
    })?;
    // An empty list has no items to tell it from another message: only its kind says that it is a list.
    if !kind.ends_with("List") {
        return Err(MalformedProtobuf);
    }
    let mut head = ListHead { kind: kind.to_owned(), ..ListHead::default() };
    list.ok_or(MalformedProtobuf)?.fields(|number, value| {
        match number {
            1 => read_head(value.message()?, &mut head)?,
            2 => each(&reader.read_message(value.message()?)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(head)
}

fn read_head(message: Message<'_>, head: &mut ListHead) -> Read {
    message.fields(|number, value| {
        match number {
            2 => value.text()?.clone_into(&mut head.resource_version),
            3 => value.text()?.clone_into(&mut head.continue_token),
            4 => head.remaining_item_count = u64::try_from(value.integer()?).ok(),
            _ => {}
        }
        Ok(())
    })
}

impl<'r> Reader<'r> {
    /// Reads one object of a list: items do not name their kind.
    fn read_message<'a>(&self, message: Message<'a>) -> Read<RawObject<'a>>
    where
        'r: 'a,
    {
        let mut object = self.empty_object();
        message.fields(|number, value| match (number, self.sort) {
            (1, _) => read_meta(value.message()?, &mut object.meta),
            (2, DataSort::Secret) => self.read_entry(value, Encoding::Base64, &mut object.data),
            (2, DataSort::ConfigMap) => self.read_entry(value, Encoding::Text, &mut object.data),
            (3, DataSort::ConfigMap) => self.read_entry(value, Encoding::Binary, &mut object.data),
            (3, DataSort::Secret) => {
                object.fields.push((Cow::Borrowed("type"), RawField::Text(value.text()?)));
                Ok(())
            }
            (5, DataSort::Secret) | (4, DataSort::ConfigMap) => {
                object.fields.push((Cow::Borrowed("immutable"), RawField::Boolean(value.boolean()?)));
                Ok(())
            }
            (_, DataSort::Secret | DataSort::ConfigMap | DataSort::Other) => Ok(()),
        })?;
        object.data.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(object)
    }

    fn read_entry<'a>(&self, value: Value<'a>, encoding: Encoding, entries: &mut Vec<DataEntry<'a>>) -> Read {
        let (key, value) = read_pair(value.message()?)?;
        let key = std::str::from_utf8(key).map_err(|_| MalformedProtobuf)?;
        let entry = encoding.entry_of_bytes(key, value, *self).ok_or(MalformedProtobuf)?;
        entries.push(entry);
        Ok(())
    }
}

/// Key and value of an entry of a map. Either is left out when it is empty.
fn read_pair(message: Message<'_>) -> Read<(&[u8], &[u8])> {
    let (mut key, mut held) = (&[][..], &[][..]);
    message.fields(|number, value| {
        match number {
            1 => key = value.bytes()?,
            2 => held = value.bytes()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((key, held))
}

fn read_meta<'a>(message: Message<'a>, meta: &mut RawMeta<'a>) -> Read {
    let mut managed = Vec::new();
    message.fields(|number, value| {
        match number {
            1 => meta.name = text(value)?,
            3 => meta.namespace = text(value)?,
            5 => meta.uid = text(value)?,
            6 => meta.resource_version = text(value)?,
            // JSON leaves a generation of 0 out.
            7 => meta.generation = Some(value.integer()?).filter(|generation| *generation != 0),
            8 => meta.creation_timestamp = read_time(value.message()?)?,
            9 => meta.deletion_timestamp = read_time(value.message()?)?,
            11 => push_text_pair(value, &mut meta.labels)?,
            12 => push_text_pair(value, &mut meta.annotations)?,
            13 => meta.owners.push(read_owner(value.message()?)?),
            14 => meta.finalizers.push(text(value)?),
            17 => managed.push(read_managed(value.message()?)?),
            _ => {}
        }
        Ok(())
    })?;
    meta.managed_fields = (!managed.is_empty()).then_some(RawManagedFields::Entries(managed));
    Ok(())
}

fn text(value: Value<'_>) -> Read<Cow<'_, str>> {
    value.text().map(Cow::Borrowed)
}

/// Adds a label or an annotation, unless it holds a copy of the object.
fn push_text_pair<'a>(value: Value<'a>, pairs: &mut Vec<(Cow<'a, str>, Cow<'a, str>)>) -> Read {
    let (key, held) = read_pair(value.message()?)?;
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| MalformedProtobuf);
    let key = text(key)?;
    if !COPIES_OF_THE_OBJECT.contains(&key) {
        pairs.push((Cow::Borrowed(key), Cow::Borrowed(text(held)?)));
    }
    Ok(())
}

/// A time as JSON writes it: whole seconds, in UTC. A time that is not set is an empty message.
fn read_time<'a>(message: Message<'_>) -> Read<Option<Cow<'a, str>>> {
    let mut seconds = None;
    message.fields(|number, value| {
        if number == 1 {
            seconds = Some(value.integer()?);
        }
        Ok(())
    })?;
    let Some(seconds) = seconds else { return Ok(None) };
    let time = Timestamp::from_second(seconds).map_err(|_| MalformedProtobuf)?;
    Ok(Some(Cow::Owned(time.to_string())))
}

fn read_owner(message: Message<'_>) -> Read<RawOwner<'_>> {
    let mut owner = RawOwner::default();
    message.fields(|number, value| {
        match number {
            1 => owner.kind = text(value)?,
            3 => owner.name = text(value)?,
            4 => owner.uid = text(value)?,
            5 => owner.api_version = text(value)?,
            6 => owner.controller = Some(value.boolean()?),
            7 => owner.block_owner_deletion = Some(value.boolean()?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(owner)
}

fn read_managed(message: Message<'_>) -> Read<RawManagedEntry<'_>> {
    let mut entry = RawManagedEntry { manager: "", subresource: "", second: None, fields: &[] };
    message.fields(|number, value| {
        match number {
            1 => entry.manager = value.text()?,
            4 => value.message()?.fields(|number, value| {
                if number == 1 {
                    entry.second = Some(value.integer()?);
                }
                Ok(())
            })?,
            7 => value.message()?.fields(|number, value| {
                if number == 1 {
                    entry.fields = value.bytes()?;
                }
                Ok(())
            })?,
            8 => entry.subresource = value.text()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(entry)
}

#[cfg(test)]
mod tests;
