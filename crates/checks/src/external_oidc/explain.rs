//! The long answer: one line, expected beside actual, and evidence that names object, field and version.

use jiff::Timestamp;

use super::context::CheckContext;
use super::evidence::evidence;
use super::messages::{advice, summary};
use super::names::{CONSOLE_NAMESPACE, CONSOLE_SECRET, KAS_NAMESPACE, MANAGED_NAMESPACE};
use super::remedy::actions;
use super::ruling::Ruling;
use super::settings::Settings;
use super::sides::sides;
use super::subjects::ResolvedSubject;
use trueup_core::engine::{Explanation, State};
use trueup_core::world::{Meta, Uid};

pub fn explain(
    settings: &Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    ruling: &Ruling,
) -> Explanation {
    let (uid, created) = identity(context, subject);
    let (expected, actual) = sides(context, subject, ruling);
    let remedy = actions(settings, context, subject, ruling);
    let mut summary = summary(context, subject, ruling);
    if ruling.state != State::Match && remedy.is_empty() {
        summary = format!("{summary}; {}", advice(subject, ruling.verdict));
    }
    let evidence = evidence(settings, context, subject, ruling);
    Explanation { uid, created, summary, expected, actual, evidence, remedy }
}

/// The object a place is about, as far as it is there.
pub fn meta<'a>(context: &CheckContext<'a>, subject: &ResolvedSubject) -> Option<&'a Meta> {
    match subject {
        ResolvedSubject::Authentication | ResolvedSubject::Client { .. } => {
            context.authentication.seen.map(|seen| &seen.meta)
        }
        ResolvedSubject::AuthConfig => context.auth_config(MANAGED_NAMESPACE).seen.map(|file| &file.meta),
        ResolvedSubject::KasCopy => context.auth_config(KAS_NAMESPACE).seen.map(|file| &file.meta),
        ResolvedSubject::Part(part) => context.part(part).seen.map(|mark| &mark.meta),
        ResolvedSubject::Restrictions => context.restrictions_definition().seen.map(|mark| &mark.meta),
        ResolvedSubject::ConsoleCa { name } => context.bundle(CONSOLE_NAMESPACE, name).seen.map(|bundle| &bundle.meta),
        ResolvedSubject::ConsoleSecret => {
            context.secret_mark(CONSOLE_NAMESPACE, CONSOLE_SECRET).seen.map(|mark| &mark.meta)
        }
        ResolvedSubject::OauthCopy(copy) => context.oauth_copy(*copy).seen,
        ResolvedSubject::Namespace(name) => context.namespace(name).seen.map(|seen| &seen.meta),
        ResolvedSubject::Operator(operator) => context.operator_status(*operator).map(|status| &status.meta),
        ResolvedSubject::Rollout | ResolvedSubject::ObservedConfig => None,
    }
}

fn identity(context: &CheckContext<'_>, subject: &ResolvedSubject) -> (Option<Uid>, Option<Timestamp>) {
    match subject {
        ResolvedSubject::Rollout | ResolvedSubject::ObservedConfig => {
            (context.kube_api_server.seen.map(|kas| kas.uid.clone()), None)
        }
        ResolvedSubject::Authentication
        | ResolvedSubject::AuthConfig
        | ResolvedSubject::KasCopy
        | ResolvedSubject::Part(_)
        | ResolvedSubject::Restrictions
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::OauthCopy(_)
        | ResolvedSubject::Namespace(_)
        | ResolvedSubject::Operator(_)
        | ResolvedSubject::Client { .. } => {
            let meta = meta(context, subject);
            (meta.map(|meta| meta.uid.clone()), meta.and_then(|meta| meta.created()))
        }
    }
}

/// How many proofs say that an object is the platform's. Only what the platform writes can be removed.
pub fn proofs(context: &CheckContext<'_>, subject: &ResolvedSubject) -> u8 {
    let written = match subject {
        ResolvedSubject::AuthConfig
        | ResolvedSubject::KasCopy
        | ResolvedSubject::Part(_)
        | ResolvedSubject::OauthCopy(_)
        | ResolvedSubject::Restrictions => true,
        ResolvedSubject::Authentication
        | ResolvedSubject::Rollout
        | ResolvedSubject::ObservedConfig
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::Namespace(_)
        | ResolvedSubject::Operator(_)
        | ResolvedSubject::Client { .. } => false,
    };
    if written && meta(context, subject).is_some() { 2 } else { 0 }
}
