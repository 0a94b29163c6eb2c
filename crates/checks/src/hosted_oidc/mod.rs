//! Orphaned OIDC copies in HyperShift guests.
//!
//! HyperShift copies an OIDC provider's CA and client secrets into a guest's `openshift-config` and never removes them.
//! This check lays what the HostedControlPlane expects there beside what is there, and condemns a copy only when
//! nothing refers to it, nothing still uses it, and two independent marks say that HyperShift made it.
//!
//! Not here: deleting. What is proposed is data for the plan.

mod context;
mod explain;
mod facts;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod interests;
mod judge;
mod names;
mod ownership;
mod refs;
mod remedy;
mod settings;
mod subjects;
#[cfg(test)]
mod tests;
mod touched;
mod verdict;

use std::collections::BTreeSet;

use context::ContextCache;
use judge::{Ruling, rule};
use names::CopyKind;
pub use settings::{Copies, ENTRY, Settings};
use subjects::{ResolvedSubject, is_orphan};

use super::contract::{Check, Touched};
use super::present::CheckDescription;
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

    /// The ruling on a subject, with the place it is about.
    fn ruling<'a>(&self, subject: &SubjectId, contexts: &ContextCache<'a>) -> Option<(ResolvedSubject<'a>, Ruling)> {
        let place = ResolvedSubject::of(subject, contexts)?;
        let ruling = match &place {
            ResolvedSubject::Copy { context, kind } => {
                rule(context, *kind, &subject.name, &self.settings.name_patterns)?
            }
            ResolvedSubject::Collection { context, kind } => Ruling::unknown(context.copies(*kind).gap()?),
            ResolvedSubject::ConsoleMirror { context } => {
                context.console_mirror(&subject.name)?;
                is_orphan(context, CopyKind::ConfigMap, &subject.name).then(Ruling::leftover)?
            }
            ResolvedSubject::ControlPlaneNamespace { context, kind } => {
                context.source(*kind, &subject.name).seen?;
                Ruling::leftover()
            }
        };
        Some((place, ruling))
    }

    fn judge_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Judgement> {
        let (place, ruling) = self.ruling(subject, contexts)?;
        let ownership_proofs = match &place {
            ResolvedSubject::Copy { context, kind } => context
                .copies(*kind)
                .get(&context.copy_key(&subject.name))
                .present()
                .map_or(0, |copy| ownership::marks(context, *kind, &subject.name, copy).len()),
            ResolvedSubject::Collection { .. }
            | ResolvedSubject::ConsoleMirror { .. }
            | ResolvedSubject::ControlPlaneNamespace { .. } => 0,
        };
        Some(Judgement {
            state: ruling.verdict.state(),
            verdict: ruling.verdict.as_str(),
            codes: ruling.codes.iter().map(|code| code.as_str()).collect(),
            ownership_proofs: u8::try_from(ownership_proofs).unwrap_or(u8::MAX),
            until: ruling.until,
        })
    }

    fn explain_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Explanation> {
        let (place, ruling) = self.ruling(subject, contexts)?;
        Some(explain::explain(&self.settings, subject, &place, &ruling))
    }
}

impl Check for HostedOidc {
    fn name(&self) -> CheckName {
        NAME
    }

    fn description(&self) -> CheckDescription {
        CheckDescription {
            title: "Hosted OIDC",
            short: "HOSTED",
            says: "copies of OIDC settings that HyperShift left in its guests",
            columns: &[],
            verdict_width: 16,
            forms: &[],
        }
    }

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(view)
    }

    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        subjects::list(cluster, view)
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
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
}
