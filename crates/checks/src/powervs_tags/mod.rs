//! PowerVS tags: who owns what in the IBM Cloud accounts, proven by tags, and a teardown that takes nothing that isn't ours.
//!
//! A status is lost when its object is deleted, moved or restored; tags stay with the resource. Two of them, the name and the
//! uid of the IBMPowerVSCluster, make a resource that cluster's. A name that matches proves nothing.
//!
//! Not here: asking the cloud (`cloud::ibm`), writing to it (`engine`).

mod account;
mod context;
mod explain;
mod facts;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod interests;
mod judge;
mod kind;
mod messages;
mod names;
mod present;
mod proofs;
mod remedy;
mod settings;
mod subjects;
mod tag_form;
mod tags;
mod teardown;
#[cfg(test)]
mod tests;
mod touched;
mod tree;
mod users;
mod verdict;

use std::collections::BTreeSet;

use context::CheckContext;
use judge::rule;
pub use settings::{ENTRY, Settings};

use super::contract::{Check, Touched};
use super::present::{Cell, CheckDescription, Panel};
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Interest, Provider, View};

pub const NAME: CheckName = CheckName("powervs-tags");

/// The check.
#[derive(Debug, Clone, Copy, Default)]
pub struct PowerVsTags {
    settings: Settings,
}

impl PowerVsTags {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    fn judge_in(&self, subject: &SubjectId, context: &CheckContext<'_>) -> Option<Judgement> {
        let place = context.subjects.get(subject)?;
        let ruling = rule(context, place);
        Some(Judgement {
            state: ruling.verdict.state(),
            verdict: ruling.verdict.as_str(),
            codes: ruling.codes.iter().map(|code| code.as_str()).collect(),
            ownership_proofs: proofs::count(context, place, &ruling),
            until: None,
        })
    }

    fn explain_in(&self, subject: &SubjectId, context: &CheckContext<'_>) -> Option<Explanation> {
        let place = context.subjects.get(subject)?;
        Some(explain::explain(self.settings, context, place, &rule(context, place)))
    }

    fn cells_in(&self, subject: &SubjectId, context: &CheckContext<'_>) -> Vec<Cell> {
        context.subjects.get(subject).map_or_else(Vec::new, |place| present::cells(context, place))
    }
}

impl Check for PowerVsTags {
    fn name(&self) -> CheckName {
        NAME
    }

    fn clouds(&self) -> &'static [Provider] {
        &[Provider::Ibm]
    }

    fn description(&self) -> CheckDescription {
        present::DESCRIPTION
    }

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(view)
    }

    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        self.subjects(view).into_iter().filter(|subject| subject.cluster == *cluster).collect()
    }

    fn subjects(&self, view: View<'_>) -> BTreeSet<SubjectId> {
        CheckContext::new(view).subjects.into_keys().collect()
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement> {
        self.judge_in(subject, &CheckContext::new(view))
    }

    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation> {
        self.explain_in(subject, &CheckContext::new(view))
    }

    fn judge_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Judgement>> {
        let context = CheckContext::new(view);
        subjects.iter().map(|subject| self.judge_in(subject, &context)).collect()
    }

    fn explain_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Explanation>> {
        let context = CheckContext::new(view);
        subjects.iter().map(|subject| self.explain_in(subject, &context)).collect()
    }

    fn cells(&self, subject: &SubjectId, view: View<'_>) -> Vec<Cell> {
        self.cells_in(subject, &CheckContext::new(view))
    }

    fn cells_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Vec<Cell>> {
        let context = CheckContext::new(view);
        subjects.iter().map(|subject| self.cells_in(subject, &context)).collect()
    }

    fn parent(&self, subject: &SubjectId, view: View<'_>) -> Option<SubjectId> {
        tree::parent(subject, view)
    }

    fn panels(&self, subject: &SubjectId, view: View<'_>) -> Vec<Panel> {
        let context = CheckContext::new(view);
        context.subjects.get(subject).map_or_else(Vec::new, |place| present::panels(&context, place))
    }

    fn answer(&self, form: &str, typed: &str, subject: &SubjectId, view: View<'_>) -> Vec<String> {
        if form != tag_form::FORM.name {
            return Vec::new();
        }
        let context = CheckContext::new(view);
        let place = context.subjects.get(subject);
        place.map_or_else(Vec::new, |place| tag_form::answer(self.settings, &context, place, typed))
    }
}
