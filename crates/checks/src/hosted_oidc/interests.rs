//! What this check wants to see, step by step: first who hosts whom, then the guests, then the sources.

use super::context::{CheckContext, console_id, copies_id, sources_id};
use super::facts::{
    Authentication, ControlPlane, Copy, HostedCluster, Infrastructure, ReferringConfig, SourceContent, SourceMark,
};
use super::names::{
    API_SERVER, AUTHENTICATION, CONTROL_PLANE, CopyKind, HOSTED_CLUSTER, IMAGE, INFRASTRUCTURE, OAUTH, PROXY,
};
use super::subjects::guests;
use trueup_core::world::{Cluster, CollectionId, Interest, Resource, View};

pub fn list(view: View<'_>) -> Vec<Interest> {
    let mut wanted = Vec::new();
    for cluster in view.clusters() {
        hosts(view, cluster, &mut wanted);
    }
    for context in guests(view) {
        guest(&context, &mut wanted);
        sources(&context, &mut wanted);
    }
    wanted
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
    wanted.push(console_id(guest).interest::<SourceMark>());
}

/// The control plane's namespace by metadata alone, since it holds etcd and CA keys; by name what is compared.
fn sources(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let (Some((cluster, namespace)), Some(plane)) = (context.source_namespace(), context.control_plane.seen) else {
        return;
    };
    wanted.extend(CopyKind::ALL.map(|kind| sources_id(cluster, kind, namespace).interest::<SourceMark>()));
    let authentication = &plane.hosted.authentication;
    for kind in CopyKind::ALL.into_iter().filter(|_| authentication.is_oidc()) {
        for name in authentication.providers.names(kind) {
            let Some(mark) = context.source(kind, name).seen else { continue };
            let content = CollectionId::object(cluster, kind.resource(), Some(namespace), name);
            let read_at_least = Some(mark.version.clone());
            wanted.push(Interest { read_at_least, ..content.interest::<SourceContent>() });
        }
    }
}
