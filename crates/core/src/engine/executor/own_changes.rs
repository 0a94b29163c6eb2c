//! Several actions of a plan on one cloud resource: what this run itself changed of it does not stop the next.
//!
//! A plan binds all of them to the tags it was made for. The first one changes those tags, and the others are bound to
//! what it left, as long as no other writer came between.
//!
//! Invariants: only tags that were read after a change of this run's own are taken for those of the plan.

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
    /// Notes the tags an action left, as they were read.
    pub fn note(&mut self, action: &Action, seen: &Seen) {
        let (Some(cloud), Some(tags)) = (&action.target.cloud, &action.preconditions.tags) else { return };
        let left: Vec<String> = seen.labels.keys().cloned().collect();
        let change =
            self.0.entry(place(cloud)).or_insert_with(|| Change { planned: cloud_version(tags), left: vec![] });
        change.left = left;
    }

    /// The action as it has to be now: bound to what this run left, where the plan binds it to what was there before.
    pub fn bound_anew<'a>(&self, action: &'a Action) -> Cow<'a, Action> {
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

/// Whether two actions are about the same cloud resource: then one waits for the other.
pub(super) fn share_a_resource(one: &Action, other: &Action) -> bool {
    one.target.cloud.is_some() && one.target == other.target
}

fn place(cloud: &CloudRef) -> (String, String, String) {
    (cloud.account.clone(), cloud.kind.clone(), cloud.id.clone())
}
