//! The objects of one collection, and how well they are known.
//!
//! Invariants:
//! - a list older than one already seen is refused, so the view never travels back in time;
//! - iteration is in key order, whatever order the facts came in;
//! - the index holds exactly the items whose fact has a value for it;
//! - absence is proven only while the collection is complete.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::fact::{Fact, FactBatch, Facts, Weighed};
use super::groups::Groups;
use super::ids::{Key, ResourceVersion};
use super::known::{AbsenceProof, Completeness, Gap, GapCause, Observation};
use super::marks::Writers;
use super::object_edit::{KeyedEdit, compare};
use super::tracked::Writer;

/// Edits that one report may bring: a list after a long time without a connection may differ in everything, and causes
/// are looked for among the latest few.
const EDITS_MAX: usize = 1_000;

/// Facts of one type by key, with the state of the list they came from.
#[derive(Debug)]
pub struct Collection<F> {
    items: BTreeMap<Key, Weighed<F>>,
    /// Keys by [`Fact::index`].
    index: Groups<Box<str>, Key>,
    /// Values of the index whose objects changed since they were last taken.
    reindexed: BTreeSet<Box<str>>,
    /// Edits of tracked fields since they were last taken.
    edits: Vec<KeyedEdit>,
    /// Bytes that the items count for.
    bytes: u64,
    /// How many items another tool manages.
    marked: usize,
    completeness: Completeness,
    high_water: Option<ResourceVersion>,
}

/// What an observer reports of a collection.
pub enum Delta {
    /// A whole list: replaces everything. `gap` is set when something in it could not be read.
    Listed { facts: Box<dyn FactBatch>, version: ResourceVersion, at: Timestamp, gap: Option<Gap> },
    /// The first objects of the first list, while the rest is on its way: something to show, no answer. Taken only where
    /// nothing is known yet.
    Begun { facts: Box<dyn FactBatch>, gap: Gap },
    /// Some of what exists, without proof that it is all (snapshots, namespace-limited users).
    Seen { facts: Box<dyn FactBatch>, gap: Gap },
    /// Changes on top of a complete list.
    Changed { facts: Box<dyn FactBatch>, removed: Vec<Key>, version: ResourceVersion, at: Timestamp },
    /// The server confirmed that nothing changed up to this version.
    Confirmed { version: ResourceVersion, at: Timestamp },
    /// What is held can no longer be relied on.
    Lost { gap: Gap },
}

impl Delta {
    /// Bytes that it counts for in the budgets.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Listed { facts, .. } | Self::Begun { facts, .. } | Self::Seen { facts, .. } => facts.bytes(),
            Self::Changed { facts, removed, .. } => facts.bytes() + keys_bytes(removed),
            Self::Confirmed { .. } | Self::Lost { .. } => 0,
        }
    }
}

impl Delta {
    /// When the server answered; nothing where it did not.
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Listed { at, .. } | Self::Changed { at, .. } | Self::Confirmed { at, .. } => Some(*at),
            Self::Begun { .. } | Self::Seen { .. } | Self::Lost { .. } => None,
        }
    }
}

/// Bytes that keys without facts count for.
pub fn keys_bytes(keys: &[Key]) -> u64 {
    let text =
        |key: &Key| key.name.as_str().len() + key.namespace.as_ref().map_or(0, |namespace| namespace.as_str().len());
    keys.iter().map(|key| (size_of::<Key>() + text(key)) as u64).sum()
}

/// The result of a delta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// These keys changed; `standing` says whether completeness changed too.
    Changed {
        keys: Vec<Key>,
        standing: Standing,
    },
    Unchanged,
    /// The list is older than one already seen.
    RefusedOlder {
        offered: ResourceVersion,
        seen: ResourceVersion,
    },
}

/// Whether completeness itself changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Same,
    Changed,
}

impl<F> Default for Collection<F> {
    fn default() -> Self {
        let gap = Gap::new(GapCause::NotObserved, "not listed yet");
        let (items, index, reindexed) = (BTreeMap::new(), Groups::default(), BTreeSet::new());
        let completeness = Completeness::Unknown { gap };
        Self { items, index, reindexed, edits: Vec::new(), bytes: 0, marked: 0, completeness, high_water: None }
    }
}

