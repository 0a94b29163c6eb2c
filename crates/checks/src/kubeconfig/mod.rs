//! Kubeconfigs: which still work, for how long, and whether they lead where their clusters are.
//!
//! Judged by what is in them and never by when a Secret was last written: a copy that is a minute old may hold a token
//! that ended an hour ago. What can be repaired by copying a better source is; a source that is missing, broken or
//! another cluster's never replaces what is there.
//!
//! Elsewhere: writing (`engine`), connecting with a kubeconfig (`fleet::kubeconfig`).

mod addresses;
mod advice;
pub mod content;
mod context;
mod creation;
mod expected;
mod explain;
mod facts;
mod freshness;
mod interests;
mod judge;
mod messages;
mod names;
mod outline;
mod own;
mod owner;
mod owner_repair;
mod permissions;
mod planes;
mod present;
mod probe;
mod relations;
mod remedy;
mod ruling;
mod settings;
mod sides;
mod source;
mod stages;
mod subjects;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod touched;
mod verdict;

use std::collections::BTreeSet;

use jiff::Timestamp;

use addresses::FleetAddresses;
use context::CheckContext;
pub use freshness::{Assessment, HalfLife, Renewal, Standing, assess};
use ruling::Ruling;
pub use settings::{ENTRY, Settings};
use subjects::ResolvedSubject;

use crate::contract::{Probe, Touched};
use crate::evidence::incomplete;
use crate::outline::Outline;
use crate::permissions::{OwnerMark, Permission};
use crate::present::{Cell, CheckDescription, Panel};
use crate::relations::Relations;
use crate::rules::{CheckRules, ContextCache, Ruled};
use trueup_core::engine::{ActionDraft, CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Interest, View};

pub const NAME: CheckName = CheckName("kubeconfig");

/// The check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kubeconfigs {
    settings: Settings,
}

impl Kubeconfigs {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

impl CheckRules for Kubeconfigs {
    type Fleet<'a> = FleetAddresses<'a>;
    type Context<'a> = CheckContext<'a>;
    type Subject<'a> = ResolvedSubject<'a>;
    type Ruling<'a> = Ruling<'a>;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = present::DESCRIPTION;

    fn permissions(&self) -> Vec<Permission> {
        permissions::permissions()
    }

    fn owner_marks(&self) -> Vec<OwnerMark> {
        permissions::owner_marks()
    }

    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
        interests::of(cluster, view)
    }

    /// What is needed of a cluster follows from that cluster alone.
    fn interested(&self, changes: &ChangeSet, _: View<'_>) -> BTreeSet<ClusterName> {
        changes.iter().map(|change| change.cluster().clone()).collect()
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    /// A kubeconfig's deadline is its own: it includes that of its source.
    fn woken(&self, subject: &SubjectId, _: View<'_>) -> Touched {
        Touched { subjects: [subject.clone()].into(), ..Touched::default() }
    }

    fn fleet<'a>(&'a self, view: View<'a>) -> FleetAddresses<'a> {
        FleetAddresses::new(view)
    }

    fn context<'a>(
        &'a self,
        cluster: &ClusterName,
        view: View<'a>,
        _: &FleetAddresses<'a>,
    ) -> Option<CheckContext<'a>> {
        CheckContext::of(view, cluster).map(|context| context.with_settings(self.settings))
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        contexts.of(cluster).map_or_else(BTreeSet::new, |context| subjects::list(&context))
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<ResolvedSubject<'a>> {
        ResolvedSubject::of(id, contexts)
    }

    fn rule<'a>(
        &'a self,
        _: &SubjectId,
        subject: &ResolvedSubject<'a>,
        contexts: &ContextCache<'a, Self>,
    ) -> Option<Ruling<'a>> {
        Some(match subject {
            ResolvedSubject::Kubeconfig(subject) => judge::rule(subject, contexts),
            ResolvedSubject::Own(own) => own.rule(contexts.view.now),
            ResolvedSubject::Collection { gap, .. } => Ruling::of_collection(gap.clone()),
        })
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let (verdict, codes) = (ruled.ruling.verdict(), ruled.ruling.codes());
        let until = ruled.ruling.until;
        Judgement { state: verdict.state(), verdict: verdict.as_str(), codes, ownership_proofs: 0, until }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        let now = ruled.contexts.view.now;
        match &ruled.subject {
            ResolvedSubject::Kubeconfig(subject) => explain::explain(subject, &ruled.ruling, now),
            ResolvedSubject::Own(own) => own.explain(&ruled.ruling, now),
            ResolvedSubject::Collection { resource, gap } => {
                incomplete("kubeconfigs", ruled.id.cluster.as_str(), resource, gap)
            }
        }
    }

    fn remedy(ruled: &Ruled<'_, '_, Self>) -> Vec<ActionDraft> {
        match &ruled.subject {
            ResolvedSubject::Kubeconfig(subject) => remedy::actions(subject, &ruled.ruling),
            ResolvedSubject::Own(_) | ResolvedSubject::Collection { .. } => Vec::new(),
        }
    }

    fn cells(ruled: &Ruled<'_, '_, Self>) -> Vec<Cell> {
        match &ruled.subject {
            ResolvedSubject::Kubeconfig(subject) => present::cells(subject, &ruled.ruling),
            ResolvedSubject::Own(own) => present::cells_of(own.pair(), &ruled.ruling),
            ResolvedSubject::Collection { .. } => Vec::new(),
        }
    }

    fn relations(ruled: &Ruled<'_, '_, Self>) -> Relations {
        match &ruled.subject {
            ResolvedSubject::Kubeconfig(subject) => relations::of(subject, &ruled.ruling),
            ResolvedSubject::Own(_) | ResolvedSubject::Collection { .. } => Relations::default(),
        }
    }

    fn outline(ruled: &Ruled<'_, '_, Self>) -> Outline {
        outline::of(&ruled.subject, &ruled.ruling)
    }

    fn began(ruled: &Ruled<'_, '_, Self>) -> Option<Timestamp> {
        outline::began(&ruled.subject, &ruled.ruling)
    }

    fn panels(ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        let now = ruled.contexts.view.now;
        match &ruled.subject {
            ResolvedSubject::Kubeconfig(subject) => present::panels(subject, &ruled.ruling, now),
            ResolvedSubject::Own(own) => {
                own.pair().map(|pair| present::credential_panel(pair, now)).into_iter().collect()
            }
            ResolvedSubject::Collection { .. } => Vec::new(),
        }
    }

    fn probe(ruled: &Ruled<'_, '_, Self>) -> Option<Probe> {
        match &ruled.subject {
            ResolvedSubject::Kubeconfig(subject) => probe::find(subject, &ruled.ruling),
            // The fleet connects with it anyway, which shows whether it works.
            ResolvedSubject::Own(_) | ResolvedSubject::Collection { .. } => None,
        }
    }
}
