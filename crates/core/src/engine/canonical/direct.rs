//! Canonical text straight from a typed value, without a tree of JSON values in between.
//!
//! A plan of ten thousand findings is tens of megabytes; as a tree of values it is half a million small allocations.
//! Here its text is written once, and the fields of an object are put in order by moving the ranges they were written
//! to.
//!
//! Invariants: what is written is what [`super::canonical_text`] writes of the same value; what can't be written that
//! way is handed back as [`NotDirect`], and the caller goes through the tree.

use std::ops::Range;

use serde::ser::{self, Impossible, Serialize};

/// A value this writer leaves to the tree: a fraction, raw bytes, a number of 128 bits, or a key that is not text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not written directly")]
pub(super) struct NotDirect;

impl ser::Error for NotDirect {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
}

/// The canonical text of a value.
pub(super) fn text<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, NotDirect> {
    let mut writer = Writer::default();
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    /// The keys of all open objects, one after the other.
    keys: String,
    /// The fields of all open objects, innermost last.
    fields: Vec<Field>,
    /// Where an object is put together in its new order.
    scratch: Vec<u8>,
}

/// One field of an open object.
struct Field {
    /// In `keys`.
    key: Range<usize>,
    /// Key, colon and value in `out`.
    text: Range<usize>,
}

/// An open object or list.
struct Open<'w> {
    writer: &'w mut Writer,
    start: usize,
    first_field: usize,
    first_key: usize,
    /// What closes the objects around the one of an enum's variant.
    tail: &'static str,
}

