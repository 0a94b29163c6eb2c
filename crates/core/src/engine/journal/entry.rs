//! The records of one plan, read together.
//!
//! Invariants: what became of an action is decided by its latest record; a request without a known result is open,
//! and stays so until the object was read, whatever is answered to a later request.
//! That a later run skipped an action says nothing about what an earlier one did.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Answer, ApprovalWay, ApprovedCluster, FieldRecord, Found, LabelChange, Record, VerifiedState};
use crate::engine::{ObjectRef, Verb};

/// What happened under one plan id.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// The plan's whole id.
    pub plan: String,
    /// Every approval of it.
    pub approvals: Vec<Approval>,
    /// By action id, in the order of their first record.
    pub actions: Vec<ActionEntry>,
    /// The plan that this one undoes.
    pub undoes: Option<String>,
    /// When the latest run came to its end. Absent: it never did.
    pub finished: Option<Timestamp>,
    /// The actions with an earlier request without a clear answer, whose object was not read since.
    pub in_doubt: BTreeSet<String>,
}

/// A yes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Approval {
    pub who: String,
    pub host: String,
    pub how: ApprovalWay,
    pub at: Timestamp,
    pub clusters: Vec<ApprovedCluster>,
}

/// What happened to one action.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ActionEntry {
    pub id: String,
    /// The name of the sealed file in the vault.
    pub backup: Option<String>,
    /// The latest request, if one was about to be sent.
    pub sent: Option<Sent>,
    pub standing: ActionStanding,
    /// The version at which the object was seen to be as it was wanted.
    pub version: Option<String>,
}

/// A request as its intent says it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sent {
    pub cluster: String,
    pub verb: Verb,
    pub target: ObjectRef,
    pub labels: Option<LabelChange>,
    pub annotations: Option<LabelChange>,
    pub fields: Option<FieldRecord>,
    /// The keys whose content was written.
    pub keys: Vec<String>,
    pub uid: Option<String>,
    pub resource_version: Option<String>,
    pub attempt: u32,
    pub at: Timestamp,
}

/// The id under which the journal holds what an action of a cloud remembers in a cluster.
pub fn memory_of(action: &str) -> String {
    format!("{action}{MEMORY}")
}

/// Whether an id of the journal is that of a memory, which is undone with its action.
pub fn is_memory(action: &str) -> bool {
    action.ends_with(MEMORY)
}

const MEMORY: &str = ".memory";

/// Where an action stands.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ActionStanding {
    /// Sealed, and nothing sent.
    Prepared,
    /// The request may or may not have been carried out.
    Open,
    /// The server answered, and the object was not read since.
    Answered(Answer),
    Verified {
        state: VerifiedState,
        why: String,
        at: Timestamp,
    },
    /// Settled after a crash by reading.
    Resolved(Found),
    /// Nothing was ever sent.
    Skipped {
        cluster: String,
        verb: Verb,
        target: ObjectRef,
        why: String,
    },
}

impl Entry {
    /// How many actions are still open.
    pub fn open_count(&self) -> usize {
        self.actions.iter().filter(|action| action.is_open()).count()
    }

    fn new(plan: &str) -> Self {
        Self {
            plan: plan.to_owned(),
            approvals: Vec::new(),
            actions: Vec::new(),
            undoes: None,
            finished: None,
            in_doubt: BTreeSet::new(),
        }
    }

    fn action(&mut self, id: &str) -> &mut ActionEntry {
        let place = self.actions.iter().position(|action| action.id == id).unwrap_or_else(|| {
            let standing = ActionStanding::Prepared;
            self.actions.push(ActionEntry { id: id.to_owned(), backup: None, sent: None, standing, version: None });
            self.actions.len() - 1
        });
        &mut self.actions[place]
    }

