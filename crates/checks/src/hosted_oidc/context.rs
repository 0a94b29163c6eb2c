//! One guest with everything its judgements look at: its own configs, and its HostedCluster and control plane.
//!
//! Invariants: what was seen in a list that isn't complete may be used to keep an object, never to condemn it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::facts::{
    Authentication, Bundle, ConsoleDeployment, ConsoleOperator, ControlPlane, Copy, HostedCluster, ReferringConfig,
    SourceContent, SourceMark,
};
use super::hosted_cluster;
use super::names::{
    AUTHENTICATION, CONSOLE_DEPLOYMENT, CONSOLE_NAMESPACE, CONSOLE_OPERATOR, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind,
    DEPLOYMENT, HOSTED_CLUSTER, INFRASTRUCTURE, SINGLETON,
};
use crate::kinds::{Infrastructure, Topology};
use trueup_core::world::{
    Cluster, ClusterName, CollectionId, Gap, GapCause, HostedBy, Key, Namespace, ObjectName, Observation, Reading,
    Resource, Sighting, View,
};

/// A guest and where to look.
pub struct CheckContext<'a> {
    pub view: View<'a>,
    pub guest: &'a Cluster,
    /// Its HostedCluster's place, or why it isn't known.
    pub home: Result<HostedBy, Gap>,
    pub hosted_cluster: Sighting<'a, HostedCluster>,
    pub control_plane: Sighting<'a, ControlPlane>,
    /// Where the control plane was found.
    pub control_plane_key: Option<Key>,
    pub authentication: Sighting<'a, Authentication>,
    /// Looked up when first asked for, by kind.
    shared: [Shared<'a>; CopyKind::ALL.len()],
    copies_namespace: Namespace,
}

/// What the judgements of one kind in one guest share.
#[derive(Default)]
struct Shared<'a> {
    copies: OnceCell<Reading<'a, Copy>>,
    sources: OnceCell<Reading<'a, SourceMark>>,
    configs: OnceCell<Vec<(Resource, Sighting<'a, ReferringConfig>)>>,
}

#[cfg(test)]
thread_local! {
    /// Contexts asked for: the unit of work of tests that count.
    pub static BUILT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// Control planes and guests that were looked at while searching.
    pub static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The guests of management clusters, looked up when first needed.
pub struct Guests<'a> {
    view: View<'a>,
    by_sources: RefCell<BTreeMap<ClusterName, Rc<BySources<'a>>>>,
}

/// The guests of one management cluster by the namespace of their sources.
type BySources<'a> = BTreeMap<Namespace, Vec<Rc<CheckContext<'a>>>>;

impl<'a> Guests<'a> {
    pub fn new(view: View<'a>) -> Self {
        Self { view, by_sources: RefCell::default() }
    }

    /// The guests whose sources are in this namespace of a management cluster.
    pub fn with_sources_in(&self, host: &ClusterName, namespace: &Namespace) -> Vec<Rc<CheckContext<'a>>> {
        let known = self.by_sources.borrow().get(host).cloned();
        let of_host = known.unwrap_or_else(|| {
            let of_host = Rc::new(self.by_sources_of(host));
            self.by_sources.borrow_mut().insert(host.clone(), of_host.clone());
            of_host
        });
        let found = of_host.get(namespace).cloned().unwrap_or_default();
        #[cfg(test)]
        LOOKED_AT.set(LOOKED_AT.get() + found.len());
        found
    }

    fn by_sources_of(&self, host: &ClusterName) -> BySources<'a> {
        let mut all: BySources<'a> = BTreeMap::new();
        for guest in hosted_by(self.view, host) {
            let Some(context) = CheckContext::of(self.view, guest) else { continue };
            let place = context.sources_place().filter(|(cluster, _)| *cluster == host);
            if let Some(namespace) = place.map(|(_, namespace)| namespace.clone()) {
                all.entry(namespace).or_default().push(Rc::new(context));
            }
        }
        all
    }
}

/// The guests of a cluster: those that say so, and those known only by their topology.
pub fn hosted_by<'a>(view: View<'a>, host: &ClusterName) -> impl Iterator<Item = &'a ClusterName> {
    let hosted: Reading<'a, HostedCluster> = view.read(&HOSTED_CLUSTER.collection_at(host, view));
    let homes = hosted.iter().filter_map(|(key, _)| hosted_cluster::hosted_by(host, key)).collect::<Vec<_>>();
    view.guests_of(host).chain(homes.into_iter().flat_map(move |by| guests_by_topology(view, &by)))
}

