//! Which collections hold facts of a type, and which hold a value of [`super::Fact::index`]: questions about the whole
//! fleet are answered without visiting it.
//!
//! Invariants: holds exactly the open collections with objects, and exactly their values.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use super::collection::AnyCollection;
use super::interest::CollectionId;

/// Collections by fact type, and by value.
#[derive(Debug, Default)]
pub(super) struct FactIndex {
    filled: BTreeMap<TypeId, BTreeSet<CollectionId>>,
    by_value: BTreeMap<TypeId, BTreeMap<Box<str>, BTreeSet<CollectionId>>>,
}

impl FactIndex {
    /// Takes in what a collection has become. Returns the values whose objects changed.
    pub fn update(&mut self, id: &CollectionId, fact: TypeId, collection: &mut dyn AnyCollection) -> Vec<Box<str>> {
        if collection.is_empty() {
            take(&mut self.filled, &fact, id);
        } else if !self.filled.get(&fact).is_some_and(|filled| filled.contains(id)) {
            self.filled.entry(fact).or_default().insert(id.clone());
        }
        let values: Vec<Box<str>> = collection.take_reindexed().into_iter().collect();
        for value in &values {
            if collection.has_value(value) {
                self.by_value.entry(fact).or_default().entry(value.clone()).or_default().insert(id.clone());
            } else {
                self.remove_value(id, fact, value);
            }
        }
        values
    }

    /// Forgets a collection. Returns its values.
    pub fn remove(&mut self, id: &CollectionId, fact: TypeId, collection: &dyn AnyCollection) -> Vec<Box<str>> {
        take(&mut self.filled, &fact, id);
        let values = collection.values();
        values.iter().for_each(|value| self.remove_value(id, fact, value));
        values
    }

    /// The collections with objects of this type, in the order of their ids.
    pub fn filled(&self, fact: TypeId) -> impl Iterator<Item = &CollectionId> {
        self.filled.get(&fact).into_iter().flatten()
    }

    /// The collections with an object of this value, in the order of their ids.
    pub fn with_value(&self, fact: TypeId, value: &str) -> impl Iterator<Item = &CollectionId> {
        self.by_value.get(&fact).and_then(|values| values.get(value)).into_iter().flatten()
    }

    fn remove_value(&mut self, id: &CollectionId, fact: TypeId, value: &str) {
        if let Some(values) = self.by_value.get_mut(&fact) {
            take(values, value, id);
        }
    }
}

/// Takes an id out of one of the sets, and drops a set that is empty then.
fn take<K, Q>(sets: &mut BTreeMap<K, BTreeSet<CollectionId>>, key: &Q, id: &CollectionId)
where
    K: Ord + std::borrow::Borrow<Q>,
    Q: Ord + ?Sized,
{
    if let Some(ids) = sets.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            sets.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
