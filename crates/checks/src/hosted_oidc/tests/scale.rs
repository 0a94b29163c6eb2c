//! Work per change, counted and not timed: twice the guests are at most about twice the work.

use super::super::context::{BUILT, CheckContext, LOOKED_AT, sources_id};
use super::super::names::CopyKind;
use super::super::touched;
use super::*;
use crate::Check as _;
use trueup_core::world::{Change, ChangeSet, ClusterName, CollectionId, HostedBy, Key, What, World};

/// A management cluster with this many guests, their control planes where HyperShift puts them.
fn hosting(guests: usize) -> (World, Vec<String>) {
    hosting_in(guests, |name| format!("clusters-{name}"))
}

/// The same with control planes in other namespaces.
fn hosting_in(guests: usize, namespace: impl Fn(&str) -> String) -> (World, Vec<String>) {
    let names: Vec<String> = (0..guests).map(|number| format!("g{number}")).collect();
    let mut all = Given::default().cluster("mgmt");
    for name in &names {
        all = all
            .cluster(name)
            .hosted(name, "mgmt", "clusters", name)
            .object("mgmt", hosted_cluster("clusters", name))
            .object("mgmt", control_plane("clusters", name, &namespace(name)));
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
        let everything = |id: CollectionId| Change::Collection { id, what: What::Everything, values: Vec::new() };
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
        changes.push(Change::Collection { id, what, values: Vec::new() });
        let touched = touched::find(&changes, world.view(now()));
        touched.clusters.into_iter().map(|name| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(touched(What::Keys(Vec::new())), ["g3"]);
    assert_eq!(touched(What::Everything), ["g3"], "what is no longer there is found among what was judged there");
    let by = HostedBy {
        cluster: ClusterName::new("mgmt"),
        namespace: trueup_core::world::Namespace::new("clusters"),
        name: trueup_core::world::ObjectName::new("g3"),
    };
    assert_eq!(world.view(now()).guests_at(&by).count(), 1);
}

#[test]
fn control_planes_in_other_namespaces_are_found_without_visiting_all_of_them() {
    let looked_at = |guests: usize| {
        let (world, _) = hosting_in(guests, |name| format!("elsewhere-{name}"));
        LOOKED_AT.set(0);
        let view = world.view(now());
        let contexts = view.clusters().filter_map(|cluster| CheckContext::of(view, &cluster.name));
        let found = contexts.filter(|guest| guest.control_plane.seen.is_some());
        assert_eq!(found.count(), guests);
        LOOKED_AT.get()
    };
    let (one, two) = (looked_at(60), looked_at(120));
    assert!(one >= 60 && two <= 2 * one, "{one} for 60 guests, {two} for 120");
}

#[test]
fn one_control_plane_that_changes_is_work_for_its_guest_alone() {
    let costs = |guests: usize| {
        let (world, _) = hosting(guests);
        let id = super::super::names::CONTROL_PLANE.collection_at(&ClusterName::new("mgmt"), world.view(now()));
        let mut changes = ChangeSet::default();
        changes.push(Change::Collection {
            id,
            what: What::Keys(vec![Key::new(Some("clusters-g3"), "g3")]),
            values: Vec::new(),
        });
        built(|| {
            let touched = touched::find(&changes, world.view(now()));
            assert_eq!(touched.clusters, [ClusterName::new("g3")].into());
        })
    };
    assert_eq!(costs(10), costs(100));
}

#[test]
fn a_leftover_that_a_new_list_no_longer_has_is_no_finding_any_more() {
    // Judged, then gone with a list that changed as a whole: found among what was judged in that namespace.
    let check: Box<dyn crate::Check> = Box::new(super::super::HostedOidc::default());
    let filled = |given: Given| {
        let mut world = World::default();
        given.fleet.fill(&super::super::HostedOidc::default(), &mut world, now());
        world
    };
    let mark = "referenced-resource.hypershift.openshift.io/guest-a";
    let before = filled(given().source(secret("left").annotated(mark, "true")));
    let mut judgements = crate::judgements::Judgements::default();
    let mut all = ChangeSet::default();
    ["mgmt", "guest-a"].iter().for_each(|name| all.push(Change::Cluster(ClusterName::new(*name))));
    let checks = [check];
    judgements.follow(&checks, before.view(now()), &all);
    let is_held = |judgements: &crate::judgements::Judgements| judgements.iter().any(|(id, _)| id.name == "left");
    assert!(is_held(&judgements), "{:?}", judgements.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>());
    let after = filled(given());
    let id = sources_id(&ClusterName::new("mgmt"), CopyKind::Secret, "clusters-guest-a");
    let mut relisted = ChangeSet::default();
    relisted.push(Change::Collection { id, what: What::Everything, values: Vec::new() });
    judgements.follow(&checks, after.view(now()), &relisted);
    assert!(!is_held(&judgements));
}

#[test]
fn a_guest_that_changes_is_no_reason_to_judge_its_whole_management_cluster() {
    let (world, _) = hosting(5);
    let touched = |change: Change| {
        let mut changes = ChangeSet::default();
        changes.push(change);
        let touched = touched::find(&changes, world.view(now()));
        touched.clusters.into_iter().map(|name| name.to_string()).collect::<Vec<_>>()
    };
    let guest = ClusterName::new("g3");
    let configs = CollectionId::all(&guest, super::super::names::AUTHENTICATION);
    assert_eq!(touched(Change::Cluster(guest)), ["g3"]);
    assert_eq!(touched(Change::Collection { id: configs, what: What::Everything, values: Vec::new() }), ["g3"]);
}
