//! What this check wants to see, step by step: first who hosts whom, then the guests, then the sources.

use std::collections::BTreeSet;

use super::context::{CheckContext, console_deployment_id, console_id, copies_id, sources_id};
use super::facts::{
    AuthBlock, Authentication, Bundle, ConsoleDeployment, ConsoleOperator, ControlPlane, Copy, HostedCluster,
    Infrastructure, ReferringConfig, SourceContent, SourceMark,
};
use super::hosted_cluster::bundles_id;
use super::leftovers::{marked_sources, orphans};
use super::names::{
    API_SERVER, AUTHENTICATION, CONSOLE_OPERATOR, CONTROL_PLANE, CopyKind, DEPLOYMENT, HOSTED_CLUSTER, IMAGE,
    INFRASTRUCTURE, OAUTH, PROXY,
};
use super::settings::Settings;
use super::{HostedOidc, Scope, touched};
use crate::contract::interested_by_touch;
use crate::kinds::{SecretMark, secret_marks};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterName, CollectionId, Interest, Namespace, Reading, Resource, Served, View,
};

/// What is needed because of one cluster: in itself, and as a guest also in the cluster that hosts it.
pub fn of(check: &HostedOidc, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
    let mut wanted = Vec::new();
    hosts(view, cluster, &mut wanted);
    references(check.scope, view, cluster, &mut wanted);
    if let Some(context) = CheckContext::of(view, &cluster.name) {
        guest(&context, &mut wanted);
        sources(&context, &check.settings, &mut wanted);
    }
    wanted
}

/// A cluster is asked for more once it has a guest.
pub fn interested(changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
    let mut interested = interested_by_touch(touched::find(changes, view), changes);
    let hosts = changes.iter().filter_map(|change| view.cluster(change.cluster())?.hosted_by.as_ref());
    interested.extend(hosts.map(|by| by.cluster.clone()));
    interested
}

/// Where the CAs and client secrets of HostedClusters are: ConfigMaps whole, Secrets by metadata alone.
fn references(scope: Scope, view: View<'_>, cluster: &Cluster, wanted: &mut Vec<Interest>) {
    let clusters: Reading<'_, HostedCluster> = view.read(&HOSTED_CLUSTER.collection(cluster));
    let is_read = |hosted: &HostedCluster| match (&hosted.block, scope) {
        (_, Scope::Candidates) => true,
        (AuthBlock::Given(candidate), Scope::Findings) => {
            candidate.spec.is_oidc() && !candidate.spec.providers.is_empty()
        }
        (AuthBlock::Absent | AuthBlock::TypeEmpty | AuthBlock::Unreadable(_), Scope::Findings) => false,
    };
    let namespaces: BTreeSet<&Namespace> =
        clusters.iter().filter(|(_, hosted)| is_read(hosted)).filter_map(|(key, _)| key.namespace.as_ref()).collect();
    for namespace in namespaces {
        wanted.push(bundles_id(&cluster.name, namespace.as_str()).interest::<Bundle>());
        wanted.push(secret_marks(&cluster.name, namespace.as_str()).interest::<SecretMark>());
    }
}

/// Whether this cluster hosts guests, and whether it is one.
fn hosts(view: View<'_>, cluster: &Cluster, wanted: &mut Vec<Interest>) {
    // The host of a guest is asked even when it does not serve the kind: absence must be proven.
    let is_named = view.guests_of(&cluster.name).next().is_some();
    let is_asked = |resource: &Resource| is_named || !cluster.served.lacks(resource);
    if is_asked(&HOSTED_CLUSTER) {
        wanted.push(HOSTED_CLUSTER.collection(cluster).interest::<HostedCluster>());
    }
    if is_asked(&CONTROL_PLANE) {
        wanted.push(CONTROL_PLANE.collection(cluster).interest::<ControlPlane>());
    }
    if cluster.hosted_by.is_none() && !cluster.served.lacks(&INFRASTRUCTURE) {
        wanted.push(CollectionId::all(&cluster.name, INFRASTRUCTURE).interest::<Infrastructure>());
    }
}

fn guest(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let guest = &context.guest.name;
    wanted.extend(CopyKind::ALL.map(|kind| copies_id(guest, kind).interest::<Copy>()));
    wanted.push(CollectionId::all(guest, AUTHENTICATION).interest::<Authentication>());
    let configs = [PROXY, IMAGE, API_SERVER, OAUTH];
    wanted.extend(configs.map(|config| CollectionId::all(guest, config).interest::<ReferringConfig>()));
    wanted.push(console_id(guest).interest::<Bundle>());
    // A folder answers for every kind.
    let is_served = |resource: &Resource| match &context.guest.served {
        Served::Complete(_) => !context.guest.served.lacks(resource),
        Served::Recorded(_) | Served::Unknown(_) => true,
    };
    if is_served(&CONSOLE_OPERATOR) {
        wanted.push(CollectionId::all(guest, CONSOLE_OPERATOR).interest::<ConsoleOperator>());
    }
    if is_served(&DEPLOYMENT) {
        wanted.push(console_deployment_id(guest).interest::<ConsoleDeployment>());
    }
}

/// The control plane's namespace by metadata alone, since it holds etcd and CA keys; by name what is compared.
fn sources(context: &CheckContext<'_>, settings: &Settings, wanted: &mut Vec<Interest>) {
    let Some((cluster, namespace)) = context.source_namespace() else { return };
    let is_settled = context.control_plane.seen.is_some() || context.control_plane.is_proven_absent();
    if context.view.cluster(cluster).is_none() || !is_settled {
        return;
    }
    wanted.extend(CopyKind::ALL.map(|kind| sources_id(cluster, kind, namespace).interest::<SourceMark>()));
    let authentication = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    for kind in CopyKind::ALL {
        let copied = authentication.filter(|authentication| authentication.is_oidc()).into_iter();
        let mut names: BTreeSet<&str> = copied.flat_map(|wanted| wanted.providers.names(kind)).collect();
        names.extend(marked_sources(context, kind));
        names.extend(orphans(context, kind, settings));
        for name in names {
            let Some(mark) = context.source(kind, name).seen else { continue };
            let content = CollectionId::object(cluster, kind.resource(), Some(namespace), name);
            let read_at_least = Some(mark.version.clone());
            wanted.push(Interest { read_at_least, ..content.interest::<SourceContent>() });
        }
    }
}
