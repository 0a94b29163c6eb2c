//! Orphaned OIDC copies in HyperShift guests.
//!
//! HyperShift copies an OIDC provider's CA and client secrets into a guest's `openshift-config` and never removes them.
//! This check compares what the HostedControlPlane expects there with what exists, and calls a copy an orphan only when
//! nothing refers to it, nothing still uses it, and two independent marks say that HyperShift made it.
//!
//! Elsewhere: deleting. What is proposed is data for the plan.

mod conditions;
mod context;
mod explain;
mod facts;
mod hosted_cluster;
mod interests;
mod judge;
mod leftovers;
mod messages;
mod names;
mod outline;
mod ownership;
mod permissions;
mod present;
mod refs;
mod relations;
mod remedy;
mod ruling;
mod settings;
mod sides;
mod subjects;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod touched;
mod verdict;

use std::collections::BTreeSet;

use jiff::Timestamp;

use context::{CheckContext, Guests};
pub use facts::AuthBlock;
pub use hosted_cluster::{HostedContext, check_new};
use ruling::Ruling;
pub use settings::{Copies, ENTRY, Settings};
use subjects::ResolvedSubject;

use crate::contract::Touched;
use crate::outline::Outline;
use crate::permissions::{OwnerMark, Permission};
use crate::present::{CheckDescription, Panel};
use crate::relations::{Relations, of_evidence};
use crate::rules::{CheckRules, ContextCache, Ruled};
use crate::workload::Workload;
use trueup_core::engine::{ActionDraft, CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Interest, View};

pub const NAME: CheckName = CheckName("hosted-oidc");

/// The check.
#[derive(Debug, Default)]
pub struct HostedOidc {
    settings: Settings,
    scope: Scope,
}

/// What is read beside what findings need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Scope {
    #[default]
    Findings,
    /// The CAs and client secrets that a HostedCluster's authentication may name, whatever it names now.
    Candidates,
}

impl HostedOidc {
    pub fn new(settings: Settings) -> Self {
        Self { settings, scope: Scope::Findings }
    }

    /// Reads what a candidate for a HostedCluster's authentication is judged by, too.
    pub fn for_candidates() -> Self {
        Self { settings: Settings::default(), scope: Scope::Candidates }
    }
}

impl CheckRules for HostedOidc {
    type Fleet<'a> = Guests<'a>;
    type Context<'a> = CheckContext<'a>;
    type Subject<'a> = ResolvedSubject<'a>;
    type Ruling<'a> = Ruling;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = present::DESCRIPTION;

    fn permissions(&self) -> Vec<Permission> {
        permissions::permissions()
    }

    fn owner_marks(&self) -> Vec<OwnerMark> {
        permissions::owner_marks()
    }

    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
        interests::of(self, cluster, view)
    }

    fn interested(&self, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
        interests::interested(changes, view)
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    fn fleet<'a>(&'a self, view: View<'a>) -> Guests<'a> {
        Guests::new(view)
    }

    fn context<'a>(&'a self, cluster: &ClusterName, view: View<'a>, _: &Guests<'a>) -> Option<CheckContext<'a>> {
        CheckContext::of(view, cluster)
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        subjects::list(cluster, contexts)
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<ResolvedSubject<'a>> {
        ResolvedSubject::of(id, contexts)
    }

    fn rule<'a>(&'a self, id: &SubjectId, subject: &ResolvedSubject<'a>, _: &ContextCache<'a, Self>) -> Option<Ruling> {
        match subject {
            ResolvedSubject::Copy { context, kind } => judge::rule(context, *kind, &id.name, &self.settings),
            ResolvedSubject::Collection { context, kind } => Some(Ruling::unknown(context.copies(*kind).gap()?)),
            ResolvedSubject::ConsoleMirror { context } => leftovers::rule_mirror(context, &id.name, &self.settings),
            ResolvedSubject::ControlPlaneNamespace { context, kind } => {
                leftovers::rule_source(context, *kind, &id.name, &self.settings)
            }
            ResolvedSubject::HostedCluster { context } => Some(hosted_cluster::rule(context)),
        }
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let ruling = &ruled.ruling;
        let ownership_proofs = ruled.subject.proofs(&ruled.id.name).len();
        Judgement {
            state: ruling.state(),
            verdict: ruling.verdict.as_str(),
            codes: ruling.words(),
            ownership_proofs: u8::try_from(ownership_proofs).unwrap_or(u8::MAX),
            until: ruling.until,
        }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        explain::explain(&ruled.contexts.check.settings, ruled.id, &ruled.subject, &ruled.ruling)
    }

    fn remedy(ruled: &Ruled<'_, '_, Self>) -> Vec<ActionDraft> {
        remedy::of_subject(&ruled.contexts.check.settings, &ruled.id.name, &ruled.subject, &ruled.ruling)
    }

    fn relations(ruled: &Ruled<'_, '_, Self>) -> Relations {
        match &ruled.subject {
            ResolvedSubject::Copy { context, kind } => relations::of_copy(context, *kind, &ruled.id.name),
            ResolvedSubject::Collection { .. }
            | ResolvedSubject::ConsoleMirror { .. }
            | ResolvedSubject::ControlPlaneNamespace { .. }
            | ResolvedSubject::HostedCluster { .. } => {
                of_evidence(ruled.id, &Self::explanation(ruled).evidence, ruled.contexts.view)
            }
        }
    }

    fn operator(ruled: &Ruled<'_, '_, Self>) -> Option<Workload> {
        present::operator(&ruled.subject)
    }

    fn outline(ruled: &Ruled<'_, '_, Self>) -> Outline {
        outline::of(&ruled.contexts.check.settings, &ruled.id.name, &ruled.subject, &ruled.ruling)
    }

    fn began(ruled: &Ruled<'_, '_, Self>) -> Option<Timestamp> {
        outline::began(&ruled.subject, &ruled.ruling)
    }

    fn panels(ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        present::panels(&ruled.subject, &ruled.ruling)
    }
}