/// The guests of a HostedCluster that are known only by their topology.
pub fn guests_by_topology<'a>(view: View<'a>, by: &HostedBy) -> Vec<&'a ClusterName> {
    let key = Key { namespace: Some(by.namespace.clone()), name: by.name.clone() };
    let hosted: Reading<'a, HostedCluster> = view.read(&HOSTED_CLUSTER.collection_at(&by.cluster, view));
    let Some(infra_id) = hosted.get(&key).present().and_then(HostedCluster::infra_id) else { return Vec::new() };
    let guests = external_clusters(view, infra_id);
    let is_home = |guest: &&Cluster| matches!(home(view, guest), Some(Ok(home)) if home == *by);
    guests.filter(is_home).map(|guest| &guest.name).collect()
}

/// The clusters with this infraID whose control plane runs elsewhere and that do not say where.
pub fn external_clusters<'a>(view: View<'a>, infra_id: &str) -> impl Iterator<Item = &'a Cluster> + use<'a> {
    let found = view.indexed::<Infrastructure>(infra_id).into_iter();
    let clusters = found.filter_map(move |(id, _, _)| view.cluster(&id.cluster));
    clusters.filter(|cluster| cluster.hosted_by.is_none())
}

impl<'a> CheckContext<'a> {
    /// The context of a guest, or nothing when the cluster is not known to be one.
    pub fn of(view: View<'a>, cluster: &ClusterName) -> Option<Self> {
        #[cfg(test)]
        BUILT.set(BUILT.get() + 1);
        let guest = view.cluster(cluster)?;
        let home = home(view, guest)?;
        let (hosted_cluster, control_plane, control_plane_key) = match &home {
            Ok(by) => find_control_plane(view, by),
            Err(gap) => (Sighting::unknown(gap.clone()), Sighting::unknown(gap.clone()), None),
        };
        let authentication = view.read(&CollectionId::all(&guest.name, AUTHENTICATION)).sight(&singleton());
        Some(Self {
            view,
            guest,
            home,
            hosted_cluster,
            control_plane,
            control_plane_key,
            authentication,
            shared: Default::default(),
            copies_namespace: Namespace::new(COPIES_NAMESPACE),
        })
    }

