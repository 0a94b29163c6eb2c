//! What every check promises.

use std::collections::BTreeSet;

use crate::engine::{DomainName, Explanation, Judgement, SubjectId};
use crate::world::{ChangeSet, Interest, View};

/// Which judgements a change set touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// These, some of which may be gone or new.
    Subjects(BTreeSet<SubjectId>),
    /// The set of subjects itself may differ: judge the domain anew.
    All,
}

/// One check.
pub trait Domain: Send + Sync {
    fn name(&self) -> DomainName;

    /// What it wants to see, given what is known so far. Called again whenever that changes, until it settles.
    fn interests(&self, view: View<'_>) -> Vec<Interest>;

    /// Every subject that gets a finding now.
    fn subjects(&self, view: View<'_>) -> BTreeSet<SubjectId>;

    /// Which judgements may differ after these changes.
    fn touched(&self, view: View<'_>, changes: &ChangeSet) -> Touched;

    /// The short answer for one subject, or nothing when it is no subject (any more).
    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement>;

    /// The long answer for one subject.
    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation>;
}