impl<F: Fact> Collection<F> {
    /// What is known of one object.
    pub fn get(&self, key: &Key) -> Observation<'_, F> {
        match (self.items.get(key), &self.completeness) {
            (Some(weighed), _) => Observation::Present(&weighed.fact),
            (None, Completeness::Complete { version, at }) => {
                Observation::ProvenAbsent(AbsenceProof { version: version.clone(), at: *at })
            }
            (None, Completeness::Partial { gap } | Completeness::Unknown { gap }) => Observation::Unknown(gap.clone()),
        }
    }

    /// The field manager that wrote a tracked field last.
    pub fn writer(&self, key: &Key, field: &str) -> Option<&Writer> {
        let place = F::TRACKED.iter().position(|tracked| tracked.name == field)?;
        self.items.get(key)?.tracked.as_ref()?.fields[place].1.as_ref()
    }

    /// All facts in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &F)> {
        self.items.iter().map(|(key, weighed)| (key, &weighed.fact))
    }

    /// The facts with this value of [`Fact::index`], in key order, without visiting the others.
    pub fn indexed(&self, value: &str) -> impl Iterator<Item = (&Key, &F)> {
        self.index.of(value).filter_map(|key| self.items.get(key).map(|weighed| (key, &weighed.fact)))
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn completeness(&self) -> &Completeness {
        &self.completeness
    }

    /// Whether nothing was ever seen of it.
    fn is_blank(&self) -> bool {
        matches!(self.completeness, Completeness::Unknown { .. }) && self.items.is_empty()
    }

    fn replace(&mut self, facts: Vec<(Key, Weighed<F>)>, completeness: Completeness) -> Applied {
        let was_complete = self.completeness.is_complete();
        let before = std::mem::take(&mut self.items);
        self.items = facts.into_iter().collect();
        self.index.clear();
        for (key, weighed) in &self.items {
            insert(&mut self.index, key, &weighed.fact);
        }
        self.bytes = self.items.values().map(|weighed| u64::from(weighed.bytes)).sum();
        self.marked = self.items.values().filter(|weighed| weighed.is_marked()).count();
        let mut keys: Vec<Key> = self
            .items
            .iter()
            .filter(|(key, weighed)| before.get(*key).is_none_or(|before| !before.is_same(weighed)))
            .map(|(key, _)| key.clone())
            .collect();
        keys.extend(before.keys().filter(|key| !self.items.contains_key(key)).cloned());
        keys.sort();
        // An object that changed and kept its value counts as well, as it does in `merge`.
        for key in &keys {
            let held = [before.get(key), self.items.get(key)].into_iter().flatten();
            held.for_each(|weighed| note(&mut self.reindexed, &weighed.fact));
            let (was, is) = (before.get(key), self.items.get(key));
            // What appears in, or is missing from, a list that was not complete is no edit.
            if (was_complete && completeness.is_complete()) || (was.is_some() && is.is_some()) {
                note_edit(&mut self.edits, key, was, is);
            }
        }
        let standing = self.stand(completeness);
        Applied::changed(keys, standing)
    }

    fn merge(&mut self, facts: Vec<(Key, Weighed<F>)>, removed: Vec<Key>) -> Vec<Key> {
        let mut keys = Vec::new();
        for (key, weighed) in facts {
            if self.items.get(&key).is_none_or(|before| !before.is_same(&weighed)) {
                self.bytes += u64::from(weighed.bytes);
                self.marked += usize::from(weighed.is_marked());
                let before = self.items.remove(&key);
                note_edit(&mut self.edits, &key, before.as_ref(), Some(&weighed));
                self.uncount(&key, before);
                insert(&mut self.index, &key, &weighed.fact);
                note(&mut self.reindexed, &weighed.fact);
                self.items.insert(key.clone(), weighed);
                keys.push(key);
            }
        }
        for key in removed {
            let before = self.items.remove(&key);
            let was_held = before.is_some();
            note_edit(&mut self.edits, &key, before.as_ref(), None);
            self.uncount(&key, before);
            if was_held {
                keys.push(key);
            }
        }
        keys
    }

    fn uncount(&mut self, key: &Key, before: Option<Weighed<F>>) {
        if let Some(weighed) = before {
            remove(&mut self.index, key, &weighed.fact);
            note(&mut self.reindexed, &weighed.fact);
            self.bytes -= u64::from(weighed.bytes);
            self.marked -= usize::from(weighed.is_marked());
        }
    }

    fn stand(&mut self, completeness: Completeness) -> Standing {
        let same = match (&self.completeness, &completeness) {
            (Completeness::Complete { .. }, Completeness::Complete { .. }) => true,
            (before, after) => before == after,
        };
        self.completeness = completeness;
        if same { Standing::Same } else { Standing::Changed }
    }

    fn raise(&mut self, version: &ResourceVersion) {
        let older = self.high_water.as_ref().is_some_and(|seen| version.is_older_than(seen));
        if !older {
            self.high_water = Some(version.clone());
        }
    }

    fn refused(&self, offered: &ResourceVersion) -> Option<Applied> {
        let seen = self.high_water.as_ref().filter(|seen| offered.is_older_than(seen))?;
        Some(Applied::RefusedOlder { offered: offered.clone(), seen: seen.clone() })
    }
}

/// Adds the values of a fact.
fn note<F: Fact>(values: &mut BTreeSet<Box<str>>, fact: &F) {
    fact.index(&mut |value| {
        if !values.contains(value) {
            values.insert(value.into());
        }
    });
}

