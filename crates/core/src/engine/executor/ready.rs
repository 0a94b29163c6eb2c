//! An action on its way to the cluster: what it wants, how often it was sent, how much of it is in doubt.

use jiff::{SignedDuration, Timestamp};

use super::ports::{Seen, Write};
use super::prepared_write::PreparedWrite;
use super::report::ActionResult;
use super::verdict::MAY_ARRIVE;
use crate::engine::journal::{FieldRecord, LabelChange, Record};
use crate::engine::{Action, Verb};

/// How long one action may take, waits included. A server that asks for more is not fit for writes now.
pub(super) const ACTION_TIME: SignedDuration = SignedDuration::from_secs(60);

/// How long a cloud may refuse a delete because something else has to end first: a load balancer that is being changed
/// takes minutes, and so does what an earlier run has sent away.
const BUSY_TIME: SignedDuration = SignedDuration::from_mins(10);

/// How often a request may go out at all. Waits are bounded by time as well.
const TRIES_MAX: u32 = 5;
/// The same for a delete in a cloud: one every ten seconds for ten minutes, and some for what a service asks to be sent sooner.
const BUSY_TRIES_MAX: u32 = 90;

/// An action that may be sent.
pub(super) struct Ready<'a> {
    pub action: &'a Action,
    pub write: PreparedWrite,
    /// The number the journal knows the attempt by, from 1 for an action's first.
    pub attempt: u32,
    /// How often it was sent.
    pub tries: u32,
    /// How often its result was unknown.
    pub unsure: u32,
    pub began: Timestamp,
    pub deadline: Timestamp,
    /// Why it was not taken yet, in the server's words.
    pub waits_for: String,
    /// The version at which the last answer says it left the object.
    pub left_at: Option<String>,
    /// What the labels and annotations were and will be; known once the object was read.
    labels: Option<LabelChange>,
    annotations: Option<LabelChange>,
    /// The same for fields.
    fields: Option<FieldRecord>,
}

impl<'a> Ready<'a> {
    pub fn new(action: &'a Action, write: PreparedWrite, now: Timestamp) -> Self {
        let time = if is_patient(action) { BUSY_TIME } else { ACTION_TIME };
        let deadline = now.checked_add(time).unwrap_or(Timestamp::MAX);
        Self {
            action,
            write,
            attempt: 0,
            tries: 0,
            unsure: 0,
            began: now,
            deadline,
            waits_for: String::new(),
            left_at: None,
            labels: None,
            annotations: None,
            fields: None,
        }
    }

    pub fn tries_max(&self) -> u32 {
        if is_patient(self.action) { BUSY_TRIES_MAX } else { TRIES_MAX }
    }

    /// Why it was given up, when it was not taken for so long.
    pub fn not_taken(&self) -> String {
        if is_patient(self.action) && !self.waits_for.is_empty() {
            return format!("it was not taken for {} minutes: {}", BUSY_TIME.as_mins(), self.waits_for);
        }
        format!("the cluster is too busy to take it within {} s", ACTION_TIME.as_secs())
    }

    pub fn write(&self) -> Write<'_> {
        self.write.write(&self.action.target)
    }

    /// Whether a request of it may have been carried out, or may still be, as far as answers tell.
    pub fn is_in_doubt(&self) -> bool {
        self.unsure > 0
    }

    /// How it ends when it is not sent again and the object is as it was.
    pub fn given_up(&self, why: String) -> ActionResult {
        if self.is_in_doubt() {
            ActionResult::Unknown { why: format!("{why}; {MAY_ARRIVE}") }
        } else {
            ActionResult::failed(why)
        }
    }

    /// Notes what the labels, annotations and fields that will change are now.
    pub fn remember_before(&mut self, seen: &Seen) {
        (self.labels, self.annotations) = self.write.mark_changes(seen);
        self.fields = self.write.field_record(seen);
    }

    pub fn intent(&self, plan: &str, at: Timestamp) -> Record {
        let bound = self.write.bound();
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
            keys: self.write.keys(),
            deadline: self.deadline,
            at,
        }
    }

    /// What is sent. The restore of a delete is a create.
    fn verb(&self) -> Verb {
        match self.write {
            PreparedWrite::Create { .. } => Verb::Create,
            PreparedWrite::Delete { .. } | PreparedWrite::Change { .. } | PreparedWrite::Apply { .. } => {
                self.action.verb()
            }
        }
    }
}

/// Whether what is refused now may well be taken in some minutes.
fn is_patient(action: &Action) -> bool {
    action.target.cloud.is_some() && action.verb() == Verb::Delete
}
