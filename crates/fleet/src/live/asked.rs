//! What has been asked of a cluster, and whether it has been answered.
//!
//! Invariant: `waiting` is the number of questions without an answer, so that asking whether all are answered costs
//! the same however many there are.

use std::any::TypeId;
use std::collections::BTreeMap;

use trueup_core::world::{CollectionId, FactKind};

/// What one interest has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Waiting,
    /// A list, a read, or a reason why there is none.
    Answered,
}

/// The facts asked of each collection.
#[derive(Default)]
pub(super) struct AskedCollections {
    all: BTreeMap<CollectionId, Vec<(FactKind, Asked)>>,
    waiting: usize,
}

impl AskedCollections {
    pub fn is_answered(&self) -> bool {
        self.waiting == 0
    }

    pub fn ids(&self) -> impl Iterator<Item = &CollectionId> {
        self.all.keys()
    }

    /// The facts asked of a collection.
    pub fn facts(&self, id: &CollectionId) -> &[(FactKind, Asked)] {
        self.all.get(id).map_or(&[], Vec::as_slice)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&CollectionId, FactKind)> {
        self.all.iter().flat_map(|(id, facts)| facts.iter().map(move |(fact, _)| (id, *fact)))
    }

    /// The collections that wait for an answer.
    pub fn waiting(&self) -> impl Iterator<Item = &CollectionId> {
        let waits = |facts: &Vec<(FactKind, Asked)>| facts.iter().any(|(_, asked)| *asked == Asked::Waiting);
        self.all.iter().filter(move |(_, facts)| waits(facts)).map(|(id, _)| id)
    }

    pub fn get(&self, id: &CollectionId, fact: TypeId) -> Option<Asked> {
        self.facts(id).iter().find(|(held, _)| held.type_id() == fact).map(|(_, asked)| *asked)
    }

    pub fn put(&mut self, id: &CollectionId, fact: FactKind, asked: Asked) {
        let facts = match self.all.get_mut(id) {
            Some(facts) => facts,
            // Nearly every collection is asked for one fact; an empty `Vec` grows to four.
            None => self.all.entry(id.clone()).or_insert_with(|| Vec::with_capacity(1)),
        };
        match facts.iter_mut().find(|(held, _)| held.type_id() == fact.type_id()) {
            Some((_, held)) => set(held, asked, &mut self.waiting),
            None => {
                self.waiting += usize::from(asked == Asked::Waiting);
                facts.push((fact, asked));
            }
        }
    }

    /// Notes an answer, if the question is still asked.
    pub fn answer(&mut self, id: &CollectionId, fact: TypeId) {
        let held = self.all.get_mut(id).and_then(|facts| facts.iter_mut().find(|(held, _)| held.type_id() == fact));
        if let Some((_, held)) = held {
            set(held, Asked::Answered, &mut self.waiting);
        }
    }

    /// Sets all questions about the collections that are chosen.
    pub fn set_all(&mut self, asked: Asked, chosen: impl Fn(&CollectionId) -> bool) {
        for (_, facts) in self.all.iter_mut().filter(|(id, _)| chosen(id)) {
            facts.iter_mut().for_each(|(_, held)| set(held, asked, &mut self.waiting));
        }
    }

    /// Asks about a fact no longer.
    pub fn remove(&mut self, id: &CollectionId, fact: TypeId) {
        let Some(facts) = self.all.get_mut(id) else { return };
        if let Some(at) = facts.iter().position(|(held, _)| held.type_id() == fact) {
            let (_, asked) = facts.remove(at);
            self.waiting -= usize::from(asked == Asked::Waiting);
        }
        if facts.is_empty() {
            self.all.remove(id);
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

fn set(held: &mut Asked, asked: Asked, waiting: &mut usize) {
    *waiting -= usize::from(*held == Asked::Waiting);
    *waiting += usize::from(asked == Asked::Waiting);
    *held = asked;
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{ClusterName, Fact, Interner, Misfit, RawObject, Resource};

    #[derive(Debug, PartialEq)]
    struct One;
    #[derive(Debug, PartialEq)]
    struct Two;

    impl Fact for One {
        fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
            Ok(Self)
        }
    }

    impl Fact for Two {
        fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
            Ok(Self)
        }
    }

    #[test]
    fn everything_is_answered_once_no_fact_of_any_collection_waits() {
        let id = |plural| {
            let resource = Resource { group: "", version: "v1", kind: "K", plural, namespaced: true };
            CollectionId::all(&ClusterName::new("a"), resource)
        };
        let (one, two) = (FactKind::of::<One>(), FactKind::of::<Two>());
        let mut asked = AskedCollections::default();
        assert!(asked.is_answered());
        asked.put(&id("a"), one, Asked::Waiting);
        asked.put(&id("a"), two, Asked::Waiting);
        asked.put(&id("b"), one, Asked::Waiting);
        asked.answer(&id("a"), one.type_id());
        asked.answer(&id("a"), one.type_id());
        asked.answer(&id("c"), one.type_id());
        asked.remove(&id("b"), one.type_id());
        assert_eq!(asked.waiting().collect::<Vec<_>>(), [&id("a")]);
        assert!(!asked.is_answered());
        asked.put(&id("a"), two, Asked::Answered);
        assert!(asked.is_answered() && asked.waiting().next().is_none());
        asked.set_all(Asked::Waiting, |asked| *asked == id("a"));
        asked.remove(&id("a"), one.type_id());
        assert!(!asked.is_answered());
        asked.remove(&id("a"), two.type_id());
        assert!(asked.is_answered() && asked.ids().next().is_none());
    }
}
