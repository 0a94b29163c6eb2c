//! The outline of a finding: what is wrong in one sentence, what it follows from, and when what it rests on ends.
//!
//! Invariants: short enough to be held for every finding of a fleet; the sentence names no moment relative to now.
//!
//! Elsewhere: the full explanation (`trueup_core::engine::Explanation`), groups of findings (`cause_groups`).

use std::sync::Arc;

use jiff::Timestamp;

use trueup_core::engine::CheckName;
use trueup_core::words::{self, Word};
use trueup_core::world::{ClusterName, Key, Writer};

/// Characters of a sentence that are kept.
const SENTENCE_CHARS_MAX: usize = 120;

/// What is kept of a finding beside its judgement.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Outline {
    /// What is wrong; empty for a match.
    pub sentence: Box<str>,
    pub cause: Option<Cause>,
    /// Credentials and certificates of the subject.
    pub expiries: Box<[Expiry]>,
    /// Its place in the order of its group, where that has one ([`CauseForm::Sequence`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// What a finding follows from, as its check knows it. Findings of a check with the same object and effect are one group.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cause {
    pub object: CauseObject,
    /// What it causes, after a number: `orphans`.
    #[serde(deserialize_with = "words::read")]
    pub effect: Word,
    /// Why, where no edit of the object says so: `no OIDC provider uses them`.
    pub reason: Box<str>,
    /// The last writer of the field that decides, where it is known.
    pub written: Option<Writer>,
    #[serde(default, skip_serializing_if = "CauseForm::is_effect")]
    pub form: CauseForm,
}

/// How a group is headed, and whether its findings have an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum CauseForm {
    /// `12 orphans: HostedCluster guest-checkout edited 19:34:02`
    #[default]
    Effect,
    /// `lagoon (deleting): 9 resources in this order`: steps to be taken, which are shown even where nothing differs.
    Sequence,
}

impl CauseForm {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_effect(&self) -> bool {
        *self == Self::Effect
    }
}

/// The object that a cause is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct CauseObject {
    pub check: CheckName,
    pub cluster: ClusterName,
    /// The object's kind, or in words what it is where it is no object: `AWS login`.
    #[serde(deserialize_with = "words::read")]
    pub kind: Word,
    pub key: Key,
}

/// A credential or a certificate that ends.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Expiry {
    /// What of the subject ends, where it is not the subject itself: `CA of issuer https://login.example`.
    pub what: Box<str>,
    pub end: End,
}

/// When it ends.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum End {
    At {
        until: Timestamp,
        warn_from: Timestamp,
    },
    /// It says of itself that it never ends, or ends when it is renewed on each use.
    Never(#[serde(deserialize_with = "words::read")] Word),
    /// Why it is not known.
    NotKnown(Arc<str>),
}

impl Expiry {
    /// When it ends, where that is known.
    pub fn until(&self) -> Option<Timestamp> {
        match &self.end {
            End::At { until, warn_from: _ } => Some(*until),
            End::Never(_) | End::NotKnown(_) => None,
        }
    }
}

impl Outline {
    /// An outline of this sentence alone: its first clause, because what to do is said by the explanation.
    pub fn of(sentence: &str) -> Self {
        let clause = sentence.split("; ").next().unwrap_or_default();
        Self { sentence: clause.chars().take(SENTENCE_CHARS_MAX).collect::<String>().into(), ..Self::default() }
    }

    #[must_use]
    pub fn with_cause(self, cause: Option<Cause>) -> Self {
        Self { cause, ..self }
    }

    #[must_use]
    pub fn with_expiries(self, expiries: impl IntoIterator<Item = Expiry>) -> Self {
        Self { expiries: expiries.into_iter().collect(), ..self }
    }

    #[must_use]
    pub fn with_step(self, step: Option<u32>) -> Self {
        Self { step, ..self }
    }

    /// Whether it is one of the steps that its group is for.
    pub fn is_step(&self) -> bool {
        self.cause.as_ref().is_some_and(|cause| cause.form == CauseForm::Sequence)
    }

    pub fn is_empty(&self) -> bool {
        let Self { sentence, cause, expiries, step } = self;
        sentence.is_empty() && cause.is_none() && expiries.is_empty() && step.is_none()
    }
}

impl CauseObject {
    /// `HostedCluster guest-checkout`: its kind and name.
    pub fn describe(&self) -> String {
        format!("{} {}", self.kind, self.key.name)
    }
}
