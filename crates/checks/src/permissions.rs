//! The permissions of a check in RBAC, as data: what it reads, and what its remedies and their undo write.
//!
//! Invariants: each collection that a check is interested in, and each remedy, is covered by an entry; a test of the
//! program compares the table with interests and remedies.
//! Elsewhere: printing roles (`trueup rbac`), asking whether a user has them (`trueup doctor`).

use trueup_core::engine::Verb;
use trueup_core::world::Resource;

/// One permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    pub scope: ClusterScope,
    /// Its version is not part of RBAC.
    pub resource: Resource,
    pub extent: Extent,
    pub need: Need,
}

/// In which clusters a permission is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClusterScope {
    /// Clusters of the kubeconfig.
    Own,
    /// Guests of HostedClusters. Their admin kubeconfig has every permission; a kubeconfig with less needs these.
    Guest,
}

/// Which objects of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Those of every namespace, or of a kind without namespaces.
    All,
    Namespace(&'static str),
    Object {
        namespace: Option<&'static str>,
        name: &'static str,
    },
}

/// What is done with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Listed and watched. The API server knows no permission for metadata alone.
    Watch,
    /// Read by name.
    Get,
    /// Listed once, before a write that changes who can log in.
    Export,
    /// A remedy, with its undo.
    Write(Write),
}

/// The verbs of remedies on objects of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Write {
    Create,
    Apply,
    /// Update, patch, labels and annotations.
    Patch,
    Delete,
}

/// Whether a permission is needed to see, or only to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeededFor {
    Observe,
    Apply,
}

/// What on a Secret or ConfigMap proves whose it is, for a policy that limits deletes in the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerMark {
    /// Secrets or ConfigMaps.
    pub resource: Resource,
    pub sign: Sign,
}

/// The form of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// A label that is `true`.
    LabelTrue(&'static str),
    /// A label, whatever its value.
    Label(&'static str),
    Annotation(&'static str),
    /// An annotation whose key begins so.
    AnnotationPrefix(&'static str),
}

impl Permission {
    pub fn needed_for(&self) -> NeededFor {
        match self.need {
            Need::Watch | Need::Get => NeededFor::Observe,
            Need::Export | Need::Write(_) => NeededFor::Apply,
        }
    }

    /// The verbs of RBAC.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.need {
            Need::Watch => &["list", "watch"],
            Need::Get => &["get"],
            Need::Export => &["list"],
            // What was created is read again, and deleted by its undo.
            Need::Write(Write::Create) => &["create", "delete", "get"],
            // It may have created the object.
            Need::Write(Write::Apply) => &["create", "delete", "get", "patch"],
            Need::Write(Write::Patch) => &["get", "patch"],
            // It is sealed before, and created by its undo.
            Need::Write(Write::Delete) => &["create", "delete", "get"],
        }
    }

    /// Whether the permission covers a verb on a kind there.
    pub fn covers(
        &self,
        scope: ClusterScope,
        resource: &Resource,
        namespace: Option<&str>,
        name: Option<&str>,
        verb: &str,
    ) -> bool {
        let is_within = match self.extent {
            Extent::All => true,
            Extent::Namespace(own) => namespace == Some(own),
            Extent::Object { namespace: own, name: only } => namespace == own && name == Some(only),
        };
        let is_kind = self.resource.group == resource.group && self.resource.plural == resource.plural;
        is_within && is_kind && self.scope == scope && self.verbs().contains(&verb)
    }
}

impl Write {
    /// The write of a remedy; nothing for the verbs of clouds.
    pub fn of(verb: Verb) -> Option<Self> {
        match verb {
            Verb::Create => Some(Self::Create),
            Verb::Apply => Some(Self::Apply),
            Verb::Update | Verb::Patch | Verb::Label | Verb::Annotate => Some(Self::Patch),
            Verb::Delete => Some(Self::Delete),
            Verb::Tag | Verb::Untag | Verb::ReOwn => None,
        }
    }
}

/// Permissions in the clusters of the kubeconfig.
pub const fn own(resource: Resource, need: Need) -> Permission {
    Permission { scope: ClusterScope::Own, resource, extent: Extent::All, need }
}

/// Permissions in guests.
pub const fn guest(resource: Resource, need: Need) -> Permission {
    Permission { scope: ClusterScope::Guest, resource, extent: Extent::All, need }
}

impl Permission {
    /// The same in one namespace.
    #[must_use]
    pub const fn within(self, namespace: &'static str) -> Self {
        Self { extent: Extent::Namespace(namespace), ..self }
    }

    /// The same for one object.
    #[must_use]
    pub const fn only(self, namespace: Option<&'static str>, name: &'static str) -> Self {
        Self { extent: Extent::Object { namespace, name }, ..self }
    }
}
