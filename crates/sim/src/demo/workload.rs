//! Workload clusters that Cluster API and CAPT keep on EKS: who renews their tokens, and who copies them.
//!
//! ```text
//! the provider, every ten minutes ──► default/<name>-outputs-kubeconfig ──► <namespace>/<name>-kubeconfig
//!                                      the source                the controller, every half minute
//! ```
//!
//! Always true: a token is signed by nobody and for the story's clock; keys and authorities are dice.
//! Not here: the clusters themselves. Nothing of the story connects to them.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::dice::Dice;
use super::eks::{self, Access};
use super::guest::{Operator, put};
use super::kinds;
use crate::SimCluster;

/// Ticks between two renewals: provider-terraform looks every ten minutes.
const RENEWAL_TICKS: u64 = 600;
/// Ticks between two looks of the controller.
const COPY_TICKS: u64 = 30;
/// A provider that stalls renews one time in three.
const STALLS: u64 = 3;

/// What became of a workload cluster before the story begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plight {
    Well,
    /// The provider sometimes renews nothing.
    Stalls,
    /// The controller copies nothing.
    Behind,
    /// Deleted and made again under its name: another address and authority, which CAPT does not pass on.
    Recreated,
    /// Its authority is being replaced: both are trusted for now.
    Rotating,
    /// Somebody put a kubeconfig into its Secret that would run a command.
    Planted,
    /// Another namespace has a cluster of the same name, and the source is that one's.
    SharesSource,
}

struct Member {
    name: &'static str,
    namespace: &'static str,
    plight: Plight,
    /// How old the tokens of source and target are when the story begins.
    signed_ago: (SignedDuration, SignedDuration),
}

const fn member(name: &'static str, namespace: &'static str, plight: Plight, source: i64, target: i64) -> Member {
    Member {
        name,
        namespace,
        plight,
        signed_ago: (SignedDuration::from_secs(source), SignedDuration::from_secs(target)),
    }
}

const MEMBERS: [Member; 8] = [
    member("eks-orders", "workloads", Plight::Well, 240, 240),
    member("eks-media", "workloads", Plight::Stalls, 780, 780),
    member("eks-games", "workloads", Plight::Behind, 60, 750),
    member("eks-maps", "workloads", Plight::Recreated, 180, 180),
    member("eks-photos", "workloads", Plight::Rotating, 300, 300),
    member("eks-legacy", "workloads", Plight::Planted, 120, 120),
    member("eks-shared", "team-green", Plight::Well, 90, 90),
    member("eks-shared", "team-blue", Plight::SharesSource, 90, 1_200),
];

/// A workload cluster with those who keep its kubeconfig.
#[derive(Debug, Clone)]
pub struct Workload {
    pub sim: SimCluster,
    pub access: Access,
    /// Whose source it is: of two clusters of one name, one has none of its own.
    provider: Option<Provider>,
    controller: Operator,
    dice: Dice,
}

/// Who renews the token of a source.
#[derive(Debug, Clone, Copy)]
struct Provider {
    /// The tick of its first renewal.
    phase: u64,
    /// One renewal in so many takes place.
    every: u64,
}

/// Furnishes a management cluster with workload clusters.
pub fn furnish(sim: &SimCluster, seed: u64, since: Timestamp, start: Timestamp) -> Vec<Workload> {
    kinds::of_cluster_api().into_iter().for_each(|kind| put(sim, since, kind));
    for namespace in ["workloads", "team-blue", "team-green"] {
        put(sim, since, eks::namespace(namespace));
    }
    MEMBERS.iter().map(|member| enter(sim, member, seed, since, start)).collect()
}

fn enter(sim: &SimCluster, member: &Member, seed: u64, since: Timestamp, start: Timestamp) -> Workload {
    let mut dice = Dice::new(seed, &format!("{}/{}", member.namespace, member.name));
    let ago = |age: SignedDuration| start.checked_sub(age).unwrap_or(start);
    let (source_age, target_age) = member.signed_ago;
    let first = Access::new(member.namespace, member.name, &mut dice, since);
    // What the cluster is now; its kubeconfigs may still know what it was.
    let now = match member.plight {
        Plight::Recreated => Access::new(member.namespace, member.name, &mut dice, since),
        Plight::Rotating => first.clone().with_second_authority(&mut dice, ago(SignedDuration::from_hours(2))),
        Plight::Well | Plight::Stalls | Plight::Behind | Plight::Planted | Plight::SharesSource => first.clone(),
    };
    eks::surroundings(&now).into_iter().for_each(|object| put(sim, since, object));
    let plane_uid = eks::plane_uid(sim, &now);
    let target = match member.plight {
        Plight::Planted => eks::planted_kubeconfig(&first),
        Plight::Well
        | Plight::Stalls
        | Plight::Behind
        | Plight::Recreated
        | Plight::Rotating
        | Plight::SharesSource => first.kubeconfig(&mut dice, ago(target_age)),
    };
    put(sim, ago(target_age), eks::target(&first, &plane_uid, &target));
    let provider = match member.plight {
        Plight::SharesSource => None,
        Plight::Stalls => Some(STALLS),
        Plight::Well | Plight::Behind | Plight::Recreated | Plight::Rotating | Plight::Planted => Some(1),
    };
    if provider.is_some() {
        let source = if source_age == target_age && member.plight != Plight::Planted {
            target
        } else {
            first.kubeconfig(&mut dice, ago(source_age))
        };
        put(sim, ago(source_age), eks::source(&first, &source));
    }
    // The first renewal comes when the token at the start is as old as a renewal is apart, or at the next one.
    let age = u64::try_from(source_age.as_secs()).unwrap_or(0);
    let phase = RENEWAL_TICKS - age % RENEWAL_TICKS;
    Workload {
        sim: sim.clone(),
        access: first,
        provider: provider.map(|every| Provider { phase, every }),
        controller: match member.plight {
            Plight::Well | Plight::Stalls | Plight::Recreated | Plight::Rotating => Operator::Working,
            Plight::Behind | Plight::Planted | Plight::SharesSource => Operator::Stuck,
        },
        dice,
    }
}

impl Workload {
    /// What its provider and its controller do at a tick, from 1.
    pub fn tick(&mut self, tick: u64) {
        if self.provider.is_some_and(|provider| provider.renews_at(tick)) {
            let at = self.sim.now();
            let text = self.access.kubeconfig(&mut self.dice, at);
            let renewed = eks::source(&self.access, &text);
            eks::place(&self.sim, &renewed).edit(at, |source| source["data"] = renewed["data"].clone());
        }
        if self.controller == Operator::Working && tick.is_multiple_of(COPY_TICKS) {
            self.copy();
        }
    }

    /// The controller's look: the target gets what the source has.
    fn copy(&self) {
        let Some(source) = eks::place(&self.sim, &eks::source(&self.access, "")).look() else { return };
        let value = source["data"]["kubeconfig"].clone();
        let target = eks::target(&self.access, "", "");
        eks::place(&self.sim, &target).edit(self.sim.now(), |held: &mut Value| held["data"]["value"] = value);
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
