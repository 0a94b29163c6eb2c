//! Which actions of the journal were undone by a later plan.
//!
//! Invariants: an undo counts for an action that it was seen to reverse, and only until that undo is undone itself.
//! Journals written before undo plans named what they undo have none.

use std::collections::BTreeMap;

use super::{ActionEntry, ActionStanding, Answer, Entry, Found, VerifiedState};

/// For each undone plan: its undone actions, each with the plan that undid it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undone(BTreeMap<String, BTreeMap<String, String>>);

impl Undone {
    /// The plan that undid an action of a plan.
    pub fn by(&self, plan: &str, action: &str) -> Option<&str> {
        self.0.get(plan)?.get(action).map(String::as_str)
    }
}

/// Finds the undone actions of every entry. An undo has the action ids of the plan that it undoes.
pub fn undone(entries: &[Entry]) -> Undone {
    let mut found = Undone::default();
    // Newest first: whether an undo still counts is known before the entry that it undoes is reached.
    for entry in entries.iter().rev() {
        let Some(undoes) = &entry.undoes else { continue };
        for action in entry.actions.iter().filter(|action| took_effect(action)) {
            if found.by(&entry.plan, &action.id).is_none() {
                let of_plan = found.0.entry(undoes.clone()).or_default();
                of_plan.entry(action.id.clone()).or_insert_with(|| entry.plan.clone());
            }
        }
    }
    found
}

/// Whether the object was seen to be as the action wanted.
fn took_effect(action: &ActionEntry) -> bool {
    match &action.standing {
        ActionStanding::Verified { state, .. } => match state {
            VerifiedState::Gone
            | VerifiedState::Terminating
            | VerifiedState::Changed
            | VerifiedState::Created
            | VerifiedState::Restored => true,
            VerifiedState::Skipped | VerifiedState::Failed | VerifiedState::Unknown => false,
        },
        ActionStanding::Answered(answer) => *answer == Answer::Done,
        ActionStanding::Resolved(found) => match found {
            Found::Changed | Found::Gone | Found::Terminating => true,
            Found::Unchanged | Found::Replaced => false,
        },
        ActionStanding::Prepared | ActionStanding::Open | ActionStanding::Skipped { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(plan: &str, undoes: Option<&str>, actions: &[(&str, VerifiedState)]) -> Entry {
        let action = |(id, state): &(&str, VerifiedState)| ActionEntry {
            id: (*id).to_owned(),
            backup: None,
            sent: None,
            standing: ActionStanding::Verified { state: *state, why: String::new(), at: jiff::Timestamp::UNIX_EPOCH },
            version: None,
        };
        Entry {
            plan: plan.to_owned(),
            approvals: Vec::new(),
            actions: actions.iter().map(action).collect(),
            undoes: undoes.map(str::to_owned),
            finished: None,
            in_doubt: Default::default(),
        }
    }

    #[test]
    fn an_action_is_undone_while_the_undo_of_it_holds() {
        use VerifiedState::{Failed, Gone, Restored};
        let plan = || entry("p", None, &[("a1", Gone), ("a2", Gone)]);
        let undo = || entry("q", Some("p"), &[("a1", Restored), ("a2", Failed)]);
        let redo = || entry("r", Some("q"), &[("a1", Gone)]);
        let again = || entry("s", Some("p"), &[("a1", Restored)]);
        let cases = [
            ("not undone", vec![plan()], None, None),
            ("undone", vec![plan(), undo()], Some("q"), None),
            ("the undo was undone", vec![plan(), undo(), redo()], None, Some("r")),
            ("undone again", vec![plan(), undo(), redo(), again()], Some("s"), Some("r")),
        ];
        for (case, entries, of_plan, of_undo) in cases {
            let undone = undone(&entries);
            assert_eq!((undone.by("p", "a1"), undone.by("q", "a1")), (of_plan, of_undo), "case: {case}");
            assert_eq!(undone.by("p", "a2"), None, "case: {case}: what failed undoes nothing");
        }
    }
}
