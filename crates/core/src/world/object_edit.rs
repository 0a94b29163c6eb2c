//! Edits of objects: what of an object changed, from what to what, when, and by which field manager.
//!
//! Invariants: the first listing of a collection is no edit; a writer is named only if it wrote since the state before.
//!
//! Elsewhere: reading values and writers (`tracked`), what an edit leads to (`engine::ChangeRecord`).

use std::sync::Arc;

use jiff::Timestamp;

use super::ids::{ClusterName, Key};
use super::tracked::{FieldValue, Tracked, TrackedField, Writer};
use crate::words::{self, Word};

/// A change of one object that was seen in this session.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ObjectEdit {
    pub cluster: ClusterName,
    #[serde(deserialize_with = "words::read")]
    pub kind: Word,
    pub key: Key,
    pub change: EditedPart,
    /// When its field manager says that it wrote; when it was seen, where none says so.
    pub at: Timestamp,
    /// The field manager.
    pub by: Option<Arc<str>>,
}

/// What of the object changed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum EditedPart {
    Created,
    Deleted,
    Field {
        #[serde(deserialize_with = "words::read")]
        name: Word,
        from: FieldValue,
        to: FieldValue,
    },
}

impl ObjectEdit {
    /// `oidcProviders 3 → 1`, with this arrow; of values that look the same, `clientSecret edited`.
    pub fn describe(&self, arrow: &str) -> String {
        match &self.change {
            EditedPart::Created => "created".to_owned(),
            EditedPart::Deleted => "deleted".to_owned(),
            EditedPart::Field { name, from, to } => {
                let (from, to) = (from.to_string(), to.to_string());
                if from == to { format!("{name} edited") } else { format!("{name} {from} {arrow} {to}") }
            }
        }
    }

    /// Whether the other edit did the same to a field of the same name: one of them follows from the other.
    pub fn is_same_change(&self, other: &Self) -> bool {
        self.change == other.change && matches!(self.change, EditedPart::Field { .. })
    }
}

/// An edit, before it is known where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedEdit {
    pub key: Key,
    pub change: EditedPart,
    pub at: Option<Timestamp>,
    pub by: Option<Arc<str>>,
}

impl KeyedEdit {
    /// The edit as it was seen at a moment in a collection.
    pub fn placed(self, cluster: &ClusterName, kind: &'static str, seen: Timestamp) -> ObjectEdit {
        let Self { key, change, at, by } = self;
        ObjectEdit { cluster: cluster.clone(), kind, key, change, at: at.unwrap_or(seen), by }
    }
}

/// The differences between two states of an object; a state is missing where the object did not exist.
pub(super) fn compare(
    key: &Key,
    names: &[TrackedField],
    before: Option<&Tracked>,
    after: Option<&Tracked>,
    edits: &mut Vec<KeyedEdit>,
) {
    let edit = |change, writer: Option<&Writer>| KeyedEdit {
        key: key.clone(),
        change,
        at: writer.and_then(Writer::at),
        by: writer.map(|writer| writer.manager.clone()),
    };
    match (before, after) {
        (Some(before), Some(after)) => {
            let states = before.fields.iter().zip(&after.fields);
            for (field, ((from, writer_before), (to, writer))) in names.iter().zip(states) {
                if from == to {
                    continue;
                }
                let wrote = writer.as_ref().filter(|writer| Some(*writer) != writer_before.as_ref());
                let latest = after.newest.as_ref().filter(|newest| Some(*newest) != before.newest.as_ref());
                let change = EditedPart::Field { name: field.name, from: from.clone(), to: to.clone() };
                edits.push(edit(change, wrote.or(latest)));
            }
        }
        (None, Some(after)) => edits.push(edit(EditedPart::Created, after.newest.as_ref())),
        // Nothing says who deleted an object.
        (Some(_), None) => edits.push(edit(EditedPart::Deleted, None)),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests;
