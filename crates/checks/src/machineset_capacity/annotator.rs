//! Which Deployment annotates sets of machines: the one the config names, else the first of the usual ones.
//!
//! ```text
//!   credentials_from ──► it, or not found
//!   openshift-machine-api/capa-annotator ──► it
//!   the one Deployment capa-annotator of any namespace ──► it; several ──► not known
//!   Machine API sets: container machine-controller of openshift-machine-api/machine-api-controllers
//! ```
//!
//! Invariants: a search that is forbidden finds nothing; one that failed otherwise is not known.

use super::facts::Deployment;
use super::names::WORKLOAD;
use super::settings::Workload;
use trueup_core::world::{Cluster, CollectionId, Gap, GapCause, Key, Observation, View};

const NAMESPACE: &str = "openshift-machine-api";
const ANNOTATOR: &str = "capa-annotator";
const CONTROLLERS: &str = "machine-api-controllers";
const CONTROLLER: &str = "machine-controller";

/// Which sets are annotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    MachineApi,
    ClusterApi,
}

/// What a search comes to.
pub enum Search<'a> {
    Found {
        workload: Workload,
        deployment: &'a Deployment,
    },
    /// None, or the search is forbidden: one sentence.
    NotFound(String),
    NotKnown(Gap),
}

/// Searches the annotator of a live cluster, and returns the collections that say which it is.
pub fn search<'a>(
    view: View<'a>,
    cluster: &Cluster,
    named: Option<&Workload>,
    scope: Scope,
) -> (Vec<CollectionId>, Search<'a>) {
    if cluster.served.lacks(&WORKLOAD) {
        return (Vec::new(), Search::NotFound(format!("{} is not served", WORKLOAD.path())));
    }
    let mut asks = Vec::new();
    let found = match named {
        Some(workload) => configured(view, cluster, workload, &mut asks),
        None => usual(view, cluster, scope, &mut asks),
    };
    (asks, found)
}

fn configured<'a>(view: View<'a>, cluster: &Cluster, workload: &Workload, asks: &mut Vec<CollectionId>) -> Search<'a> {
    match look_up(view, cluster, workload, asks) {
        Observation::Present(deployment) => Search::Found { workload: workload.clone(), deployment },
        Observation::ProvenAbsent(_) => Search::NotFound(format!(
            "Deployment {}/{}, which credentials_from names, does not exist; correct credentials_from",
            workload.namespace, workload.deployment
        )),
        Observation::Unknown(gap) => Search::NotKnown(gap),
    }
}

fn usual<'a>(view: View<'a>, cluster: &Cluster, scope: Scope, asks: &mut Vec<CollectionId>) -> Search<'a> {
    let first = workload(NAMESPACE, ANNOTATOR, None);
    match look_up(view, cluster, &first, asks) {
        Observation::Present(deployment) => return Search::Found { workload: first, deployment },
        Observation::Unknown(gap) => return unanswered(gap),
        Observation::ProvenAbsent(_) => {}
    }
    let everywhere = CollectionId::all(&cluster.name, WORKLOAD).with_fields(&format!("metadata.name={ANNOTATOR}"));
    let reading = view.read::<Deployment>(&everywhere);
    asks.push(everywhere);
    if let Some(gap) = reading.gap() {
        return unanswered(gap);
    }
    let all: Vec<(&Key, &Deployment)> = reading.iter().collect();
    match (all.as_slice(), scope) {
        ([(key, deployment)], _) => {
            let namespace = key.namespace.as_ref().map(ToString::to_string).unwrap_or_default();
            return Search::Found { workload: workload(&namespace, ANNOTATOR, None), deployment };
        }
        ([], Scope::ClusterApi) => return not_found(),
        ([], Scope::MachineApi) => {}
        ([_, ..], _) => {
            let names: Vec<String> = all.iter().map(|(key, _)| key.to_string()).collect();
            let message = format!("several annotators: {}; choose one with credentials_from", names.join(", "));
            return Search::NotKnown(Gap::new(GapCause::Unreadable, message));
        }
    }
    let controllers = workload(NAMESPACE, CONTROLLERS, Some(CONTROLLER));
    match look_up(view, cluster, &controllers, asks) {
        Observation::Present(deployment) => Search::Found { workload: controllers, deployment },
        Observation::ProvenAbsent(_) => not_found(),
        Observation::Unknown(gap) => unanswered(gap),
    }
}

fn look_up<'a>(
    view: View<'a>,
    cluster: &Cluster,
    workload: &Workload,
    asks: &mut Vec<CollectionId>,
) -> Observation<'a, Deployment> {
    let id = CollectionId::namespaced(&cluster.name, WORKLOAD, &workload.namespace);
    let id = id.with_fields(&format!("metadata.name={}", workload.deployment));
    let seen = view.read::<Deployment>(&id).get(&Key::new(Some(&workload.namespace), &workload.deployment));
    asks.push(id);
    seen
}

fn workload(namespace: &str, deployment: &str, container: Option<&str>) -> Workload {
    Workload {
        namespace: namespace.to_owned(),
        deployment: deployment.to_owned(),
        container: container.map(str::to_owned),
    }
}

fn unanswered<'a>(gap: Gap) -> Search<'a> {
    match gap.cause {
        GapCause::Forbidden => Search::NotFound(format!("Deployments cannot be searched for {ANNOTATOR}: {gap}")),
        GapCause::Unauthorized
        | GapCause::Unreachable
        | GapCause::Silent
        | GapCause::NotObserved
        | GapCause::Discovery
        | GapCause::CutShort
        | GapCause::OverBudget
        | GapCause::Unreadable
        | GapCause::NotRecorded => Search::NotKnown(gap),
    }
}

fn not_found<'a>() -> Search<'a> {
    Search::NotFound(format!("no Deployment {ANNOTATOR} exists; name the annotator with credentials_from"))
}
