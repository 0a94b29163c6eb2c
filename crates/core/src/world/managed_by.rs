//! Marks that another tool manages an object: Argo CD, Flux, Helm, ApplySet, OLM, and controllers that write Secrets.
//!
//! Invariants:
//! - a mark says who else writes the object, and is never a proof of ownership, for or against;
//! - of a Secret's metadata only what may be shown is kept;
//! - a field list that cannot be read counts as owning every field.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::ids::{ClusterName, Namespace};
use super::interest::{CollectionId, Scope};
use super::raw::{RawManagedEntry, RawManagedFields, RawMeta, RawObject, RawOwner};
use crate::redact::metadata_value;

/// Characters of an owner's name that are kept: names of objects are shorter.
const OWNER_CHARS_MAX: usize = 253;
/// Field paths that are kept of one object. A manager of more counts as owning every field.
const PATHS_MAX: usize = 256;

/// The other tool that manages an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedBy {
    pub tool: ManagingTool,
    /// What of the tool manages it: `application storefront`.
    pub owner: String,
    /// The field the mark was read from.
    pub field: String,
    fields: OwnedFields,
}

/// A tool that applies objects again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagingTool {
    ArgoCd,
    Flux,
    Helm,
    ApplySet,
    Olm,
    ExternalSecrets,
    SealedSecrets,
    CertManager,
}

/// The fields that a tool's field managers own.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OwnedFields {
    /// `managedFields` lists them; without that list none is proven.
    Paths(Vec<FieldPath>),
    All,
}

/// The names on the way to a field.
pub type FieldPath = Vec<String>;

#[derive(Deserialize)]
struct ManagedFieldsEntry {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    subresource: String,
    #[serde(default, rename = "fieldsV1")]
    fields: Value,
}

impl ManagingTool {
    pub fn name(self) -> &'static str {
        match self {
            Self::ArgoCd => "Argo CD",
            Self::Flux => "Flux",
            Self::Helm => "Helm",
            Self::ApplySet => "an ApplySet",
            Self::Olm => "OLM",
            Self::ExternalSecrets => "External Secrets",
            Self::SealedSecrets => "Sealed Secrets",
            Self::CertManager => "cert-manager",
        }
    }

    /// Whether a field manager of this name is the tool's.
    fn is_manager(self, name: &str) -> bool {
        match self {
            Self::ArgoCd => name.starts_with("argocd"),
            Self::Flux => ["kustomize-controller", "helm-controller"].contains(&name) || name.starts_with("flux"),
            Self::Helm => name.eq_ignore_ascii_case("helm"),
            Self::ApplySet => name.starts_with("kubectl"),
            Self::Olm => ["olm", "catalog", "operator-lifecycle-manager"].contains(&name),
            Self::ExternalSecrets => name.contains("external-secrets"),
            Self::SealedSecrets => name == "controller" || name.contains("sealed-secrets"),
            Self::CertManager => name.starts_with("cert-manager"),
        }
    }
}

impl ManagedBy {
    /// Reads the mark of an object; nothing where it has none.
    pub fn of(raw: &RawObject<'_>) -> Option<Self> {
        let meta = &raw.meta;
        let (tool, owner, field) = by_metadata(raw.kind.as_ref(), meta).or_else(|| by_owner(&meta.owners))?;
        let owner = owner.chars().take(OWNER_CHARS_MAX).collect();
        Some(Self { tool, owner, field, fields: OwnedFields::read(meta.managed_fields.as_ref(), tool) })
    }

    /// A mark of Argo CD whose field manager owns these fields.
    #[cfg(test)]
    pub fn marked_for_tests(fields: Vec<FieldPath>) -> Self {
        let (owner, field) = ("application shop".to_owned(), "metadata.labels".to_owned());
        Self { tool: ManagingTool::ArgoCd, owner, field, fields: OwnedFields::Paths(fields) }
    }

    /// `Argo CD (application storefront)`.
    pub fn describe(&self) -> String {
        format!("{} ({})", self.tool.name(), self.owner)
    }

