//! Detail of the selected subject.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::console::task::{ObjectSheet, RequestId, SubjectDetail};
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
    /// Title and result of a check's query.
    pub answer: Option<(&'static str, Vec<String>)>,
    pub answer_ask: RequestId,
}

/// The object screen.
#[derive(Debug)]
pub struct ObjectView {
    pub ask: RequestId,
    pub cluster: ClusterName,
    pub target: ObjectRef,
    pub tab: ObjectTab,
    /// What the request asked for. Another object is masked again.
    pub values: CredentialValues,
    pub sheet: Option<Result<Box<ObjectSheet>, String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectTab {
    Yaml,
    Events,
}

impl ObjectView {
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
        *self = Self { subject, turned_at: Some(now), due_at, needed: self.needed.take(), ..Self::default() };
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
