//! Judging only what a change touched, compared with judging everything.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Fixture, Judged};
use crate::Check;
use crate::judgements::Judgements;
use trueup_core::engine::{Judgement, SubjectId};
use trueup_core::world::{ChangeSet, View, World};

/// A world that moves from fleet to fleet, with the judgements that follow its changes.
pub struct Follow {
    pub world: World,
    checks: Vec<Box<dyn Check>>,
    judgements: Judgements,
}

impl Follow {
    /// Starts with an empty world.
    pub fn new<F: Fixture>(given: &F) -> Self {
        Self { world: World::default(), checks: vec![Box::new(given.check())], judgements: Judgements::default() }
    }

    /// Brings the world to a fleet.
    ///
    /// # Panics
    /// When judging what the changes touched gives another result than judging everything.
    pub fn step<F: Fixture>(&mut self, given: &F) -> ChangeSet {
        let changes = given.fill(&mut self.world);
        self.take(&changes, given);
        changes
    }

    /// Closes the collections that no interest names any more, as a live fleet does some time after a change.
    pub fn forget_unwanted<F: Fixture>(&mut self, given: &F) {
        let wanted = self.checks[0].interests(self.world.view(given.now()));
        let held: Vec<_> = self.world.observations().map(|(id, _, _)| id.clone()).collect();
        let mut changes = ChangeSet::default();
        for id in held.iter().filter(|id| !wanted.iter().any(|interest| &interest.id == *id)) {
            changes.extend(self.world.close(id));
        }
        self.take(&changes, given);
    }

    /// Lets time pass until `now`.
    pub fn wake<F: Fixture>(&mut self, now: Timestamp, given: &F) {
        self.judgements.wake(&self.checks, self.world.view(now));
        self.compare(now, given);
    }

    pub fn held(&self) -> BTreeMap<SubjectId, Judgement> {
        self.judgements.iter().map(|(subject, held)| (subject.clone(), held.judgement.clone())).collect()
    }

    fn take<F: Fixture>(&mut self, changes: &ChangeSet, given: &F) {
        self.judgements.follow(&self.checks, self.world.view(given.now()), changes);
        self.compare(given.now(), given);
    }

    fn compare<F: Fixture>(&self, now: Timestamp, given: &F) {
        let all = Judged::<F>::new(&given.check(), &self.world, now).answers.into_values();
        assert_eq!(self.held(), all.map(|answer| (answer.subject, answer.judgement)).collect());
    }
}

/// Every subject with its judgement.
pub fn judge_everything(check: &dyn Check, view: View<'_>) -> BTreeMap<SubjectId, Judgement> {
    let judge = |subject: SubjectId| check.judge(&subject, view).map(|judgement| (subject, judgement));
    check.subjects(view).into_iter().filter_map(judge).collect()
}
