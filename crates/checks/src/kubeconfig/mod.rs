//! Kubeconfigs: which still work, for how long, and whether they lead where their clusters are.
//!
//! Judged by what is in them and never by when a Secret was last written: a copy that is a minute old may hold a token
//! that ended an hour ago. What can be repaired by copying a better source is; a source that is missing, broken or
//! another cluster's never replaces what is there.
//!
//! Not here: writing (`engine`), connecting with a kubeconfig (`fleet::kubeconfig`).

pub mod content;
mod context;
mod expected;
mod explain;
mod facts;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod freshness;
mod interests;
mod judge;
mod messages;
mod names;
mod own;
mod owner;
mod present;
mod probe;
mod remedy;
mod settings;
mod source;
mod subjects;
#[cfg(test)]
mod tests;
mod touched;
mod verdict;

use std::collections::BTreeSet;

use context::{CheckContext, ContextCache};
pub use freshness::{Assessment, HalfLife, Renewal, Standing, assess};
use judge::rule;
pub use settings::ENTRY;
use subjects::ResolvedSubject;
use verdict::Verdict;

use super::contract::{Check, Probe, Touched};
use super::present::{Cell, CheckDescription, Panel};
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Interest, View};

pub const NAME: CheckName = CheckName("kubeconfig");

/// The check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kubeconfigs;

impl Kubeconfigs {
    fn judge_among<'a>(&self, subject: &SubjectId, contexts: &ContextCache<'a>) -> Option<Judgement> {
        let (verdict, codes, until) = match ResolvedSubject::of(subject, contexts)? {
            ResolvedSubject::Kubeconfig(place) => {
                let ruling = rule(&place, contexts);
                (ruling.verdict(), ruling.codes(), ruling.until)
            }
            ResolvedSubject::Own(own) => {
                let ruling = own.rule(contexts.view.now);
                (ruling.verdict(), ruling.codes(), ruling.until)
            }
            ResolvedSubject::Collection { .. } => (Verdict::Unknown, Vec::new(), None),
        };
        Some(Judgement { state: verdict.state(), verdict: verdict.as_str(), codes, ownership_proofs: 0, until })
    }

    fn cells_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Vec<Cell> {
        match ResolvedSubject::of(subject, contexts) {
            Some(ResolvedSubject::Kubeconfig(place)) => present::cells(&place, &rule(&place, contexts)),
            Some(ResolvedSubject::Own(own)) => present::cells_of(own.pair(), &own.rule(contexts.view.now)),
            Some(ResolvedSubject::Collection { .. }) | None => Vec::new(),
        }
    }

    fn explain_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Explanation> {
        Some(match ResolvedSubject::of(subject, contexts)? {
            ResolvedSubject::Kubeconfig(place) => explain::explain(&place, &rule(&place, contexts), contexts.view.now),
            ResolvedSubject::Own(own) => own.explain(contexts.view.now),
            ResolvedSubject::Collection { resource, gap } => {
                explain::explain_collection(subject.cluster.as_str(), &resource, &gap)
            }
        })
    }
}

impl Check for Kubeconfigs {
    fn name(&self) -> CheckName {
        NAME
    }

    fn description(&self) -> CheckDescription {
        present::DESCRIPTION
    }

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(view)
    }

    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        CheckContext::of(view, cluster).map_or_else(BTreeSet::new, |context| subjects::list(&context))
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    /// The time of one kubeconfig is its own: what it takes from its source it knows itself.
    fn woken(&self, subject: &SubjectId, _: View<'_>) -> Touched {
        Touched { subjects: [subject.clone()].into(), clusters: BTreeSet::new() }
    }

    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement> {
        self.judge_among(subject, &ContextCache::new(view))
    }

    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation> {
        self.explain_among(subject, &ContextCache::new(view))
    }

    fn judge_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Judgement>> {
        let contexts = ContextCache::new(view);
        subjects.iter().map(|subject| self.judge_among(subject, &contexts)).collect()
    }

    fn explain_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Explanation>> {
        let contexts = ContextCache::new(view);
        subjects.iter().map(|subject| self.explain_among(subject, &contexts)).collect()
    }

    fn cells(&self, subject: &SubjectId, view: View<'_>) -> Vec<Cell> {
        self.cells_among(subject, &ContextCache::new(view))
    }

    fn cells_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Vec<Cell>> {
        let contexts = ContextCache::new(view);
        subjects.iter().map(|subject| self.cells_among(subject, &contexts)).collect()
    }

    fn probe(&self, subject: &SubjectId, view: View<'_>) -> Option<Probe> {
        let contexts = ContextCache::new(view);
        match ResolvedSubject::of(subject, &contexts)? {
            ResolvedSubject::Kubeconfig(place) => probe::find(&place, &rule(&place, &contexts)),
            // Whether it works is seen by connecting with it, which the fleet does anyway.
            ResolvedSubject::Own(_) | ResolvedSubject::Collection { .. } => None,
        }
    }

    fn panels(&self, subject: &SubjectId, view: View<'_>) -> Vec<Panel> {
        let contexts = ContextCache::new(view);
        match ResolvedSubject::of(subject, &contexts) {
            Some(ResolvedSubject::Kubeconfig(place)) => present::panels(&place, &rule(&place, &contexts), view.now),
            Some(ResolvedSubject::Own(own)) => {
                own.pair().map(|pair| present::credential_panel(pair, view.now)).into_iter().collect()
            }
            Some(ResolvedSubject::Collection { .. }) | None => Vec::new(),
        }
    }
}
