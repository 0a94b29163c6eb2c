//! What a domain wants to know: a collection of a cluster, and the fact it keeps of each object.

use super::fact::{Fact, FactKind};
use super::ids::{ClusterName, Namespace, ObjectName, Resource, ResourceVersion};
use super::raw::RawObject;

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

impl CollectionId {
    /// What sorts before every collection of a cluster.
    pub(super) fn first_of(cluster: &ClusterName) -> Self {
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
        Self { content: Content::Metadata, ..self }
    }

    /// The same collection, narrowed by a label selector.
    pub fn labelled(self, labels: &str) -> Self {
        Self { selector: Selector { labels: labels.to_owned(), ..self.selector }, ..self }
    }

    /// The same collection, narrowed by a field selector.
    pub fn with_fields(self, fields: &str) -> Self {
        Self { selector: Selector { fields: fields.to_owned(), ..self.selector }, ..self }
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