    /// Where to change the object so that the tool does not change it back.
    pub fn place(&self) -> String {
        let owner = &self.owner;
        match self.tool {
            ManagingTool::ArgoCd | ManagingTool::Flux => format!("in the source of {owner}"),
            ManagingTool::Helm => format!("in the chart or values of {owner}"),
            ManagingTool::ApplySet => format!("in the files of {owner}"),
            ManagingTool::Olm => format!("in the bundle or Subscription of {owner}"),
            ManagingTool::ExternalSecrets => format!("in the store that {owner} names"),
            ManagingTool::SealedSecrets | ManagingTool::CertManager => format!("in {owner}"),
        }
    }

    /// Returns the first of these fields that the tool's field manager owns.
    pub fn owned_among<'p>(&self, written: &'p [FieldPath]) -> Option<&'p FieldPath> {
        let overlaps = |one: &FieldPath, other: &FieldPath| one.iter().zip(other).all(|(one, other)| one == other);
        match &self.fields {
            OwnedFields::All => written.first(),
            OwnedFields::Paths(paths) => written.iter().find(|field| paths.iter().any(|path| overlaps(path, field))),
        }
    }
}

/// The mark in labels and annotations, in the order of precedence.
fn by_metadata(kind: &str, meta: &RawMeta<'_>) -> Option<(ManagingTool, String, String)> {
    use ManagingTool::{ApplySet, ArgoCd, Flux, Helm, Olm};
    let label = |key: &str| meta.label(key).map(|value| metadata_value(kind, key, value));
    let annotation = |key: &str| meta.annotation(key).map(|value| metadata_value(kind, key, value));
    let labelled = |key: &str| format!("metadata.labels[{key}]");
    let annotated = |key: &str| format!("metadata.annotations[{key}]");
    let placed = |namespace: Option<&str>, name: &str| match namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    };
    if let Some(tracked) = annotation("argocd.argoproj.io/tracking-id") {
        let application = tracked.split(':').next().unwrap_or_default();
        return Some((ArgoCd, format!("application {application}"), annotated("argocd.argoproj.io/tracking-id")));
    }
    if let Some(application) = label("argocd.argoproj.io/instance") {
        return Some((ArgoCd, format!("application {application}"), labelled("argocd.argoproj.io/instance")));
    }
    for (owner, group) in [("Kustomization", "kustomize"), ("HelmRelease", "helm")] {
        let key = format!("{group}.toolkit.fluxcd.io/name");
        if let Some(name) = label(&key) {
            let namespace = label(&format!("{group}.toolkit.fluxcd.io/namespace"));
            return Some((Flux, format!("{owner} {}", placed(namespace.as_deref(), &name)), labelled(&key)));
        }
    }
    if let Some(release) = annotation("meta.helm.sh/release-name") {
        let namespace = annotation("meta.helm.sh/release-namespace");
        let owner = format!("release {}", placed(namespace.as_deref(), &release));
        return Some((Helm, owner, annotated("meta.helm.sh/release-name")));
    }
    if let Some(set) = label("applyset.kubernetes.io/part-of") {
        return Some((ApplySet, format!("set {set}"), labelled("applyset.kubernetes.io/part-of")));
    }
    let owner = label("olm.owner")?;
    let kind = label("olm.owner.kind").map_or_else(|| "owner".to_owned(), Into::into);
    Some((Olm, format!("{kind} {owner}"), labelled("olm.owner")))
}

