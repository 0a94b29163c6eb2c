//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything. A
//! change is seen after it happened, so where it may have moved a guest from one home to another, both are touched.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::context::{CheckContext, possible_homes, usual_owner};
use super::facts::HostedCluster;
use super::hosted_cluster::{self, hosted_by};
use super::names::{CONSOLE_NAMESPACE, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER, INFRASTRUCTURE};
use super::subjects::{hosted_cluster_subject, possible_source_subject, subject};
use crate::{Touched, TouchedNamespace};
use trueup_core::engine::SubjectId;
use trueup_core::world::{
    Change, ChangeSet, Cluster, ClusterName, CollectionId, HostedBy, Key, Namespace, Scope, View, What,
};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    let mut fleet = Fleet::new(view);
    for change in changes.iter() {
        match change {
            Change::Collection { id, what: What::Keys(keys) } if is_copies(id) => {
                touch_copies(id, keys, view, &mut touched.subjects)
            }
            Change::Collection { id, what: What::Keys(keys) } if HOSTED_CLUSTER.is(&id.resource) => {
                touch_hosted_clusters(id, keys, view, &mut touched);
                fleet.touch_topology_guests(&id.cluster, &mut touched.clusters);
            }
            Change::Collection { id, what: What::Keys(keys) } if CONTROL_PLANE.is(&id.resource) => {
                touch_control_planes(id, keys, &mut fleet, &mut touched);
            }
            Change::Collection { id, .. } if HOSTED_CLUSTER.is(&id.resource) => {
                fleet.touch_neighbours(&id.cluster, &mut touched);
                fleet.touch_topology_guests(&id.cluster, &mut touched.clusters);
            }
            Change::Collection { id, .. } if id.resource == INFRASTRUCTURE => {
                fleet.touch_neighbours(&id.cluster, &mut touched);
                fleet.touch_managers(&mut touched.clusters);
            }
            Change::Collection { id, what } => match sources_of(id) {
                Some(namespace) => fleet.touch_sources(id, what, namespace, &mut touched),
                None => fleet.touch_neighbours(&id.cluster, &mut touched),
            },
            Change::Cluster(name) => {
                fleet.touch_neighbours(name, &mut touched);
                if view.cluster(name).is_none() {
                    fleet.touch_topology_guests(name, &mut touched.clusters);
                    fleet.touch_managers(&mut touched.clusters);
                }
            }
        }
    }
    touched
}

/// What several changes need to know of the fleet, each looked up once.
struct Fleet<'a> {
    view: View<'a>,
    /// Guests known only by their topology, with the HostedCluster that is theirs.
    topology: OnceCell<Vec<(&'a ClusterName, Option<HostedBy>)>>,
    /// Guests by management cluster and namespace of their sources.
    sources: BTreeMap<ClusterName, BTreeMap<String, Vec<&'a ClusterName>>>,
    /// HostedClusters by management cluster and namespace.
    hosted: BTreeMap<ClusterName, BTreeMap<Namespace, Vec<HostedBy>>>,
    /// Clusters whose neighbours were touched.
    done: BTreeSet<ClusterName>,
    managers: Managers,
}

/// Whether every cluster that hosts guests was touched.
#[derive(PartialEq)]
enum Managers {
    Untouched,
    Touched,
}

impl<'a> Fleet<'a> {
    fn new(view: View<'a>) -> Self {
        let (topology, sources, hosted) = (OnceCell::new(), BTreeMap::new(), BTreeMap::new());
        Self { view, topology, sources, hosted, done: BTreeSet::new(), managers: Managers::Untouched }
    }

    fn topology(&self) -> &[(&'a ClusterName, Option<HostedBy>)] {
        self.topology.get_or_init(|| {
            let guests = self.view.unhosted().filter_map(|guest| CheckContext::of(self.view, &guest.name));
            guests.map(|context| (&context.guest.name, context.home.ok())).collect()
        })
    }

    /// The guests of a HostedCluster: those that say so, and those known only by their topology.
    fn guests_at(&self, by: &HostedBy) -> Vec<&'a ClusterName> {
        let by_topology = self.topology().iter().filter(|(_, home)| home.as_ref() == Some(by)).map(|(guest, _)| *guest);
        self.view.guests_at(by).chain(by_topology).collect()
    }