    fn shared(&self, kind: CopyKind) -> &Shared<'a> {
        match kind {
            CopyKind::ConfigMap => &self.shared[0],
            CopyKind::Secret => &self.shared[1],
        }
    }

    /// A name in `openshift-config`.
    pub fn copy_key(&self, name: &str) -> Key {
        Key { namespace: Some(self.copies_namespace.clone()), name: ObjectName::new(name) }
    }

    /// The ConfigMaps or Secrets of `openshift-config`.
    pub fn copies(&self, kind: CopyKind) -> Reading<'a, Copy> {
        *self.shared(kind).copies.get_or_init(|| self.view.read(&copies_id(&self.guest.name, kind)))
    }

    /// Configs that can refer to this kind, each with what it names.
    pub fn configs(&self, kind: CopyKind) -> &[(Resource, Sighting<'a, ReferringConfig>)] {
        self.shared(kind).configs.get_or_init(|| {
            let sight = |resource: &Resource| {
                let reading = self.view.read(&CollectionId::all(&self.guest.name, *resource));
                (*resource, reading.sight(&singleton()))
            };
            kind.referring_configs().iter().map(sight).collect()
        })
    }

    /// The control plane's namespace in the management cluster.
    pub fn source_namespace(&self) -> Option<(&ClusterName, &str)> {
        self.sources_place().map(|(cluster, namespace)| (cluster, namespace.as_str()))
    }

    fn sources_place(&self) -> Option<(&ClusterName, &Namespace)> {
        let by = self.home.as_ref().ok()?;
        let namespace = self.control_plane_key.as_ref()?.namespace.as_ref()?;
        Some((&by.cluster, namespace))
    }

    /// Where the control plane is and always was: in its usual place, with none elsewhere that says it is this guest's.
    pub fn settled_control_plane(&self) -> Option<Key> {
        let by = self.home.as_ref().ok()?;
        let usual = usual_control_plane(by);
        let planes: Reading<'_, ControlPlane> = self.view.read(&CONTROL_PLANE.collection_at(&by.cluster, self.view));
        let elsewhere = owned_planes(planes, by).any(|key| *key != usual);
        (!elsewhere && self.control_plane_key.as_ref() == Some(&usual)).then_some(usual)
    }

    /// The ConfigMaps or Secrets of the control plane's namespace, by their metadata.
    pub fn sources(&self, kind: CopyKind) -> Option<Reading<'a, SourceMark>> {
        let (cluster, namespace) = self.sources_place()?;
        let sources = &self.shared(kind).sources;
        Some(*sources.get_or_init(|| self.view.read(&sources_id(cluster, kind, namespace.as_str()))))
    }

    /// The object of the same kind and name in the control plane's namespace.
    pub fn source(&self, kind: CopyKind, name: &str) -> Sighting<'a, SourceMark> {
        match (self.sources(kind), self.sources_place()) {
            (Some(reading), Some((_, namespace))) => {
                reading.sight(&Key { namespace: Some(namespace.clone()), name: ObjectName::new(name) })
            }
            (Some(_) | None, _) => Sighting::unknown(namespace_not_known()),
        }
    }

    /// That object's content as of the version in the list; a gap while it was not read.
    pub fn current_content(&self, kind: CopyKind, name: &str, mark: &SourceMark) -> Result<&'a SourceContent, Gap> {
        match self.source_content(kind, name) {
            Observation::Present(content) if content.version == mark.version => Ok(content),
            Observation::Present(_) => {
                Err(Gap::new(GapCause::NotObserved, "its source has changed and is being read again"))
            }
            Observation::ProvenAbsent(_) => {
                Err(Gap::new(GapCause::NotObserved, "its source went away while it was read"))
            }
            Observation::Unknown(gap) => Err(gap),
        }
    }

    /// That object's content, read by name.
    pub fn source_content(&self, kind: CopyKind, name: &str) -> Observation<'a, SourceContent> {
        match self.source_namespace() {
            Some((cluster, namespace)) => {
                let id = CollectionId::object(cluster, kind.resource(), Some(namespace), name);
                self.view.read(&id).get(&Key::new(Some(namespace), name))
            }
            None => Observation::Unknown(namespace_not_known()),
        }
    }

    /// The ConfigMaps of the console's namespace.
    pub fn console_maps(&self) -> Reading<'a, Bundle> {
        self.view.read(&console_id(&self.guest.name))
    }

    /// The mirror of a CA in the console's namespace.
    pub fn console_mirror(&self, name: &str) -> Option<&'a Bundle> {
        self.console_maps().get(&Key::new(Some(CONSOLE_NAMESPACE), name)).present()
    }

    /// The console operator's configuration in the guest.
    pub fn console_operator(&self) -> Sighting<'a, ConsoleOperator> {
        self.view.read(&CollectionId::all(&self.guest.name, CONSOLE_OPERATOR)).sight(&singleton())
    }

    /// The console's Deployment in the guest.
    pub fn console_deployment(&self) -> Sighting<'a, ConsoleDeployment> {
        let key = Key::new(Some(CONSOLE_NAMESPACE), CONSOLE_DEPLOYMENT);
        self.view.read(&console_deployment_id(&self.guest.name)).sight(&key)
    }
}

fn namespace_not_known() -> Gap {
    Gap::new(GapCause::NotObserved, "the control plane's namespace is not known")
}

/// The control planes that say they belong to a HostedCluster.
fn owned_planes<'a>(planes: Reading<'a, ControlPlane>, by: &HostedBy) -> impl Iterator<Item = &'a Key> + use<'a> {
    let owned = planes.indexed(&format!("{}/{}", by.namespace, by.name));
    #[cfg(test)]
    let owned = owned.inspect(|_| LOOKED_AT.set(LOOKED_AT.get() + 1));
    owned.map(|(key, _)| key)
}

pub fn copies_id(guest: &ClusterName, kind: CopyKind) -> CollectionId {
    CollectionId::namespaced(guest, kind.resource(), COPIES_NAMESPACE)
}

pub fn sources_id(cluster: &ClusterName, kind: CopyKind, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, kind.resource(), namespace).metadata()
}

pub fn console_id(guest: &ClusterName) -> CollectionId {
    CollectionId::namespaced(guest, CopyKind::ConfigMap.resource(), CONSOLE_NAMESPACE)
}