/// The mark in owner references.
fn by_owner(owners: &[RawOwner<'_>]) -> Option<(ManagingTool, String, String)> {
    owners.iter().find_map(|owner| {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        let tool = match (owner.kind.as_ref(), group) {
            ("ExternalSecret", _) => ManagingTool::ExternalSecrets,
            ("SealedSecret", _) => ManagingTool::SealedSecrets,
            ("Certificate", "cert-manager.io") => ManagingTool::CertManager,
            _ => return None,
        };
        Some((tool, format!("{} {}", owner.kind, owner.name), "metadata.ownerReferences".to_owned()))
    })
}

impl OwnedFields {
    fn read(managed_fields: Option<&RawManagedFields<'_>>, tool: ManagingTool) -> Self {
        let Some(raw) = managed_fields else { return Self::Paths(Vec::new()) };
        let Ok(entries) = read_entries(raw) else { return Self::All };
        let mut paths = Vec::new();
        let is_of_tool = |entry: &ManagedFieldsEntry| tool.is_manager(&entry.manager) && entry.subresource.is_empty();
        for entry in entries.iter().filter(|entry| is_of_tool(entry)) {
            collect(&entry.fields, &mut Vec::new(), &mut paths);
        }
        if paths.len() > PATHS_MAX { Self::All } else { Self::Paths(paths) }
    }
}

fn read_entries(raw: &RawManagedFields<'_>) -> Result<Vec<ManagedFieldsEntry>, serde_json::Error> {
    match raw {
        RawManagedFields::Json(text) => Ok(serde_json::from_str::<Option<_>>(text)?.unwrap_or_default()),
        RawManagedFields::Entries(entries) => {
            let entry = |entry: &RawManagedEntry<'_>| {
                let (manager, subresource) = (entry.manager.to_owned(), entry.subresource.to_owned());
                let fields = if entry.fields.is_empty() { Value::Null } else { serde_json::from_slice(entry.fields)? };
                Ok(ManagedFieldsEntry { manager, subresource, fields })
            };
            entries.iter().map(entry).collect()
        }
    }
}

/// Adds the path of every owned field. What is owned inside a list counts as the whole list.
fn collect(fields: &Value, path: &mut FieldPath, paths: &mut Vec<FieldPath>) {
    let Value::Object(children) = fields else { return };
    if children.is_empty() {
        paths.push(path.clone());
        return;
    }
    for (name, child) in children {
        match name.strip_prefix("f:") {
            Some(_) if paths.len() > PATHS_MAX => return,
            Some(name) => {
                path.push(name.to_owned());
                collect(child, path, paths);
                path.pop();
            }
            // The map itself, not what is in it.
            None if name == "." => {}
            None => {
                paths.push(path.clone());
                return;
            }
        }
    }
}

/// Collects the paths that a JSON merge patch writes.
pub fn patched_paths(patch: &serde_json::Map<String, Value>) -> Vec<FieldPath> {
    let mut paths = Vec::new();
    let mut open: Vec<(FieldPath, &Value)> = patch.iter().map(|(name, value)| (vec![name.clone()], value)).collect();
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(children) if !children.is_empty() => {
                let below = |(name, value)| ([path.clone(), vec![String::clone(name)]].concat(), value);
                open.extend(children.iter().map(below));
            }
            Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
                paths.push(path);
            }
        }
    }
    paths
}

/// The collections with an object whose writers are known, so that they are found without visiting every collection of a cluster.
#[derive(Debug, Default)]
pub(super) struct MarkedCollections(BTreeMap<MarkedPlace, BTreeSet<CollectionId>>);

/// A cluster, a kind, and the namespace where the collection has one.
type MarkedPlace = (ClusterName, &'static str, Option<Namespace>);

impl MarkedCollections {
    pub fn insert(&mut self, id: &CollectionId) {
        self.0.entry(place_of(id)).or_default().insert(id.clone());
    }

    pub fn remove(&mut self, id: &CollectionId) {
        let place = place_of(id);
        if let Some(ids) = self.0.get_mut(&place) {
            ids.remove(id);
            if ids.is_empty() {
                self.0.remove(&place);
            }
        }
    }

    /// The collections that may hold a marked object of this kind.
    pub fn of<'m>(
        &'m self,
        cluster: &ClusterName,
        kind: &'static str,
        namespace: Option<&Namespace>,
    ) -> impl Iterator<Item = &'m CollectionId> + use<'m> {
        let at = |namespace: Option<Namespace>| self.0.get(&(cluster.clone(), kind, namespace));
        let namespaced = namespace.and_then(|namespace| at(Some(namespace.clone())));
        at(None).into_iter().chain(namespaced).flatten()
    }
}

fn place_of(id: &CollectionId) -> MarkedPlace {
    let namespace = match &id.scope {
        Scope::All => None,
        Scope::Namespace(namespace) => Some(namespace.clone()),
        Scope::Object { namespace, .. } => namespace.clone(),
    };
    (id.cluster.clone(), id.resource.kind, namespace)
}

#[cfg(test)]
mod tests;
