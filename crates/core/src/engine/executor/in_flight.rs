//! The proof that a request may leave the program.
//!
//! Invariants: an [`InFlight`] is created only here, one per intent, after the journal has it on the disk.

use super::ports::JournalPort;
use crate::engine::journal::Record;

/// The intent of one request is on the disk.
///
/// Every write to a cluster or cloud requires one. Only the executor has them, and each is used for one request. No
/// `Clone`, `Default` or `Deserialize`: each would be a second way to create one.
///
/// ```compile_fail,E0451
/// // Cannot be created outside the executor.
/// let token = crate::engine::executor::InFlight { action: "a1".to_owned(), attempt: 1 };
/// ```
#[must_use = "a request whose intent is on the disk is sent, or its end is journalled"]
#[derive(Debug)]
pub struct InFlight {
    action: String,
    attempt: u32,
}

impl InFlight {
    /// The action it is for.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The number of the attempt in the journal.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// For tests of senders.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_test() -> Self {
        Self { action: "a1".to_owned(), attempt: 1 }
    }
}

/// Writes records and waits until they are on the disk. Returns one token per intent, in order.
///
/// # Errors
/// They may not be on the disk, and nothing may be sent.
pub(super) fn journal_intents(journal: &mut dyn JournalPort, records: &[Record]) -> Result<Vec<InFlight>, String> {
    journal.append(records)?;
    let token = |record: &Record| match record {
        Record::Intent { action, attempt, .. } => Some(InFlight { action: action.clone(), attempt: *attempt }),
        Record::PlanApproved { .. }
        | Record::Backup { .. }
        | Record::Outcome { .. }
        | Record::Verified { .. }
        | Record::Resolved { .. }
        | Record::Skipped { .. }
        | Record::Finished { .. }
        | Record::Restarted { .. } => None,
    };
    Ok(records.iter().filter_map(token).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::journal::Answer;
    use crate::engine::testing::now;
    use crate::engine::{ObjectRef, Verb};

    struct Disk(Result<(), String>);

    impl JournalPort for Disk {
        fn append(&mut self, _: &[Record]) -> Result<(), String> {
            self.0.clone()
        }
    }

    fn intent(action: &str) -> Record {
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: None,
            name: "x".to_owned(),
            uid: None,
            cloud: None,
        };
        Record::Intent {
            plan: "p".to_owned(),
            action: action.to_owned(),
            attempt: 2,
            cluster: "guest-a".to_owned(),
            target,
            uid: None,
            resource_version: None,
            verb: Verb::Delete,
            labels: None,
            annotations: None,
            fields: None,
            keys: Vec::new(),
            deadline: now(),
            at: now(),
        }
    }

    #[test]
    fn only_an_intent_that_is_on_the_disk_gives_a_token() {
        let outcome = Record::Outcome {
            plan: "p".to_owned(),
            action: "a1".to_owned(),
            attempt: 1,
            http: None,
            what: Answer::Done,
            at: now(),
        };
        let records = [intent("a1"), outcome, intent("a2")];
        let tokens = journal_intents(&mut Disk(Ok(())), &records).unwrap();
        let said: Vec<(&str, u32)> = tokens.iter().map(|token| (token.action(), token.attempt())).collect();
        assert_eq!(said, [("a1", 2), ("a2", 2)]);
        let full = journal_intents(&mut Disk(Err("no space left".to_owned())), &records);
        assert_eq!(full.unwrap_err(), "no space left");
    }
}
