//! Comparing the journal with a hash that was published elsewhere.
//!
//! Invariants: a journal that still holds the record of the hash was not cut before it; records after it are ordinary, an
//! interrupted run publishes nothing. A hash that no record has proves that records were removed or replaced.

use super::{Line, Record};

/// How the journal compares with the published hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedHash {
    /// It is in the journal; this many records are newer.
    Found { newer: usize },
    /// No record has it. The hash of the last record, if there is one.
    NotFound { last: Option<String> },
}

/// Compares the journal with a published hash.
pub fn compare_published(lines: &[Line], published: &str) -> PublishedHash {
    let newer = lines.iter().rev().position(|line| line.hash_text() == published);
    let is_compacted_away = match lines.first().map(|line| &line.record) {
        Some(Record::Restarted { before, .. }) => before == published,
        Some(_) | None => false,
    };
    match newer {
        Some(newer) => PublishedHash::Found { newer },
        None if is_compacted_away => PublishedHash::Found { newer: lines.len() },
        None => PublishedHash::NotFound { last: lines.last().map(Line::hash_text) },
    }
}
