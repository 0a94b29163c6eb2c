//! Work per change, counted and not timed: twice the guests are at most about twice the work.

use super::super::context::{BUILT, sources_id};
use super::super::names::CopyKind;
use super::super::touched;
use super::*;
use crate::Check as _;
use trueup_core::world::{Change, ChangeSet, ClusterName, CollectionId, HostedBy, What, World};

/// A management cluster with this many guests, and what its first list changes.
fn hosting(guests: usize) -> (World, Vec<String>) {
    let names: Vec<String> = (0..guests).map(|number| format!("g{number}")).collect();
    let mut all = Given::default().cluster("mgmt");
    for name in &names {
        all = all
            .cluster(name)
            .hosted(name, "mgmt", "clusters", name)
            .object("mgmt", hosted_cluster("clusters", name))
            .object("mgmt", control_plane("clusters", name, &format!("clusters-{name}")));
    }
    let mut world = World::default();
    let check = super::super::HostedOidc::default();
    all.fleet.fill(&check, &mut world, now());
    (world, names)
}

/// Contexts that were built by `work`.
fn built(work: impl FnOnce()) -> usize {
    BUILT.set(0);
    work();
    BUILT.get()
}

#[test]
fn work_grows_with_the_changes_and_not_with_their_product_with_the_fleet() {
    let costs = |guests: usize| {
        let (world, names) = hosting(guests);
        let view = world.view(now());
        let mgmt = ClusterName::new("mgmt");
        let of = |change: &dyn Fn(&str) -> Change| {
            let mut changes = ChangeSet::default();
            names.iter().for_each(|name| changes.push(change(name)));
            built(|| drop(touched::find(&changes, view)))
        };
        let everything = |id: CollectionId| Change::Collection { id, what: What::Everything };
        let links = of(&|name| Change::Cluster(ClusterName::new(name)));
        let sources = of(&|name| everything(sources_id(&mgmt, CopyKind::Secret, &format!("clusters-{name}"))));
        let check = super::super::HostedOidc::default();
        let interests = built(|| drop(check.interests(view)));
        (links, sources, interests)
    };
    let (one, two) = (costs(60), costs(120));
    for (what, one, two) in [("links", one.0, two.0), ("sources", one.1, two.1), ("interests", one.2, two.2)] {
        assert!(two <= 2 * one + 10, "{what}: {one} for 60 guests, {two} for 120");
        assert!(two <= 8 * 120, "{what}: {two} for 120 guests");
    }
}

#[test]
fn what_is_in_one_control_planes_namespace_touches_its_own_guest_alone() {
    let (world, _) = hosting(5);
    let touched = |what: What| {
        let id = sources_id(&ClusterName::new("mgmt"), CopyKind::Secret, "clusters-g3");
        let mut changes = ChangeSet::default();
        changes.push(Change::Collection { id, what });
        let touched = touched::find(&changes, world.view(now()));
        touched.clusters.into_iter().map(|name| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(touched(What::Keys(Vec::new())), ["g3"]);
    assert_eq!(touched(What::Everything), ["g3", "mgmt"], "what is no longer there may have been a leftover");
    let by = HostedBy {
        cluster: ClusterName::new("mgmt"),
        namespace: trueup_core::world::Namespace::new("clusters"),
        name: trueup_core::world::ObjectName::new("g3"),
    };
    assert_eq!(world.view(now()).guests_at(&by).count(), 1);
}
