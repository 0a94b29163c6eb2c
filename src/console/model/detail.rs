//! What follows the cursor: one subject looked at closely.

use std::sync::Arc;

use crate::console::task::{ObjectSheet, RequestId, SubjectDetail};
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::world::ClusterName;

/// The detail beside a list.
#[derive(Debug, Default)]
pub struct Detail {
    /// What is asked for, or shown.
    pub subject: Option<Arc<SubjectId>>,
    pub ask: RequestId,
    /// The answer, while it is about the subject.
    pub closer: Option<Box<SubjectDetail>>,
    /// The last question that was answered, if only by nothing.
    pub answered: RequestId,
    pub scroll: usize,
    /// The answer to a check's form, with its question.
    pub answer: Option<(&'static str, Vec<String>)>,
    pub answer_ask: RequestId,
}

/// The screen that shows one object.
#[derive(Debug)]
pub struct ObjectView {
    pub ask: RequestId,
    pub cluster: ClusterName,
    pub target: ObjectRef,
    pub tab: ObjectTab,
    pub sheet: Option<Result<Box<ObjectSheet>, String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectTab {
    Yaml,
    Events,
}

impl Detail {
    /// Turns to another subject. What was known of the one before is dropped.
    pub fn turn_to(&mut self, subject: Option<Arc<SubjectId>>) -> bool {
        if self.subject == subject {
            return false;
        }
        *self = Self { subject, ..Self::default() };
        true
    }

    /// Takes an answer, unless a later question makes it void.
    pub fn take(&mut self, ask: RequestId, closer: Option<Box<SubjectDetail>>) -> bool {
        if ask != self.ask {
            return false;
        }
        self.closer = closer;
        self.answered = ask;
        true
    }
}
