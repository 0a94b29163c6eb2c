//! The edits of this session, by the object they changed.
//!
//! Invariants: the size is limited; the oldest are dropped first.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::outline::{Cause, CauseObject, Outline};
use trueup_core::engine::SubjectId;
use trueup_core::world::{ClusterName, Key, ObjectEdit, Writer};

/// Edits kept: those of a busy hour of a large fleet.
const EDITS_MAX: usize = 2_000;
/// How long after an edit of a subject itself its verdict may follow: a list and a watch may be seconds apart.
const FOLLOWS_WITHIN: SignedDuration = SignedDuration::from_secs(60);
/// The same of an edit of its cause: operators carry it through several objects, and nodes roll out for minutes.
const CAUSE_FOLLOWS_WITHIN: SignedDuration = SignedDuration::from_mins(15);

/// An object as edits name it.
type Object = (ClusterName, &'static str, Key);

/// The latest edits.
#[derive(Debug, Default)]
pub struct Edits {
    by_object: BTreeMap<Object, Vec<(Timestamp, Arc<ObjectEdit>)>>,
    /// The objects in the order of their edits.
    order: VecDeque<Object>,
}

impl Edits {
    /// Takes in an edit that was seen now.
    pub fn put(&mut self, edit: Arc<ObjectEdit>, now: Timestamp) {
        let object = (edit.cluster.clone(), edit.kind, edit.key.clone());
        let held = self.by_object.entry(object.clone()).or_default();
        // The same object may be read as several facts.
        if held.iter().any(|(_, known)| **known == *edit) {
            return;
        }
        held.push((now, edit));
        self.order.push_back(object);
        if self.order.len() > EDITS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.drop_first(&oldest);
        }
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The edit of what a cause is about: the last write of the field that decides, else the latest.
    pub fn of_cause(&self, cause: &Cause) -> Option<&Arc<ObjectEdit>> {
        self.with_time(cause).map(|(_, edit)| edit)
    }

    fn with_time(&self, cause: &Cause) -> Option<&(Timestamp, Arc<ObjectEdit>)> {
        let CauseObject { check: _, cluster, kind, key } = &cause.object;
        let held = self.by_object.get(&(cluster.clone(), kind, key.clone()))?;
        let written = cause.written.as_ref().and_then(Writer::at);
        held.iter().rev().find(|(_, edit)| written == Some(edit.at)).or_else(|| held.last())
    }

    /// The edit that a changed verdict follows from: of its cause, or of the subject itself just before.
    pub fn behind(&self, subject: &SubjectId, outline: Option<&Outline>, now: Timestamp) -> Option<Arc<ObjectEdit>> {
        let follows = |(seen, edit): &'_ (Timestamp, Arc<ObjectEdit>), within| {
            (now.duration_since(*seen) <= within).then(|| edit.clone())
        };
        let cause = outline.and_then(|outline| outline.cause.as_ref());
        let of_cause = cause.and_then(|cause| follows(self.with_time(cause)?, CAUSE_FOLLOWS_WITHIN));
        of_cause.or_else(|| {
            let key = Key::new(subject.namespace.as_deref(), subject.object_name());
            let own = self.by_object.get(&(subject.cluster.clone(), subject.kind, key))?;
            follows(own.last()?, FOLLOWS_WITHIN)
        })
    }

    fn drop_first(&mut self, object: &Object) {
        if let Some(held) = self.by_object.get_mut(object) {
            held.remove(0);
            if held.is_empty() {
                self.by_object.remove(object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::CheckName;
    use trueup_core::world::EditedPart;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn edit(name: &str, second: i64) -> Arc<ObjectEdit> {
        let (cluster, key) = (ClusterName::new("mgmt"), Key::new(Some("n"), name));
        Arc::new(ObjectEdit { cluster, kind: "Secret", key, change: EditedPart::Created, at: at(second), by: None })
    }

    fn subject(name: &str) -> SubjectId {
        SubjectId {
            domain: CheckName("toy"),
            cluster: ClusterName::new("mgmt"),
            api_version: "v1",
            kind: "Secret",
            namespace: Some("n".to_owned()),
            name: name.to_owned(),
            cloud: None,
        }
    }

    #[test]
    fn an_edit_of_the_subject_counts_for_a_minute_and_one_of_its_cause_for_longer() {
        let mut edits = Edits::default();
        edits.put(edit("x", 0), at(0));
        edits.put(edit("root", 0), at(0));
        let key = Key::new(Some("n"), "root");
        let object = CauseObject { check: CheckName("toy"), cluster: ClusterName::new("mgmt"), kind: "Secret", key };
        let cause =
            Cause { object, effect: "copies", reason: "".into(), written: None, form: crate::CauseForm::Effect };
        let caused = Outline::default().with_cause(Some(cause));
        let found = |name: &str, outline: Option<&Outline>, second: i64| {
            edits.behind(&subject(name), outline, at(second)).map(|edit| edit.key.name.to_string())
        };
        assert_eq!(found("x", None, 60).as_deref(), Some("x"));
        assert_eq!(found("x#part", None, 60).as_deref(), Some("x"), "a part of the object");
        assert_eq!(found("x", None, 61), None, "long after");
        assert_eq!(found("y", None, 0), None, "another object");
        assert_eq!(found("y", Some(&caused), 900).as_deref(), Some("root"));
        assert_eq!(found("y", Some(&caused), 901), None, "long after");
    }

    #[test]
    fn the_oldest_edits_are_dropped_and_none_is_held_twice() {
        let mut edits = Edits::default();
        edits.put(edit("x", 0), at(0));
        edits.put(edit("x", 0), at(0));
        assert_eq!(edits.len(), 1);
        for number in 0..EDITS_MAX {
            edits.put(edit(&number.to_string(), 0), at(0));
        }
        assert_eq!((edits.len(), edits.by_object.len()), (EDITS_MAX, EDITS_MAX));
        assert!(edits.behind(&subject("x"), None, at(0)).is_none());
    }
}
