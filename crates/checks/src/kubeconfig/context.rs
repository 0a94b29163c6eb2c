//! A cluster that keeps kubeconfigs, with everything their judgements look at.
//!
//! Invariants:
//! - that a Secret is there, or is not, is said by the list of its namespace; what it holds, by a read of it alone;
//! - what was read may be one version behind the list for a moment. Nothing is written on that ground: every action is
//!   bound to the version it was judged by.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::facts::{Apply, CapiCluster, CaptPlane, Holder, HostedCluster, OwnContext, Typed, Workspace};
use super::names::{
    APPLY, CAPT_PLANE, CLUSTER, CONTEXT, HOSTED_CLUSTER, KUBECONFIG, SECRET, SECRET_TYPE, SOURCE_NAMESPACE, VALUE,
    WORKSPACE, source_name,
};
use super::planes::{ControlPlanes, Names};
use super::settings::Settings;
use super::subjects::Owners;
use crate::kinds::{Listing, Secrets};
use trueup_core::world::{
    Cluster, ClusterName, ClusterSource, CollectionId, Gap, Key, ObjectName, Reading, Resource, Served, View,
};

/// One cluster and what is known there.
pub struct CheckContext<'a> {
    pub view: View<'a>,
    pub cluster: &'a Cluster,
    pub clusters: Listing<'a, CapiCluster>,
    pub planes: Listing<'a, CaptPlane>,
    pub applies: Listing<'a, Apply>,
    pub workspaces: Listing<'a, Workspace>,
    pub hosted: Listing<'a, HostedCluster>,
    /// The contexts of the user's own files, where this is the member that lists them.
    pub own: Listing<'a, OwnContext>,
    pub secrets: Secrets<'a>,
    pub settings: Settings,
    hosted_by_secret: OnceCell<BTreeMap<Key, ObjectName>>,
    control_planes: OnceCell<ControlPlanes>,
    names: OnceCell<Names>,
}

impl<'a> CheckContext<'a> {
    pub fn of(view: View<'a>, cluster: &ClusterName) -> Option<Self> {
        let cluster = view.cluster(cluster)?;
        Some(Self {
            view,
            cluster,
            clusters: Listing::of(view, cluster, CLUSTER.in_cluster(cluster)),
            planes: Listing::of(view, cluster, CAPT_PLANE.in_cluster(cluster)),
            applies: recorded_or_served(view, cluster, APPLY.in_cluster(cluster)),
            workspaces: recorded_or_served(view, cluster, WORKSPACE),
            hosted: Listing::of(view, cluster, HOSTED_CLUSTER.in_cluster(cluster)),
            own: Listing::when(is_own(cluster) && !cluster.served.lacks(&CONTEXT), view, cluster, CONTEXT),
            secrets: Secrets::new(view, &cluster.name),
            settings: Settings::default(),
            hosted_by_secret: OnceCell::new(),
            control_planes: OnceCell::new(),
            names: OnceCell::new(),
        })
    }

    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// The Secrets of Cluster API's type, wherever they are.
    pub fn typed(&self) -> Reading<'a, Typed> {
        self.view.read(&typed_id(&self.cluster.name))
    }

    pub fn is_typed(&self, key: &Key) -> bool {
        self.typed().get(key).present().is_some()
    }

    /// The field manager that wrote a kubeconfig last.
    pub fn writer(&self, key: &Key) -> Option<&'a str> {
        let writer = |field| self.secrets.writer::<Holder>(key, field);
        let written = [writer(VALUE), writer(KUBECONFIG)].into_iter().flatten().max_by_key(|writer| writer.at())?;
        Some(&*written.manager)
    }

    /// The HostedCluster each Secret is a kubeconfig of.
    pub fn hosted_by_secret(
        &self,
        names: impl Fn(&Self, &Key, &HostedCluster) -> Vec<String>,
    ) -> &BTreeMap<Key, ObjectName> {
        self.hosted_by_secret.get_or_init(|| {
            let secrets = |(key, hosted): (&Key, &HostedCluster)| {
                let secret = |name: String| Key { name: ObjectName::new(name), ..key.clone() };
                let all: Vec<_> = names(self, key, hosted).into_iter().map(secret).collect();
                let hosted = key.name.clone();
                all.into_iter().map(move |secret| (secret, hosted.clone()))
            };
            self.hosted.iter().flat_map(secrets).collect()
        })
    }

    /// Which control plane belongs to which Cluster.
    pub fn control_planes(&self) -> &ControlPlanes {
        self.control_planes.get_or_init(|| ControlPlanes::of(&self.clusters, &self.planes))
    }

    /// A cluster of the same name in another namespace: CAPT gives both the same source.
    pub fn twin_of(&self, cluster: &Key) -> Option<&Key> {
        self.names.get_or_init(|| Names::of(&self.clusters, &self.planes)).twin_of(cluster)
    }

    /// Why a twin cannot be ruled out.
    pub fn twin_gap(&self) -> Option<Gap> {
        self.clusters.gap().or_else(|| self.planes.gap())
    }

    /// CAPT's source for a cluster, when the cluster is CAPT's.
    pub fn source_of(&self, cluster: &Key, owners: &Owners<'a>) -> Option<Key> {
        let source = || Key::new(Some(SOURCE_NAMESPACE), &source_name(cluster.name.as_str()));
        if owners.plane.seen.is_some() {
            return Some(source());
        }
        let plane = owners.cluster.seen.map(|cluster| cluster.control_plane.as_ref().map(|plane| &*plane.kind));
        match plane {
            Some(Some(kind)) => (kind == CAPT_PLANE.kind).then(source),
            // Its control plane is not known: a source of its name shows that it is CAPT's.
            Some(None) | None => Some(source()).filter(|source| self.secrets.is_listed(source)),
        }
    }
}

/// Whether a member of the fleet stands for the user's own kubeconfig files.
pub fn is_own(cluster: &Cluster) -> bool {
    cluster.source == ClusterSource::Local
}

/// A kind that decides nothing but a stage. A recording says itself whether it covers the kind.
fn recorded_or_served<'a, F: trueup_core::world::Fact>(
    view: View<'a>,
    cluster: &'a Cluster,
    resource: Resource,
) -> Listing<'a, F> {
    let is_read = match &cluster.served {
        Served::Recorded(_) => true,
        Served::Complete(_) | Served::Unknown(_) => !cluster.served.lacks(&resource),
    };
    Listing::when(is_read, view, cluster, resource)
}

pub fn typed_id(cluster: &ClusterName) -> CollectionId {
    CollectionId::all(cluster, SECRET).metadata().with_fields(&format!("type={SECRET_TYPE}"))
}
