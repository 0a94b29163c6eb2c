//! What the journal holds, record by record.
//!
//! Invariants:
//! - every field is named on purpose: no text of a server goes in, and of an object nothing but labels, annotations and
//!   patched fields, none of which is secret;
//! - words may be added, none may change its meaning: old journals are read for as long as they exist.
//!
//! ```text
//! plan-approved → backup → intent → outcome → verified → … → skipped → finished
//!                              └── (a crash) ── resolved
//! restarted: the first of a journal whose oldest plans were dropped
//! ```

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::engine::{ObjectRef, Verb};
use crate::world::ClusterIdentity;

/// One thing that was meant, done or seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Record {
    /// Somebody said yes to exactly this plan.
    PlanApproved {
        plan: String,
        who: String,
        host: String,
        how: ApprovalWay,
        at: Timestamp,
        clusters: Vec<ApprovedCluster>,
        /// The id of the plan that this one undoes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undoes: Option<String>,
    },
    /// The object is sealed in the vault, and was read back. The digest is of the sealed file.
    Backup { plan: String, action: String, file: String, digest: String },
    /// The request is about to be sent.
    Intent {
        plan: String,
        action: String,
        /// From 1.
        attempt: u32,
        cluster: String,
        target: ObjectRef,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uid: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource_version: Option<String>,
        verb: Verb,
        /// What labels are changed, and what they were: undo puts them back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        labels: Option<LabelChange>,
        /// The same for annotations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        annotations: Option<LabelChange>,
        /// What fields are changed, and what they were. Only of kinds that hold no secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fields: Option<Box<FieldRecord>>,
        /// The names of the keys whose content is written: undo puts it back from the backup.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keys: Vec<String>,
        deadline: Timestamp,
        at: Timestamp,
    },
    /// What the server answered, by class.
    Outcome {
        plan: String,
        action: String,
        attempt: u32,
        /// Absent when no answer came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        http: Option<u16>,
        what: Answer,
        at: Timestamp,
    },
    /// What was read afterwards, or why nothing was sent.
    Verified {
        plan: String,
        action: String,
        state: VerifiedState,
        /// In our own words; empty when the state says all.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// The version the object had when it was seen to be as it was wanted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        at: Timestamp,
    },
    /// An intent without an outcome, settled after a crash by reading.
    Resolved { plan: String, action: String, found: Found, at: Timestamp },
    /// Nothing was sent for this action, and why.
    Skipped { plan: String, action: String, cluster: String, target: ObjectRef, verb: Verb, why: String, at: Timestamp },
    /// The run came to its end.
    Finished { plan: String, at: Timestamp, counts: BTreeMap<String, u64> },
    /// The journal was compacted: plans past their time were dropped. `before` is the hash the old chain ended in, which
    /// covers everything that was dropped.
    Restarted { before: String, plans: u64, records: u64, at: Timestamp },
}

impl Record {
    /// The plan it belongs to; none for what is said of the journal itself.
    pub fn plan(&self) -> Option<&str> {
        match self {
            Self::PlanApproved { plan, .. }
            | Self::Backup { plan, .. }
            | Self::Intent { plan, .. }
            | Self::Outcome { plan, .. }
            | Self::Verified { plan, .. }
            | Self::Resolved { plan, .. }
            | Self::Skipped { plan, .. }
            | Self::Finished { plan, .. } => Some(plan),
            Self::Restarted { .. } => None,
        }
    }

    /// When it was written; a backup belongs to the intent that follows it.
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Self::PlanApproved { at, .. }
            | Self::Intent { at, .. }
            | Self::Outcome { at, .. }
            | Self::Verified { at, .. }
            | Self::Resolved { at, .. }
            | Self::Skipped { at, .. }
            | Self::Finished { at, .. }
            | Self::Restarted { at, .. } => Some(*at),
            Self::Backup { .. } => None,
        }
    }

    /// The record as it may be handed on: without the name and digest of the sealed file, which lead to a secret.
    #[must_use]
    pub fn redacted(self) -> Self {
        match self {
            Self::Backup { plan, action, file: _, digest: _ } => {
                Self::Backup { plan, action, file: REDACTED.to_owned(), digest: REDACTED.to_owned() }
            }
            Self::PlanApproved { .. }
            | Self::Intent { .. }
            | Self::Outcome { .. }
            | Self::Verified { .. }
            | Self::Resolved { .. }
            | Self::Skipped { .. }
            | Self::Finished { .. }
            | Self::Restarted { .. } => self,
        }
    }
}

/// What stands where something was left out.
const REDACTED: &str = "redacted";

/// A cluster the approval names, and which one it really was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovedCluster {
    pub name: String,
    pub identity: ClusterIdentity,
    /// What was typed to approve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
}

impl ApprovedCluster {
    pub fn new(name: impl Into<String>, identity: ClusterIdentity) -> Self {
        Self { name: name.into(), identity, typed: None }
    }
}

/// The labels or annotations a request sets or takes off; one that is not there has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelChange {
    pub before: BTreeMap<String, Option<String>>,
    pub after: BTreeMap<String, Option<String>>,
}

/// The fields a request changes, each side in the shape of a JSON merge patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldRecord {
    pub before: serde_json::Value,
    pub after: serde_json::Value,
}

named_enum! {
    /// How the yes was given.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ApprovalWay {
        /// A person answered what was asked on the terminal.
        Typed = "typed",
        /// A script named the plan's id.
        Expected = "expected",
        /// People created Approval objects.
        Objects = "objects",
        /// A rule of the controller's configuration covers it.
        Rule = "rule",
    }
}

named_enum! {
    /// The class of a server's answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Answer {
        Done = "done",
        /// The object is not the one the plan was made for.
        Conflict = "conflict",
        Refused = "refused",
        Throttled = "throttled",
        /// It was not there any more.
        Gone = "gone",
        /// It is unknown whether the request was carried out.
        Ambiguous = "ambiguous",
    }
}

named_enum! {
    /// How an action ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum VerifiedState {
        Gone = "gone",
        Terminating = "terminating",
        Changed = "changed",
        /// It was not there, and our request made it.
        Created = "created",
        Restored = "restored",
        /// Nothing was sent.
        Skipped = "skipped",
        /// Something was sent, and it came to nothing.
        Failed = "failed",
        /// Something was sent, and its result is unknown: the action stays open.
        Unknown = "unknown",
    }
}

named_enum! {
    /// What was found in place of an outcome.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Found {
        /// The same object at the same version: the request was not carried out.
        Unchanged = "unchanged",
        /// The same object at another version.
        Changed = "changed",
        Terminating = "terminating",
        Gone = "gone",
        /// Another object has the name now.
        Replaced = "replaced",
    }
}
