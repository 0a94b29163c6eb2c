//! Which collections hold facts of a type, and which hold a value of [`super::Fact::index`]: questions about the whole
//! fleet are answered without visiting it.
//!
//! Invariants: holds exactly the open collections with objects, and exactly their values.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use super::collection::AnyCollection;
use super::groups::Groups;
use super::interest::CollectionId;

/// Collections by fact type, and by value.
#[derive(Debug, Default)]
pub(super) struct FactIndex {
    filled: BTreeMap<TypeId, BTreeSet<CollectionId>>,
    by_value: BTreeMap<TypeId, Groups<Box<str>, CollectionId>>,
}

impl FactIndex {
    /// Takes in what a collection has become. Returns the values whose objects changed.
    pub fn update(&mut self, id: &CollectionId, fact: TypeId, collection: &mut dyn AnyCollection) -> Vec<Box<str>> {
        if collection.is_empty() {
            self.remove_filled(id, fact);
        } else if !self.filled.get(&fact).is_some_and(|filled| filled.contains(id)) {
            self.filled.entry(fact).or_default().insert(id.clone());
        }
        let values: Vec<Box<str>> = collection.take_reindexed().into_iter().collect();
        for value in &values {
            if collection.has_value(value) {
                self.by_value.entry(fact).or_default().insert(value.clone(), id.clone());
            } else {
                self.remove_value(id, fact, value);
            }
        }
        values
    }

    /// Forgets a collection. Returns its values.
    pub fn remove(&mut self, id: &CollectionId, fact: TypeId, collection: &dyn AnyCollection) -> Vec<Box<str>> {
        self.remove_filled(id, fact);
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
        self.by_value.get(&fact).into_iter().flat_map(move |values| values.of(value))
    }

    fn remove_filled(&mut self, id: &CollectionId, fact: TypeId) {
        if let Some(filled) = self.filled.get_mut(&fact) {
            filled.remove(id);
        }
    }

    fn remove_value(&mut self, id: &CollectionId, fact: TypeId, value: &str) {
        if let Some(values) = self.by_value.get_mut(&fact) {
            values.remove(value, id);
        }
    }
}

#[cfg(test)]
mod tests;