    /// Keeps in mind that a request is open while the next one is written down.
    fn doubt_if_open(&mut self, action: &str) {
        if self.action(action).is_open() {
            self.in_doubt.insert(action.to_owned());
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm per record, with every field")]
    fn take(&mut self, record: &Record) {
        match record {
            Record::PlanApproved { plan: _, who, host, how, at, clusters, undoes } => {
                self.finished = None;
                self.undoes.clone_from(undoes);
                let (who, host, clusters) = (who.clone(), host.clone(), clusters.clone());
                self.approvals.push(Approval { who, host, how: *how, at: *at, clusters });
            }
            Record::Backup { plan: _, action, file, digest: _ } => {
                self.doubt_if_open(action);
                let action = self.action(action);
                action.backup = Some(file.clone());
                action.standing = ActionStanding::Prepared;
            }
            Record::Intent {
                plan: _,
                action,
                attempt,
                cluster,
                target,
                uid,
                resource_version,
                verb,
                labels,
                annotations,
                fields,
                keys,
                deadline: _,
                at,
            } => {
                self.doubt_if_open(action);
                let action = self.action(action);
                action.standing = ActionStanding::Open;
                action.version = None;
                action.sent = Some(Sent {
                    cluster: cluster.clone(),
                    verb: *verb,
                    target: target.clone(),
                    labels: labels.clone(),
                    annotations: annotations.clone(),
                    fields: fields.as_deref().cloned(),
                    keys: keys.clone(),
                    uid: uid.clone(),
                    resource_version: resource_version.clone(),
                    attempt: *attempt,
                    at: *at,
                });
            }
            Record::Outcome { plan: _, action, attempt: _, http: _, what, at: _ } => {
                let in_doubt = self.in_doubt.contains(action);
                self.action(action).standing = match what {
                    Answer::Ambiguous => ActionStanding::Open,
                    Answer::Conflict | Answer::Refused | Answer::Throttled if in_doubt => ActionStanding::Open,
                    Answer::Done | Answer::Conflict | Answer::Refused | Answer::Throttled | Answer::Gone => {
                        ActionStanding::Answered(*what)
                    }
                };
            }
            Record::Verified { plan: _, action, state, why, version, at } => {
                self.in_doubt.remove(action);
                let action = self.action(action);
                action.version = version.clone();
                action.standing = ActionStanding::Verified { state: *state, why: why.clone(), at: *at };
            }
            Record::Resolved { plan: _, action, found, at: _ } => {
                self.in_doubt.remove(action);
                self.action(action).standing = ActionStanding::Resolved(*found);
            }
            Record::Skipped { plan: _, action, cluster, target, verb, why, at: _ } => {
                let action = self.action(action);
                if action.sent.is_none() {
                    let (cluster, target, why) = (cluster.clone(), target.clone(), why.clone());
                    action.standing = ActionStanding::Skipped { cluster, verb: *verb, target, why };
                }
            }
            Record::Finished { plan: _, at, counts: _ } => self.finished = Some(*at),
            Record::Restarted { before: _, plans: _, records: _, at: _ } => {}
        }
    }
}

impl ActionEntry {
    /// Whether the result of the request is unknown yet.
    pub fn is_open(&self) -> bool {
        match &self.standing {
            ActionStanding::Open => true,
            ActionStanding::Verified { state, .. } => *state == VerifiedState::Unknown,
            ActionStanding::Prepared
            | ActionStanding::Answered(_)
            | ActionStanding::Resolved(_)
            | ActionStanding::Skipped { .. } => false,
        }
    }
}

/// The records by plan, in the order the plans first appear.
pub fn entries<'r>(records: impl IntoIterator<Item = &'r Record>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        let Some(plan) = record.plan() else { continue };
        let place = *places.entry(plan).or_insert_with(|| {
            entries.push(Entry::new(plan));
            entries.len() - 1
        });
        entries[place].take(record);
    }
    entries
}

/// The requests without a known result: plan, action and what was about to be sent.
///
/// Each has to be settled by reading before anything else is done, and never by sending again.
pub fn open_intents(entries: &[Entry]) -> Vec<(&str, &ActionEntry)> {
    let open = entries.iter().flat_map(|entry| entry.actions.iter().map(|action| (entry.plan.as_str(), action)));
    open.filter(|(_, action)| action.is_open()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(attempt: u32) -> Record {
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: Some("openshift-config".to_owned()),
            name: "a".to_owned(),
            uid: None,
            cloud: None,
        };
        let (plan, action, cluster) = ("p".to_owned(), "a1".to_owned(), "guest-a".to_owned());
        let (uid, resource_version) = (Some("u".to_owned()), Some("7".to_owned()));
        let (verb, at) = (Verb::Delete, Timestamp::UNIX_EPOCH);
        Record::Intent {
            plan,
            action,
            attempt,
            cluster,
            target,
            uid,
            resource_version,
            verb,
            labels: None,
            annotations: None,
            fields: None,
            keys: Vec::new(),
            deadline: at,
            at,
        }
    }

    fn outcome(attempt: u32, what: Answer) -> Record {
        let (plan, action, at) = ("p".to_owned(), "a1".to_owned(), Timestamp::UNIX_EPOCH);
        Record::Outcome { plan, action, attempt, http: None, what, at }
    }

    fn resolved() -> Record {
        let (plan, action, at) = ("p".to_owned(), "a1".to_owned(), Timestamp::UNIX_EPOCH);
        Record::Resolved { plan, action, found: Found::Unchanged, at }
    }

    #[test]
    fn a_later_refusal_does_not_settle_what_an_earlier_request_left_open() {
        let unclear = outcome(1, Answer::Ambiguous);
        let cases = [
            ("refused at once", vec![intent(1), outcome(1, Answer::Refused)], 0),
            ("unclear", vec![intent(1), unclear.clone()], 1),
            ("unclear, then refused", vec![intent(1), unclear.clone(), intent(2), outcome(2, Answer::Refused)], 1),
            ("unclear, then a conflict", vec![intent(1), unclear.clone(), intent(2), outcome(2, Answer::Conflict)], 1),
            ("unclear, then done", vec![intent(1), unclear.clone(), intent(2), outcome(2, Answer::Done)], 0),
            ("a crash, then refused", vec![intent(1), intent(1), outcome(1, Answer::Refused)], 1),
            ("read in between", vec![intent(1), unclear, resolved(), intent(1), outcome(1, Answer::Refused)], 0),
        ];
        for (case, records, expected) in cases {
            assert_eq!(entries(&records)[0].open_count(), expected, "case: {case}");
        }
    }
}
