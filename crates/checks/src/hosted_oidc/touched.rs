//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything. A
//! change is seen after it happened, so where it may have moved a guest from one home to another, both are touched.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{
    CheckContext, external_clusters, find_control_plane, guests_by_topology, hosted_by, infra_id, usual_owner,
    with_infra_id,
};
use super::hosted_cluster;
use super::names::{CONSOLE_NAMESPACE, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER, INFRASTRUCTURE};
use super::subjects::{hosted_cluster_subject, possible_source_subject, subject};
use crate::{Touched, TouchedNamespace};
use trueup_core::engine::SubjectId;
use trueup_core::world::{Change, ChangeSet, ClusterName, CollectionId, HostedBy, Key, Namespace, Scope, View, What};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    let mut fleet = Fleet::new(view);
    for change in changes.iter() {
        match change {
            Change::Collection { id, what: What::Keys(keys), .. } if is_copies(id) => {
                touch_copies(id, keys, view, &mut touched.subjects)
            }
            Change::Collection { id, what: What::Keys(keys), values } if HOSTED_CLUSTER.is(&id.resource) => {
                touch_hosted_clusters(id, keys, view, &mut touched);
                touch_infra_ids(values, view, &mut touched);
            }
            Change::Collection { id, what: What::Keys(keys), .. } if CONTROL_PLANE.is(&id.resource) => {
                touch_control_planes(id, keys, &mut fleet, &mut touched);
            }
            Change::Collection { id, values, .. }
                if HOSTED_CLUSTER.is(&id.resource) || id.resource == INFRASTRUCTURE =>
            {
                fleet.touch_neighbours(&id.cluster, &mut touched);
                touch_infra_ids(values, view, &mut touched);
            }
            Change::Collection { id, what, .. } => match sources_of(id) {
                Some(namespace) => fleet.touch_sources(id, what, namespace, &mut touched),
                None => fleet.touch_neighbours(&id.cluster, &mut touched),
            },
            Change::Cluster(name) => fleet.touch_neighbours(name, &mut touched),
            // What is not known because of the link is said by the collections.
            Change::Link { .. } => {}
        }
    }
    touched
}

/// What several changes need to know of the fleet, each looked up once.
struct Fleet<'a> {
    view: View<'a>,
    /// Guests by management cluster and namespace of their sources.
    sources: BTreeMap<ClusterName, BTreeMap<String, Vec<&'a ClusterName>>>,
    /// HostedClusters by management cluster and namespace.
    hosted: BTreeMap<ClusterName, BTreeMap<Namespace, Vec<HostedBy>>>,
    /// Clusters whose neighbours were touched.
    done: BTreeSet<ClusterName>,
}

impl<'a> Fleet<'a> {
    fn new(view: View<'a>) -> Self {
        Self { view, sources: BTreeMap::new(), hosted: BTreeMap::new(), done: BTreeSet::new() }
    }

    /// A change in a cluster touches itself, the guests it hosts, and what is its own in the cluster that hosts it or would
    /// host it by its infraID.
    fn touch_neighbours(&mut self, changed: &ClusterName, touched: &mut Touched) {
        if !self.done.insert(changed.clone()) {
            return;
        }
        touch_in_host(changed, self.view, touched);
        let homes = infra_id(self.view, changed).map(|infra_id| with_infra_id(self.view, infra_id));
        homes.into_iter().flatten().for_each(|by| touch_home(&by, self.view, touched));
        touched.clusters.insert(changed.clone());
        touched.clusters.extend(hosted_by(self.view, changed).cloned());
    }

    /// The guests of a management cluster by the namespace of their sources.
    fn sources_in(&self, host: &ClusterName) -> BTreeMap<String, Vec<&'a ClusterName>> {
        let mut all: BTreeMap<String, Vec<&'a ClusterName>> = BTreeMap::new();
        for guest in hosted_by(self.view, host) {
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

/// Guests whose home is found by one of these infraIDs may have found, lost or changed it, and so may their homes.
fn touch_infra_ids(infra_ids: &[Box<str>], view: View<'_>, touched: &mut Touched) {
    for infra_id in infra_ids {
        for guest in external_clusters(view, infra_id) {
            touch_in_host(&guest.name, view, touched);
            touched.clusters.insert(guest.name.clone());
        }
        with_infra_id(view, infra_id).iter().for_each(|by| touch_home(by, view, touched));
    }
}

/// A HostedCluster, and what was judged where its control plane is or would be: its guest may be another one.
fn touch_home(by: &HostedBy, view: View<'_>, touched: &mut Touched) {
    touched.subjects.insert(hosted_cluster_subject(by));
    let (_, _, plane) = find_control_plane(view, by);
    let namespace = plane.and_then(|key| key.namespace);
    let judged = |namespace: Namespace| CopyKind::ALL.map(|kind| judged_in(&by.cluster, kind, namespace.as_str()));
    touched.namespaces.extend(namespace.into_iter().flat_map(judged));
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

/// The guests of a HostedCluster: those that say so, and those known only by their topology.
fn guests_at<'a>(view: View<'a>, by: &HostedBy) -> impl Iterator<Item = &'a ClusterName> + use<'a> {
    view.guests_at(by).chain(guests_by_topology(view, by))
}

/// A HostedCluster touches itself and the guests that say it is theirs.
fn touch_hosted_clusters(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched) {
    for by in keys.iter().filter_map(|key| hosted_cluster::hosted_by(&id.cluster, key)) {
        touch_home(&by, view, touched);
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
            .flat_map(|by| guests_at(view, &by))
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
