//! The newest version ever shown of each collection, kept over reconnects.
//!
//! Always true: a list older than its mark is refused, so that a replica that lags behind can't take the view back in
//! time, and no watch begins there.
//!
//! Limits: a cluster restored from an old backup keeps its identity and counts from lower versions again. Its lists are
//! refused until they are past the mark, or the program is started anew.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use trueup_core::world::{CollectionId, ResourceVersion};

/// The marks of one cluster. Shared by the observers of all its connections; a cluster with another identity gets new
/// ones, for its versions begin anew.
#[derive(Clone, Default)]
pub struct VersionFloor {
    newest: Arc<Mutex<BTreeMap<CollectionId, ResourceVersion>>>,
}

impl VersionFloor {
    /// The mark, when `offered` is older than it.
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
