//! The keys of an object's data and the type of a Secret, small: there is one per object of a guest.
//!
//! Invariants: names and type are shared between the objects that have the same ones; the lengths of up to three values
//! need no allocation.

use std::sync::Arc;

use trueup_core::world::{Interner, Misfit, RawObject};

/// Key names with the lengths of their values, sorted, and the type of a Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataKeys {
    /// The type (empty for Opaque and for kinds without types), then the key names.
    texts: Arc<[Arc<str>]>,
    lengths: Lengths,
}

/// The `type` of a Secret, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretType<'f> {
    /// Opaque, or a kind without types.
    Opaque,
    Other(&'f str),
}

/// As many lengths as fit beside a pointer: a copy has one key, a certificate two or three.
const FEW_MAX: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Lengths {
    /// Zeroes follow those that there are.
    Few([u32; FEW_MAX]),
    Many(Box<ManyLengths>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ManyLengths(Box<[u32]>);

impl DataKeys {
    pub fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let found = raw.field::<Option<String>>("type")?.filter(|text| text != "Opaque").unwrap_or_default();
        let names = raw.data.iter().map(|entry| entry.key.as_ref());
        let texts = pool.list([found.as_str()].into_iter().chain(names));
        Ok(Self { texts, lengths: Lengths::of(raw.data.iter().map(|entry| entry.length)) })
    }

    pub fn secret_type(&self) -> SecretType<'_> {
        match self.texts.first().map_or("", |text| text.as_ref()) {
            "" => SecretType::Opaque,
            other => SecretType::Other(other),
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().skip(1).map(AsRef::as_ref)
    }

    /// Names and lengths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names().zip(self.lengths.as_slice().iter().copied())
    }

    pub fn length(&self, name: &str) -> Option<u32> {
        self.iter().find(|(one, _)| *one == name).map(|(_, length)| length)
    }

    pub fn is_empty(&self) -> bool {
        self.texts.len() <= 1
    }
}

impl Lengths {
    fn of(lengths: impl ExactSizeIterator<Item = u32>) -> Self {
        if lengths.len() > FEW_MAX {
            return Self::Many(Box::new(ManyLengths(lengths.collect())));
        }
        let mut few = [0; FEW_MAX];
        few.iter_mut().zip(lengths).for_each(|(place, length)| *place = length);
        Self::Few(few)
    }

    fn as_slice(&self) -> &[u32] {
        match self {
            Self::Few(few) => few,
            Self::Many(many) => &many.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_lengths_come_back_however_many_there_are() {
        let mut pool = Interner::default();
        for count in 0..6_u32 {
            let names: Vec<String> = (0..count).map(|number| format!("k{number}")).collect();
            let texts = pool.list(["kubernetes.io/tls"].into_iter().chain(names.iter().map(String::as_str)));
            let lengths: Vec<u32> = (0..count).map(|number| 10 + number).collect();
            let keys = DataKeys { texts, lengths: Lengths::of(lengths.iter().copied()) };
            let expected: Vec<(&str, u32)> = names.iter().map(String::as_str).zip(lengths).collect();
            assert_eq!(keys.iter().collect::<Vec<_>>(), expected);
            assert_eq!((keys.length("k4"), keys.is_empty()), ((count > 4).then_some(14), count == 0));
            assert_eq!(keys.secret_type(), SecretType::Other("kubernetes.io/tls"));
        }
    }
}
