//! What a domain wants to know: a collection of a cluster, and the fact it keeps of each object.

use super::fact::{Fact, FactKind};
use super::ids::{ClusterName, Namespace, ObjectName, Resource, ResourceVersion};

/// Which objects of which cluster. Two interests with the same id share one watch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId {
    pub cluster: ClusterName,
    pub resource: Resource,
    pub scope: Scope,
    pub selector: Selector,
    pub content: Content,
}

/// The part of a resource that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All namespaces, or a kind without namespaces.
    All,
    Namespace(Namespace),
    /// One object, read by name (GET): its content is wanted, not its neighbours'. Proves presence, never absence.
    Object {
        namespace: Option<Namespace>,
        name: ObjectName,
    },
}

/// Server-side selection. Empty selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Selector {
    pub labels: String,
    pub fields: String,
}

/// Whether object content is asked for, or metadata alone (which keeps secret bytes off the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    Full,
    Metadata,
}

/// A collection somebody wants, with the fact to make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interest {
    pub id: CollectionId,
    pub fact: FactKind,
    /// For [`Scope::Object`]: the version a metadata watch has shown. A newer one than was read means: read again.
    pub read_at_least: Option<ResourceVersion>,
}

impl CollectionId {
    pub fn all(cluster: &ClusterName, resource: Resource) -> Self {
        Self::scoped(cluster, resource, Scope::All)
    }

    pub fn namespaced(cluster: &ClusterName, resource: Resource, namespace: &str) -> Self {
        Self::scoped(cluster, resource, Scope::Namespace(Namespace::new(namespace)))
    }

    pub fn object(cluster: &ClusterName, resource: Resource, namespace: Option<&str>, name: &str) -> Self {
        let scope = Scope::Object { namespace: namespace.map(Namespace::new), name: ObjectName::new(name) };
        Self::scoped(cluster, resource, scope)
    }

    /// The same collection, asking for metadata alone.
    pub fn metadata(self) -> Self {
        Self { content: Content::Metadata, ..self }
    }

    /// The same collection, narrowed by a label selector.
    pub fn labelled(self, labels: &str) -> Self {
        Self { selector: Selector { labels: labels.to_owned(), ..self.selector }, ..self }
    }

    pub fn interest<F: Fact>(self) -> Interest {
        Interest { id: self, fact: FactKind::of::<F>(), read_at_least: None }
    }

    fn scoped(cluster: &ClusterName, resource: Resource, scope: Scope) -> Self {
        Self { cluster: cluster.clone(), resource, scope, selector: Selector::default(), content: Content::Full }
    }

    /// The namespace the collection is limited to, if any.
    pub fn namespace(&self) -> Option<&Namespace> {
        match &self.scope {
            Scope::All => None,
            Scope::Namespace(namespace) => Some(namespace),
            Scope::Object { namespace, .. } => namespace.as_ref(),
        }
    }
}
