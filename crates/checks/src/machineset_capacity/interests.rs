//! What this check wants to see, step by step: the sets of machines, what they name, and the regions they are in.
//!
//! Invariants:
//! - of those who annotate, the Deployment that the config names, or the usual ones, by name, and the pods of one;
//! - a Secret is read whole only when a MachineSet names it for its login; of the others, metadata alone;
//! - an account is asked about the regions and types that are in use, and no others.

use std::collections::BTreeSet;

use super::catalogue::{Account, account_of, catalogue_id, lookups_id};
use super::context::{CheckContext, FleetCatalogue};
use super::facts::{InstanceType, Login, Lookup, Provider};
use super::names::LOOKUP;
use super::process_environment::Said;
use super::settings::Settings;
use super::subjects::Sort;
use crate::Touched;
use crate::contract::interested_by_touch;
use crate::kinds::{Listing, SecretMark, secret_marks};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Fact, Interest, Key, Link, Served, View};

/// What is needed because of one cluster, or of what clusters ask an account.
pub fn of(member: &Cluster, view: View<'_>, settings: &Settings) -> Vec<Interest> {
    let fleet = FleetCatalogue::new(view, settings);
    let mut wanted = Vec::new();
    if let Some(context) = fleet.context(&member.name) {
        pools(&context, &mut wanted);
        if context.has_pools() {
            named(&context, &mut wanted);
            secrets(&context, &mut wanted);
        }
    }
    if let Some(account) = Account::of(member) {
        lookups(&fleet, &account, &mut wanted);
    }
    wanted.sort_by(|one, other| one.id.cmp(&other.id));
    wanted.dedup();
    wanted
}

/// What an account is asked follows from the sets of its cluster.
pub fn interested(touched: Touched, changes: &ChangeSet) -> BTreeSet<ClusterName> {
    let mut interested = interested_by_touch(touched, changes);
    let accounts: Vec<ClusterName> = interested.iter().map(account_of).collect();
    interested.extend(accounts);
    interested
}

/// The types and regions that an account is asked about.
fn lookups(fleet: &FleetCatalogue<'_>, account: &Account<'_>, wanted: &mut Vec<Interest>) {
    let says_lookups = match &account.member.served {
        Served::Complete(_) => !account.member.served.lacks(&LOOKUP),
        Served::Recorded(_) | Served::Unknown(_) => false,
    };
    let is_worth_asking = |types: &BTreeSet<&str>| account.is_recorded() || !types.is_empty();
    for cluster in fleet.with_pools().iter().filter(|cluster| account.is_asked_for(cluster)) {
        let questions = fleet.questions_of(cluster);
        let covered = questions.iter().filter(|(question, _)| account.covers(question));
        for (question, types) in covered.filter(|(_, types)| is_worth_asking(types)) {
            wanted.push(catalogue_id(account, question, types).interest::<InstanceType>());
            wanted.extend(says_lookups.then(|| lookups_id(account, question).interest::<Lookup>()));
        }
    }
}

/// The sets themselves.
fn pools(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    for sort in Sort::ALL {
        wanted.extend(context.pools(sort).interest());
    }
}

/// What leads from a set to its machine.
fn named(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    let has = |sort: Sort| context.pools(sort).iter().next().is_some();
    if has(Sort::MachineApi) {
        wanted.extend(context.infrastructure.interest());
    }
    if has(Sort::Deployment) || has(Sort::CapiSet) {
        wanted.extend(context.clusters.interest());
        wanted.extend(context.templates.interest());
        wanted.extend(context.aws_clusters.interest());
        wanted.extend(context.planes.interest());
        within(context, &context.clusters, wanted);
        within(context, &context.templates, wanted);
        within(context, &context.aws_clusters, wanted);
        within(context, &context.planes, wanted);
    }
    let sorts = Sort::ALL.into_iter().filter(|sort| has(*sort));
    wanted.extend(sorts.flat_map(|sort| context.environment(sort).interests()));
    wanted.extend(context.issuer.interest());
}

/// What a listing that is cut short somewhere may still say of the namespaces that have sets.
fn within<F: Fact>(context: &CheckContext<'_>, listing: &Listing<'_, F>, wanted: &mut Vec<Interest>) {
    let sets = context.deployments.iter().chain(context.capi_sets.iter());
    let namespaces: BTreeSet<_> = sets.filter_map(|(key, _)| key.namespace.as_ref()).collect();
    wanted.extend(namespaces.into_iter().filter_map(|namespace| Some(listing.within(namespace)?.interest::<F>())));
}

/// The Secrets that MachineSets name, where the environment of the annotating process is known.
fn secrets(context: &CheckContext<'_>, wanted: &mut Vec<Interest>) {
    // A recording without an environment has no credentials to judge.
    match &context.environment(Sort::MachineApi).said {
        Said::Nothing if context.cluster.link == Link::Recorded => return,
        Said::Nothing | Said::NotKnown(_) | Said::Known(_) => {}
    }
    let mut names = BTreeSet::new();
    for (key, pool) in context.machine_sets.iter() {
        let (Provider::Inline { secret, .. }, Some(namespace)) = (&pool.provider, &key.namespace) else { continue };
        names.extend((!secret.is_empty()).then(|| Key::new(Some(namespace.as_str()), secret)));
    }
    let namespaces: BTreeSet<_> = names.iter().filter_map(|key| key.namespace.as_ref()).collect();
    let cluster = &context.cluster.name;
    wanted
        .extend(namespaces.iter().map(|namespace| secret_marks(cluster, namespace.as_str()).interest::<SecretMark>()));
    wanted.extend(names.iter().filter_map(|key| context.secrets.interest::<Login>(key)));
}
