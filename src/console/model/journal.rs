//! The entries of the journal as the console lists them.
//!
//! Invariants: an undo is offered only for what the journal says can be undone and was not undone since.
//! Elsewhere: what the clusters hold now, which decides when an undo is planned.

use std::collections::BTreeMap;

use super::run::past;
use trueup_core::engine::journal::{
    ActionEntry, ActionStanding, Entry, Found, Undone, VerifiedState, is_memory, undone,
};
use trueup_core::engine::{Verb, can_undo};

/// An entry, with what can be undone of it.
#[derive(Debug)]
pub struct JournalRow {
    pub entry: Entry,
    pub undo: UndoOffer,
    /// Number of actions that were undone.
    pub undone: usize,
    /// The actions, each with its undo.
    pub actions: Vec<UndoOffer>,
}

/// Whether something can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoOffer {
    Possible,
    /// It was undone by this plan.
    Undone(String),
    /// Why not.
    Impossible(String),
}

impl JournalRow {
    /// Every entry, newest first.
    pub fn all(entries: Vec<Entry>) -> Vec<Self> {
        let undone = undone(&entries);
        entries.into_iter().rev().map(|entry| Self::new(entry, &undone)).collect()
    }

    fn new(entry: Entry, undone: &Undone) -> Self {
        let offer = |action: &ActionEntry| match (undone.by(&entry.plan, &action.id), can_undo(action)) {
            (Some(by), _) => UndoOffer::Undone(by.to_owned()),
            (None, Ok(())) => UndoOffer::Possible,
            (None, Err(why)) => UndoOffer::Impossible(why),
        };
        let actions: Vec<UndoOffer> = entry.actions.iter().map(offer).collect();
        let own = || entry.actions.iter().zip(&actions).filter(|(action, _)| !is_memory(&action.id));
        let undone = own().filter(|(_, offer)| matches!(offer, UndoOffer::Undone(_))).count();
        let undo = whole(own().map(|(_, offer)| offer));
        Self { undo, undone, actions, entry }
    }

    /// Number of actions, without what was remembered for them.
    pub fn count(&self) -> usize {
        self.own().count()
    }

    fn own(&self) -> impl Iterator<Item = &ActionEntry> {
        self.entry.actions.iter().filter(|action| !is_memory(&action.id))
    }

    /// `2 delete, 1 label`
    pub fn verbs(&self) -> String {
        let mut counts: BTreeMap<Verb, usize> = BTreeMap::new();
        for verb in self.own().filter_map(verb_of) {
            *counts.entry(verb).or_insert(0) += 1;
        }
        // Deletes first: they are what matters most.
        let mut counts: Vec<(Verb, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(verb, _)| *verb != Verb::Delete);
        let parts: Vec<String> = counts.iter().map(|(verb, count)| format!("{count} {}", verb.as_str())).collect();
        match (parts.is_empty(), self.count()) {
            (true, 1) => "1 action".to_owned(),
            (true, count) => format!("{count} actions"),
            (false, _) => parts.join(", "),
        }
    }

    /// `12 deleted, 7 not sent`
    pub fn outcome(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for word in self.own().map(outcome_word) {
            match counts.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
        counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// What can be undone of a whole entry: what is possible for one of its actions, else why nothing is.
fn whole<'o>(offers: impl Iterator<Item = &'o UndoOffer>) -> UndoOffer {
    let mut found = UndoOffer::Impossible("nothing was sent".to_owned());
    let mut is_first = true;
    for offer in offers {
        match offer {
            UndoOffer::Possible => return UndoOffer::Possible,
            UndoOffer::Undone(_) => found = offer.clone(),
            UndoOffer::Impossible(_) if is_first => found = offer.clone(),
            UndoOffer::Impossible(_) => {}
        }
        is_first = false;
    }
    found
}

pub fn verb_of(action: &ActionEntry) -> Option<Verb> {
    match (&action.sent, &action.standing) {
        (Some(sent), _) => Some(sent.verb),
        (None, ActionStanding::Skipped { verb, .. }) => Some(*verb),
        (
            None,
            ActionStanding::Prepared
            | ActionStanding::Open
            | ActionStanding::Answered(_)
            | ActionStanding::Verified { .. }
            | ActionStanding::Resolved(_),
        ) => None,
    }
}

/// How an action ended, in a word or two.
pub fn outcome_word(action: &ActionEntry) -> &'static str {
    let done = |otherwise| verb_of(action).map_or(otherwise, past);
    match &action.standing {
        ActionStanding::Prepared | ActionStanding::Skipped { .. } => "not sent",
        ActionStanding::Open => "unknown",
        ActionStanding::Answered(answer) => answer.as_str(),
        ActionStanding::Verified { state, .. } => match state {
            VerifiedState::Gone => done("deleted"),
            VerifiedState::Changed => done("changed"),
            VerifiedState::Created => done("created"),
            VerifiedState::Restored => "restored",
            VerifiedState::Terminating => "terminating",
            VerifiedState::Skipped => "not changed",
            VerifiedState::Failed => "failed",
            VerifiedState::Unknown => "unknown",
        },
        ActionStanding::Resolved(found) => match found {
            Found::Gone => done("deleted"),
            Found::Changed => done("changed"),
            Found::Unchanged => "not changed",
            Found::Terminating => "terminating",
            Found::Replaced => "replaced",
        },
    }
}
