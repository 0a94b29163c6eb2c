//! The copies in a guest, and their sources in the control plane's namespace.

use std::sync::Arc;

use super::super::names::{
    CLUSTER_ANNOTATION, CopyKind, HOSTED_CLUSTER_SOURCED_ANNOTATION, REFERENCED_ANNOTATION_PREFIX,
};
use trueup_core::world::{Digest, Fact, Interner, Meta, Misfit, RawObject, ResourceVersion, Uid};

/// A ConfigMap or Secret in a guest's `openshift-config`.
#[derive(Debug, PartialEq)]
pub struct Copy {
    pub meta: Meta,
    /// Key names and lengths, sorted.
    pub keys: Box<[(Arc<str>, u32)]>,
    pub secret_type: SecretType,
    /// The copied key's value, when the object has it.
    pub value: Option<Value16>,
}

/// The `type` of a Secret, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretType {
    /// Opaque, or a kind without types.
    Opaque,
    Other(Arc<str>),
}

/// A value by its length and keyed digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value16 {
    pub length: u32,
    pub digest: Digest,
}

impl Fact for Copy {
    const DIGESTED_KEYS: &'static [&'static str] = &["ca-bundle.crt", "clientSecret"];

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let secret_type = match raw.field::<Option<String>>("type")?.as_deref() {
            None | Some("" | "Opaque") => SecretType::Opaque,
            Some(other) => SecretType::Other(pool.text(other)),
        };
        Ok(Self {
            meta: Meta::project(&raw.meta, pool),
            keys: raw.data.iter().map(|entry| (pool.text(&entry.key), entry.length)).collect(),
            secret_type,
            value: copied_value(raw),
        })
    }
}

fn copied_value(raw: &RawObject<'_>) -> Option<Value16> {
    let entry = raw.entry(CopyKind::of(&raw.kind)?.copied_key())?;
    Some(Value16 { length: entry.length, digest: entry.digest? })
}

/// A ConfigMap or Secret in a HostedControlPlane's namespace, by its metadata alone.
#[derive(Debug, PartialEq)]
pub struct SourceMark {
    pub uid: Uid,
    pub version: ResourceVersion,
    /// Carries an annotation only the HyperShift operator writes.
    pub platform: PlatformMark,
    pub origin: Origin,
}

/// Whether HyperShift put the object there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlatformMark {
    Marked,
    Unmarked,
}

/// Who provides the value in the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Source,
    /// A stub: the user makes the secret in the guest.
    HostedClusterSourced,
}

impl Fact for SourceMark {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let marked = raw
            .meta
            .annotations
            .iter()
            .any(|(key, _)| key == CLUSTER_ANNOTATION || key.starts_with(REFERENCED_ANNOTATION_PREFIX));
        let stub = raw.meta.annotation(HOSTED_CLUSTER_SOURCED_ANNOTATION) == Some("true");
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            platform: if marked { PlatformMark::Marked } else { PlatformMark::Unmarked },
            origin: if stub { Origin::HostedClusterSourced } else { Origin::Source },
        })
    }
}

/// The content of one source, read by name.
#[derive(Debug, PartialEq)]
pub struct SourceContent {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub value: Option<Value16>,
    /// A CA bundle's text, for the exact change. Never a secret's.
    pub text: Option<Box<str>>,
}

impl Fact for SourceContent {
    const DIGESTED_KEYS: &'static [&'static str] = Copy::DIGESTED_KEYS;

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let key = CopyKind::of(&raw.kind).map(CopyKind::copied_key);
        let text = key.and_then(|key| raw.entry(key)).and_then(|entry| entry.text.as_deref());
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            value: copied_value(raw),
            text: text.map(Into::into),
        })
    }
}
