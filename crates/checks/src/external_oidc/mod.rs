//! Direct external OIDC: what `Authentication/cluster` asks for, what comes of it, and who a token would be.
//!
//! Turning a cluster to an external OIDC provider goes through three operators, minutes of rollout on every node and an
//! OAuth server that is taken away at the end. This check computes what each of them should have written, compares it
//! with what is there, follows the rollout node by node, and lists what is left.
//!
//! Always true: a cluster whose control plane runs elsewhere has no finding here; its guest's copies are `hosted_oidc`'s.
//!
//! Not here: writing. What is proposed is data for the plan, and the operators' own until the config hands it over.

mod availability;
mod bound;
mod check;
mod console;
mod context;
mod discovery;
mod evidence;
mod explain;
mod facts;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod gates;
mod interests;
mod judge;
mod login;
mod names;
mod observed;
mod pem;
mod present;
mod problem;
mod remedy;
mod render;
mod ruling;
mod settings;
mod spec;
mod stack;
mod subjects;
mod switch;
#[cfg(test)]
mod tests;
mod touched;
mod validate;
mod verdict;
mod who;

use std::collections::BTreeSet;

use context::ContextCache;
use ruling::Ruling;
use subjects::ResolvedSubject;

pub use check::{CaBundle, Checked, Inputs, Presence, Verdict as SpecVerdict, check};
pub use context::CheckContext;
pub use discovery::discovery;
pub use gates::{Gate, Gates};
pub use login::{Answer, BadToken, Identity, Refusal, RefusedBy, Reserved, TOKEN_MAX, Token, login};
pub use problem::{Code as SpecCode, Problem, Refuser, Warning, WarningCode};
pub use settings::{ENTRY, Hands, Offer, Settings};
pub use spec::{AuthKind, AuthSpec, Authentication, ClientStatus, Component, CurrentClient, TrustedIssuer};

use super::contract::{Check, Probe, Touched};
use super::present::{Cell, CheckDescription, Panel};
use trueup_core::engine::{CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Interest, View};

pub const NAME: CheckName = CheckName("external-oidc");

/// The check.
#[derive(Debug, Default)]
pub struct ExternalOidc {
    settings: Settings,
}

impl ExternalOidc {
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    fn judge_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Judgement> {
        let place = ResolvedSubject::of(subject)?;
        let context = contexts.of(&subject.cluster)?;
        let ruling = judge::rule(&context, &place)?;
        let Ruling { verdict, state, codes, gap: _, until } = ruling;
        let ownership_proofs = proofs(&context, &place);
        Some(Judgement { state, verdict: verdict.as_str(), codes, ownership_proofs, until })
    }

    fn explain_among(&self, subject: &SubjectId, contexts: &ContextCache<'_>) -> Option<Explanation> {
        let place = ResolvedSubject::of(subject)?;
        let context = contexts.of(&subject.cluster)?;
        let ruling = judge::rule(&context, &place)?;
        Some(explain::explain(&self.settings, &context, &place, &ruling))
    }
}

/// How many proofs say that what is there is the platform's. Only what the platform writes can be removed.
fn proofs(context: &CheckContext<'_>, place: &ResolvedSubject) -> u8 {
    let written = match place {
        ResolvedSubject::AuthConfig
        | ResolvedSubject::KasCopy
        | ResolvedSubject::Part(_)
        | ResolvedSubject::Restrictions => true,
        ResolvedSubject::Authentication
        | ResolvedSubject::Rollout
        | ResolvedSubject::ObservedConfig
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::Client { .. } => false,
    };
    if written && explain::meta(context, place).is_some() { 2 } else { 0 }
}

fn cells_among(subject: &SubjectId, contexts: &ContextCache<'_>) -> Vec<Cell> {
    let context = contexts.of(&subject.cluster);
    context
        .zip(ResolvedSubject::of(subject))
        .map(|(context, place)| present::cells(&context, &place))
        .unwrap_or_default()
}

impl Check for ExternalOidc {
    fn name(&self) -> CheckName {
        NAME
    }

    fn description(&self) -> CheckDescription {
        present::DESCRIPTION
    }

    fn interests(&self, view: View<'_>) -> Vec<Interest> {
        interests::list(&self.settings, view)
    }

    fn subjects_in(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        CheckContext::of(view, cluster).map(|context| subjects::list(&context)).unwrap_or_default()
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

    fn cells(&self, subject: &SubjectId, view: View<'_>) -> Vec<Cell> {
        cells_among(subject, &ContextCache::new(view))
    }

    fn cells_all(&self, subjects: &[&SubjectId], view: View<'_>) -> Vec<Vec<Cell>> {
        let contexts = ContextCache::new(view);
        subjects.iter().map(|subject| cells_among(subject, &contexts)).collect()
    }

    fn panels(&self, subject: &SubjectId, view: View<'_>) -> Vec<Panel> {
        let context = CheckContext::of(view, &subject.cluster);
        context
            .zip(ResolvedSubject::of(subject))
            .map(|(context, place)| present::panels(&context, &place))
            .unwrap_or_default()
    }

    fn probe(&self, subject: &SubjectId, view: View<'_>) -> Option<Probe> {
        let context = CheckContext::of(view, &subject.cluster)
            .filter(|_| ResolvedSubject::of(subject) == Some(ResolvedSubject::Authentication))?;
        discovery(&context).map(Probe::Discovery)
    }

    fn answer(&self, form: &str, typed: &str, subject: &SubjectId, view: View<'_>) -> Vec<String> {
        let context = CheckContext::of(view, &subject.cluster).filter(|_| form == present::WHO_FORM);
        context.map(|context| who::answer(&context, typed)).unwrap_or_default()
    }
}
