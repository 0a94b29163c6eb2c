//! Direct external OIDC: what `Authentication/cluster` asks for, what comes of it, and who a token would be.
//!
//! Turning a cluster to an external OIDC provider goes through three operators, minutes of rollout on every node and an
//! OAuth server that is taken away at the end. This check computes what each of them should have written, compares it
//! with what is there, follows the rollout node by node, and lists what is left.
//!
//! Invariants: a cluster whose control plane runs elsewhere has no finding here; its guest's copies are `hosted_oidc`'s.
//!
//! Elsewhere: writing. What is proposed is data for the plan, and the operators' own until the config hands it over.

mod availability;
mod bound;
mod check;
mod conditions;
mod console;
mod context;
mod discovery;
mod evidence;
mod explain;
mod facts;
mod fields;
mod gates;
mod interests;
mod judge;
mod login;
mod matrix;
mod messages;
mod names;
mod oauth;
mod observed;
mod outline;
mod pem;
mod permissions;
mod present;
mod problem;
mod remedy;
mod render;
mod ruling;
mod settings;
mod sides;
mod spec;
mod stack;
mod subjects;
mod switch;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod touched;
mod validate;
mod verdict;
mod who;

use std::collections::BTreeSet;
use std::rc::Rc;

use jiff::Timestamp;

pub use check::{
    CaBundle, CandidateSpec, Checked, Inputs, Presence, Provenance, References, Verdict as SpecVerdict, check,
};
pub use context::CheckContext;
pub use discovery::discovery;
pub(crate) use evidence::spec_lines;
pub use fields::{UnknownField, unknown_fields};
pub use gates::{Gate, Gates};
pub use login::{Answer, BadToken, Identity, Refusal, RefusedBy, Reserved, TOKEN_MAX, Token, login};
pub use matrix::identity_matrix;
pub(crate) use outline::ca_expiries;
pub use problem::{Code as SpecCode, Problem, Refuser, Warning, WarningCode};
use ruling::Ruling;
pub use settings::{CrdRemoval, ENTRY, Hands, Offer, Settings};
pub(crate) use sides::spec_sides;
pub(crate) use spec::Provider;
pub use spec::{AuthKind, AuthSpec, Authentication, ClientStatus, Component, CurrentClient, TrustedIssuer};
use subjects::ResolvedSubject;

use crate::contract::GuestUse;
use crate::contract::{Probe, Touched};
use crate::outline::Outline;
use crate::permissions::Permission;
use crate::present::{Cell, CheckDescription, FleetTable, Panel};
use crate::rules::{CheckRules, ContextCache, Ruled};
use crate::workload::Workload;
use trueup_core::engine::{ActionDraft, CheckName, Explanation, Judgement, SubjectId};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, Interest, View};

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
}

impl CheckRules for ExternalOidc {
    type Fleet<'a> = ();
    type Context<'a> = CheckContext<'a>;
    type Subject<'a> = (Rc<CheckContext<'a>>, ResolvedSubject);
    type Ruling<'a> = Ruling;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = present::DESCRIPTION;
    const GUESTS: GuestUse = GuestUse::NotRead;

    fn permissions(&self) -> Vec<Permission> {
        permissions::permissions()
    }

    fn interests_of(&self, cluster: &Cluster, view: View<'_>) -> Vec<Interest> {
        interests::of(&self.settings, cluster, view)
    }

    /// What is needed of a cluster follows from that cluster alone.
    fn interested(&self, changes: &ChangeSet, _: View<'_>) -> BTreeSet<ClusterName> {
        changes.iter().map(|change| change.cluster().clone()).collect()
    }

    fn fleet_table(&self, view: View<'_>, typed: Option<&str>) -> Option<FleetTable> {
        let (token, note) = match typed.map(Token::read) {
            None => (None, String::new()),
            Some(Ok(token)) => (Some(token), String::new()),
            Some(Err(bad)) => (None, format!("this cannot be read: {bad}")),
        };
        Some(FleetTable { note, ..identity_matrix(view, token.as_ref()) })
    }

    fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        touched::find(changes, view)
    }

    fn fleet<'a>(&'a self, _: View<'a>) {}

    fn context<'a>(&'a self, cluster: &ClusterName, view: View<'a>, (): &()) -> Option<CheckContext<'a>> {
        CheckContext::of(view, cluster)
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        contexts.of(cluster).map(|context| subjects::list(&context)).unwrap_or_default()
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<Self::Subject<'a>> {
        contexts.of(&id.cluster).zip(ResolvedSubject::of(id))
    }

    fn rule<'a>(
        &'a self,
        _: &SubjectId,
        (context, subject): &Self::Subject<'a>,
        _: &ContextCache<'a, Self>,
    ) -> Option<Ruling> {
        context.ruling(subject)
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let (context, subject) = &ruled.subject;
        let Ruling { verdict, state, codes, gap: _, until } = ruled.ruling.clone();
        let ownership_proofs = explain::proofs(context, subject);
        Judgement { state, verdict: verdict.as_str(), codes, ownership_proofs, until }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        let (context, subject) = &ruled.subject;
        explain::explain(&ruled.contexts.check.settings, context, subject, &ruled.ruling)
    }

    fn remedy(ruled: &Ruled<'_, '_, Self>) -> Vec<ActionDraft> {
        let (context, subject) = &ruled.subject;
        remedy::actions(&ruled.contexts.check.settings, context, subject, &ruled.ruling)
    }

    fn cells(ruled: &Ruled<'_, '_, Self>) -> Vec<Cell> {
        present::cells(&ruled.subject.0, &ruled.subject.1)
    }

    fn operator(ruled: &Ruled<'_, '_, Self>) -> Option<Workload> {
        let (context, subject) = &ruled.subject;
        Some(present::operator(context, subject))
    }

    fn outline(ruled: &Ruled<'_, '_, Self>) -> Outline {
        outline::of(&ruled.subject.0, &ruled.subject.1, &ruled.ruling)
    }

    fn began(ruled: &Ruled<'_, '_, Self>) -> Option<Timestamp> {
        outline::began(&ruled.subject.0, &ruled.subject.1, &ruled.ruling)
    }

    fn panels(ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        present::panels(&ruled.subject.0, &ruled.subject.1)
    }

    fn probe(ruled: &Ruled<'_, '_, Self>) -> Option<Probe> {
        match &ruled.subject {
            (context, ResolvedSubject::Authentication) => discovery(context).map(Probe::Discovery),
            _ => None,
        }
    }

    fn answer(ruled: &Ruled<'_, '_, Self>, form: &str, typed: &str) -> Vec<String> {
        if form == present::WHO_FORM { who::answer(&ruled.subject.0, typed) } else { Vec::new() }
    }
}
