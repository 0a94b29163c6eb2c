//! Detail of the selected subject.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::console::task::{ObjectSheet, OperatorLog, ReferenceSheet, RequestId, SubjectDetail};
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;

/// How long the cursor must rest before a detail is requested: longer than the interval of a held key (30 to 120 ms) and
/// than brisk single presses.
pub const REST: SignedDuration = SignedDuration::from_millis(200);

/// The detail beside a list.
#[derive(Debug, Default)]
pub struct Detail {
    /// The subject at the cursor.
    pub subject: Option<Arc<SubjectId>>,
    /// When the cursor reached it.
    turned_at: Option<Timestamp>,
    /// When its detail is requested, until then.
    due_at: Option<Timestamp>,
    /// The cluster that was last requested to be live.
    pub needed: Option<ClusterName>,
    pub ask: RequestId,
    /// The reply, while it is about the subject.
    pub content: Option<Box<SubjectDetail>>,
    /// The last request with a reply, even an empty one.
    pub answered: RequestId,
    pub scroll: usize,
    /// How the difference is shown, whichever subject it is of.
    pub diff: DiffMode,
    /// Title and result of a check's query.
    pub answer: Option<(&'static str, Vec<String>)>,
    pub answer_ask: RequestId,
}

/// How the difference of a finding is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiffMode {
    /// The fields that differ.
    #[default]
    Differing,
    All,
    Text,
}

impl DiffMode {
    /// The next of the modes, which follow each other in a circle.
    pub fn next(self) -> Self {
        match self {
            Self::Differing => Self::All,
            Self::All => Self::Text,
            Self::Text => Self::Differing,
        }
    }

    /// What it shows, beside the key that switches to it.
    pub fn message(self) -> &'static str {
        match self {
            Self::Differing => "fields that differ",
            Self::All => "all fields",
            Self::Text => "text",
        }
    }
}

/// The object screen.
#[derive(Debug)]
pub struct ObjectView {
    /// The default until the object is asked for.
    pub ask: RequestId,
    pub cluster: ClusterName,
    pub target: ObjectRef,
    pub tab: ObjectTab,
    /// What the request asked for. Another object is masked again.
    pub values: CredentialValues,
    pub sheet: Option<Result<Box<ObjectSheet>, String>>,
    /// The finding it was opened from: references and the operator's log are about it.
    pub subject: Option<Arc<SubjectId>>,
    pub references: Loaded<ReferenceSheet>,
    pub log: Loaded<OperatorLog>,
    /// The reference under the cursor.
    pub cursor: usize,
    /// The view it was opened from.
    pub previous: Option<Box<ObjectView>>,
}

/// A part of the object screen that is read when it is first shown.
#[derive(Debug, Default)]
pub enum Loaded<T> {
    #[default]
    NotAsked,
    Asked(RequestId),
    Answered(Result<Box<T>, String>),
}

impl<T> Loaded<T> {
    /// Stores a reply, unless another was asked for meanwhile.
    pub fn take(&mut self, ask: RequestId, reply: Result<Box<T>, String>) {
        if matches!(self, Self::Asked(asked) if *asked == ask) {
            *self = Self::Answered(reply);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectTab {
    Yaml,
    Events,
    References,
    OperatorLog,
}

impl ObjectView {
    pub fn new(
        ask: RequestId,
        (cluster, target): (ClusterName, ObjectRef),
        tab: ObjectTab,
        values: CredentialValues,
    ) -> Self {
        Self {
            ask,
            cluster,
            target,
            tab,
            values,
            sheet: None,
            subject: None,
            references: Loaded::NotAsked,
            log: Loaded::NotAsked,
            cursor: 0,
            previous: None,
        }
    }

    /// Whether the object has values that look like a credential and can be shown.
    pub fn has_credentials(&self) -> bool {
        matches!(&self.sheet, Some(Ok(sheet)) if sheet.credentials > 0)
    }
}

impl Detail {
    /// Selects another subject and drops the detail of the previous one. The new one is due at once after a rest, and
    /// while the cursor moves, when it rests.
    pub fn turn_to(&mut self, subject: Option<Arc<SubjectId>>, now: Timestamp) -> bool {
        if self.subject == subject {
            return false;
        }
        let is_moving = self.turned_at.is_some_and(|at| now.duration_since(at) < REST);
        let due_at = if is_moving { now.checked_add(REST).unwrap_or(now) } else { now };
        let due_at = subject.is_some().then_some(due_at);
        let (needed, diff) = (self.needed.take(), self.diff);
        *self = Self { subject, turned_at: Some(now), due_at, needed, diff, ..Self::default() };
        true
    }

    /// When the detail is requested, if it was not.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.due_at
    }

    /// Makes a pending detail due.
    pub fn hurry(&mut self, now: Timestamp) {
        self.due_at = self.due_at.map(|_| now);
    }

    /// Records a request, which makes earlier ones obsolete.
    pub fn request(&mut self, ask: RequestId) {
        self.ask = ask;
        self.due_at = None;
    }

    /// Whether the last request has its reply.
    pub fn is_answered(&self) -> bool {
        self.due_at.is_none() && self.answered == self.ask
    }

    /// Stores a reply, unless a later request replaced it.
    pub fn take(&mut self, ask: RequestId, content: Option<Box<SubjectDetail>>) -> bool {
        if ask != self.ask {
            return false;
        }
        self.content = content;
        self.answered = ask;
        true
    }
}
