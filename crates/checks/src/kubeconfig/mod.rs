//! Kubeconfigs: which still work, for how long, and whether they lead where their clusters are.
//!
//! Judged by what is in them and never by when a Secret was last written: a copy that is a minute old may hold a token
//! that ended an hour ago. What can be repaired by copying a better source is; a source that is missing, broken or
//! another cluster's never replaces what is there.
//!
//! Not here: writing (`engine`), connecting with a kubeconfig (`fleet::kubeconfig`).

pub mod content;
mod expected;
mod explain;
mod facts;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod freshness;
mod interests;
mod judge;
mod names;
mod own;
mod owner;
mod present;
mod probe;
mod remedy;
mod scene;
mod settings;
mod source;
mod subjects;
#[cfg(test)]
mod tests;
mod touched;
mod verdict;
mod words;

use std::collections::BTreeSet;

pub use freshness::{Assessment, HalfLife, Renewal, Standing, assess};
use judge::rule;
use scene::{Site, Sites};
pub use settings::ENTRY;
use subjects::Place;
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
    fn judge_among<'a>(&self, subject: &SubjectId, sites: &Sites<'a>) -> Option<Judgement> {
        let (verdict, codes, until) = match Place::of(subject, sites)? {
            Place::Kubeconfig(place) => {
                let ruling = rule(&place, sites);
                (ruling.verdict(), ruling.words(), ruling.until)
            }
            Place::Own(own) => {
                let ruling = own.rule(sites.view.now);
                (ruling.verdict(), ruling.words(), ruling.until)
            }
            Place::Collection { .. } => (Verdict::Unknown, Vec::new(), None),
        };
        Some(Judgement { state: verdict.state(), verdict: verdict.as_str(), codes, ownership_proofs: 0, until })
    }

    fn cells_among(&self, subject: &SubjectId, sites: &Sites<'_>) -> Vec<Cell> {
        match Place::of(subject, sites) {
            Some(Place::Kubeconfig(place)) => present::cells(&place, &rule(&place, sites)),
            Some(Place::Own(own)) => present::cells_of(own.pair(), &own.rule(sites.view.now)),
            Some(Place::Collection { .. }) | None => Vec::new(),
        }
    }

    fn explain_among(&self, subject: &SubjectId, sites: &Sites<'_>) -> Option<Explanation> {
        Some(match Place::of(subject, sites)? {
            Place::Kubeconfig(place) => explain::explain(&place, &rule(&place, sites), sites.view.now),
            Place::Own(own) => own.explain(sites.view.now),
            Place::Collection { resource, gap } => {
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
        present::INTRODUCTION
    }

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(view)
    }

    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        Site::of(view, cluster).map_or_else(BTreeSet::new, |site| subjects::list(&site))
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    /// The time of one kubeconfig is its own: what it takes from its source it knows itself.
    fn woken(&self, subject: &SubjectId, _: View<'_>) -> Touched {
        Touched { subjects: [subject.clone()].into(), clusters: BTreeSet::new() }
    }

    fn judge(&self, subject: &SubjectId, view: View<'_>) -> Option<Judgement> {
        self.judge_among(subject, &Sites::new(view))
    }

    fn explain(&self, subject: &SubjectId, view: View<'_>) -> Option<Explanation> {
        self.explain_among(subject, &Sites::new(view))
    }

    fn judge_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Judgement>> {
        let sites = Sites::new(view);
        subjects.iter().map(|subject| self.judge_among(subject, &sites)).collect()
    }

    fn explain_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Option<Explanation>> {
        let sites = Sites::new(view);
        subjects.iter().map(|subject| self.explain_among(subject, &sites)).collect()
    }

    fn cells(&self, subject: &SubjectId, view: View<'_>) -> Vec<Cell> {
        self.cells_among(subject, &Sites::new(view))
    }

    fn cells_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Vec<Cell>> {
        let sites = Sites::new(view);
        subjects.iter().map(|subject| self.cells_among(subject, &sites)).collect()
    }

    fn probe(&self, subject: &SubjectId, view: View<'_>) -> Option<Probe> {
        let sites = Sites::new(view);
        match Place::of(subject, &sites)? {
            Place::Kubeconfig(place) => probe::find(&place, &rule(&place, &sites)),
            // Whether it works is seen by connecting with it, which the fleet does anyway.
            Place::Own(_) | Place::Collection { .. } => None,
        }
    }

    fn panels(&self, subject: &SubjectId, view: View<'_>) -> Vec<Panel> {
        let sites = Sites::new(view);
        match Place::of(subject, &sites) {
            Some(Place::Kubeconfig(place)) => present::panels(&place, &rule(&place, &sites), view.now),
            Some(Place::Own(own)) => {
                own.pair().map(|pair| present::credential_panel(pair, view.now)).into_iter().collect()
            }
            Some(Place::Collection { .. }) | None => Vec::new(),
        }
    }
}
