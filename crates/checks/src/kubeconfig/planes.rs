//! Which control plane belongs to which Cluster, and which clusters share a name.
//!
//! CAPT finds its Cluster by an equal name, and keeps the sources of all namespaces in one: a control plane of another
//! name never gets a kubeconfig, and two clusters of one name share a source.

use std::collections::BTreeMap;

use super::facts::{CapiCluster, CaptPlane};
use super::names::CAPT_PLANE;
use crate::kinds::Listing;
use trueup_core::world::{Key, ObjectName};

/// The control planes that belong to a Cluster of another name.
#[derive(Default)]
pub struct ControlPlanes {
    cluster_of: BTreeMap<Key, Key>,
    plane_of: BTreeMap<Key, Key>,
}

impl ControlPlanes {
    pub fn of(clusters: &Listing<'_, CapiCluster>, planes: &Listing<'_, CaptPlane>) -> Self {
        let mut naming: BTreeMap<Key, Key> = BTreeMap::new();
        for (key, cluster) in clusters.iter() {
            let Some(plane) = named_plane(key, cluster) else { continue };
            // A Cluster of the control plane's own name comes before the others that name it.
            if plane == *key || !naming.contains_key(&plane) {
                naming.insert(plane, key.clone());
            }
        }
        let mut all = Self::default();
        for (key, plane) in planes.iter() {
            let owner = plane.owner_cluster.as_deref();
            let owner = owner.map(|name| Key { name: ObjectName::new(name), ..key.clone() });
            let owner = owner.filter(|owner| clusters.get(owner).seen.is_some());
            if let Some(cluster) = naming.get(key).cloned().or(owner).filter(|cluster| cluster != key) {
                all.plane_of.entry(cluster.clone()).or_insert_with(|| key.clone());
                all.cluster_of.insert(key.clone(), cluster);
            }
        }
        all
    }

    /// Whether a control plane belongs to a Cluster of another name.
    pub fn belongs_elsewhere(&self, plane: &Key) -> bool {
        self.cluster_of(plane).is_some()
    }

    /// The Cluster of another name that a control plane belongs to.
    pub fn cluster_of(&self, plane: &Key) -> Option<&Key> {
        self.cluster_of.get(plane)
    }

    /// The control plane of another name that belongs to a Cluster.
    pub fn renamed(&self, cluster: &Key) -> Option<&Key> {
        self.plane_of.get(cluster)
    }
}

/// The CAPTControlPlane of its own namespace that a Cluster names.
fn named_plane(key: &Key, cluster: &CapiCluster) -> Option<Key> {
    let plane = cluster.control_plane.as_ref().filter(|plane| *plane.kind == *CAPT_PLANE.kind)?;
    let is_here = plane.namespace.is_empty()
        || key.namespace.as_ref().is_some_and(|namespace| namespace.as_str() == &*plane.namespace);
    is_here.then(|| Key { name: ObjectName::new(plane.name.as_ref()), ..key.clone() })
}

/// Clusters and control planes of all namespaces by name.
pub struct Names(BTreeMap<ObjectName, Vec<Key>>);

impl Names {
    pub fn of(clusters: &Listing<'_, CapiCluster>, planes: &Listing<'_, CaptPlane>) -> Self {
        let mut names: BTreeMap<ObjectName, Vec<Key>> = BTreeMap::new();
        for key in clusters.iter().map(|(key, _)| key).chain(planes.iter().map(|(key, _)| key)) {
            names.entry(key.name.clone()).or_default().push(key.clone());
        }
        Self(names)
    }

    /// The first of its name in another namespace.
    pub fn twin_of(&self, cluster: &Key) -> Option<&Key> {
        self.0.get(&cluster.name)?.iter().filter(|key| key.namespace != cluster.namespace).min()
    }
}
