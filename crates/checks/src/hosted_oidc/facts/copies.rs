//! The copies in a guest, and their sources in the control plane's namespace.

use super::super::names::{
    CLUSTER_ANNOTATION, CopyKind, HOSTED_CLUSTER_SOURCED_ANNOTATION, REFERENCED_ANNOTATION_PREFIX,
};
use super::data_keys::DataKeys;
use trueup_core::world::{
    DeletionState, Digest, Fact, Interner, Meta, Misfit, Owners, RawMeta, RawObject, ResourceVersion, Restoration, Uid,
};

/// A ConfigMap or Secret in a guest's `openshift-config`.
#[derive(Debug, PartialEq)]
pub struct Copy {
    pub meta: Meta,
    pub keys: DataKeys,
    /// Of the copied key's value, when the object has it.
    digest: Option<Digest>,
    pub origin: Origin,
    /// What keeps it, once its deletion was requested.
    pub finalizers: Option<Box<Finalizers>>,
}

/// The names of an object's finalizers. Behind one pointer: nearly no object is being deleted.
#[derive(Debug, PartialEq)]
pub struct Finalizers(Vec<Box<str>>);

impl Finalizers {
    fn of(raw: &RawMeta<'_>) -> Option<Box<Self>> {
        raw.deletion_timestamp.as_ref()?;
        Some(Box::new(Self(raw.finalizers.iter().map(|name| (&**name).into()).collect())))
    }

    /// Their names in one line.
    pub fn message(&self) -> String {
        match &self.0[..] {
            [] => "no finalizer".to_owned(),
            names => names.join(", "),
        }
    }
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
            keys: DataKeys::project(raw, pool)?,
            digest: copied_value(raw).map(|value| value.digest),
            origin: Origin::of(&raw.meta),
            finalizers: Finalizers::of(&raw.meta),
        })
    }
}

impl Copy {
    /// The copied key's value in an object of this kind, when the object has it.
    pub fn value(&self, kind: CopyKind) -> Option<Value16> {
        Some(Value16 { length: self.keys.length(kind.copied_key())?, digest: self.digest? })
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
    pub keys: DataKeys,
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
            keys: DataKeys::project(raw, pool)?,
            owners: if raw.meta.owners.is_empty() { Owners::None } else { Owners::Some },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{Key, ManagedBy};

    /// Bytes of an allocation: two counts before shared text, eight for the allocator, in steps of sixteen.
    fn shared_text(length: usize) -> usize {
        (2 * size_of::<usize>() + length + 8).next_multiple_of(16)
    }

    /// Counted, not measured: `cargo bench --bench decode` measures.
    #[test]
    fn a_secret_with_one_digested_key_takes_at_most_250_bytes() {
        let name = "kube-apiserver-serving-cert-0000000".len();
        // Beside each fact: the mark of another tool and the bytes it counts for.
        let beside = size_of::<Option<Box<ManagedBy>>>() + size_of::<u64>();
        let held = size_of::<Key>() + size_of::<Copy>() + beside;
        assert!(held + shared_text(name) <= 250, "{held} and {} of its name", shared_text(name));
    }
}
