//! Which kubeconfigs there are, and what each of them is.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::context::CheckContext;
use super::expected::Who;
use super::facts::{CapiCluster, CaptPlane, HostedCluster};
use super::names::{
    CAPT_PLANE, CLUSTER, CONTEXT, CONTEXT_API, SECRET, SOURCE_NAMESPACE, cluster_of_source, cluster_of_target,
    cluster_of_user, hosted_default_name, target_name, user_name,
};
use super::own::Own;
use super::{Kubeconfigs, NAME};
use crate::ContextCache;
use trueup_core::engine::SubjectId;
use trueup_core::world::{
    ClusterName, Gap, GapCause, Key, Namespace, ObjectName, Observation, Resource, Served, Sighting,
};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

/// The collections that say which subjects there are. HostedClusters are not among them: their guests say themselves
/// that they are not known.
const TELLING: [Telling; 4] = [Telling::Clusters, Telling::Planes, Telling::Secrets, Telling::Contexts];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Clusters,
    Planes,
    Secrets,
    Contexts,
}

impl Telling {
    /// In the version the cluster is read in.
    fn resource(self, context: &CheckContext<'_>) -> Resource {
        match self {
            Self::Clusters => context.clusters.resource,
            Self::Planes => context.planes.resource,
            Self::Secrets => SECRET,
            Self::Contexts => CONTEXT,
        }
    }

    fn api_version(self, context: &CheckContext<'_>) -> &'static str {
        match self {
            Self::Clusters => CLUSTER.api_version(&context.clusters.resource),
            Self::Planes => CAPT_PLANE.api_version(&context.planes.resource),
            Self::Secrets => "v1",
            Self::Contexts => CONTEXT_API,
        }
    }
}

/// A kubeconfig in a Secret.
pub struct Subject<'a> {
    pub context: Rc<CheckContext<'a>>,
    pub sort: Sort,
    pub key: Key,
    /// The cluster it is the kubeconfig of.
    pub cluster_key: Key,
    /// That cluster's own objects. HyperShift's are looked at elsewhere.
    pub owners: Owners<'a>,
}

/// The objects a kubeconfig of Cluster API may belong to.
pub struct Owners<'a> {
    pub cluster: Sighting<'a, CapiCluster>,
    pub plane: Sighting<'a, CaptPlane>,
    /// The name of that control plane, which is the Cluster's own unless something is wrong.
    pub plane_key: Key,
}

/// Whose kubeconfig it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Cluster API's own.
    Capi,
    /// The one Cluster API's AWS provider makes for people, once.
    User,
    /// HyperShift's, for the administrators of a HostedCluster.
    Hosted,
}

