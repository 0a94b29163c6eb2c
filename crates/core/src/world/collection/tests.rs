use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::world::{CollectionId, FactKind, Interner, Misfit, RawObject};

/// A fact that is its object's version.
#[derive(Debug, PartialEq, Clone)]
struct Version(String);

impl Fact for Version {
    fn index(&self, each: &mut dyn FnMut(&str)) {
        if self.0 != "0" {
            each(&self.0);
        }
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self(raw.meta.resource_version.to_string()))
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn key(name: u8) -> Key {
    Key::new(Some("n"), &format!("o{name}"))
}

fn facts(items: &[(u8, u8)]) -> Box<dyn FactBatch> {
    let weighed = |value: &u8| Weighed::new(Version(value.to_string()), usize::from(*value));
    Box::new(Facts(items.iter().map(|(name, value)| (key(*name), weighed(value))).collect()))
}

fn gap(cause: GapCause) -> Gap {
    Gap::new(cause, "a reason")
}

fn listed(items: &[(u8, u8)], version: u64) -> Delta {
    Delta::Listed { facts: facts(items), version: ResourceVersion::Number(version), at: at(1), gap: None }
}

fn changed(items: &[(u8, u8)], removed: &[u8], version: u64) -> Delta {
    let removed = removed.iter().map(|name| key(*name)).collect();
    Delta::Changed { facts: facts(items), removed, version: ResourceVersion::Number(version), at: at(2) }
}

#[test]
fn absence_is_proven_by_a_complete_list_and_by_nothing_else() {
    let spoilt = Delta::Listed {
        facts: facts(&[(1, 1)]),
        version: ResourceVersion::Number(5),
        at: at(1),
        gap: Some(gap(GapCause::Unreadable)),
    };
    let begun = || Delta::Begun { facts: facts(&[(1, 1)]), gap: gap(GapCause::NotObserved) };
    let cases: [(&str, Vec<Delta>, bool); 8] = [
        ("never listed", vec![], false),
        ("listed whole", vec![listed(&[(1, 1)], 5)], true),
        ("an object in it could not be read", vec![spoilt], false),
        ("seen in part", vec![Delta::Seen { facts: facts(&[(1, 1)]), gap: gap(GapCause::CutShort) }], false),
        ("begun", vec![begun()], false),
        ("begun again after a list", vec![listed(&[(2, 2)], 5), begun()], true),
        ("lost after a list", vec![listed(&[(1, 1)], 5), Delta::Lost { gap: gap(GapCause::Silent) }], false),
        ("lost, then changes", vec![Delta::Lost { gap: gap(GapCause::Silent) }, changed(&[(1, 1)], &[], 6)], false),
    ];
    for (case, deltas, proven) in cases {
        let mut collection = Collection::<Version>::default();
        for delta in deltas {
            collection.apply(delta);
        }
        assert_eq!(collection.get(&key(9)).is_proven_absent(), proven, "case: {case}");
    }
}

#[test]
fn a_list_older_than_one_already_seen_is_refused_and_changes_nothing() {
    let mut collection = Collection::<Version>::default();
    collection.apply(listed(&[(1, 1)], 10));
    collection.apply(changed(&[(2, 2)], &[], 12));
    let refused = collection.apply(listed(&[], 11));
    let (offered, seen) = (ResourceVersion::Number(11), ResourceVersion::Number(12));
    assert_eq!(refused, Applied::RefusedOlder { offered, seen });
    assert_eq!(collection.len(), 2);
    assert!(collection.completeness().is_complete());
}

#[test]
fn what_was_seen_stays_when_the_list_is_lost() {
    let mut collection = Collection::<Version>::default();
    collection.apply(listed(&[(1, 1)], 5));
    let applied = collection.apply(Delta::Lost { gap: gap(GapCause::Unreachable) });
    assert_eq!(applied, Applied::Changed { keys: vec![], standing: Standing::Changed });
    assert_eq!(collection.get(&key(1)).present(), Some(&Version("1".to_owned())));
    assert_eq!(collection.completeness().as_str(), "partial");
}

#[test]
fn a_beginning_is_shown_only_where_nothing_is_known_yet() {
    let begun = |items| Delta::Begun { facts: facts(items), gap: gap(GapCause::NotObserved) };
    let mut collection = Collection::<Version>::default();
    collection.apply(begun(&[(1, 1)]));
    assert_eq!((collection.len(), collection.completeness().as_str()), (1, "partial"));
    collection.apply(listed(&[(2, 2)], 5));
    assert_eq!(collection.apply(begun(&[(3, 3)])), Applied::Unchanged);
    assert_eq!(collection.get(&key(2)).present(), Some(&Version("2".to_owned())));
    assert_eq!((collection.len(), collection.completeness().as_str()), (1, "complete"));
}

/// A step of a random history.
#[derive(Debug, Clone)]
enum Step {
    List(Vec<(u8, u8)>),
    Change(Vec<(u8, u8)>, Vec<u8>),
    Lose,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let items = || proptest::collection::vec((0u8..6, 0u8..4), 0..6);
    let step = prop_oneof![
        2 => items().prop_map(Step::List),
        5 => (items(), proptest::collection::vec(0u8..6, 0..3)).prop_map(|(set, gone)| Step::Change(set, gone)),
        1 => Just(Step::Lose),
    ];
    proptest::collection::vec(step, 0..20)
}

proptest! {
    /// Whatever comes, the collection holds what a plain map would, in key order, and names exactly the keys that changed.
    #[test]
    fn a_collection_holds_what_a_map_would_and_names_what_changed(steps in steps()) {
        let mut collection = Collection::<Version>::default();
        let mut model: BTreeMap<Key, Version> = BTreeMap::new();
        for (number, step) in steps.into_iter().enumerate() {
            let before = model.clone();
            let version = number as u64 + 1;
            let fact = |value: u8| Version(value.to_string());
            let delta = match &step {
                Step::List(items) => {
                    model = items.iter().map(|(name, value)| (key(*name), fact(*value))).collect();
                    listed(items, version)
                }
                Step::Change(items, removed) => {
                    model.extend(items.iter().map(|(name, value)| (key(*name), fact(*value))));
                    removed.iter().for_each(|name| drop(model.remove(&key(*name))));
                    changed(items, removed, version)
                }
                Step::Lose => Delta::Lost { gap: gap(GapCause::Silent) },
            };
            let applied = collection.apply(delta);
            let held: Vec<(Key, Version)> = collection.iter().map(|(key, fact)| (key.clone(), fact.clone())).collect();
            prop_assert_eq!(held, model.clone().into_iter().collect::<Vec<_>>());
            let differ: Vec<&Key> = before.keys().chain(model.keys()).filter(|key| before.get(*key) != model.get(*key)).collect();
            let named = match applied {
                Applied::Changed { keys, .. } => keys,
                Applied::Unchanged => Vec::new(),
                Applied::RefusedOlder { .. } => panic!("versions only grow here"),
            };
            prop_assert!(differ.iter().all(|key| named.contains(key)), "{:?} changed, {:?} named", differ, named);
        }
    }
}

#[test]
fn two_checks_of_one_collection_each_hold_their_own_fact() {
    #[derive(Debug, PartialEq)]
    struct Name(String);
    impl Fact for Name {
        fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
            Ok(Self(raw.meta.name.to_string()))
        }
    }
    let secrets =
        crate::world::Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
    let id = CollectionId::all(&crate::world::ClusterName::new("c"), secrets);
    let mut world = crate::world::World::default();
    world.open(&id.clone().interest::<Version>());
    world.open(&id.clone().interest::<Name>());
    world.apply(&id, FactKind::of::<Version>(), listed(&[(1, 7)], 5));
    let view = world.view(at(3));
    assert!(view.read::<Version>(&id).is_complete());
    assert!(!view.read::<Name>(&id).is_complete(), "the other has not been fed");
    let (_, least, _) = world.observations().next().unwrap();
    assert_eq!(least.as_str(), "unknown", "the least known speaks for the collection");
}

