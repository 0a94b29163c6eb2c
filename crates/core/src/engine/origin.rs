//! What an action comes from.
//!
//! Invariant: an origin names where the action can be derived again: from a finding of the live world, or from the journal
//! of this state folder. No other field decides what is checked before an action is applied.

use serde::{Deserialize, Serialize};

/// What an action comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "OriginFile", into = "OriginFile")]
pub enum Origin {
    /// The finding with this id.
    Finding(String),
    /// The undo of this journal entry.
    Undo { plan: String, action: String },
    /// The restore of a tombstone: an object this journal entry deleted and a finding misses.
    Restore { plan: String, action: String },
}

/// A journal entry that is not spelled `PLAN/ACTION`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a journal entry; expected PLAN/ACTION")]
pub struct BadEntry(String);

/// The shape of an origin in plan files.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum OriginFile {
    Finding(String),
    Undo(String),
    Restore(String),
}

impl Origin {
    /// Returns the id of the finding, where there is one.
    pub fn finding(&self) -> Option<&str> {
        match self {
            Self::Finding(id) => Some(id),
            Self::Undo { .. } | Self::Restore { .. } => None,
        }
    }
}

impl TryFrom<OriginFile> for Origin {
    type Error = BadEntry;

    fn try_from(file: OriginFile) -> Result<Self, BadEntry> {
        match file {
            OriginFile::Finding(id) if id.is_empty() => Err(BadEntry(id)),
            OriginFile::Finding(id) => Ok(Self::Finding(id)),
            OriginFile::Undo(entry) => read_entry(entry).map(|(plan, action)| Self::Undo { plan, action }),
            OriginFile::Restore(entry) => read_entry(entry).map(|(plan, action)| Self::Restore { plan, action }),
        }
    }
}

impl From<Origin> for OriginFile {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Finding(id) => Self::Finding(id),
            Origin::Undo { plan, action } => Self::Undo(format!("{plan}/{action}")),
            Origin::Restore { plan, action } => Self::Restore(format!("{plan}/{action}")),
        }
    }
}

fn read_entry(entry: String) -> Result<(String, String), BadEntry> {
    match entry.rsplit_once('/') {
        Some((plan, action)) if !plan.is_empty() && !action.is_empty() => Ok((plan.to_owned(), action.to_owned())),
        Some(_) | None => Err(BadEntry(entry)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_origin_reads_back_as_it_was_written_and_nothing_else_is_one() {
        let entry = |plan: &str, action: &str| (plan.to_owned(), action.to_owned());
        let (plan, action) = entry("sha256:ab", "a1");
        let cases = [
            (json!({ "finding": "d/c/Secret/n/x" }), Some(Origin::Finding("d/c/Secret/n/x".to_owned()))),
            (json!({ "undo": "sha256:ab/a1" }), Some(Origin::Undo { plan: plan.clone(), action: action.clone() })),
            (json!({ "restore": "sha256:ab/a1" }), Some(Origin::Restore { plan, action })),
            (json!({ "finding": "" }), None),
            (json!({ "undo": "sha256:ab" }), None),
            (json!({ "undo": "/a1" }), None),
            (json!({ "finding": "x", "undo": "p/a1" }), None),
            (json!({}), None),
            (json!("finding"), None),
        ];
        for (text, expected) in cases {
            let read = serde_json::from_value::<Origin>(text.clone()).ok();
            assert_eq!(read, expected, "{text}");
            assert!(read.is_none_or(|read| serde_json::to_value(&read).unwrap() == text));
        }
    }
}
