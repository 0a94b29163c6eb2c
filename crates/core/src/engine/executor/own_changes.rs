//! Several actions of a plan on one cloud resource: a change of this run does not make the next action stale.
//!
//! A plan binds all of them to the same tags. The first action changes the tags, and the others are bound to the new ones,
//! unless another writer changed them.
//!
//! Invariants: only tags that were read after a change of this run replace those of the plan.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::ports::Seen;
use crate::engine::{Action, CloudRef, cloud_version};

/// The resources this run has changed.
#[derive(Debug, Default)]
pub(super) struct OwnChanges(BTreeMap<(String, String, String), Change>);

#[derive(Debug)]
struct Change {
    /// The tags the plan was made for, as a version.
    planned: String,
    left: Vec<String>,
}

impl OwnChanges {
    /// Records the tags that were read after an action.
    pub fn note(&mut self, action: &Action, seen: &Seen) {
        let (Some(cloud), Some(tags)) = (&action.target.cloud, &action.preconditions.tags) else { return };
        let left: Vec<String> = seen.labels.keys().cloned().collect();
        let change =
            self.0.entry(place(cloud)).or_insert_with(|| Change { planned: cloud_version(tags), left: vec![] });
        change.left = left;
    }

    /// The action, bound to the tags after the change of this run instead of those of the plan.
    pub fn rebound<'a>(&self, action: &'a Action) -> Cow<'a, Action> {
        let moved = action.target.cloud.as_ref().and_then(|cloud| self.0.get(&place(cloud)));
        let planned = action.preconditions.tags.as_deref().map(cloud_version);
        match moved.filter(|change| Some(&change.planned) == planned.as_ref()) {
            Some(change) => {
                let mut action = action.clone();
                action.preconditions.tags = Some(change.left.clone());
                Cow::Owned(action)
            }
            None => Cow::Borrowed(action),
        }
    }
}

/// Whether two actions have the same object or cloud resource, so that one waits for the other. The second one is then
/// bound to what the first one left, or refused.
pub(super) fn share_a_target(one: &Action, other: &Action) -> bool {
    one.cluster == other.cluster && one.target == other.target
}

fn place(cloud: &CloudRef) -> (String, String, String) {
    (cloud.account.clone(), cloud.kind.clone(), cloud.id.clone())
}
