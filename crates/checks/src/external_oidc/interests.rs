//! What this check wants to see, step by step: first who a cluster is, then whether it has the kinds, then all the rest.
//!
//! Invariants: a cluster that lacks the kinds, and a hosted guest, is asked for nothing more.

use super::bound;
use super::console::wanted_secret;
use super::context::{
    BUNDLE_NAMESPACES, CheckContext, FILE_NAMESPACES, Standing, config_maps, is_served, secret_marks, standing,
};
use super::facts::{
    Binding, Bundle, ClientSecret, ConfigFile, FeatureGates, Infrastructure, KubeApiServer, Mark, NamespaceState,
    OperatorStatus, Release,
};
use super::names::{
    AUTHENTICATION, AUTHENTICATION_OPERATOR, CLUSTER_VERSION, CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_OPERATOR,
    CONSOLE_SECRET, CUSTOM_RESOURCE_DEFINITION, FEATURE_GATE, INFRASTRUCTURE, KUBE_API_SERVER, RESTRICTIONS_CRD,
    ROLE_BINDING_RESTRICTION, SECRET, by_name,
};
use super::oauth::{namespace_id, webhook_copy_id};
use super::settings::Settings;
use super::spec::Authentication;
use super::stack::PARTS;
use super::subjects::NAMESPACES;
use super::switch;
use trueup_core::world::{Cluster, CollectionId, Interest, Served, View};

pub fn of(settings: &Settings, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
    let mut wanted = Vec::new();
    if cluster.hosted_by.is_some() || !may_apply(cluster) {
        return wanted;
    }
    let all = |resource| CollectionId::all(&cluster.name, resource);
    wanted.push(all(INFRASTRUCTURE).interest::<Infrastructure>());
    if standing(view, cluster) == Standing::NotOurs {
        return wanted;
    }
    wanted.push(all(AUTHENTICATION).interest::<Authentication>());
    wanted.push(all(KUBE_API_SERVER).interest::<KubeApiServer>());
    if let Some(context) = CheckContext::of(view, &cluster.name) {
        operator_inputs(&context, &mut wanted);
        bindings(settings, &context, &mut wanted);
    }
    wanted
}

/// Whether the kinds may be there: a folder that holds one of the groups may hold them.
fn may_apply(cluster: &Cluster) -> bool {
    let lacks = |resource| cluster.served.lacks(resource);
    match &cluster.served {
        Served::Complete(_) => !lacks(&AUTHENTICATION) && !lacks(&KUBE_API_SERVER),
        Served::Recorded(_) | Served::Unknown(_) => !lacks(&AUTHENTICATION) || !lacks(&KUBE_API_SERVER),
    }
}

fn operator_inputs(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let cluster = context.name();
    let all = |resource| CollectionId::all(cluster, resource);
    let singletons = [
        all(FEATURE_GATE).interest::<FeatureGates>(),
        all(CLUSTER_VERSION).interest::<Release>(),
        all(AUTHENTICATION_OPERATOR).interest::<OperatorStatus>(),
        all(CONSOLE_OPERATOR).interest::<OperatorStatus>(),
    ];
    wanted.extend(singletons.into_iter().filter(|interest| is_served(context.cluster, &interest.id.resource)));
    wanted.extend(FILE_NAMESPACES.map(|namespace| config_maps(cluster, namespace).interest::<ConfigFile>()));
    wanted.extend(BUNDLE_NAMESPACES.map(|namespace| config_maps(cluster, namespace).interest::<Bundle>()));
    let mut marks: Vec<CollectionId> = PARTS
        .iter()
        .filter(|part| is_served(context.cluster, &part.resource))
        .map(|part| part.collection(cluster))
        .collect();
    marks.extend([CONFIG_NAMESPACE, CONSOLE_NAMESPACE].map(|namespace| secret_marks(cluster, namespace)));
    marks.push(by_name(cluster, CUSTOM_RESOURCE_DEFINITION, RESTRICTIONS_CRD));
    marks.push(webhook_copy_id(cluster));
    if is_served(context.cluster, &ROLE_BINDING_RESTRICTION) {
        marks.push(all(ROLE_BINDING_RESTRICTION).metadata());
    }
    marks.sort();
    marks.dedup();
    wanted.extend(marks.into_iter().map(CollectionId::interest::<Mark>));
    wanted.extend(NAMESPACES.map(|name| namespace_id(cluster, name).interest::<NamespaceState>()));
    secrets(context, wanted);
}

/// Role bindings, where tokens of a provider are accepted now or soon. Not read elsewhere.
fn bindings(settings: &Settings, context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let is_oidc = context.authentication.seen.is_some_and(|authentication| authentication.spec.is_oidc());
    if is_oidc || switch::is_offered(settings, context) {
        let served = |id: &CollectionId| is_served(context.cluster, &id.resource);
        wanted.extend(bound::collections(context).into_iter().filter(served).map(CollectionId::interest::<Binding>));
    }
}

/// The two secrets that are compared, by name, and again when the list shows another version.
fn secrets(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let Some(name) = wanted_secret(context) else { return };
    for (namespace, name) in [(CONFIG_NAMESPACE, name), (CONSOLE_NAMESPACE, CONSOLE_SECRET)] {
        let Some(mark) = context.secret_mark(namespace, name).seen else { continue };
        let content = CollectionId::object(context.name(), SECRET, Some(namespace), name);
        let read_at_least = Some(mark.meta.version.clone());
        wanted.push(Interest { read_at_least, ..content.interest::<ClientSecret>() });
    }
}
