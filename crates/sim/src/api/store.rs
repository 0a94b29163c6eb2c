//! The objects of one cluster, and the recent history of each collection.
//!
//! Invariants:
//! - one counter numbers every write of the cluster, as etcd's revision does;
//! - a stored object is immutable: a write replaces it, so readers share it without copying;
//! - any state newer than [`Collection::forgotten`] can be rebuilt by undoing the log from its newest end.
//!
//! Elsewhere: admitting a write (`crud`, `delete`), events of the log (`watch`).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::kinds::CollectionId;
use super::managed::Managed;
use super::meta;

/// Changes a collection keeps. kube-apiserver's watch cache holds at least 100 and grows with the rate of change; ten
/// times that is enough for a slow reader and fits a processor's cache.
pub const HISTORY_MAX: usize = 1_000;

/// An object at one resourceVersion.
#[derive(Debug)]
pub struct Stored {
    pub version: u64,
    pub value: Value,
    pub managed: Managed,
    json: OnceLock<Bytes>,
    untyped_json: OnceLock<Bytes>,
}

impl Stored {
    pub fn new(version: u64, mut value: Value, managed: Managed) -> Self {
        meta::set_text(&mut value, "resourceVersion", &version.to_string());
        Self { version, value, managed, json: OnceLock::new(), untyped_json: OnceLock::new() }
    }

    /// The object as sent, serialised once.
    pub fn json(&self) -> &Bytes {
        self.json.get_or_init(|| to_bytes(&self.value))
    }

    /// The object as an item of a built-in list: without apiVersion and kind, which are in the list.
    pub fn untyped_json(&self) -> &Bytes {
        self.untyped_json
            .get_or_init(|| serde_json::to_vec(&Untyped(&self.value)).expect("a JSON value always serialises").into())
    }
}

struct Untyped<'a>(&'a Value);

impl Serialize for Untyped<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.as_object().into_iter().flatten();
        serializer.collect_map(fields.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind")))
    }
}

pub fn to_bytes(value: &Value) -> Bytes {
    serde_json::to_vec(value).expect("a JSON value always serialises").into()
}

/// One write: `before` is none for a create, `after` for a delete.
#[derive(Debug, Clone)]
pub struct Change {
    pub version: u64,
    pub key: Arc<str>,
    pub before: Option<Arc<Stored>>,
    pub after: Option<Arc<Stored>>,
}

/// All objects of one resource. Keys are `namespace/name`, compared as text, which is the order of the real storage.
#[derive(Debug, Default, Clone)]
pub struct Collection {
    objects: BTreeMap<Arc<str>, Arc<Stored>>,
    log: VecDeque<Change>,
    /// The newest version whose change is no longer in the log.
    forgotten: u64,
}

