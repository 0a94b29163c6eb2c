//! Workload clusters on EKS, managed by Cluster API and CAPT: token renewal and copying.
//!
//! ```text
//! the provider, every ten minutes ──► default/<name>-outputs-kubeconfig ──► <namespace>/<name>-kubeconfig
//!                                      the source                the controller, every half minute
//! ```
//!
//! Invariants: tokens, keys and CAs are made up; times follow the scenario's clock.
//! Elsewhere: the workload clusters themselves. The demo never connects to them.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::creation::{self, COPIED_TICK, OUTPUTS_TICK};
use super::eks::{self, Access};
use super::guest::{Operator, put, put_as};
use super::seeded_rng::SeededRng;
use super::{kinds, objects};
use crate::SimCluster;

/// The field managers of the source and of the target.
const PROVIDER: &str = "provider-terraform";
const COPIER: &str = "eks-copier";
/// Ticks between two renewals: provider-terraform reconciles every ten minutes.
const RENEWAL_TICKS: u64 = 600;
/// Ticks between two reconciliations of the controller.
const COPY_TICKS: u64 = 30;
/// A provider that stalls renews one time in three.
const STALLS: u64 = 3;

/// A workload cluster when the scenario starts.
struct Member {
    name: &'static str,
    namespace: &'static str,
    access: CurrentAccess,
    credential: TargetCredential,
    /// One renewal of the source's token in so many takes place. None: a cluster of the same name in another namespace
    /// owns the source.
    renewals: Option<u64>,
    /// The controller that copies the source to the target.
    controller: Operator,
    /// Age of the tokens in source and target.
    signed_ago: (SignedDuration, SignedDuration),
}

/// Endpoint and CA of a cluster now, compared with its kubeconfigs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CurrentAccess {
    Unchanged,
    /// Deleted and created again under its name: another endpoint and CA, which CAPT does not propagate.
    Recreated,
    /// Its CA is being rotated: both are trusted for now.
    Rotating,
}

/// The credential in a cluster's own Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetCredential {
    Token,
    ExecPlugin,
}

const fn member(name: &'static str, namespace: &'static str, source: i64, target: i64) -> Member {
    Member {
        name,
        namespace,
        access: CurrentAccess::Unchanged,
        credential: TargetCredential::Token,
        renewals: Some(1),
        controller: Operator::Working,
        signed_ago: (SignedDuration::from_secs(source), SignedDuration::from_secs(target)),
    }
}

const MEMBERS: [Member; 8] = [
    member("eks-orders", "workloads", 240, 240),
    Member { renewals: Some(STALLS), ..member("eks-media", "workloads", 780, 780) },
    Member { controller: Operator::Stuck, ..member("eks-games", "workloads", 60, 750) },
    Member { access: CurrentAccess::Recreated, ..member("eks-maps", "workloads", 180, 180) },
    Member { access: CurrentAccess::Rotating, ..member("eks-photos", "workloads", 300, 300) },
    Member {
        credential: TargetCredential::ExecPlugin,
        controller: Operator::Stuck,
        ..member("eks-legacy", "workloads", 120, 120)
    },
    member("eks-shared", "team-green", 90, 90),
    Member { renewals: None, controller: Operator::Stuck, ..member("eks-shared", "team-blue", 90, 1_200) },
];

/// A workload cluster and the controllers of its kubeconfig.
#[derive(Debug, Clone)]
pub struct Workload {
    pub sim: SimCluster,
    pub access: Access,
    /// The cluster that owns the source: of two clusters of one name, one has no source.
    provider: Option<Provider>,
    controller: Operator,
    origin: Origin,
    rng: SeededRng,
}

/// Whether the cluster was there before the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Existing,
    /// It is being created while the scenario runs.
    Created,
}

/// The provider that renews a source's token.
#[derive(Debug, Clone, Copy)]
struct Provider {
    /// The tick of its first renewal.
    phase: u64,
    /// One renewal in so many takes place.
    every: u64,
}

/// Seeds a management cluster with workload clusters.
pub fn seed(sim: &SimCluster, seed: u64, since: Timestamp, start: Timestamp) -> Vec<Workload> {
    kinds::of_cluster_api().into_iter().for_each(|kind| put(sim, since, kind));
    for namespace in ["workloads", "team-blue", "team-green"] {
        put(sim, since, objects::namespace(namespace));
    }
    let mut all: Vec<Workload> = MEMBERS.iter().map(|member| add_workload(sim, member, seed, since, start)).collect();
    all.push(add_new_workload(sim, seed, start));
    all
}