/// Notes what an object's tracked fields differ in.
fn note_edit<F: Fact>(edits: &mut Vec<KeyedEdit>, key: &Key, was: Option<&Weighed<F>>, is: Option<&Weighed<F>>) {
    if F::TRACKED.is_empty() || edits.len() >= EDITS_MAX {
        return;
    }
    compare(key, F::TRACKED, was.and_then(Weighed::tracked), is.and_then(Weighed::tracked), edits);
}

fn insert<F: Fact>(index: &mut Groups<Box<str>, Key>, key: &Key, fact: &F) {
    fact.index(&mut |value| index.insert(value.into(), key.clone()));
}

fn remove<F: Fact>(index: &mut Groups<Box<str>, Key>, key: &Key, fact: &F) {
    fact.index(&mut |value| index.remove(value, key));
}

impl Applied {
    fn changed(keys: Vec<Key>, standing: Standing) -> Self {
        if keys.is_empty() && standing == Standing::Same { Self::Unchanged } else { Self::Changed { keys, standing } }
    }
}

/// A collection whose fact type is not known to the one who holds it.
pub trait AnyCollection: Any + Send + Sync {
    /// Takes a delta in.
    fn apply(&mut self, delta: Delta) -> Applied;
    fn completeness(&self) -> &Completeness;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes that the objects count for in the budgets.
    fn bytes(&self) -> u64;
    /// Values of [`Fact::index`] whose objects changed since this was last called.
    fn take_reindexed(&mut self) -> BTreeSet<Box<str>>;
    /// Edits of tracked fields since this was last called.
    fn take_edits(&mut self) -> Vec<KeyedEdit>;
    /// Every value of [`Fact::index`].
    fn values(&self) -> Vec<Box<str>>;
    /// Whether an object has this value.
    fn has_value(&self, value: &str) -> bool;
    /// What is known of the writers of one object; nothing where it is not held.
    fn writers(&self, key: &Key) -> Option<Writers<'_>>;
    /// Whether anything is known of the writers of any object.
    fn is_marked(&self) -> bool;
    fn as_any(&self) -> &dyn Any;
}

impl<F: Fact> AnyCollection for Collection<F> {
    fn apply(&mut self, delta: Delta) -> Applied {
        match delta {
            Delta::Listed { facts, version, at, gap } => {
                if let Some(refusal) = self.refused(&version) {
                    return refusal;
                }
                self.raise(&version);
                let completeness = match gap {
                    None => Completeness::Complete { version, at },
                    Some(gap) => Completeness::Partial { gap },
                };
                self.replace(typed(facts), completeness)
            }
            Delta::Begun { facts, gap } if self.is_blank() => self.replace(typed(facts), Completeness::Partial { gap }),
            Delta::Begun { .. } => Applied::Unchanged,
            Delta::Seen { facts, gap } => {
                let facts: Vec<(Key, Weighed<F>)> = typed(facts);
                let completeness =
                    if facts.is_empty() { Completeness::Unknown { gap } } else { Completeness::Partial { gap } };
                self.replace(facts, completeness)
            }
            Delta::Changed { facts, removed, version, at } => {
                self.raise(&version);
                let keys = self.merge(typed(facts), removed);
                self.confirm(version, at);
                Applied::changed(keys, Standing::Same)
            }
            Delta::Confirmed { version, at } => {
                self.raise(&version);
                self.confirm(version, at);
                Applied::Unchanged
            }
            Delta::Lost { gap } => {
                let completeness =
                    if self.is_blank() { Completeness::Unknown { gap } } else { Completeness::Partial { gap } };
                let standing = self.stand(completeness);
                Applied::changed(Vec::new(), standing)
            }
        }
    }

    fn completeness(&self) -> &Completeness {
        &self.completeness
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn take_reindexed(&mut self) -> BTreeSet<Box<str>> {
        std::mem::take(&mut self.reindexed)
    }

    fn take_edits(&mut self) -> Vec<KeyedEdit> {
        std::mem::take(&mut self.edits)
    }

    fn values(&self) -> Vec<Box<str>> {
        self.index.keys().cloned().collect()
    }

    fn has_value(&self, value: &str) -> bool {
        self.index.contains_key(value)
    }

    fn writers(&self, key: &Key) -> Option<Writers<'_>> {
        let weighed = self.items.get(key)?;
        Some(Writers { marks: weighed.marks.as_deref(), newest: weighed.newest() })
    }

    fn is_marked(&self) -> bool {
        self.marked > 0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<F: Fact> Collection<F> {
    /// Moves a complete collection forward; one that has a gap stays as it is until it is listed again.
    fn confirm(&mut self, version: ResourceVersion, at: Timestamp) {
        if self.completeness.is_complete() {
            self.completeness = Completeness::Complete { version, at };
        }
    }
}

fn typed<F: Fact>(facts: Box<dyn FactBatch>) -> Vec<(Key, Weighed<F>)> {
    facts.into_any().downcast::<Facts<F>>().expect("a collection is fed with its own fact type").0
}

#[cfg(test)]
mod tests;
