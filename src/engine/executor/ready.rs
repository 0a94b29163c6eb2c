//! An action on its way to the cluster: what it wants, how often it was sent, how much of it is in doubt.

use jiff::{SignedDuration, Timestamp};

use super::ports::{Seen, Write};
use super::report::End;
use super::verdict::MAY_ARRIVE;
use super::wish::Wish;
use crate::engine::journal::{FieldRecord, LabelChange, Record};
use crate::engine::{Action, Verb};

/// How long one action may take, waits included. A server that asks for more is not fit for writes now.
pub(super) const ACTION_TIME: SignedDuration = SignedDuration::from_secs(60);

/// An action that may be sent.
pub(super) struct Ready<'a> {
    pub action: &'a Action,
    pub wish: Wish,
    /// The number the journal knows the attempt by, from 1 for an action's first.
    pub attempt: u32,
    /// How often it was sent.
    pub tries: u32,
    /// How often nobody knew what came of it.
    pub unsure: u32,
    pub deadline: Timestamp,
    /// What the labels and annotations were and will be; known once the object was read.
    labels: Option<LabelChange>,
    annotations: Option<LabelChange>,
    /// The same for fields.
    fields: Option<FieldRecord>,
}

impl<'a> Ready<'a> {
    pub fn new(action: &'a Action, wish: Wish, now: Timestamp) -> Self {
        let deadline = now.checked_add(ACTION_TIME).unwrap_or(Timestamp::MAX);
        let (labels, annotations, fields) = (None, None, None);
        Self { action, wish, attempt: 0, tries: 0, unsure: 0, deadline, labels, annotations, fields }
    }

    pub fn write(&self) -> Write<'_> {
        self.wish.write(&self.action.target)
    }

    /// Whether a request of it may have been carried out, or may still be, as far as answers tell.
    pub fn is_in_doubt(&self) -> bool {
        self.unsure > 0
    }

    /// How it ends when it is not sent again and the object is as it was.
    pub fn given_up(&self, why: String) -> End {
        if self.is_in_doubt() { End::Unknown { why: format!("{why}; {MAY_ARRIVE}") } } else { End::failed(why) }
    }

    /// Notes what the labels, annotations and fields that will change are now.
    pub fn remember_before(&mut self, seen: &Seen) {
        (self.labels, self.annotations) = self.wish.mark_changes(seen);
        self.fields = self.wish.field_record(seen);
    }

    pub fn intent(&self, plan: &str, at: Timestamp) -> Record {
        let bound = self.wish.bound();
        Record::Intent {
            plan: plan.to_owned(),
            action: self.action.id.clone(),
            attempt: self.attempt,
            cluster: self.action.cluster.clone(),
            target: self.action.target.clone(),
            uid: bound.map(|bound| bound.uid.clone()),
            resource_version: bound.map(|bound| bound.resource_version.clone()),
            verb: self.verb(),
            labels: self.labels.clone(),
            annotations: self.annotations.clone(),
            fields: self.fields.clone().map(Box::new),
            keys: self.wish.keys(),
            deadline: self.deadline,
            at,
        }
    }

    /// What is sent. A delete that is taken back is a create.
    fn verb(&self) -> Verb {
        match self.wish {
            Wish::Create { .. } => Verb::Create,
            Wish::Delete { .. } | Wish::Change { .. } | Wish::Apply { .. } => self.action.verb,
        }
    }
}