impl Writer {
    fn open(&mut self, bracket: u8, tail: &'static str) -> Open<'_> {
        self.out.push(bracket);
        let (start, first_field, first_key) = (self.out.len(), self.fields.len(), self.keys.len());
        Open { writer: self, start, first_field, first_key, tail }
    }

    fn string(&mut self, text: &str) -> Result<(), NotDirect> {
        serde_json::to_writer(&mut self.out, text).map_err(|_| NotDirect)
    }

    /// Opens the object that names an enum's variant.
    fn variant(&mut self, name: &str) -> Result<(), NotDirect> {
        self.out.push(b'{');
        self.string(name)?;
        self.out.push(b':');
        Ok(())
    }
}

impl Open<'_> {
    fn separate(&mut self) {
        if self.writer.out.len() > self.start {
            self.writer.out.push(b',');
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotDirect> {
        self.separate();
        value.serialize(&mut *self.writer)
    }

    fn key(&mut self, name: &str) -> Result<(), NotDirect> {
        self.separate();
        let (key, text) = (self.writer.keys.len(), self.writer.out.len());
        self.writer.keys.push_str(name);
        self.writer.fields.push(Field { key: key..self.writer.keys.len(), text: text..text });
        self.writer.string(name)?;
        self.writer.out.push(b':');
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotDirect> {
        value.serialize(&mut *self.writer)?;
        let end = self.writer.out.len();
        self.writer.fields.last_mut().ok_or(NotDirect)?.text.end = end;
        Ok(())
    }

    fn close_list(self) {
        self.writer.out.push(b']');
        self.writer.out.extend_from_slice(self.tail.as_bytes());
    }

    fn close_object(self) -> Result<(), NotDirect> {
        let Writer { out, keys, fields, scratch } = self.writer;
        let own = &mut fields[self.first_field..];
        let name = |field: &Field| &keys[field.key.clone()];
        if !own.is_sorted_by(|one, other| name(one) < name(other)) {
            own.sort_by(|one, other| name(one).cmp(name(other)));
            // A key written twice: a tree of values keeps the last.
            if own.windows(2).any(|pair| name(&pair[0]) == name(&pair[1])) {
                return Err(NotDirect);
            }
            scratch.clear();
            for (index, field) in own.iter().enumerate() {
                if index > 0 {
                    scratch.push(b',');
                }
                scratch.extend_from_slice(&out[field.text.clone()]);
            }
            out[self.start..].copy_from_slice(scratch);
        }
        fields.truncate(self.first_field);
        keys.truncate(self.first_key);
        out.push(b'}');
        out.extend_from_slice(self.tail.as_bytes());
        Ok(())
    }
}

/// Writes an integer.
macro_rules! integer {
    ($($method:ident($number:ty)),*) => {$(
        fn $method(self, number: $number) -> Result<(), NotDirect> {
            serde_json::to_writer(&mut self.out, &number).map_err(|_| NotDirect)
        }
    )*};
}

/// Leaves a value to the tree.
macro_rules! not_direct {
    ($($method:ident($($argument:ty),*) -> $ok:ty;)+) => {$(
        fn $method(self, $(_: $argument),*) -> Result<$ok, NotDirect> {
            Err(NotDirect)
        }
    )+};
}

impl<'w> ser::Serializer for &'w mut Writer {
    type Ok = ();
    type Error = NotDirect;
    type SerializeSeq = Open<'w>;
    type SerializeTuple = Open<'w>;
    type SerializeTupleStruct = Open<'w>;
    type SerializeTupleVariant = Open<'w>;
    type SerializeMap = Open<'w>;
    type SerializeStruct = Open<'w>;
    type SerializeStructVariant = Open<'w>;

    integer!(serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64));
    integer!(serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64));

    fn serialize_bool(self, value: bool) -> Result<(), NotDirect> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    not_direct! {
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_bytes(&[u8]) -> ();
    }

    fn serialize_char(self, letter: char) -> Result<(), NotDirect> {
        self.string(letter.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), NotDirect> {
        self.string(text)
    }

    fn serialize_none(self) -> Result<(), NotDirect> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotDirect> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NotDirect> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NotDirect> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NotDirect> {
        self.string(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), NotDirect> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotDirect> {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'w>, NotDirect> {
        Ok(self.open(b'[', ""))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'w>, NotDirect> {
        Ok(self.open(b'[', ""))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'w>, NotDirect> {
        Ok(self.open(b'[', ""))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'w>, NotDirect> {
        self.variant(variant)?;
        Ok(self.open(b'[', "}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'w>, NotDirect> {
        Ok(self.open(b'{', ""))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'w>, NotDirect> {
        Ok(self.open(b'{', ""))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'w>, NotDirect> {
        self.variant(variant)?;
        Ok(self.open(b'{', "}"))
    }
}

/// Takes the items of a list.
macro_rules! takes_items {
    ($($of:ident::$method:ident),*) => {$(
        impl ser::$of for Open<'_> {
            type Ok = ();
            type Error = NotDirect;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotDirect> {
                self.item(value)
            }

            fn end(self) -> Result<(), NotDirect> {
                self.close_list();
                Ok(())
            }
        }
    )*};
}

takes_items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

/// Takes the fields of a struct.
macro_rules! takes_fields {
    ($($of:ident),*) => {$(
        impl ser::$of for Open<'_> {
            type Ok = ();
            type Error = NotDirect;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), NotDirect> {
                self.key(key)?;
                self.value(value)
            }

            fn end(self) -> Result<(), NotDirect> {
                self.close_object()
            }
        }
    )*};
}

takes_fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Open<'_> {
    type Ok = ();
    type Error = NotDirect;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotDirect> {
        key.serialize(MapKey(self))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotDirect> {
        self.value(value)
    }

    fn end(self) -> Result<(), NotDirect> {
        self.close_object()
    }
}

/// The place of a map's next key, which takes text alone.
struct MapKey<'k, 'w>(&'k mut Open<'w>);

impl ser::Serializer for MapKey<'_, '_> {
    type Ok = ();
    type Error = NotDirect;
    type SerializeSeq = Impossible<(), NotDirect>;
    type SerializeTuple = Impossible<(), NotDirect>;
    type SerializeTupleStruct = Impossible<(), NotDirect>;
    type SerializeTupleVariant = Impossible<(), NotDirect>;
    type SerializeMap = Impossible<(), NotDirect>;
    type SerializeStruct = Impossible<(), NotDirect>;
    type SerializeStructVariant = Impossible<(), NotDirect>;

    not_direct! {
        serialize_bool(bool) -> ();
        serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_str(self, text: &str) -> Result<(), NotDirect> {
        self.0.key(text)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NotDirect> {
        self.0.key(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), NotDirect> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), NotDirect> {
        Err(NotDirect)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), NotDirect> {
        Err(NotDirect)
    }
}
