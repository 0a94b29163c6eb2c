//! Whether an object is one of HyperShift's copies: the marks, and how many of them are independent proofs.

use super::context::CheckContext;
use super::facts::{Bundle, BundleOwner, Copy, DataKeys, SecretType, SourceContent, SourceMark};
use super::names::{CLUSTER_ANNOTATION, CopyKind, MANAGED_LABEL, OIDC_LABEL, REFERENCED_ANNOTATION_PREFIX};
use trueup_core::world::{HostedBy, Owners};

/// The OIDC label of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OidcMark {
    Marked,
    /// Another value than "true": the object is opted out.
    OptedOut,
    Absent,
}

/// How an object comes to be looked at as an orphan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidate {
    /// Carries the OIDC label.
    Certain,
    /// Carries the managed label and looks exactly like a copy.
    Probable,
    No,
}

pub fn oidc_mark(copy: &Copy) -> OidcMark {
    match copy.meta.label(OIDC_LABEL) {
        Some("true") => OidcMark::Marked,
        Some(_) => OidcMark::OptedOut,
        None => OidcMark::Absent,
    }
}

pub fn is_managed(copy: &Copy) -> bool {
    copy.meta.label(MANAGED_LABEL) == Some("true")
}

/// Exactly the copied key, type Opaque, no owner reference: what HyperShift writes and little else does.
pub fn has_fingerprint(kind: CopyKind, copy: &Copy) -> bool {
    is_fingerprint(kind, &copy.keys, copy.meta.owners)
}

/// The same of a source in the control plane's namespace.
pub fn source_has_fingerprint(kind: CopyKind, content: &SourceContent) -> bool {
    is_fingerprint(kind, &content.keys, content.owners)
}

fn is_fingerprint(kind: CopyKind, keys: &DataKeys, owners: Owners) -> bool {
    keys.names().eq([kind.copied_key()]) && keys.secret_type() == SecretType::Opaque && owners == Owners::None
}

pub fn candidate(kind: CopyKind, copy: &Copy) -> Candidate {
    match oidc_mark(copy) {
        OidcMark::Marked => Candidate::Certain,
        OidcMark::OptedOut => Candidate::No,
        OidcMark::Absent if is_managed(copy) && has_fingerprint(kind, copy) => Candidate::Probable,
        OidcMark::Absent => Candidate::No,
    }
}

/// An independent proof that an object is HyperShift's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    OidcLabel,
    ManagedLabel,
    Fingerprint,
    PlatformSource,
}

/// The independent proofs that the object is HyperShift's.
pub fn marks(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> Vec<Mark> {
    let platform = || context.source(kind, name).seen.is_some_and(SourceMark::is_platforms);
    let all = [
        (Mark::OidcLabel, oidc_mark(copy) == OidcMark::Marked),
        (Mark::ManagedLabel, is_managed(copy)),
        (Mark::Fingerprint, has_fingerprint(kind, copy)),
        (Mark::PlatformSource, platform()),
    ];
    all.into_iter().filter_map(|(mark, there)| there.then_some(mark)).collect()
}

/// The same, one line each.
pub fn proofs(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> Vec<String> {
    marks(context, kind, name, copy).into_iter().map(|mark| mark.line(kind)).collect()
}

impl Mark {
    fn line(self, kind: CopyKind) -> String {
        match self {
            Self::OidcLabel => format!("label {OIDC_LABEL}=true"),
            Self::ManagedLabel => format!("label {MANAGED_LABEL}=true"),
            Self::Fingerprint => format!("fingerprint: exactly the key {}, no owner", kind.copied_key()),
            Self::PlatformSource => {
                "the same name in the control plane's namespace, annotated by HyperShift".to_owned()
            }
        }
    }
}

/// What speaks against deleting it although it is marked: content that HyperShift did not write.
pub fn foreign_content(kind: CopyKind, copy: &Copy) -> Option<String> {
    let others: Vec<&str> = copy.keys.names().filter(|key| *key != kind.copied_key()).collect();
    if !others.is_empty() {
        return Some(format!("it holds keys HyperShift did not write: {}", others.join(", ")));
    }
    match copy.meta.owners {
        Owners::Some => Some("it has an owner reference, so something else keeps it".to_owned()),
        Owners::None => None,
    }
}

/// What proves that an object in the control plane's namespace is a copy HyperShift made for this HostedCluster.
pub fn source_proofs(kind: CopyKind, by: &HostedBy, mark: &SourceMark, content: &SourceContent) -> Vec<String> {
    let mut proofs = Vec::new();
    if is_marked_for(by, mark) {
        proofs.push(format!("annotation {REFERENCED_ANNOTATION_PREFIX}{}", by.name));
    }
    let owner = format!("{}/{}", by.namespace, by.name);
    if mark.belongs_to.as_deref() == Some(owner.as_str()) {
        proofs.push(format!("annotation {CLUSTER_ANNOTATION}: {owner}"));
    }
    if source_has_fingerprint(kind, content) {
        proofs.push(Mark::Fingerprint.line(kind));
    }
    proofs
}

/// Whether the HyperShift operator marked it as referenced by this HostedCluster, now or earlier.
pub fn is_marked_for(by: &HostedBy, mark: &SourceMark) -> bool {
    mark.referenced_by.iter().any(|name| **name == *by.name.as_str())
}

/// What proves that a ConfigMap in the console's namespace is a mirror the console operator made.
pub fn mirror_proofs(bundle: &Bundle) -> Vec<String> {
    let mut proofs = Vec::new();
    if bundle.holds_ca_alone() {
        proofs.push(format!("exactly the key {}", CopyKind::ConfigMap.copied_key()));
    }
    if bundle.owner == BundleOwner::Console {
        proofs.push("owner reference to Console of operator.openshift.io".to_owned());
    }
    proofs
}
