//! Objects of which only their being there counts, and Secrets that are compared without being known.

use trueup_core::world::{Digest, Fact, Interner, Meta, Misfit, RawObject, ResourceVersion, Uid};

use super::super::names::CLIENT_SECRET_KEY;

/// An object by its metadata alone.
#[derive(Debug, PartialEq)]
pub struct Mark {
    pub meta: Meta,
}

impl Fact for Mark {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self { meta: Meta::project(&raw.meta, pool) })
    }
}

/// A Secret with a client secret in it, read by name.
#[derive(Debug, PartialEq)]
pub struct ClientSecret {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub value: Option<SecretValue>,
}

/// A secret value by its length and keyed digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretValue {
    pub length: u32,
    digest: Digest,
}

impl Fact for ClientSecret {
    const DIGESTED_KEYS: &'static [&'static str] = &[CLIENT_SECRET_KEY];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let entry = raw.entry(CLIENT_SECRET_KEY);
        let value = entry.and_then(|entry| Some(SecretValue { length: entry.length, digest: entry.digest? }));
        Ok(Self { uid: Uid::parse(&raw.meta.uid), version: ResourceVersion::parse(&raw.meta.resource_version), value })
    }
}
