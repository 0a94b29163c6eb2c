//! The kinds a simulated cluster serves, and the rules each follows.
//!
//! Invariants:
//! - a kind is found by group, version and plural; all versions of one resource share one collection;
//! - differences between kinds are values in [`Rules`], never comparisons with a kind's name.
//!
//! Elsewhere: the objects (`store`), the built-in list (`builtin`), reading a CustomResourceDefinition (`crd`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::builtin;

/// A resource name with its API group; prints as `deployments.apps`, or `secrets` in the core group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GroupResource {
    pub group: Arc<str>,
    pub resource: Arc<str>,
}

impl GroupResource {
    pub fn new(group: &str, resource: &str) -> Self {
        Self { group: group.into(), resource: resource.into() }
    }

    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.resource.is_empty()
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.resource),
            group => write!(f, "{}.{group}", self.resource),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// Special handling of a kind's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Plain,
    ConfigMap,
    Secret,
    Namespace,
    Pod,
    Definition,
}

/// When `metadata.generation` increases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    Absent,
    /// Built-in workloads: a change of `spec`.
    Spec,
    /// Custom resources: a change of anything but metadata (and status, where that is a subresource).
    Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    Subdomain,
    Label,
    PathSegment,
}

/// A self review: answered from the rules, not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    Access,
    Rules,
    Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Kept,
    Answered(Review),
}

/// Behaviour that differs between kinds. The values come from the strategies in `k8s.io/kubernetes` v1.36.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    pub storage: Storage,
    pub content: Content,
    pub generation: Generation,
    pub names: NameRule,
    /// PUT without a resourceVersion overwrites the object.
    pub unconditional_update: bool,
    /// PUT to an unused name creates the object.
    pub create_on_update: bool,
    /// DELETE replies with the object, not with a `Status`.
    pub returns_deleted: bool,
    /// Served by the handler of custom resources, which differs in details from the built-in one.
    pub custom: bool,
}

impl Rules {
    /// The rules of most built-in kinds.
    pub const BUILT_IN: Self = Self {
        storage: Storage::Kept,
        content: Content::Plain,
        generation: Generation::Absent,
        names: NameRule::Subdomain,
        unconditional_update: true,
        create_on_update: false,
        returns_deleted: false,
        custom: false,
    };

    pub const CUSTOM: Self =
        Self { generation: Generation::Content, unconditional_update: false, custom: true, ..Self::BUILT_IN };
}

/// A printed column of a custom resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrinterColumn {
    pub name: String,
    pub kind: String,
    pub path: String,
    pub priority: i64,
}

/// One kind in one version.
#[derive(Debug, Clone)]
pub struct ResourceKind {
    pub of: GroupResource,
    pub version: Arc<str>,
    pub kind: Arc<str>,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub scope: Scope,
    pub status: bool,
    pub rules: Rules,
    /// The OpenAPI schema of a custom resource, for the shapes of its lists and maps.
    pub schema: Option<Arc<Value>>,
    pub columns: Vec<PrinterColumn>,
}

impl ResourceKind {
    /// A namespaced custom kind without a status subresource. `api_version` is `group/version`.
    pub fn custom(api_version: &str, kind: &str, plural: &str) -> Self {
        Self::with_rules(api_version, kind, plural, Rules::CUSTOM)
    }

    pub(super) fn with_rules(api_version: &str, kind: &str, plural: &str, rules: Rules) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            of: GroupResource::new(group, plural),
            version: version.into(),
            kind: kind.into(),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope: Scope::Namespaced,
            status: false,
            rules,
            schema: None,
            columns: Vec::new(),
        }
    }

    pub fn cluster_scoped(mut self) -> Self {
        self.scope = Scope::Cluster;
        self
    }

    pub fn with_status(mut self) -> Self {
        self.status = true;
        self
    }

    pub fn short(mut self, name: &str) -> Self {
        self.short_names.push(name.into());
        self
    }

    /// Adds the kind to a category such as `all`.
    pub fn category(mut self, name: &str) -> Self {
        self.categories.push(name.into());
        self
    }

    pub fn column(mut self, name: &str, kind: &str, path: &str) -> Self {
        self.columns.push(PrinterColumn { name: name.into(), kind: kind.into(), path: path.into(), priority: 0 });
        self
    }

    pub fn api_version(&self) -> String {
        match &*self.of.group {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub fn group_kind(&self) -> GroupResource {
        GroupResource { group: self.of.group.clone(), resource: self.kind.clone() }
    }

    pub fn namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// The verbs of the kind itself, as discovery lists them.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.rules.storage {
            Storage::Kept => &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            Storage::Answered(_) => &["create"],
        }
    }

    /// The storage key in etcd; storage errors quote it.
    pub fn storage_key(&self, namespace: &str, name: &str) -> String {
        let root = match (&*self.of.group, &*self.of.resource) {
            ("", "services") => "services/specs".to_owned(),
            ("", "nodes") => "minions".to_owned(),
            (group, resource) if self.rules.custom || group == "apiextensions.k8s.io" => {
                format!("{group}/{resource}")
            }
            (_, resource) => resource.to_owned(),
        };
        match namespace {
            "" => format!("/{root}/{name}"),
            namespace => format!("/{root}/{namespace}/{name}"),
        }
    }
}

/// Id of one collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectionId(pub(super) usize);

/// A kind with its collection.
#[derive(Debug, Clone)]
pub struct Served {
    pub kind: Arc<ResourceKind>,
    pub collection: CollectionId,
}

/// All kinds a cluster serves.
#[derive(Debug, Default)]
pub struct Registry {
    kinds: Vec<Served>,
    collections: BTreeMap<GroupResource, CollectionId>,
}

impl Registry {
    pub fn built_in() -> Self {
        let mut registry = Self::default();
        for kind in builtin::kinds() {
            registry.add(kind);
        }
        registry
    }

    /// Adds a kind, or replaces it where group, version and plural are the same.
    pub fn add(&mut self, kind: ResourceKind) -> CollectionId {
        let next = CollectionId(self.collections.len());
        let collection = *self.collections.entry(kind.of.clone()).or_insert(next);
        let served = Served { kind: Arc::new(kind), collection };
        match self.position(&served.kind.of, &served.kind.version) {
            Some(at) => self.kinds[at] = served,
            None => self.kinds.push(served),
        }
        collection
    }

    /// Stops serving every version of a resource. Its objects stay in their collection until removed.
    pub fn withdraw(&mut self, of: &GroupResource) {
        self.kinds.retain(|served| served.kind.of != *of);
    }

    pub fn find(&self, group: &str, version: &str, resource: &str) -> Option<&Served> {
        self.kinds.iter().find(|served| {
            *served.kind.of.resource == *resource && *served.kind.of.group == *group && *served.kind.version == *version
        })
    }

    pub fn find_kind(&self, api_version: &str, kind: &str) -> Option<&Served> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.kinds.iter().find(|served| {
            *served.kind.kind == *kind && *served.kind.of.group == *group && *served.kind.version == *version
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Served> {
        self.kinds.iter()
    }

    pub fn collection_count(&self) -> usize {
        self.collections.len()
    }

    fn position(&self, of: &GroupResource, version: &str) -> Option<usize> {
        self.kinds.iter().position(|served| served.kind.of == *of && *served.kind.version == *version)
    }
}