    /// A change in a cluster touches itself, the guests it hosts, and what is its own in the cluster that hosts it.
    fn touch_neighbours(&mut self, changed: &ClusterName, touched: &mut Touched) {
        if !self.done.insert(changed.clone()) {
            return;
        }
        touch_in_host(changed, self.view, touched);
        let clusters = &mut touched.clusters;
        clusters.insert(changed.clone());
        clusters.extend(self.view.guests_of(changed).cloned());
        for (guest, home) in self.topology() {
            match home {
                Some(by) if by.cluster == *changed => drop(clusters.insert((*guest).clone())),
                Some(_) | None => {}
            }
        }
    }

    /// Guests whose home is found by infraID may have found, lost or changed it, whichever cluster the change was in.
    fn touch_topology_guests(&self, changed: &ClusterName, clusters: &mut BTreeSet<ClusterName>) {
        for guest in self.topology().iter().filter_map(|(guest, _)| self.view.cluster(guest)) {
            clusters.insert(changed.clone());
            clusters.insert(guest.name.clone());
            clusters.extend(possible_homes(self.view, guest).into_iter().map(|by| by.cluster));
        }
    }

    /// Every cluster that hosts guests: where leftovers of a former guest would be.
    fn touch_managers(&mut self, clusters: &mut BTreeSet<ClusterName>) {
        if std::mem::replace(&mut self.managers, Managers::Touched) == Managers::Touched {
            return;
        }
        let view = self.view;
        let hosts = |cluster: &&Cluster| {
            view.read::<HostedCluster>(&HOSTED_CLUSTER.collection(cluster)).iter().next().is_some()
        };
        clusters.extend(view.clusters().filter(hosts).map(|cluster| cluster.name.clone()));
    }

    /// The guests of a management cluster by the namespace of their sources.
    fn sources_in(&self, host: &ClusterName) -> BTreeMap<String, Vec<&'a ClusterName>> {
        let by_topology =
            self.topology().iter().filter(|(_, home)| home.as_ref().is_some_and(|by| by.cluster == *host));
        let by_topology = by_topology.map(|(guest, _)| *guest);
        let mut all: BTreeMap<String, Vec<&'a ClusterName>> = BTreeMap::new();
        for guest in self.view.guests_of(host).chain(by_topology) {
            let Some(context) = CheckContext::of(self.view, guest) else { continue };
            if let Some((_, namespace)) = context.source_namespace() {
                all.entry(namespace.to_owned()).or_default().push(guest);
            }
        }
        all
    }

    /// What is in a control plane's namespace touches itself, the guest it belongs to and what that guest left there; what is in
    /// the namespace of HostedClusters touches those. A guest's own namespaces touch its neighbours.
    fn touch_sources(&mut self, id: &CollectionId, what: &What, namespace: &Namespace, touched: &mut Touched) {
        let view = self.view;
        if !self.sources.contains_key(&id.cluster) {
            self.sources.insert(id.cluster.clone(), self.sources_in(&id.cluster));
        }
        let guests = self.sources[&id.cluster].get(namespace.as_str()).into_iter().flatten();
        for guest in guests {
            touched.clusters.insert((*guest).clone());
            touch_leftovers(guest, view, &mut touched.subjects);
            match what {
                What::Keys(keys) => {
                    let kind = CopyKind::of(id.resource.kind);
                    let own =
                        |key: &Key| kind.map(|kind| subject(&id.cluster, kind, namespace.as_str(), key.name.as_str()));
                    touched.subjects.extend(keys.iter().filter_map(own));
                }
                // What is no longer there is not known: everything that was judged there is judged again.
                What::Everything => touched.namespaces.extend(
                    CopyKind::of(id.resource.kind).map(|kind| judged_in(&id.cluster, kind, namespace.as_str())),
                ),
            }
        }
        let hosted = self.hosted.entry(id.cluster.clone()).or_insert_with(|| by_namespace(view, &id.cluster));
        touched.subjects.extend(hosted.get(namespace).into_iter().flatten().map(hosted_cluster_subject));
        if CheckContext::of(view, &id.cluster).is_some() {
            self.touch_neighbours(&id.cluster, touched);
        }
    }
}

/// What a guest has in the cluster that hosts it: its HostedCluster, and its leftovers, whether they are there or were.
fn touch_in_host(guest: &ClusterName, view: View<'_>, touched: &mut Touched) {
    let Some(context) = CheckContext::of(view, guest) else { return };
    touched.subjects.extend(context.home.as_ref().ok().map(hosted_cluster_subject));
    touch_leftovers(guest, view, &mut touched.subjects);
    let Some((host, namespace)) = context.source_namespace() else { return };
    touched.namespaces.extend(CopyKind::ALL.map(|kind| judged_in(host, kind, namespace)));
}

