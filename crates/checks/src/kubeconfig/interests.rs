//! What this check wants to see, step by step: who has clusters, which Secrets are there, and then the few that count.
//!
//! Invariants: a Secret is read whole only when its name says that it holds a kubeconfig, an address or an authority of
//! a cluster that was seen; of the others, metadata alone.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{CheckContext, typed_id};
use super::facts::{Anchor, Holder, Typed};
use super::names::{
    SOURCE_NAMESPACE, ca_name, cluster_of_target, cluster_of_user, connection_name, hosted_default_name, target_name,
    user_name,
};
use super::subjects::{Owners, cluster_keys};
use crate::kinds::{SecretMark, secret_marks};
use trueup_core::world::{Cluster, Interest, Key, Namespace, ObjectName, Served, View};

pub fn of(cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
    let mut wanted = Vec::new();
    let context = CheckContext::of(view, &cluster.name).filter(|_| !cluster.source.is_account());
    if let Some(context) = context {
        owners(&context, &mut wanted);
        secrets(&context, &mut wanted);
    }
    wanted
}

/// The objects that have kubeconfigs.
fn owners(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let name = &context.cluster.name;
    wanted.extend(context.clusters.interest());
    wanted.extend(context.planes.interest());
    // The way of a kubeconfig matters only where CAPT makes one.
    if context.planes.iter().next().is_some() {
        wanted.extend(context.applies.interest());
        wanted.extend(context.workspaces.interest());
    }
    wanted.extend(context.hosted.interest());
    wanted.extend(context.own.interest());
    // A recording may hold Secrets of clusters whose own objects were left out.
    let is_recorded = matches!(context.cluster.served, Served::Recorded(_));
    if is_recorded || context.clusters.is_served() || context.planes.is_served() {
        wanted.push(typed_id(name).interest::<Typed>());
    }
}

/// The Secrets of the namespaces that have clusters, and by name those that are compared.
fn secrets(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let names = names(context);
    let cluster = &context.cluster.name;
    let mut namespaces: BTreeSet<&Namespace> = names.keys().filter_map(|key| key.namespace.as_ref()).collect();
    // Whether a cluster has a source of CAPT's is seen in the list of this namespace.
    let sources = Namespace::new(SOURCE_NAMESPACE);
    if names.keys().any(|key| cluster_of_target(key.name.as_str()).is_some()) {
        namespaces.insert(&sources);
    }
    wanted
        .extend(namespaces.iter().map(|namespace| secret_marks(cluster, namespace.as_str()).interest::<SecretMark>()));
    for (key, content) in &names {
        wanted.extend(match content {
            Use::Kubeconfig => context.secrets.interest::<Holder>(key),
            Use::Anchor => context.secrets.interest::<Anchor>(key),
        });
    }
}

/// What a Secret is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Kubeconfig,
    Anchor,
}

/// Every Secret that may count.
fn names(context: &CheckContext<'_>) -> BTreeMap<Key, Use> {
    let mut names = BTreeMap::new();
    let in_namespace =
        |namespace: &Namespace, name: String| Key { namespace: Some(namespace.clone()), name: ObjectName::new(name) };
    let clusters = cluster_keys(context).map(|key| (key.namespace.as_ref(), key.name.as_str()));
    let typed: Vec<&Key> = context.typed().iter().map(|(key, _)| key).collect();
    let others = typed.iter().filter_map(|key| Some((key.namespace.as_ref(), cluster_named(key.name.as_str())?)));
    for (namespace, cluster) in clusters.chain(others) {
        let Some(namespace) = namespace else { continue };
        names.insert(in_namespace(namespace, target_name(cluster)), Use::Kubeconfig);
        names.insert(in_namespace(namespace, user_name(cluster)), Use::Kubeconfig);
        names.insert(in_namespace(namespace, connection_name(cluster)), Use::Anchor);
        names.insert(in_namespace(namespace, ca_name(cluster)), Use::Anchor);
        let key = in_namespace(namespace, cluster.to_owned());
        names.extend(context.source_of(&key, &Owners::of(context, &key)).map(|source| (source, Use::Kubeconfig)));
    }
    for (key, hosted) in context.hosted.iter() {
        let Some(namespace) = &key.namespace else { continue };
        let admin = hosted.kubeconfig.as_deref().map_or_else(|| hosted_default_name(key.name.as_str()), str::to_owned);
        names.insert(in_namespace(namespace, admin), Use::Kubeconfig);
        names.extend(hosted.custom.as_deref().map(|name| (in_namespace(namespace, name.to_owned()), Use::Kubeconfig)));
    }
    names
}

/// The cluster a Secret of Cluster API's type belongs to by its name.
fn cluster_named(secret: &str) -> Option<&str> {
    cluster_of_user(secret).or_else(|| cluster_of_target(secret))
}
