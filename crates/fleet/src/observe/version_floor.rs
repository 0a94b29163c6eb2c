//! The newest resourceVersion seen per collection, kept across reconnects.
//!
//! Invariants: a list older than the floor is rejected, so that a lagging replica cannot move the view back in time, and
//! no watch starts from it.
//!
//! Limits: a cluster restored from an old backup keeps its identity and starts from lower versions. Its lists are rejected
//! until they pass the floor or the program restarts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use trueup_core::world::{CollectionId, ResourceVersion};

/// Version floors of one cluster, shared by the observers of all its connections; a cluster with another identity starts
/// empty, because its versions are unrelated.
#[derive(Clone, Default)]
pub struct VersionFloor {
    newest: Arc<Mutex<BTreeMap<CollectionId, ResourceVersion>>>,
}

impl VersionFloor {
    /// Returns the floor when `offered` is older.
    pub(super) fn newer_than(&self, id: &CollectionId, offered: &ResourceVersion) -> Option<ResourceVersion> {
        self.lock().get(id).filter(|seen| offered.is_older_than(seen)).cloned()
    }

    pub(super) fn raise(&self, id: &CollectionId, version: &ResourceVersion) {
        let mut newest = self.lock();
        match newest.get_mut(id) {
            Some(seen) if version.is_older_than(seen) => {}
            Some(seen) => *seen = version.clone(),
            None => {
                newest.insert(id.clone(), version.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<CollectionId, ResourceVersion>> {
        self.newest.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
