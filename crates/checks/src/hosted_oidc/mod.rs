//! Orphaned OIDC copies in HyperShift guests.
//!
//! HyperShift copies an OIDC provider's CA and client secrets into a guest's `openshift-config` and never removes them.
//! This check compares what the HostedControlPlane expects there with what exists, and calls a copy an orphan only when
//! nothing refers to it, nothing still uses it, and two independent marks say that HyperShift made it.
//!
//! Elsewhere: deleting. What is proposed is data for the plan.

mod context;
mod explain;
mod facts;
mod interests;
mod judge;
mod messages;
mod names;
mod ownership;
mod present;
mod refs;
mod remedy;
mod ruling;
mod settings;
mod subjects;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod touched;
mod verdict;

use std::collections::BTreeSet;

use context::{CheckContext, Guests};
use names::CopyKind;
use ruling::Ruling;
pub use settings::{Copies, ENTRY, Settings};
use subjects::{ResolvedSubject, is_orphan};

use crate::contract::Touched;
use crate::present::CheckDescription;
use crate::rules::{CheckRules, ContextCache, Ruled};
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Interest, View};

pub const NAME: CheckName = CheckName("hosted-oidc");

/// The check.
#[derive(Debug, Default)]
pub struct HostedOidc {
    settings: Settings,
}

impl HostedOidc {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

impl CheckRules for HostedOidc {
    type Fleet<'a> = Guests<'a>;
    type Context<'a> = CheckContext<'a>;
    type Subject<'a> = ResolvedSubject<'a>;
    type Ruling<'a> = Ruling;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = present::DESCRIPTION;

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(view)
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
            ResolvedSubject::Copy { context, kind } => {
                judge::rule(context, *kind, &id.name, &self.settings.name_patterns)
            }
            ResolvedSubject::Collection { context, kind } => Some(Ruling::unknown(context.copies(*kind).gap()?)),
            ResolvedSubject::ConsoleMirror { context } => {
                context.console_mirror(&id.name)?;
                is_orphan(context, CopyKind::ConfigMap, &id.name).then(Ruling::leftover)
            }
            ResolvedSubject::ControlPlaneNamespace { context, kind } => {
                context.source(*kind, &id.name).seen?;
                Some(Ruling::leftover())
            }
        }
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let ruling = &ruled.ruling;
        let ownership_proofs = match &ruled.subject {
            ResolvedSubject::Copy { context, kind } => context
                .copies(*kind)
                .get(&context.copy_key(&ruled.id.name))
                .present()
                .map_or(0, |copy| ownership::marks(context, *kind, &ruled.id.name, copy).len()),
            ResolvedSubject::Collection { .. }
            | ResolvedSubject::ConsoleMirror { .. }
            | ResolvedSubject::ControlPlaneNamespace { .. } => 0,
        };
        Judgement {
            state: ruling.verdict.state(),
            verdict: ruling.verdict.as_str(),
            codes: ruling.codes.iter().map(|code| code.as_str()).collect(),
            ownership_proofs: u8::try_from(ownership_proofs).unwrap_or(u8::MAX),
            until: ruling.until,
        }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        explain::explain(&ruled.contexts.check.settings, ruled.id, &ruled.subject, &ruled.ruling)
    }
}