impl Collection {
    pub fn get(&self, key: &str) -> Option<&Arc<Stored>> {
        self.objects.get(key)
    }

    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Objects under `prefix` in key order. A prefix is `namespace/`, or empty for all.
    pub fn range(&self, prefix: &str) -> impl Iterator<Item = (&Arc<str>, &Arc<Stored>)> + use<'_> {
        self.range_from(prefix, prefix)
    }

    /// Objects under `prefix` whose key is at least `start`.
    pub fn range_from(&self, prefix: &str, start: &str) -> impl Iterator<Item = (&Arc<str>, &Arc<Stored>)> + use<'_> {
        let from = if start > prefix { start } else { prefix };
        // A prefix ends with a slash, so all its keys sort before the same text with the next character.
        let end = prefix.strip_suffix('/').map(|namespace| format!("{namespace}0"));
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        self.objects.range::<str, _>((Bound::Included(from), end))
    }

    /// Changes after `version`, oldest first.
    pub fn changes_after(&self, version: u64) -> impl Iterator<Item = &Change> {
        let first = self.log.partition_point(|change| change.version <= version);
        self.log.range(first..)
    }

    pub fn changed_after(&self, version: u64) -> bool {
        self.log.back().is_some_and(|change| change.version > version)
    }

    /// The objects at `version`; none if the history does not reach it.
    pub fn at(&self, version: u64) -> Option<Self> {
        if version < self.forgotten {
            return None;
        }
        let mut objects = self.objects.clone();
        for change in self.log.iter().rev().take_while(|change| change.version > version) {
            match &change.before {
                Some(before) => objects.insert(change.key.clone(), before.clone()),
                None => objects.remove(&change.key),
            };
        }
        Some(Self { objects, log: VecDeque::new(), forgotten: version })
    }

    /// One object at `version`.
    pub fn get_at(&self, key: &str, version: u64) -> Option<&Arc<Stored>> {
        let undone = self.changes_after(version).find(|change| *change.key == *key);
        match undone {
            Some(change) => change.before.as_ref(),
            None => self.get(key),
        }
    }

    fn record(&mut self, change: Change, history_max: usize) {
        match &change.after {
            Some(after) => self.objects.insert(change.key.clone(), after.clone()),
            None => self.objects.remove(&change.key),
        };
        self.log.push_back(change);
        while self.log.len() > history_max {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(change) = self.log.pop_front() {
            self.forgotten = change.version;
        }
    }
}

/// The objects of a whole cluster.
#[derive(Debug)]
pub struct Store {
    version: u64,
    collections: Vec<Collection>,
    history_max: usize,
    /// Compacted up to this version in every collection.
    compacted: u64,
}

impl Store {
    pub fn new(collections: usize) -> Self {
        let mut store = Self { version: 1, collections: Vec::new(), history_max: HISTORY_MAX, compacted: 0 };
        store.grow_to(collections);
        store
    }

    pub fn grow_to(&mut self, collections: usize) {
        while self.collections.len() < collections {
            self.collections.push(Collection { forgotten: self.compacted, ..Collection::default() });
        }
    }

    /// The version of the newest write.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn collection(&self, id: CollectionId) -> &Collection {
        &self.collections[id.0]
    }

    pub fn put(&mut self, id: CollectionId, key: Arc<str>, value: Value, managed: Managed) -> Arc<Stored> {
        self.version += 1;
        let after = Arc::new(Stored::new(self.version, value, managed));
        let collection = &mut self.collections[id.0];
        let before = collection.get(&key).cloned();
        let change = Change { version: self.version, key, before, after: Some(after.clone()) };
        collection.record(change, self.history_max);
        after
    }

    /// Removes an object and returns it with the version of its removal, as in watch events.
    pub fn remove(&mut self, id: CollectionId, key: &str) -> Option<Arc<Stored>> {
        let collection = &mut self.collections[id.0];
        let (key, before) = collection.objects.get_key_value(key).map(|(k, v)| (k.clone(), v.clone()))?;
        self.version += 1;
        let tombstone = Stored::new(self.version, before.value.clone(), before.managed.clone());
        let change = Change { version: self.version, key, before: Some(before), after: None };
        collection.record(change, self.history_max);
        Some(Arc::new(tombstone))
    }

    /// Drops every change up to `version`, like etcd's compaction.
    pub fn compact(&mut self, version: u64) {
        let version = version.min(self.version);
        self.compacted = self.compacted.max(version);
        for collection in &mut self.collections {
            while collection.log.front().is_some_and(|change| change.version <= version) {
                collection.forget_oldest();
            }
            collection.forgotten = collection.forgotten.max(version);
        }
    }

    pub fn set_history_max(&mut self, changes: usize) {
        self.history_max = changes;
        for collection in &mut self.collections {
            while collection.log.len() > changes {
                collection.forget_oldest();
            }
        }
    }
}

/// The key of an object in its collection.
pub fn key(namespace: &str, name: &str) -> String {
    let mut key = String::with_capacity(namespace.len() + name.len() + 1);
    if !namespace.is_empty() {
        key.push_str(namespace);
        key.push('/');
    }
    key.push_str(name);
    key
}
