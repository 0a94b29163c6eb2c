//! Sets of machines: whether autoscalers know what a machine of each would have.
//!
//! A set that has no machines is scaled up only when its annotations say what a node would be like: CPUs, memory, GPUs,
//! architecture. They follow from the instance type, which AWS knows; the way there goes through a login that is easy to
//! get almost right. Every step of that way has its own verdict, so that a refused token is not called an unknown type.
//!
//! Not here: asking AWS (`fleet::account`), writing (`engine`).

mod catalogue;
mod compare;
mod context;
mod credentials;
mod expected;
mod explain;
mod facts;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod interests;
mod judge;
mod labels;
mod machine;
mod messages;
mod names;
mod present;
mod quantity;
mod region;
mod remedy;
mod settings;
mod subjects;
mod surroundings;
#[cfg(test)]
mod tests;
mod touched;
mod upstream;
mod verdict;

use std::collections::BTreeSet;

use context::ContextCache;
use judge::rule;
pub use settings::{ENTRY, Settings, Workload};
use subjects::ResolvedSubject;
use verdict::Verdict;

use super::contract::{Check, Touched};
use super::present::{Cell, CheckDescription, Panel};
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Interest, Provider, View};

pub const NAME: CheckName = CheckName("machineset-capacity");

/// The check.
#[derive(Debug, Clone, Default)]
pub struct MachineSetCapacity {
    settings: Settings,
}

impl MachineSetCapacity {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    fn judge_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Judgement> {
        let (verdict, codes) = match ResolvedSubject::of(subject, contexts)? {
            ResolvedSubject::Pool(subject) => {
                let ruling = rule(&subject, contexts);
                (ruling.verdict, ruling.codes())
            }
            ResolvedSubject::Collection { .. } => (Verdict::Unknown, Vec::new()),
        };
        Some(Judgement { state: verdict.state(), verdict: verdict.as_str(), codes, ownership_proofs: 0, until: None })
    }

    fn cells_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Vec<Cell> {
        match ResolvedSubject::of(subject, contexts) {
            Some(ResolvedSubject::Pool(subject)) => present::cells(&rule(&subject, contexts)),
            Some(ResolvedSubject::Collection { .. }) | None => Vec::new(),
        }
    }

    fn explain_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Explanation> {
        Some(match ResolvedSubject::of(subject, contexts)? {
            ResolvedSubject::Pool(subject) => explain::explain(&subject, &rule(&subject, contexts)),
            ResolvedSubject::Collection { resource, gap } => {
                explain::explain_collection(subject.cluster.as_str(), &resource, &gap)
            }
        })
    }
}

impl Check for MachineSetCapacity {
    fn name(&self) -> CheckName {
        NAME
    }

    fn clouds(&self) -> &'static [Provider] {
        &[Provider::Aws]
    }

    fn description(&self) -> CheckDescription {
        present::DESCRIPTION
    }

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(view, &self.settings)
    }

    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        ContextCache::new(view, &self.settings)
            .of(cluster)
            .map_or_else(BTreeSet::new, |context| subjects::list(&context))
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view, &self.settings)
    }

    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement> {
        self.judge_among(subject, &ContextCache::new(view, &self.settings))
    }

    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation> {
        self.explain_among(subject, &ContextCache::new(view, &self.settings))
    }

    fn judge_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Judgement>> {
        let contexts = ContextCache::new(view, &self.settings);
        subjects.iter().map(|subject| self.judge_among(subject, &contexts)).collect()
    }

    fn explain_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Explanation>> {
        let contexts = ContextCache::new(view, &self.settings);
        subjects.iter().map(|subject| self.explain_among(subject, &contexts)).collect()
    }

    fn cells(&self, subject: &SubjectId, view: View<'_>) -> Vec<Cell> {
        self.cells_among(subject, &ContextCache::new(view, &self.settings))
    }

    fn cells_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Vec<Cell>> {
        let contexts = ContextCache::new(view, &self.settings);
        subjects.iter().map(|subject| self.cells_among(subject, &contexts)).collect()
    }

    fn panels(&self, subject: &SubjectId, view: View<'_>) -> Vec<Panel> {
        let contexts = ContextCache::new(view, &self.settings);
        match ResolvedSubject::of(subject, &contexts) {
            Some(ResolvedSubject::Pool(subject)) => present::panels(&subject, &rule(&subject, &contexts)),
            Some(ResolvedSubject::Collection { .. }) | None => Vec::new(),
        }
    }
}
