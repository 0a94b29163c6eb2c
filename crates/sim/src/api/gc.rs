//! The controllers that run after a delete: cascade, empty namespaces, remove pods from their nodes.
//!
//! Invariants:
//! - it runs only when called, one pass per call, so that a test decides how late it is;
//! - an object is removed only when every owner it names is gone (or waits for it in the foreground);
//! - an owner is found by uid, so an object of the same name never keeps or loses dependents.
//!
//! Elsewhere: deleting on request (`delete`).

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Server;
use super::delete::{FOREGROUND, ORPHAN, mark_deleting};
use super::kinds::{CollectionId, Content, Scope};
use super::meta;
use super::store::Stored;

/// An object and its collection.
struct Found {
    collection: CollectionId,
    content: Content,
    key: Arc<str>,
    object: Arc<Stored>,
}

impl Server {
    /// Runs one pass of garbage collection. Returns how many objects it wrote or removed; 0 means there is nothing left
    /// to do at this time.
    pub fn collect_garbage(&mut self, now: Timestamp) -> usize {
        let all = self.everything();
        let uids: BTreeSet<&str> = all.iter().map(|found| meta::uid(&found.object.value)).collect();
        let mut writes = 0;
        for found in &all {
            writes += usize::from(self.collect_one(found, &all, &uids, now));
        }
        writes
    }

    fn everything(&self) -> Vec<Found> {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for served in self.registry.iter().filter(|served| seen.insert(served.collection)) {
            for (key, object) in self.store.collection(served.collection).range("") {
                let content = served.kind.rules.content;
                all.push(Found { collection: served.collection, content, key: key.clone(), object: object.clone() });
            }
        }
        all
    }

    fn collect_one(&mut self, found: &Found, all: &[Found], uids: &BTreeSet<&str>, now: Timestamp) -> bool {
        let object = &found.object.value;
        let deleting = meta::is_deleting(object);
        if found.content == Content::Namespace && deleting {
            return self.empty_namespace(found, now);
        }
        if found.content == Content::Pod && deleting && meta::finalizers(object).is_empty() {
            let end: Option<Timestamp> = meta::text(object, "deletionTimestamp").parse().ok();
            return end.is_some_and(|end| end <= now) && self.store.remove(found.collection, &found.key).is_some();
        }
        if deleting && meta::finalizers(object).contains(&ORPHAN) {
            let released = self.release_dependents(object, all);
            return self.drop_finalizer(found, ORPHAN) || released;
        }
        if deleting && meta::finalizers(object).contains(&FOREGROUND) {
            let blocked = all.iter().any(|other| owned_by(&other.object.value, meta::uid(object), true));
            return !blocked && self.drop_finalizer(found, FOREGROUND);
        }
        self.follow_owners(found, all, uids, now)
    }

    /// Removes a dependent whose owners are all gone or wait for it.
    fn follow_owners(&mut self, found: &Found, all: &[Found], uids: &BTreeSet<&str>, now: Timestamp) -> bool {
        let references = meta::owner_references(&found.object.value);
        if references.is_empty() || meta::is_deleting(&found.object.value) {
            return false;
        }
        let uid = |reference: &Value| reference["uid"].as_str().unwrap_or("").to_owned();
        let waiting = |uid: &str| {
            all.iter().any(|other| {
                let owner = &other.object.value;
                meta::uid(owner) == uid && meta::is_deleting(owner) && meta::finalizers(owner).contains(&FOREGROUND)
            })
        };
        let (solid, rest): (Vec<&Value>, Vec<&Value>) =
            references.iter().partition(|reference| uids.contains(&*uid(reference)) && !waiting(&uid(reference)));
        match (solid.is_empty(), rest.is_empty()) {
            (_, true) => false,
            (true, false) => {
                let foreground = rest.iter().any(|reference| waiting(&uid(reference)));
                self.remove_dependent(found, foreground, now)
            }
            (false, false) => {
                let kept: Vec<Value> = solid.into_iter().cloned().collect();
                let mut object = found.object.value.clone();
                meta::of_mut(&mut object).insert("ownerReferences".into(), kept.into());
                self.write(found, object)
            }
        }
    }

    fn remove_dependent(&mut self, found: &Found, foreground: bool, now: Timestamp) -> bool {
        let mut finalizers: Vec<String> =
            meta::finalizers(&found.object.value).into_iter().map(str::to_owned).collect();
        if foreground && !finalizers.iter().any(|name| name == FOREGROUND) {
            finalizers.push(FOREGROUND.into());
        }
        if finalizers.is_empty() {
            return self.store.remove(found.collection, &found.key).is_some();
        }
        let mut object = found.object.value.clone();
        meta::set_finalizers(&mut object, &finalizers);
        mark_deleting(&mut object, now);
        self.write(found, object)
    }

    fn release_dependents(&mut self, owner: &Value, all: &[Found]) -> bool {
        let uid = meta::uid(owner);
        let mut released = false;
        for other in all.iter().filter(|other| owned_by(&other.object.value, uid, false)) {
            let mut object = other.object.value.clone();
            let kept: Vec<Value> =
                meta::owner_references(&object).iter().filter(|reference| reference["uid"] != uid).cloned().collect();
            match kept.is_empty() {
                true => meta::of_mut(&mut object).remove("ownerReferences"),
                false => meta::of_mut(&mut object).insert("ownerReferences".into(), kept.into()),
            };
            released |= self.write(other, object);
        }
        released
    }

    fn drop_finalizer(&mut self, found: &Found, name: &str) -> bool {
        let Some(current) = self.store.collection(found.collection).get(&found.key).cloned() else {
            return false;
        };
        let left: Vec<String> =
            meta::finalizers(&current.value).into_iter().filter(|other| *other != name).map(str::to_owned).collect();
        if left.is_empty() {
            return self.store.remove(found.collection, &found.key).is_some();
        }
        let mut object = current.value.clone();
        meta::set_finalizers(&mut object, &left);
        self.write(found, object)
    }

    fn empty_namespace(&mut self, found: &Found, now: Timestamp) -> bool {
        let name = meta::name(&found.object.value).to_owned();
        let prefix = format!("{name}/");
        let namespaced: Vec<(CollectionId, Content)> = self
            .registry
            .iter()
            .filter(|served| served.kind.scope == Scope::Namespaced)
            .map(|served| (served.collection, served.kind.rules.content))
            .collect();
        let mut left = Vec::new();
        for (collection, content) in namespaced {
            for (key, object) in self.store.collection(collection).range(&prefix) {
                left.push(Found { collection, content, key: key.clone(), object: object.clone() });
            }
        }
        if left.is_empty() {
            return self.store.remove(found.collection, &found.key).is_some();
        }
        let mut wrote = false;
        for inside in left.iter().filter(|inside| !meta::is_deleting(&inside.object.value)) {
            wrote |= self.remove_dependent(inside, false, now);
        }
        wrote
    }

    /// Writes the object, unless this pass removed it already.
    fn write(&mut self, found: &Found, object: Value) -> bool {
        let Some(current) = self.store.collection(found.collection).get(&found.key).cloned() else {
            return false;
        };
        if current.value == object {
            return false;
        }
        let managed = current.managed.clone();
        self.store.put(found.collection, found.key.clone(), object, managed);
        true
    }
}

fn owned_by(object: &Value, uid: &str, blocking: bool) -> bool {
    meta::owner_references(object)
        .iter()
        .any(|reference| reference["uid"] == uid && (!blocking || reference["blockOwnerDeletion"] == json!(true)))
}
