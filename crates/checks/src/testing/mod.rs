//! One harness for the tests of every check: a fleet as recorded objects, and each answer as one line of text.
//!
//! Invariants: every answer that is compared was also held to what is true for every world ([`Answer::assert_sound`]).
//! Elsewhere: the objects of each check (`testing` of the check), following changes ([`Follow`]).

mod answers;
mod fleet;
mod follow;

pub use answers::{Answer, Judged};
pub use fleet::{Fleet, Member, answer_all, recording, set_field};
pub use follow::{Follow, judge_everything};

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{Check, Pass, RuledSubject};
use trueup_core::engine::{ActionDraft, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, World};

/// The clock of every test.
pub fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().expect("a timestamp")
}

/// A fleet as the tests of one check describe it.
pub trait Fixture: Sized {
    type Check: Check + 'static;

    /// The check with the settings of this fleet.
    fn check(&self) -> Self::Check;

    fn fleet(&self) -> &Fleet;

    fn now(&self) -> Timestamp {
        now()
    }

    /// The ids that a short name of a subject may stand for.
    fn ids(subject: &str) -> Vec<String>;

    /// What is true of each answer of this check, whatever the world.
    fn assert_answer(answer: &Answer);

    /// A proposed action in a few words.
    fn describe(_answer: &Answer, draft: &ActionDraft) -> String {
        let selected = if draft.selected { "selected" } else { "offered" };
        let gates: Vec<&str> = draft.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
        let blocked = if gates.is_empty() { String::new() } else { format!(" blocked:{}", gates.join(",")) };
        format!("{} {selected} {}{blocked}", draft.verb().as_str(), draft.reason.as_str())
    }

    /// Brings the world to this fleet and returns what changed.
    fn fill(&self, world: &mut World) -> ChangeSet {
        self.fleet().fill(&self.check(), world, self.now())
    }

    fn world(&self) -> World {
        let mut world = World::default();
        self.fill(&mut world);
        world
    }

    /// Every subject with its answer.
    fn judged(&self) -> Judged<Self> {
        Judged::new(&self.check(), &self.world(), self.now())
    }

    /// The answer for one subject.
    fn about(&self, subject: &str) -> String {
        self.judged().about(subject)
    }
}

/// Judges each named case about one subject.
pub fn each<F: Fixture, const N: usize>(subject: &str, cases: [(&str, F, &str); N]) {
    for (case, given, expected) in cases {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}

/// A pass that finds no subject.
pub struct NoSubjects;

impl Pass for NoSubjects {
    fn subjects_in(&self, _: &ClusterName) -> BTreeSet<SubjectId> {
        BTreeSet::new()
    }

    fn rule<'p>(&'p self, _: &'p SubjectId) -> Option<Box<dyn RuledSubject + 'p>> {
        None
    }
}
