//! What a domain wants to know: a collection of a cluster, and the fact it keeps of each object.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::Arc;

use super::fact::{Fact, FactKind};
use super::ids::{ClusterName, Namespace, ObjectName, Resource, ResourceVersion};
use super::raw::RawObject;

/// Which objects of which cluster. Two interests with the same id share one watch.
///
/// Clones share their parts: an id is a key of four maps, and there are a dozen for each cluster of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CollectionId(Arc<CollectionParts>);

/// What a [`CollectionId`] is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionParts {
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
    /// One object, read by name (GET): its content is wanted, not its neighbours'. Complete once it was read; a lone 404
    /// proves nothing, so its absence is never proven here.
    Object {
        namespace: Option<Namespace>,
        name: ObjectName,
    },
}

/// Server-side selection. Empty selects everything.
///
/// Labels: `key=value`, `key!=value`, `key`, `!key`, joined by commas. Fields: `metadata.name=x`,
/// `metadata.namespace=x`, for Secrets `type=x`, and for what an account lists `types=a+b` (the names) and
/// `credentials=x` (with whose login to ask). A selector a domain writes in another form is a bug, and matches nothing.
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

/// A collection a check needs, with the fact to make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interest {
    pub id: CollectionId,
    pub fact: FactKind,
    /// For [`Scope::Object`]: the version a metadata watch has shown. A newer one than was read means: read again.
    pub read_at_least: Option<ResourceVersion>,
}

impl Selector {
    /// Whether an object is selected, judged here the way the server judges it.
    pub fn matches(&self, raw: &RawObject<'_>) -> bool {
        terms(&self.labels).all(|term| label_term(term, raw)) && terms(&self.fields).all(|term| field_term(term, raw))
    }
}

fn terms(selector: &str) -> impl Iterator<Item = &str> {
    selector.split(',').map(str::trim).filter(|term| !term.is_empty())
}

fn label_term(term: &str, raw: &RawObject<'_>) -> bool {
    if let Some((key, value)) = term.split_once("!=") {
        return raw.meta.label(key.trim()) != Some(value.trim());
    }
    if let Some((key, value)) = term.split_once('=') {
        return raw.meta.label(key.trim()) == Some(value.trim_start_matches('=').trim());
    }
    match term.strip_prefix('!') {
        Some(key) => raw.meta.label(key.trim()).is_none(),
        None => raw.meta.label(term).is_some(),
    }
}

fn field_term(term: &str, raw: &RawObject<'_>) -> bool {
    match term.split_once('=') {
        Some(("metadata.name", value)) => raw.meta.name == value,
        Some(("metadata.namespace", value)) => raw.meta.namespace == value,
        Some(("types", names)) => names.split('+').any(|name| raw.meta.name == name),
        Some(("credentials", _)) => true,
        Some(("type", value)) => raw.field::<String>("type").is_ok_and(|held| held == value),
        Some(_) | None => false,
    }
}

impl Deref for CollectionId {
    type Target = CollectionParts;

    fn deref(&self) -> &CollectionParts {
        &self.0
    }
}

impl From<CollectionParts> for CollectionId {
    fn from(parts: CollectionParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Ord for CollectionId {
    /// By the parts. Clones of one id are equal without a look at them.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_shared_with(other) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for CollectionId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl CollectionId {
    /// What sorts before every collection of a cluster.
    pub fn first_of(cluster: &ClusterName) -> Self {
        Self::all(cluster, Resource { group: "", version: "", kind: "", plural: "", namespaced: false })
    }

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
        self.with(|parts| parts.content = Content::Metadata)
    }

    /// The same collection, narrowed by a label selector.
    pub fn labelled(self, labels: &str) -> Self {
        self.with(|parts| labels.clone_into(&mut parts.selector.labels))
    }

    /// The same collection, narrowed by a field selector.
    pub fn with_fields(self, fields: &str) -> Self {
        self.with(|parts| fields.clone_into(&mut parts.selector.fields))
    }

    pub fn interest<F: Fact>(self) -> Interest {
        Interest { id: self, fact: FactKind::of::<F>(), read_at_least: None }
    }

    /// Whether two ids are one in memory, which equal ids need not be.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn scoped(cluster: &ClusterName, resource: Resource, scope: Scope) -> Self {
        let selector = Selector::default();
        CollectionParts { cluster: cluster.clone(), resource, scope, selector, content: Content::Full }.into()
    }

    fn with(mut self, change: impl FnOnce(&mut CollectionParts)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A guest without a connection keeps a dozen interests; 20,000 such guests took 1.5 GiB with ids of 176 bytes.
    #[test]
    fn an_id_and_a_kind_of_fact_are_one_pointer_each_however_often_they_are_kept() {
        assert_eq!(size_of::<CollectionId>(), size_of::<usize>());
        assert_eq!(size_of::<FactKind>(), size_of::<usize>());
        assert!(size_of::<Interest>() <= 5 * size_of::<usize>(), "{} bytes", size_of::<Interest>());
    }

    #[test]
    fn ids_made_apart_compare_by_what_they_name() {
        let resource = Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
        let id = |cluster| CollectionId::namespaced(&ClusterName::new(cluster), resource, "openshift-config");
        assert_eq!(id("a"), id("a"));
        assert_eq!(id("a").cmp(&id("a")), Ordering::Equal);
        assert!(id("a") < id("b"));
        let narrowed = id("a").labelled("x=y").with_fields("metadata.name=z").metadata();
        assert_ne!(narrowed, id("a"), "a changed clone leaves the other alone");
        assert_eq!((&*narrowed.selector.labels, narrowed.content), ("x=y", Content::Metadata));
    }
}