#[test]
fn a_collection_counts_the_bytes_of_what_it_holds_and_nothing_else() {
    let mut collection = Collection::<Version>::default();
    let own =
        |values: &[u64]| values.iter().map(|value| size_of::<(Key, Weighed<Version>)>() as u64 + value).sum::<u64>();
    let steps = [
        ("a list", listed(&[(1, 10), (2, 20)], 1), own(&[10, 20])),
        ("an object grows", changed(&[(1, 50)], &[], 2), own(&[50, 20])),
        ("one is removed, one was never there", changed(&[], &[2, 9], 3), own(&[50])),
        ("a shorter list", listed(&[(3, 5)], 4), own(&[5])),
        ("lost: still held", Delta::Lost { gap: gap(GapCause::Silent) }, own(&[5])),
        ("nothing is held over budget", Delta::Seen { facts: facts(&[]), gap: gap(GapCause::OverBudget) }, 0),
    ];
    for (step, delta, expected) in steps {
        collection.apply(delta);
        assert_eq!(AnyCollection::bytes(&collection), expected, "step: {step}");
    }
}

proptest! {
    /// Whatever is listed, changed and removed, the index finds what a search through everything finds.
    #[test]
    fn the_index_finds_what_a_search_through_everything_finds(
        deltas in prop::collection::vec(
            (any::<bool>(), prop::collection::vec((0u8..6, 0u8..4), 0..6), prop::collection::vec(0u8..6, 0..3)), 0..12,
        ),
    ) {
        let mut collection = Collection::<Version>::default();
        for (version, (is_list, items, removed)) in (1..).zip(deltas) {
            let delta = if is_list { listed(&items, version) } else { changed(&items, &removed, version) };
            collection.apply(delta);
            for value in 0u8..4 {
                let value = value.to_string();
                let found: Vec<_> = collection.indexed(&value).collect();
                let searched: Vec<_> =
                    collection.iter().filter(|(_, fact)| fact.0 == value && value != "0").collect();
                prop_assert_eq!(found, searched);
            }
        }
    }
}