/// What was judged in a namespace of sources.
fn judged_in(host: &ClusterName, kind: CopyKind, namespace: &str) -> TouchedNamespace {
    let (cluster, namespace) = (host.clone(), namespace.to_owned());
    TouchedNamespace { cluster, api_version: "v1", kind: kind.resource().kind, namespace }
}

/// The HostedClusters of a management cluster by their namespace, where their references are looked for.
fn by_namespace(view: View<'_>, cluster: &ClusterName) -> BTreeMap<Namespace, Vec<HostedBy>> {
    let mut all: BTreeMap<Namespace, Vec<HostedBy>> = BTreeMap::new();
    for by in hosted_cluster::all(view, cluster) {
        all.entry(by.namespace.clone()).or_default().push(by);
    }
    all
}

/// The namespace that a collection of copied kinds is read in.
fn sources_of(id: &CollectionId) -> Option<&Namespace> {
    CopyKind::of(id.resource.kind)?;
    match &id.scope {
        Scope::Namespace(namespace) | Scope::Object { namespace: Some(namespace), .. } => Some(namespace),
        Scope::All | Scope::Object { namespace: None, .. } => None,
    }
}

/// A copy touches itself and what it leaves elsewhere when it is an orphan.
fn touch_copies(id: &CollectionId, keys: &[Key], view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let Some(kind) = CopyKind::of(id.resource.kind) else { return };
    let context = CheckContext::of(view, &id.cluster);
    for name in keys.iter().map(|key| key.name.as_str()) {
        subjects.insert(subject(&id.cluster, kind, COPIES_NAMESPACE, name));
        subjects.extend(kind.is_mirrored().then(|| subject(&id.cluster, kind, CONSOLE_NAMESPACE, name)));
        subjects.extend(context.as_ref().and_then(|context| possible_source_subject(context, kind, name)));
    }
}

/// A HostedCluster touches itself and the guests that say it is theirs.
fn touch_hosted_clusters(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched) {
    for by in keys.iter().filter_map(|key| hosted_by(&id.cluster, key)) {
        touched.subjects.insert(hosted_cluster_subject(&by));
        for guest in view.guests_at(&by) {
            touched.clusters.insert(guest.clone());
            touch_leftovers(guest, view, &mut touched.subjects);
        }
    }
}

/// A control plane in its usual place touches its guest. Anything else may have moved a guest from one namespace to
/// another, and touches the whole neighbourhood.
fn touch_control_planes(id: &CollectionId, keys: &[Key], fleet: &mut Fleet<'_>, touched: &mut Touched) {
    let view = fleet.view;
    for key in keys {
        // Several guests of one control plane: one that is known under two names.
        let settled: Vec<CheckContext<'_>> = usual_owner(&id.cluster, key)
            .into_iter()
            .flat_map(|by| fleet.guests_at(&by))
            .filter_map(|guest| CheckContext::of(view, guest))
            .filter(|context| context.settled_control_plane().as_ref() == Some(key))
            .collect();
        if settled.is_empty() {
            fleet.touch_neighbours(&id.cluster, touched);
        }
        for context in settled {
            touched.clusters.insert(context.guest.name.clone());
            touch_leftovers(&context.guest.name, view, &mut touched.subjects);
            touched.subjects.extend(context.home.as_ref().ok().map(hosted_cluster_subject));
        }
    }
}

/// What a guest's copies may have left in the control plane's namespace.
fn touch_leftovers(guest: &ClusterName, view: View<'_>, subjects: &mut BTreeSet<SubjectId>) {
    let Some(context) = CheckContext::of(view, guest) else { return };
    for kind in CopyKind::ALL {
        let copies = context.copies(kind).iter().map(|(key, _)| key.name.as_str());
        let sources = context.sources(kind).into_iter().flat_map(|reading| reading.iter());
        // Whether the name is in a spec may have been decided by the old one.
        let marked = sources.filter(|(_, mark)| mark.is_platforms()).map(|(key, _)| key.name.as_str());
        subjects.extend(copies.chain(marked).filter_map(|name| possible_source_subject(&context, kind, name)));
    }
}

fn is_copies(id: &CollectionId) -> bool {
    id.scope == Scope::Namespace(Namespace::new(COPIES_NAMESPACE)) && CopyKind::of(id.resource.kind).is_some()
}