/// The one Deployment of the console: the server picks it out by name.
pub fn console_deployment_id(guest: &ClusterName) -> CollectionId {
    let fields = format!("metadata.name={CONSOLE_DEPLOYMENT}");
    CollectionId::namespaced(guest, DEPLOYMENT, CONSOLE_NAMESPACE).with_fields(&fields)
}

fn singleton() -> Key {
    Key::new(None, SINGLETON)
}

/// Where a guest's HostedCluster is; nothing when the cluster is not known to be a guest at all.
fn home(view: View<'_>, guest: &Cluster) -> Option<Result<HostedBy, Gap>> {
    if let Some(by) = &guest.hosted_by {
        return Some(Ok(by.clone()));
    }
    let infrastructure: Reading<'_, Infrastructure> = view.read(&CollectionId::all(&guest.name, INFRASTRUCTURE));
    let infrastructure = infrastructure.get(&singleton()).present()?;
    match infrastructure.topology {
        Topology::Own => None,
        Topology::External => Some(home_by_infra_id(view, &infrastructure.infra_id)),
    }
}

/// The infraID of a cluster whose control plane runs elsewhere.
pub fn infra_id<'a>(view: View<'a>, cluster: &ClusterName) -> Option<&'a str> {
    let infrastructure: Reading<'a, Infrastructure> = view.read(&CollectionId::all(cluster, INFRASTRUCTURE));
    infrastructure.get(&singleton()).present()?.hosted_infra_id()
}

/// The HostedClusters of the fleet with this infraID.
pub fn with_infra_id(view: View<'_>, infra_id: &str) -> Vec<HostedBy> {
    let found = view.indexed::<HostedCluster>(infra_id).into_iter();
    found.filter_map(|(id, key, _)| hosted_cluster::hosted_by(&id.cluster, key)).collect()
}

/// A guest known only by its topology belongs to the one HostedCluster with its infraID.
fn home_by_infra_id(view: View<'_>, infra_id: &str) -> Result<HostedBy, Gap> {
    let mut found = with_infra_id(view, infra_id);
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(_), false) => {
            Err(Gap::new(GapCause::NotObserved, format!("several HostedClusters have its infraID {infra_id}")))
        }
        (None, _) => Err(Gap::new(
            GapCause::NotObserved,
            format!("no HostedCluster of the fleet has its infraID \"{infra_id}\", so its control plane is not known"),
        )),
    }
}

pub type Found<'a> = (Sighting<'a, HostedCluster>, Sighting<'a, ControlPlane>, Option<Key>);

pub fn find_control_plane<'a>(view: View<'a>, by: &HostedBy) -> Found<'a> {
    let key = Key { namespace: Some(by.namespace.clone()), name: by.name.clone() };
    let hosted_cluster = view.read(&HOSTED_CLUSTER.collection_at(&by.cluster, view)).sight(&key);
    let planes: Reading<'a, ControlPlane> = view.read(&CONTROL_PLANE.collection_at(&by.cluster, view));
    let belongs = format!("{}/{}", by.namespace, by.name);
    let usual = usual_control_plane(by);
    let at_usual = planes.sight(&usual);
    if at_usual.seen.is_some_and(|plane| plane.belongs_to.is_empty() || *plane.belongs_to == *belongs) {
        return (hosted_cluster, at_usual, Some(usual));
    }
    if let Some(key) = owned_planes(planes, by).next() {
        return (hosted_cluster, planes.sight(key), Some(key.clone()));
    }
    let gap = planes.gap();
    // Nothing to show, but leftovers of it would still be in its namespace.
    (hosted_cluster, Sighting { seen: None, gap }, Some(usual))
}

/// The HostedCluster whose control plane HyperShift would put there.
pub fn usual_owner(host: &ClusterName, plane: &Key) -> Option<HostedBy> {
    let tail = format!("-{}", plane.name.as_str().replace('.', "-"));
    let namespace = plane.namespace.as_ref()?.as_str().strip_suffix(&tail)?;
    Some(HostedBy { cluster: host.clone(), namespace: Namespace::new(namespace), name: plane.name.clone() })
}

/// HyperShift names the namespace after both, with the dots of the name replaced.
fn usual_control_plane(by: &HostedBy) -> Key {
    let namespace = format!("{}-{}", by.namespace, by.name.as_str().replace('.', "-"));
    Key::new(Some(&namespace), by.name.as_str())
}