/// What a subject id points at.
pub enum ResolvedSubject<'a> {
    Kubeconfig(Subject<'a>),
    /// A context of the user's own files.
    Own(Own<'a>),
    /// A collection that isn't completely known, and why.
    Collection {
        resource: Resource,
        gap: Gap,
    },
}

impl<'a> ResolvedSubject<'a> {
    pub fn of(subject: &SubjectId, contexts: &ContextCache<'a, Kubeconfigs>) -> Option<Self> {
        let context = contexts.of(&subject.cluster)?;
        if subject.name == WHOLE_COLLECTION {
            let telling = TELLING.into_iter().find(|one| one.resource(&context).kind == subject.kind)?;
            let gap = gap_of(&context, telling)?;
            return Some(Self::Collection { resource: telling.resource(&context), gap });
        }
        if subject.kind == CONTEXT.kind {
            return Own::find(&context, &subject.name).map(Self::Own);
        }
        let key = Key::new(Some(subject.namespace.as_deref()?), &subject.name);
        let (sort, cluster) = sort_of(&context, &key).filter(|_| subject.kind == SECRET.kind)?;
        let cluster_key = Key { namespace: key.namespace.clone(), name: cluster };
        let owners = match sort {
            Sort::Capi | Sort::User => Owners::of(&context, &cluster_key),
            Sort::Hosted => Owners::nobody(&cluster_key),
        };
        Some(Self::Kubeconfig(Subject { context, sort, key, cluster_key, owners }))
    }
}

impl<'a> Owners<'a> {
    pub fn of(context: &CheckContext<'a>, cluster: &Key) -> Self {
        let (plane_key, plane) = plane_of(context, cluster);
        Self { cluster: context.clusters.get(cluster), plane, plane_key }
    }

    fn nobody(cluster: &Key) -> Self {
        Self { cluster: Sighting::ABSENT, plane: Sighting::ABSENT, plane_key: cluster.clone() }
    }

    /// Whether the control plane has another name than its Cluster.
    pub fn is_renamed(&self, cluster: &Key) -> bool {
        self.plane.seen.is_some() && self.plane_key != *cluster
    }
}

/// The control plane of a Cluster, and what it is called.
fn plane_of<'a>(context: &CheckContext<'a>, cluster: &Key) -> (Key, Sighting<'a, CaptPlane>) {
    let planes = context.control_planes();
    let own = context.planes.get(cluster);
    match (own.seen.is_some() && !planes.belongs_elsewhere(cluster), planes.renamed(cluster)) {
        (true, _) => (cluster.clone(), own),
        (false, Some(renamed)) => (renamed.clone(), context.planes.get(renamed)),
        (false, None) if own.seen.is_some() => (cluster.clone(), Sighting::ABSENT),
        (false, None) => (cluster.clone(), own),
    }
}

/// Every Cluster and every control plane that has a kubeconfig of its own name.
pub fn cluster_keys<'a>(context: &CheckContext<'a>) -> impl Iterator<Item = &'a Key> {
    let planes = context.planes.iter().map(|(key, _)| key);
    let planes = planes.filter(|key| !context.control_planes().belongs_elsewhere(key));
    context.clusters.iter().map(|(key, _)| key).chain(planes)
}

impl Subject<'_> {
    /// The name the kubeconfig's cluster goes by.
    pub fn cluster(&self) -> &str {
        self.cluster_key.name.as_str()
    }

    pub fn namespace(&self) -> &Namespace {
        self.key.namespace.as_ref().expect("a subject is a Secret, and Secrets have a namespace")
    }

    pub fn who(&self) -> Who {
        Who { context: self.context.cluster.name.clone(), key: self.cluster_key.clone() }
    }
}

/// Every subject of one cluster.
pub fn list(context: &CheckContext<'_>) -> BTreeSet<SubjectId> {
    let cluster = &context.cluster.name;
    let mut subjects = BTreeSet::new();
    for key in cluster_keys(context) {
        let Some(namespace) = &key.namespace else { continue };
        subjects.insert(subject(cluster, namespace, &target_name(key.name.as_str())));
        let user = Key { name: ObjectName::new(user_name(key.name.as_str())), ..key.clone() };
        subjects.extend(context.secrets.is_listed(&user).then(|| subject(cluster, namespace, user.name.as_str())));
    }
    for (key, _) in context.typed().iter() {
        let Some(namespace) = &key.namespace else { continue };
        subjects.extend(sort_of(context, key).map(|_| subject(cluster, namespace, key.name.as_str())));
    }
    for (key, hosted) in context.hosted.iter() {
        let Some(namespace) = &key.namespace else { continue };
        subjects.extend(hosted_names(context, key, hosted).into_iter().map(|name| subject(cluster, namespace, &name)));
    }
    subjects.extend(context.own.iter().map(|(key, _)| own_subject(cluster, key.name.as_str())));
    let unknown = TELLING.into_iter().filter(|telling| gap_of(context, *telling).is_some());
    subjects.extend(unknown.map(|telling| whole(context, telling)));
    subjects
}