/// The cluster that is being created when the scenario starts.
fn add_new_workload(sim: &SimCluster, seed: u64, start: Timestamp) -> Workload {
    let mut rng = SeededRng::new(seed, creation::NAME);
    let access = Access::new("workloads", creation::NAME, &mut rng, start);
    creation::seed(sim, &access, start);
    let provider = Some(Provider { phase: OUTPUTS_TICK + RENEWAL_TICKS, every: 1 });
    let (sim, origin) = (sim.clone(), Origin::Created);
    Workload { sim, access, provider, controller: Operator::Working, origin, rng }
}

fn add_workload(sim: &SimCluster, member: &Member, seed: u64, since: Timestamp, start: Timestamp) -> Workload {
    let mut rng = SeededRng::new(seed, &format!("{}/{}", member.namespace, member.name));
    let ago = |age: SignedDuration| start.checked_sub(age).unwrap_or(start);
    let (source_age, target_age) = member.signed_ago;
    let first = Access::new(member.namespace, member.name, &mut rng, since);
    // The cluster's current access; its kubeconfigs may hold an older one.
    let now = match member.access {
        CurrentAccess::Unchanged => first.clone(),
        CurrentAccess::Recreated => Access::new(member.namespace, member.name, &mut rng, since),
        CurrentAccess::Rotating => first.clone().with_second_authority(&mut rng, ago(SignedDuration::from_hours(2))),
    };
    eks::cluster_objects(&now).into_iter().for_each(|object| put(sim, since, object));
    let plane_uid = eks::plane_uid(sim, &now);
    let target = match member.credential {
        TargetCredential::Token => first.kubeconfig(&mut rng, ago(target_age)),
        TargetCredential::ExecPlugin => eks::exec_kubeconfig(&first),
    };
    put_as(COPIER, sim, ago(target_age), eks::target(&first, &plane_uid, &target));
    if member.renewals.is_some() {
        let source = if source_age == target_age && member.credential == TargetCredential::Token {
            target
        } else {
            first.kubeconfig(&mut rng, ago(source_age))
        };
        put_as(PROVIDER, sim, ago(source_age), eks::source(&first, &source));
    }
    // The first renewal is due when the token at the start reaches the renewal interval, or at the next one.
    let age = u64::try_from(source_age.as_secs()).unwrap_or(0);
    let phase = RENEWAL_TICKS - age % RENEWAL_TICKS;
    Workload {
        sim: sim.clone(),
        access: first,
        provider: member.renewals.map(|every| Provider { phase, every }),
        controller: member.controller,
        origin: Origin::Existing,
        rng,
    }
}

impl Workload {
    /// Runs its provider and its controller at a tick, counted from 1.
    pub fn tick(&mut self, tick: u64) {
        if self.origin == Origin::Created && tick <= COPIED_TICK {
            creation::step(&self.sim, &self.access, &mut self.rng, tick);
            return;
        }
        if self.provider.is_some_and(|provider| provider.renews_at(tick)) {
            let at = self.sim.now();
            let text = self.access.kubeconfig(&mut self.rng, at);
            let renewed = eks::source(&self.access, &text);
            eks::handle(&self.sim, &renewed).edit_as(PROVIDER, at, |source| source["data"] = renewed["data"].clone());
        }
        if self.controller == Operator::Working && tick.is_multiple_of(COPY_TICKS) {
            self.copy();
        }
    }

    /// The controller's reconciliation: copies the source to the target.
    fn copy(&self) {
        let Some(source) = eks::handle(&self.sim, &eks::source(&self.access, "")).get() else { return };
        let value = source["data"]["kubeconfig"].clone();
        let target = eks::target(&self.access, "", "");
        eks::handle(&self.sim, &target)
            .edit_as(COPIER, self.sim.now(), |held: &mut Value| *objects::field_mut(held, &["data", "value"]) = value);
    }
}

impl Provider {
    fn renews_at(self, tick: u64) -> bool {
        let since = tick.checked_sub(self.phase);
        since.is_some_and(|since| {
            since.is_multiple_of(RENEWAL_TICKS) && (since / RENEWAL_TICKS).is_multiple_of(self.every)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_stalls_renews_one_time_in_three() {
        let renewals = |provider: Provider| (1..=4_000).filter(|tick| provider.renews_at(*tick)).collect::<Vec<u64>>();
        assert_eq!(renewals(Provider { phase: 360, every: 1 }), [360, 960, 1_560, 2_160, 2_760, 3_360, 3_960]);
        assert_eq!(renewals(Provider { phase: 360, every: 3 }), [360, 2_160, 3_960]);
    }
}
