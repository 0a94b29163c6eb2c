//! Assembling one cluster from its files.
//!
//! Invariants:
//! - of two objects with one identity the one whose file sorts first is kept, and the cluster is not complete, because it
//!   is unknown which of them is right;
//! - everything unreadable is a problem and makes the cluster incomplete.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::SnapshotCluster;
use super::file::{Parsed, Spot};
use super::fleet_file::ClusterEntry;
use super::layout::{Place, Tree};
use super::load::{FleetReading, ReadPlace};
use super::problem::Problem;
use crate::connect::identity;
use trueup_core::decode::recording::{Coverage, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::world::{ClusterIdentity, ClusterName, ClusterSource, HostedBy, Namespace, ObjectName};

/// A cluster, its number of objects, and the dump it came from.
pub(super) struct Assembled {
    pub cluster: SnapshotCluster,
    pub objects: usize,
    guest_of: Option<String>,
}

/// Builds the cluster of a folder.
pub(super) fn assemble(dir: &Path, read: ReadPlace, fleet: &FleetReading, problems: &mut Vec<Problem>) -> Assembled {
    let ReadPlace { place, files, faults } = read;
    let nothing_said = ClusterEntry::default();
    let (entry, listed) = match fleet {
        FleetReading::Whole(fleet) => {
            fleet.clusters.get(&place.name).map_or((&nothing_said, false), |entry| (entry, true))
        }
        FleetReading::Absent | FleetReading::Broken => (&nothing_said, false),
    };
    let mut merge = Merge { dir, tree: place.tree, problems, unreadable: Vec::new(), kept: Vec::new() };
    if entry.invalid || matches!(fleet, FleetReading::Broken) {
        merge.unreadable.push("fleet.yaml".to_owned());
    }
    for (path, message) in faults {
        merge.fault(&path, None, message);
    }
    merge.files(files);
    let Merge { unreadable, kept, .. } = merge;
    // A gathering tool omits kinds, whatever a fleet file says.
    let vouched = listed && place.tree == Tree::Own;
    let mut recorded = RecordedCluster::new(Coverage {
        kinds: if vouched { KindCoverage::All } else { KindCoverage::SeenOnly },
        incomplete: entry.incomplete.clone(),
        unreachable: entry.unreachable.clone(),
        unreadable,
    });
    let objects = kept.len();
    kept.into_iter().for_each(|(object, ..)| recorded.push(object));
    let Place { name, guest_of, .. } = place;
    let cluster = SnapshotCluster {
        name: ClusterName::new(name),
        source: ClusterSource::Snapshot,
        class: entry.class,
        hosted_by: entry.hosted_by.clone(),
        identity: identity_of(&recorded),
        served: recorded.groups(),
        recorded,
    };
    Assembled { cluster, objects, guest_of }
}

struct Merge<'m> {
    dir: &'m Path,
    tree: Tree,
    problems: &'m mut Vec<Problem>,
    unreadable: Vec<String>,
    kept: Vec<(RecordedObject, PathBuf)>,
}

impl Merge<'_> {
    fn files(&mut self, files: Vec<(PathBuf, Parsed)>) {
        let mut index: HashMap<(String, String, String, String), usize> = HashMap::new();
        for (path, Parsed { objects, faults }) in files {
            for (spot, message) in faults {
                self.fault(&path, spot, message);
            }
            for (object, spot) in objects {
                let RecordedObject { group, kind, namespace, name, json } = &object;
                let identity = (group.clone(), kind.clone(), namespace.clone(), name.clone());
                match index.get(&identity) {
                    // Gathering tools write some objects twice, alone and in a list.
                    Some(&first) if self.tree == Tree::Gathered && self.kept[first].0.json == *json => {}
                    Some(&first) => self.duplicate(&path, spot, &object, first),
                    None => {
                        index.insert(identity, self.kept.len());
                        self.kept.push((object, path.clone()));
                    }
                }
            }
        }
    }

    fn duplicate(&mut self, path: &Path, spot: Spot, object: &RecordedObject, first: usize) {
        let name = match object.namespace.as_str() {
            "" => format!("{} {}", object.kind, object.name),
            namespace => format!("{} {namespace}/{}", object.kind, object.name),
        };
        let other = &self.kept[first].1;
        let place = if other == path { "earlier in the file".to_owned() } else { format!("in {}", other.display()) };
        self.fault(path, Some(spot), format!("holds {name}, which is also {place}: remove one of them"));
    }

    fn fault(&mut self, path: &Path, spot: Option<Spot>, message: String) {
        let message = match spot.and_then(|spot| spot.item) {
            Some(item) => format!("item {item} {message}"),
            None => message,
        };
        self.problems.push(Problem::new(path, spot.map(|spot| spot.line), message));
        let file = path.strip_prefix(self.dir).unwrap_or(path).display().to_string();
        if !self.unreadable.contains(&file) {
            self.unreadable.push(file);
        }
    }
}

/// A guest inside a dump is hosted by the only HostedCluster of its name there, unless the fleet file says otherwise.
pub(super) fn hosts_of_dumped_guests(all: &mut [Assembled]) {
    for index in 0..all.len() {
        let Some(host) = &all[index].guest_of else { continue };
        let host = all.iter().find(|one| one.cluster.name.as_str() == host.as_str());
        let hosted_by = host.and_then(|host| hosted_cluster(&host.cluster, all[index].cluster.name.as_str()));
        let guest = &mut all[index].cluster;
        guest.hosted_by = guest.hosted_by.take().or(hosted_by);
    }
}

fn hosted_cluster(host: &SnapshotCluster, guest: &str) -> Option<HostedBy> {
    let all = host.recorded.of_kind("hypershift.openshift.io", "HostedCluster");
    let mut named = all.iter().filter(|object| object.name == guest);
    let (Some(object), None) = (named.next(), named.next()) else { return None };
    Some(HostedBy {
        cluster: host.name.clone(),
        namespace: Namespace::new(object.namespace.as_str()),
        name: ObjectName::new(guest),
    })
}

/// The cluster's identity, as far as it is recorded.
fn identity_of(recorded: &RecordedCluster) -> ClusterIdentity {
    #[derive(Deserialize)]
    struct Object {
        #[serde(default)]
        metadata: Metadata,
        #[serde(default)]
        data: HashMap<String, String>,
    }
    #[derive(Deserialize, Default)]
    struct Metadata {
        uid: Option<String>,
    }
    let find = |kind: &str, namespace: &str, name: &str| -> Option<Object> {
        let mut all = recorded.of_kind("", kind).iter();
        let object = all.find(|object| object.namespace == namespace && object.name == name)?;
        serde_json::from_str(&object.json).ok()
    };
    let uid = find("Namespace", "", "kube-system").and_then(|object| object.metadata.uid);
    let ca = find("ConfigMap", "kube-system", "kube-root-ca.crt").and_then(|mut object| object.data.remove("ca.crt"));
    identity::of(uid.as_deref(), ca.as_deref())
}
