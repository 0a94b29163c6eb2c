//! Which sets of machines there are, and what each of them is.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::compare::Family;
use super::context::CheckContext;
use super::facts::{Own, Pool, Provider};
use super::names::{AWS_CLUSTER, CAPI_SET, DEPLOYMENT, MACHINE_SET, MANAGED_CLUSTER_KIND, MANAGED_PLANE, TEMPLATE};
use super::{MachineSetCapacity, NAME};
use crate::ContextCache;
use crate::kinds::{Kind, Listing};
use trueup_core::engine::SubjectId;
use trueup_core::world::{ClusterName, Gap, GapCause, Key, Namespace, ObjectName, Resource, Served};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

/// Whose kind a set of machines is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A MachineSet of OpenShift's Machine API.
    MachineApi,
    /// A MachineDeployment of Cluster API.
    Deployment,
    /// A MachineSet of Cluster API that no MachineDeployment made.
    CapiSet,
}

impl Sort {
    pub const ALL: [Self; 3] = [Self::MachineApi, Self::Deployment, Self::CapiSet];

    pub fn kind(self) -> Kind {
        match self {
            Self::MachineApi => MACHINE_SET,
            Self::Deployment => DEPLOYMENT,
            Self::CapiSet => CAPI_SET,
        }
    }

    /// The keys its autoscalers read.
    pub fn families(self) -> &'static [Family] {
        match self {
            Self::MachineApi => Family::MACHINE_API,
            Self::Deployment | Self::CapiSet => Family::CLUSTER_API,
        }
    }

    /// In the version the cluster is read in.
    fn of(subject: &SubjectId, context: &CheckContext<'_>) -> Option<Self> {
        let is_its = |sort: &Self| {
            let (kind, resource) = (sort.kind(), context.pools(*sort).resource);
            kind.kind == subject.kind && kind.api_version(&resource) == subject.api_version
        };
        Self::ALL.into_iter().find(is_its)
    }
}

/// A set of machines that is judged.
pub struct Subject<'a> {
    pub context: Rc<CheckContext<'a>>,
    pub sort: Sort,
    pub key: Key,
    pub pool: &'a Pool,
}

/// What a subject id points at.
pub enum ResolvedSubject<'a> {
    Pool(Subject<'a>),
    /// A collection that isn't completely known, and why.
    Collection {
        resource: Resource,
        gap: Gap,
    },
}

impl<'a> ResolvedSubject<'a> {
    pub fn of(subject: &SubjectId, contexts: &ContextCache<'a, MachineSetCapacity>) -> Option<Self> {
        let context = contexts.of(&subject.cluster)?;
        let sort = Sort::of(subject, &context)?;
        if subject.name == WHOLE_COLLECTION {
            return gap_of(&context, sort).map(|gap| Self::Collection { resource: context.pools(sort).resource, gap });
        }
        let key = Key::new(subject.namespace.as_deref(), &subject.name);
        let pool = context.pools(sort).get(&key).seen?;
        is_subject(&context, sort, &key, pool).then_some(Self::Pool(Subject { context, sort, key, pool }))
    }
}

impl Subject<'_> {
    /// Nothing where a file written by hand leaves it out.
    pub fn namespace(&self) -> Option<&Namespace> {
        self.key.namespace.as_ref()
    }

    /// `mgmt MachineSet openshift-machine-api/worker-a`
    pub fn object(&self) -> String {
        format!("{} {} {}", self.context.cluster.name, self.sort.kind().kind, self.key)
    }
}

impl<'a> CheckContext<'a> {
    pub fn pools(&self, sort: Sort) -> &Listing<'a, Pool> {
        match sort {
            Sort::MachineApi => &self.machine_sets,
            Sort::Deployment => &self.deployments,
            Sort::CapiSet => &self.capi_sets,
        }
    }
}

/// Every set of machines of one cluster that is judged.
pub fn pools<'a>(context: &Rc<CheckContext<'a>>) -> impl Iterator<Item = Subject<'a>> {
    let all =
        Sort::ALL.into_iter().flat_map(|sort| context.pools(sort).iter().map(move |(key, pool)| (sort, key, pool)));
    let judged = all.filter(|(sort, key, pool)| is_subject(context, *sort, key, pool));
    judged.map(|(sort, key, pool)| Subject { context: context.clone(), sort, key: key.clone(), pool })
}

/// Every subject of one cluster.
pub fn list(context: &Rc<CheckContext<'_>>) -> BTreeSet<SubjectId> {
    let cluster = &context.cluster.name;
    let named = |one: Subject<'_>| {
        let resource = context.pools(one.sort).resource;
        subject(cluster, one.sort, &resource, one.key.namespace.as_ref(), one.key.name.as_str())
    };
    let mut subjects: BTreeSet<SubjectId> = pools(context).map(named).collect();
    // Two of the collections are of the same kind, and a finding's id says the kind alone: one line for both.
    let mut kinds = BTreeSet::new();
    for sort in Sort::ALL {
        if gap_of(context, sort).is_some() && kinds.insert(sort.kind().kind) {
            let resource = context.pools(sort).resource;
            subjects.insert(subject(cluster, sort, &resource, None, WHOLE_COLLECTION));
        }
    }
    subjects
}

/// Every MachineSet of the Machine API; of Cluster API what runs on AWS and is not made by what is judged already.
fn is_subject(context: &CheckContext<'_>, sort: Sort, key: &Key, pool: &Pool) -> bool {
    match (sort, &pool.provider) {
        (Sort::MachineApi, _) => true,
        (Sort::CapiSet, _) if pool.own == Own::OfDeployment => false,
        (Sort::Deployment | Sort::CapiSet, Provider::Template { cluster, template, .. }) => {
            *template.kind == *TEMPLATE.kind || (template.kind.is_empty() && is_on_aws(context, key, cluster))
        }
        (
            Sort::Deployment | Sort::CapiSet,
            Provider::Absent | Provider::Unreadable | Provider::Inline { .. } | Provider::Foreign { .. },
        ) => false,
    }
}

/// Whether the cluster of a set that names no template runs on AWS.
fn is_on_aws(context: &CheckContext<'_>, key: &Key, cluster: &str) -> bool {
    let key = Key { namespace: key.namespace.clone(), name: ObjectName::new(cluster) };
    let Some(cluster) = context.clusters.referenced(&key).seen else { return false };
    let kinds = [AWS_CLUSTER.kind, MANAGED_PLANE.kind, MANAGED_CLUSTER_KIND];
    [&cluster.infrastructure, &cluster.control_plane].into_iter().flatten().any(|named| kinds.contains(&&*named.kind))
}

/// Why a collection of subjects isn't complete. One that is not served is.
fn gap_of(context: &CheckContext<'_>, sort: Sort) -> Option<Gap> {
    // Without discovery it is not known whether there is anything to judge.
    if matches!(context.cluster.served, Served::Unknown(_)) {
        return None;
    }
    // A recording of other kinds of these groups has no sets of machines, and nothing that refers to one.
    context.pools(sort).gap().filter(|gap| gap.cause != GapCause::NotRecorded)
}

pub fn subject(
    cluster: &ClusterName,
    sort: Sort,
    resource: &Resource,
    namespace: Option<&Namespace>,
    name: &str,
) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: cluster.clone(),
        api_version: sort.kind().api_version(resource),
        kind: resource.kind,
        namespace: namespace.map(|namespace| namespace.as_str().to_owned()),
        name: name.to_owned(),
        cloud: None,
    }
}