/// The Secrets a HostedCluster's kubeconfigs are in: those its status names, else the usual one.
///
/// One that is not there is no subject: a control plane that is being made has none yet, and its guest says so itself.
fn hosted_names(context: &CheckContext<'_>, key: &Key, hosted: &HostedCluster) -> Vec<String> {
    let Some(namespace) = &key.namespace else { return Vec::new() };
    let usual = hosted_default_name(key.name.as_str());
    let admin = hosted.kubeconfig.as_deref().unwrap_or(&usual);
    let may_be = |name: &&str| {
        let secret = Key { name: ObjectName::new(*name), ..key.clone() };
        match context.secrets.marks(namespace).get(&secret) {
            Observation::Present(_) => true,
            Observation::ProvenAbsent(_) => false,
            Observation::Unknown(gap) => {
                hosted.names(name) && !matches!(gap.cause, GapCause::NotRecorded | GapCause::NotObserved)
            }
        }
    };
    [Some(admin), hosted.custom.as_deref()].into_iter().flatten().filter(may_be).map(str::to_owned).collect()
}

/// What a Secret of this name is, and of which cluster, when it is a kubeconfig this check knows.
pub fn sort_of(context: &CheckContext<'_>, key: &Key) -> Option<(Sort, ObjectName)> {
    let name = key.name.as_str();
    if let Some(hosted) = context.hosted_by_secret(hosted_names).get(key) {
        return Some((Sort::Hosted, hosted.clone()));
    }
    let exists = |cluster: &str| {
        let cluster = Key { name: ObjectName::new(cluster), ..key.clone() };
        let has_plane =
            || context.planes.get(&cluster).seen.is_some() && !context.control_planes().belongs_elsewhere(&cluster);
        context.clusters.get(&cluster).seen.is_some() || has_plane()
    };
    let target = cluster_of_target(name)?;
    if exists(target) {
        return Some((Sort::Capi, ObjectName::new(target)));
    }
    let is_typed = context.is_typed(key);
    if let Some(cluster) = cluster_of_user(name) {
        let is_user = is_typed || (exists(cluster) && context.secrets.is_listed(key));
        return is_user.then(|| (Sort::User, ObjectName::new(cluster)));
    }
    let is_source = key.namespace.as_ref().is_some_and(|namespace| namespace.as_str() == SOURCE_NAMESPACE)
        && cluster_of_source(name).is_some();
    (is_typed && !is_source).then(|| (Sort::Capi, ObjectName::new(target)))
}

/// Why a collection that says which subjects there are isn't complete. One that is not served is.
fn gap_of(context: &CheckContext<'_>, telling: Telling) -> Option<Gap> {
    // Without discovery it is not known whether there is anything to judge.
    if matches!(context.cluster.served, Served::Unknown(_)) {
        return None;
    }
    match telling {
        Telling::Clusters => context.clusters.gap(),
        Telling::Planes => context.planes.gap(),
        Telling::Contexts => context.own.gap(),
        // Secrets that no Cluster refers to matter only where there is Cluster API.
        Telling::Secrets if context.clusters.is_served() || context.planes.is_served() => context.typed().gap(),
        Telling::Secrets => None,
    }
}

pub fn subject(cluster: &ClusterName, namespace: &Namespace, name: &str) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: cluster.clone(),
        api_version: "v1",
        kind: SECRET.kind,
        namespace: Some(namespace.as_str().to_owned()),
        name: name.to_owned(),
        cloud: None,
    }
}

/// A context of the user's own files.
pub fn own_subject(cluster: &ClusterName, context: &str) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: cluster.clone(),
        api_version: CONTEXT_API,
        kind: CONTEXT.kind,
        namespace: None,
        name: context.to_owned(),
        cloud: None,
    }
}

/// The subject that stands for a whole collection.
fn whole(context: &CheckContext<'_>, telling: Telling) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: context.cluster.name.clone(),
        api_version: telling.api_version(context),
        kind: telling.resource(context).kind,
        namespace: None,
        name: WHOLE_COLLECTION.to_owned(),
        cloud: None,
    }
}
