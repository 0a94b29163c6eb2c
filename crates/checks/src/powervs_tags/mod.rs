//! PowerVS tags: who owns what in the IBM Cloud accounts, proven by tags, and a teardown that takes nothing that isn't ours.
//!
//! A status is lost when its object is deleted, moved or restored; tags stay with the resource. Two of them, the name and the
//! uid of the IBMPowerVSCluster, make a resource that cluster's. A name that matches proves nothing.
//!
//! Elsewhere: asking the cloud (`cloud::ibm`), writing to it (`engine`).

mod account;
mod advice;
mod claimant;
mod connection;
mod context;
mod expected;
mod explain;
mod facts;
mod interests;
mod judge;
mod kind;
mod messages;
mod names;
mod order;
mod outline;
mod permissions;
mod present;
mod proofs;
mod provenance;
mod remedy;
mod ruling;
mod settings;
mod sides;
mod subjects;
mod tag_form;
mod tags;
mod teardown;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod touched;
mod tree;
mod users;
mod verdict;

use std::collections::BTreeSet;

use context::LazyContext;
use ruling::Ruling;
pub use settings::{ENTRY, Settings};
use subjects::ResolvedSubject;

use crate::contract::Touched;
use crate::outline::Outline;
use crate::permissions::Permission;
use crate::present::{Cell, CheckDescription, Panel};
use crate::rules::{CheckRules, ContextCache, Ruled};
use trueup_core::engine::{ActionDraft, CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Interest, Provider, View};

pub const NAME: CheckName = CheckName("powervs-tags");

/// The check.
#[derive(Debug, Clone, Default)]
pub struct PowerVsTags {
    settings: Settings,
}

impl PowerVsTags {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

/// Accounts are used from several clusters, so that all judgements share one context.
impl CheckRules for PowerVsTags {
    type Fleet<'a> = LazyContext<'a>;
    type Context<'a> = ();
    type Subject<'a> = ResolvedSubject;
    type Ruling<'a> = Ruling;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = present::DESCRIPTION;
    const CLOUDS: &'static [Provider] = &[Provider::Ibm];

    fn permissions(&self) -> Vec<Permission> {
        permissions::permissions()
    }

    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
        interests::of(cluster, view)
    }

    fn interested(&self, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
        interests::interested(touched::find(changes, view), changes, view)
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    fn parent(&self, subject: &SubjectId, view: View<'_>) -> Option<SubjectId> {
        tree::parent(subject, view)
    }

    fn fleet<'a>(&'a self, view: View<'a>) -> LazyContext<'a> {
        LazyContext::new(view, &self.settings)
    }

    fn context<'a>(&'a self, _: &ClusterName, _: View<'a>, _: &LazyContext<'a>) -> Option<()> {
        Some(())
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        if !contexts.fleet.may_have_subjects(cluster) {
            return BTreeSet::new();
        }
        let (name, cloud) = (String::new(), None);
        let first = SubjectId {
            domain: NAME,
            cluster: cluster.clone(),
            api_version: "",
            kind: "",
            namespace: None,
            name,
            cloud,
        };
        let subjects = contexts.fleet.subjects.range(first..).map(|(id, _)| id);
        subjects.take_while(|id| id.cluster == *cluster).cloned().collect()
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<ResolvedSubject> {
        contexts.fleet.subjects.get(id).cloned()
    }

    fn rule<'a>(
        &'a self,
        _: &SubjectId,
        subject: &ResolvedSubject,
        contexts: &ContextCache<'a, Self>,
    ) -> Option<Ruling> {
        Some(judge::rule(&contexts.fleet, subject))
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let ruling = &ruled.ruling;
        Judgement {
            state: ruling.state,
            verdict: ruling.verdict.as_str(),
            codes: ruling.codes.iter().map(|code| code.as_str()).collect(),
            ownership_proofs: proofs::count(&ruled.contexts.fleet, &ruled.subject, ruling),
            until: None,
        }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        explain::explain(&ruled.contexts.fleet, &ruled.subject, &ruled.ruling)
    }

    fn remedy(ruled: &Ruled<'_, '_, Self>) -> Vec<ActionDraft> {
        remedy::actions(&ruled.contexts.fleet, &ruled.subject, &ruled.ruling)
    }

    fn cells(ruled: &Ruled<'_, '_, Self>) -> Vec<Cell> {
        present::cells(&ruled.contexts.fleet, &ruled.subject, &ruled.ruling)
    }

    fn outline(ruled: &Ruled<'_, '_, Self>) -> Outline {
        outline::of(&ruled.contexts.fleet, &ruled.subject, &ruled.ruling)
    }

    fn panels(ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        present::panels(&ruled.contexts.fleet, &ruled.subject)
    }

    fn answer(ruled: &Ruled<'_, '_, Self>, form: &str, typed: &str) -> Vec<String> {
        if form != tag_form::FORM.name {
            return Vec::new();
        }
        tag_form::answer(&ruled.contexts.fleet, &ruled.subject, typed)
    }
}
