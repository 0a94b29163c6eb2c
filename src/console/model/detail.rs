//! Detail of the selected subject.

use std::sync::Arc;

use crate::console::task::{ObjectSheet, RequestId, SubjectDetail};
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;

/// The detail beside a list.
#[derive(Debug, Default)]
pub struct Detail {
    /// The requested or shown subject.
    pub subject: Option<Arc<SubjectId>>,
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
    /// Selects another subject and drops the detail of the previous one.
    pub fn turn_to(&mut self, subject: Option<Arc<SubjectId>>) -> bool {
        if self.subject == subject {
            return false;
        }
        *self = Self { subject, ..Self::default() };
        true
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
