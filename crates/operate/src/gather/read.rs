//! Reads the objects that the checks read, once more and whole, and redacts them.
//!
//! Invariants: exactly the collections of the fleet are read, and what identifies a cluster; one that cannot be read, or was
//! not known completely when it was judged, is incomplete.
//!
//! Elsewhere: redacting one object (`object`), the files (`folder`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::object::redact;
use super::placeholder::Placeholders;
use crate::fleet::Fleet;
use crate::observe::link_error;
use trueup_core::decode::recording::RecordedCluster;
use trueup_core::decode::{DataSort, Digester, Reader};
use trueup_core::world::{Cluster, ClusterName, ClusterSource, CollectionId, Content, Provider, Resource, Scope, View};
use trueup_fleet::observe::{ObjectText, export};

const NAMESPACE: Resource =
    Resource { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const CONFIG_MAP: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/// A member of the fleet as it is known before its objects are read.
pub struct Seen {
    pub cluster: Cluster,
    /// Each collection, and why it is not complete.
    pub collections: Vec<(CollectionId, Option<String>)>,
}

impl Seen {
    /// The members of a fleet whose content can be written: the user's own kubeconfig files are not gathered.
    pub fn all(view: View<'_>) -> Vec<Self> {
        let clusters = view.clusters().filter(|cluster| cluster.source != ClusterSource::Local);
        let seen = clusters.map(|cluster| {
            let known = view.observations_of(&cluster.name).into_iter();
            let gap = known.map(|(id, known, _)| (id.clone(), known.gap().map(|gap| gap.message.to_string())));
            Self { cluster: cluster.clone(), collections: gap.collect() }
        });
        seen.collect()
    }
}

/// What identifies an object within a member: group, kind, namespace and name.
type ObjectKey = (String, String, String, String);

/// A member with its redacted objects.
pub struct Gathered {
    pub cluster: Cluster,
    pub objects: BTreeMap<ObjectKey, Value>,
    /// Those that were read with their content.
    whole: BTreeSet<ObjectKey>,
    /// The collections that were read completely.
    pub complete: Vec<CollectionId>,
    /// The others, as a fleet file names them, each with the reason.
    pub incomplete: BTreeMap<String, String>,
    pub unreachable: Option<String>,
}

/// Where whole objects come from.
pub enum Whole {
    Live(Fleet),
    Recorded(BTreeMap<ClusterName, RecordedCluster>),
}

impl Whole {
    /// Reads and redacts the objects of a member.
    pub async fn gather(&self, seen: Seen, placeholders: &mut Placeholders) -> Gathered {
        let Seen { cluster, collections } = seen;
        let mut gathered = Gathered {
            unreachable: self.unreachable(&cluster),
            cluster,
            objects: BTreeMap::new(),
            whole: BTreeSet::new(),
            complete: Vec::new(),
            incomplete: BTreeMap::new(),
        };
        if gathered.unreachable.is_some() {
            return gathered;
        }
        // Whole objects last: they replace what was read of their metadata alone.
        let (whole, mut all): (Vec<_>, Vec<_>) =
            collections.into_iter().partition(|(id, _)| id.content == Content::Full);
        all.extend(whole);
        for (id, gap) in all {
            self.read_into(&mut gathered, &id, placeholders).await;
            if let Some(gap) = gap {
                gathered.lacks(&id, gap);
            }
        }
        if !gathered.cluster.source.is_account() {
            for id in identity(&gathered.cluster.name) {
                // Without it the snapshot is of no cluster that a plan could be applied to, and says the same.
                let texts = self.read(&id).await.unwrap_or_default();
                gathered.keep(&id, &texts, placeholders);
            }
        }
        gathered
    }

    /// Reads one collection.
    pub async fn read_into(&self, gathered: &mut Gathered, id: &CollectionId, placeholders: &mut Placeholders) {
        match self.read(id).await {
            Ok(texts) => match gathered.keep(id, &texts, placeholders) {
                None => gathered.complete.push(id.clone()),
                Some(why) => gathered.lacks(id, why),
            },
            Err(why) => gathered.lacks(id, why),
        }
    }

    fn unreachable(&self, cluster: &Cluster) -> Option<String> {
        match self {
            Self::Live(_) => link_error(&cluster.link),
            Self::Recorded(all) => all.get(&cluster.name).and_then(|recorded| recorded.coverage.unreachable.clone()),
        }
    }

    async fn read(&self, id: &CollectionId) -> Result<Vec<ObjectText>, String> {
        match self {
            Self::Live(fleet) => {
                let client = fleet.client_of(&id.cluster).await;
                let client = client.ok_or_else(|| format!("{} is not connected", id.cluster))?;
                export(&client, id).await.map_err(|gap| gap.message.to_string())
            }
            Self::Recorded(all) => {
                let objects = all
                    .get(&id.cluster)
                    .map_or(&[][..], |cluster| cluster.of_kind(id.resource.group, id.resource.kind));
                let inside = objects.iter().filter(|object| is_inside(&id.scope, &object.namespace, &object.name));
                Ok(inside.filter(|object| is_selected(id, &object.json)).map(|object| object.json.clone()).collect())
            }
        }
    }
}

/// Whether a recorded object is one that a server would have selected.
fn is_selected(id: &CollectionId, json: &str) -> bool {
    let (digester, resource) = (Digester::new(&[0; 32]), &id.resource);
    let reader = Reader {
        digester: &digester,
        sort: DataSort::of(resource.group, resource.kind),
        digested: &[],
        reduced: &[],
        api_version: &resource.api_version(),
        kind: resource.kind,
    };
    // What cannot be read is refused when it is redacted.
    reader.object(json).map_or(true, |raw| id.selector.matches(&raw))
}

fn is_inside(scope: &Scope, namespace: &str, name: &str) -> bool {
    match scope {
        Scope::All => true,
        Scope::Namespace(wanted) => wanted.as_str() == namespace,
        Scope::Object { namespace: wanted, name: object } => {
            object.as_str() == name && wanted.as_ref().map_or("", |wanted| wanted.as_str()) == namespace
        }
    }
}

/// What a cluster is identified by.
fn identity(cluster: &ClusterName) -> [CollectionId; 2] {
    [
        CollectionId::object(cluster, NAMESPACE, None, "kube-system"),
        CollectionId::object(cluster, CONFIG_MAP, Some("kube-system"), "kube-root-ca.crt"),
    ]
}

/// The type of Secret that a collection is narrowed to.
fn selected_type(id: &CollectionId) -> Option<&str> {
    id.selector.fields.split(',').find_map(|term| term.strip_prefix("type="))
}

/// How a fleet file names what is incomplete.
pub fn incomplete_name(id: &CollectionId) -> String {
    match id.namespace() {
        Some(namespace) => format!("{}@{namespace}", id.resource.path()),
        None => id.resource.path(),
    }
}

impl Gathered {
    /// The account, where the member is one.
    pub fn provider(&self) -> Option<Provider> {
        match &self.cluster.source {
            ClusterSource::Cloud { provider, .. } => Some(*provider),
            ClusterSource::Kubeconfig { .. }
            | ClusterSource::Hosted { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Local => None,
        }
    }

    pub fn lacks(&mut self, id: &CollectionId, why: String) {
        self.complete.retain(|complete| complete != id);
        self.incomplete.entry(incomplete_name(id)).or_insert(why);
    }

    /// Keeps the objects. Returns why one of them cannot be written.
    fn keep(&mut self, id: &CollectionId, texts: &[ObjectText], placeholders: &mut Placeholders) -> Option<String> {
        let mut fault = None;
        for text in texts {
            match redact(text, &id.resource, placeholders) {
                Err(why) => fault = Some(why),
                Ok(mut object) => {
                    // Metadata alone does not say the type that the server selected by.
                    if let Some(of_type) = selected_type(id) {
                        object["type"] = of_type.into();
                    }
                    let text =
                        |place: &str| object.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
                    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
                    let key = (id.resource.group.to_owned(), id.resource.kind.to_owned(), namespace, name);
                    if id.content == Content::Full {
                        self.whole.insert(key.clone());
                    } else if self.whole.contains(&key) {
                        continue;
                    } else if let Some(before) = self.objects.get(&key)
                        && object.get("type").is_none()
                        && before.get("type").is_some()
                    {
                        continue;
                    }
                    self.objects.insert(key, object);
                }
            }
        }
        fault
    }
}
