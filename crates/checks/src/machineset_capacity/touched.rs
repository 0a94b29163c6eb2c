//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything.

use std::collections::BTreeSet;

use super::catalogue::{Account, cluster_of};
use super::facts::{Pool, Provider};
use super::names::{
    AUTHENTICATION, AWS_CLUSTER, CLUSTER, ENVIRONMENT, INFRASTRUCTURE, INSTANCE_TYPE, LOOKUP, MANAGED_PLANE, POD,
    SECRET, SERVICE_ACCOUNT, TEMPLATE, WORKLOAD,
};
use super::subjects::{Sort, subject};
use crate::Touched;
use trueup_core::world::{Change, ChangeSet, ClusterName, CollectionId, Key, View, What};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    let mut beside = Beside::default();
    for change in changes.iter() {
        match change {
            Change::Collection { id, what, .. } => {
                if [INSTANCE_TYPE, LOOKUP].contains(&id.resource) {
                    beside.account(&id.cluster, view);
                }
                // Only recordings have it.
                beside.all |= id.resource == ENVIRONMENT;
                collection(id, what, view, &mut touched);
            }
            Change::Cluster(name) => {
                touched.clusters.insert(name.clone());
                beside.account(name, view);
            }
            Change::Link { .. } => {}
        }
    }
    touched.clusters.extend(beside.clusters);
    if beside.all {
        touch_all(view, &mut touched);
    }
    touched
}

/// The clusters whose machines are compared with what accounts say.
#[derive(Default)]
struct Beside {
    clusters: BTreeSet<ClusterName>,
    /// Every cluster that has machines.
    all: bool,
}

impl Beside {
    /// Adds those of an account: of a live one its own cluster. One that is gone cannot say whether it was a recording.
    fn account(&mut self, name: &ClusterName, view: View<'_>) {
        let member = view.cluster(name);
        match (member.and_then(Account::of), cluster_of(name)) {
            (Some(account), Some(cluster)) if !account.is_recorded() => drop(self.clusters.insert(cluster)),
            (Some(_), _) => self.all = true,
            (None, Some(_)) => self.all |= member.is_none(),
            (None, None) => {}
        }
    }
}

fn collection(id: &CollectionId, what: &What, view: View<'_>, touched: &mut Touched) {
    // Pods are asked for by labels here, by other checks without.
    let is_pods = id.resource == POD && !id.selector.labels.is_empty();
    let is_leaf = [INFRASTRUCTURE, WORKLOAD, SERVICE_ACCOUNT, AUTHENTICATION].contains(&id.resource)
        || is_pods
        || [CLUSTER, TEMPLATE, AWS_CLUSTER, MANAGED_PLANE].iter().any(|kind| kind.is(&id.resource));
    let sort = Sort::ALL.into_iter().find(|sort| sort.kind().is(&id.resource));
    match (sort, what) {
        (Some(sort), What::Keys(keys)) => {
            let of = |key: &Key| subject(&id.cluster, sort, &id.resource, key.namespace.as_ref(), key.name.as_str());
            touched.subjects.extend(keys.iter().map(of));
        }
        (Some(_), What::Everything) => drop(touched.clusters.insert(id.cluster.clone())),
        (None, What::Keys(keys)) if id.resource == SECRET => touch_users(&id.cluster, keys, view, touched),
        (None, _) if id.resource == SECRET => drop(touched.clusters.insert(id.cluster.clone())),
        (None, _) if is_leaf => drop(touched.clusters.insert(id.cluster.clone())),
        (None, _) => {}
    }
}

/// The MachineSets that name one of these Secrets.
fn touch_users(cluster: &ClusterName, keys: &[Key], view: View<'_>, touched: &mut Touched) {
    let id = Sort::MachineApi.kind().collection_at(cluster, view);
    let sets = view.read::<Pool>(&id);
    for (key, pool) in sets.iter() {
        let (Provider::Inline { secret, .. }, Some(namespace)) = (&pool.provider, &key.namespace) else { continue };
        let names = |one: &Key| one.namespace.as_ref() == Some(namespace) && one.name.as_str() == &**secret;
        if keys.iter().any(names) {
            touched.subjects.insert(subject(
                cluster,
                Sort::MachineApi,
                &id.resource,
                Some(namespace),
                key.name.as_str(),
            ));
        }
    }
}

/// Every cluster that has machines.
fn touch_all(view: View<'_>, touched: &mut Touched) {
    touched.clusters.extend(view.filled::<Pool>().map(|(id, _)| id.cluster.clone()));
}
