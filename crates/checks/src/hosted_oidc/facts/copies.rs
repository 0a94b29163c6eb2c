//! The copies in a guest, and their sources in the control plane's namespace.

use std::sync::Arc;

use super::super::names::{
    CLUSTER_ANNOTATION, CopyKind, HOSTED_CLUSTER_SOURCED_ANNOTATION, REFERENCED_ANNOTATION_PREFIX,
};
use trueup_core::world::{
    DeletionState, Digest, Fact, Interner, Meta, Misfit, Owners, RawMeta, RawObject, ResourceVersion, Restoration, Uid,
};

/// A ConfigMap or Secret in a guest's `openshift-config`.
#[derive(Debug, PartialEq)]
pub struct Copy {
    pub meta: Meta,
    /// Key names and lengths, sorted.
    pub keys: Box<[(Arc<str>, u32)]>,
    pub secret_type: SecretType,
    /// The copied key's value, when the object has it.
    pub value: Option<Value16>,
    pub origin: Origin,
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
        Ok(Self {
            meta: Meta::project(&raw.meta, pool),
            keys: keys(raw, pool),
            secret_type: SecretType::project(raw, pool)?,
            value: copied_value(raw),
            origin: Origin::of(&raw.meta),
        })
    }
}

impl SecretType {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        Ok(match raw.field::<Option<String>>("type")?.as_deref() {
            None | Some("" | "Opaque") => Self::Opaque,
            Some(other) => Self::Other(pool.text(other)),
        })
    }
}

fn keys(raw: &RawObject<'_>, pool: &mut Interner) -> Box<[(Arc<str>, u32)]> {
    raw.data.iter().map(|entry| (pool.text(&entry.key), entry.length)).collect()
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
    pub deletion_state: DeletionState,
    pub restoration: Restoration,
    /// The HostedClusters whose operator marked it as referenced.
    pub referenced_by: Box<[Box<str>]>,
    /// `<namespace>/<name>` of the HostedCluster it was copied for.
    pub belongs_to: Option<Box<str>>,
    pub origin: Origin,
}

/// Who provides the value in the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Source,
    /// A day-2 secret or its stub: the user makes the secret in the guest.
    HostedClusterSourced,
}

impl Origin {
    fn of(meta: &RawMeta<'_>) -> Self {
        match meta.annotation(HOSTED_CLUSTER_SOURCED_ANNOTATION) {
            Some("true") => Self::HostedClusterSourced,
            Some(_) | None => Self::Source,
        }
    }
}

impl SourceMark {
    /// Whether it carries an annotation only the HyperShift operator writes.
    pub fn is_platforms(&self) -> bool {
        self.belongs_to.is_some() || !self.referenced_by.is_empty()
    }
}

impl Fact for SourceMark {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let marks = raw.meta.annotations.iter().filter_map(|(key, _)| key.strip_prefix(REFERENCED_ANNOTATION_PREFIX));
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            deletion_state: DeletionState::of(&raw.meta),
            restoration: Restoration::of(&raw.meta),
            referenced_by: marks.map(Into::into).collect(),
            belongs_to: raw.meta.annotation(CLUSTER_ANNOTATION).map(Into::into),
            origin: Origin::of(&raw.meta),
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
    /// Key names and lengths, sorted.
    pub keys: Box<[(Arc<str>, u32)]>,
    pub secret_type: SecretType,
    pub owners: Owners,
}

impl Fact for SourceContent {
    const DIGESTED_KEYS: &'static [&'static str] = Copy::DIGESTED_KEYS;

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let key = CopyKind::of(&raw.kind).map(CopyKind::copied_key);
        let text = key.and_then(|key| raw.entry(key)).and_then(|entry| entry.text.as_deref());
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            value: copied_value(raw),
            text: text.map(Into::into),
            keys: keys(raw, pool),
            secret_type: SecretType::project(raw, pool)?,
            owners: if raw.meta.owners.is_empty() { Owners::None } else { Owners::Some },
        })
    }
}
