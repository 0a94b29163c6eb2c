//! Values by key, for indexes in which nearly every key has one value: such a key takes no set of its own.
//!
//! Invariants: a key without a value is not held; the values of a key are in their order.

use std::borrow::Borrow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Values by key.
#[derive(Debug)]
pub struct Groups<K, V>(BTreeMap<K, Group<V>>);

/// The values of one key.
#[derive(Debug)]
enum Group<V> {
    One(V),
    /// At least two.
    More(BTreeSet<V>),
}

// By hand, because deriving would ask the same of key and value.
impl<K, V> Default for Groups<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, V: Ord> Groups<K, V> {
    pub fn insert(&mut self, key: K, value: V) {
        match self.0.entry(key) {
            Entry::Vacant(vacant) => drop(vacant.insert(Group::One(value))),
            Entry::Occupied(mut occupied) => occupied.get_mut().insert(value),
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q, value: &V)
    where
        K: Borrow<Q>,
    {
        let is_last = match self.0.get_mut(key) {
            Some(Group::One(held)) => held == value,
            Some(group) => {
                group.remove(value);
                false
            }
            None => false,
        };
        if is_last {
            self.0.remove(key);
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The values of a key, in order.
    pub fn of<'g, Q: Ord + ?Sized>(&'g self, key: &Q) -> impl Iterator<Item = &'g V> + use<'g, K, V, Q>
    where
        K: Borrow<Q>,
    {
        self.0.get(key).into_iter().flat_map(Group::iter)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }

    /// Every key from this one on with each of its values, in order.
    pub fn from_key(&self, first: K) -> impl Iterator<Item = (&K, &V)> {
        self.0.range(first..).flat_map(|(key, group)| group.iter().map(move |value| (key, value)))
    }
}

impl<V: Ord> Group<V> {
    fn insert(&mut self, value: V) {
        if matches!(self, Self::One(held) if *held == value) {
            return;
        }
        let mut all = match std::mem::replace(self, Self::More(BTreeSet::new())) {
            Self::One(held) => BTreeSet::from([held]),
            Self::More(all) => all,
        };
        all.insert(value);
        *self = Self::More(all);
    }

    /// Leaves at least one.
    fn remove(&mut self, value: &V) {
        let Self::More(all) = self else { return };
        all.remove(value);
        if all.len() == 1
            && let Some(last) = all.pop_first()
        {
            *self = Self::One(last);
        }
    }

    fn iter(&self) -> impl Iterator<Item = &V> {
        let (one, more) = match self {
            Self::One(one) => (Some(one), None),
            Self::More(more) => (None, Some(more)),
        };
        one.into_iter().chain(more.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_hold_what_sets_by_key_hold(steps in prop::collection::vec((any::<bool>(), 0u8..4, 0u8..4), 0..60)) {
            let (mut groups, mut sets) = (Groups::default(), BTreeMap::<u8, BTreeSet<u8>>::new());
            for (is_insert, key, value) in steps {
                if is_insert {
                    groups.insert(key, value);
                    sets.entry(key).or_default().insert(value);
                } else {
                    groups.remove(&key, &value);
                    sets.entry(key).or_default().remove(&value);
                    sets.retain(|_, set| !set.is_empty());
                }
                let pairs: Vec<(u8, u8)> =
                    sets.iter().flat_map(|(key, set)| set.iter().map(move |value| (*key, *value))).collect();
                prop_assert_eq!(groups.from_key(0).map(|(key, value)| (*key, *value)).collect::<Vec<_>>(), pairs);
                prop_assert_eq!(groups.keys().collect::<Vec<_>>(), sets.keys().collect::<Vec<_>>());
                for key in 0..4 {
                    let expected: Vec<&u8> = sets.get(&key).into_iter().flatten().collect();
                    prop_assert_eq!(groups.of(&key).collect::<Vec<_>>(), expected);
                    prop_assert_eq!(groups.contains_key(&key), sets.contains_key(&key));
                }
            }
        }
    }
}
