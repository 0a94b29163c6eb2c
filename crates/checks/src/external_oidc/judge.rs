//! The rules for everything but the console: the first that holds gives the verdict.
//!
//! Invariants: what would lead to a delete is said only of complete lists; whatever isn't known makes it `unknown`.

use jiff::Timestamp;

use super::availability::{Availability, Progress, current_revisions, still_carries};
use super::check;
use super::context::CheckContext;
use super::explain::meta;
use super::names::{KAS_NAMESPACE, MANAGED_NAMESPACE};
use super::ruling::Ruling;
use super::spec::AuthKind;
use super::stack::{Fate, Part};
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use super::{console, oauth, observed};
use trueup_core::engine::State;
use trueup_core::world::{Fact, Gap, GapCause, Meta, Sighting};

/// Judges one subject; nothing when it is none.
pub fn rule(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Option<Ruling> {
    match subject {
        ResolvedSubject::Authentication => Some(authentication(context)),
        ResolvedSubject::AuthConfig => Some(auth_config(context)),
        ResolvedSubject::Rollout => Some(rollout(context)),
        ResolvedSubject::ObservedConfig => Some(observed::rule(context)),
        ResolvedSubject::KasCopy => Some(kas_copy(context)),
        ResolvedSubject::Part(part) => Some(stack_part(context, part)),
        ResolvedSubject::Restrictions => Some(restrictions(context)),
        ResolvedSubject::ConsoleCa { name } => console::authority(context, name),
        ResolvedSubject::ConsoleSecret => console::secret(context),
        ResolvedSubject::Client { component } => console::client(context, component),
        ResolvedSubject::OauthCopy(copy) => Some(oauth::copy(context, *copy)),
        ResolvedSubject::Namespace(name) => oauth::namespace(context, name),
        ResolvedSubject::Operator(operator) => oauth::operator(context, *operator),
    }
}

/// A ruling that offers a delete of an object that undo put back says so.
pub fn with_restoration(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: Ruling) -> Ruling {
    let condemned = matches!(ruling.verdict, Verdict::Extra | Verdict::Leftover | Verdict::Removable);
    let is_restored = || meta(context, subject).is_some_and(Meta::is_restored);
    let has_delete = !matches!(subject, ResolvedSubject::Client { .. });
    if condemned && has_delete && is_restored() { ruling.with(Code::Restored) } else { ruling }
}

fn authentication(context: &CheckContext<'_>) -> Ruling {
    let checked = match context.checked() {
        Ok(checked) => checked,
        Err(gap) => return Ruling::unknown(gap),
    };
    let problems = checked.problems.iter().map(|problem| problem.code.as_str());
    let warnings = checked.warnings.iter().map(|warning| warning.code.as_str());
    let ruling = if matches!(checked.verdict, check::Verdict::Unknown) {
        Ruling::unknown(undecided(checked))
    } else {
        Ruling::new(checked.verdict.into())
    };
    Ruling { until: next_expiry(context), ..ruling.with_message(problems.chain(warnings)) }
}

/// An issuer that is trusted for service accounts today may be free tomorrow.
fn next_expiry(context: &CheckContext<'_>) -> Option<Timestamp> {
    let wanted = context.kind().is_ok_and(|kind| *kind == AuthKind::Oidc);
    let issuers = context.kube_api_server.seen.filter(|_| wanted).map_or(&[][..], |kas| &kas.issuers);
    issuers.iter().filter_map(|issuer| issuer.expires).filter(|expires| *expires > context.view.now).min()
}

fn undecided(checked: &check::Checked) -> Gap {
    Gap::new(GapCause::NotObserved, checked.unknowns.join("; "))
}

/// What the authentication operator writes, byte for byte.
fn auth_config(context: &CheckContext<'_>) -> Ruling {
    let file = context.auth_config(MANAGED_NAMESPACE);
    match context.kind() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(AuthKind::Oidc) => {}
        Ok(AuthKind::IntegratedOAuth | AuthKind::None | AuthKind::Other(_)) => {
            return unwanted(context, &file, Verdict::Extra);
        }
    }
    let rendered = match context.checked() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(checked) if checked.verdict == check::Verdict::Invalid => return Ruling::new(Verdict::Unrenderable),
        Ok(checked) => checked.rendered.as_ref().ok_or_else(|| undecided(checked)),
    };
    match (rendered, file.known()) {
        (Err(gap), _) | (Ok(_), Err(gap)) => Ruling::unknown(gap),
        (Ok(_), Ok(None)) => Ruling::new(Verdict::Missing),
        (Ok(wanted), Ok(Some(file))) if file.auth_config.as_deref() == Some(wanted) => Ruling::new(Verdict::Match),
        (Ok(_), Ok(Some(_))) => Ruling::new(Verdict::Drift),
    }
}

/// Something that should not be there.
fn unwanted<F: Fact>(context: &CheckContext<'_>, sight: &Sighting<'_, F>, present: Verdict) -> Ruling {
    let gap = sight.gap.as_ref().or(context.authentication.gap.as_ref());
    match (sight.seen, gap) {
        (_, Some(gap)) => Ruling::unknown(gap.clone()),
        (None, None) => Ruling::new(Verdict::Match),
        (Some(_), None) => Ruling::new(present),
    }
}

/// Whether kube-apiserver's operator copies `auth-config`: on OIDC, unless the oauth-apiserver authenticates.
pub fn is_copied(context: &CheckContext<'_>) -> Result<bool, Gap> {
    match context.kind()? {
        AuthKind::Oidc => context.claims_sourcing().map(|claims| !claims),
        AuthKind::IntegratedOAuth | AuthKind::None | AuthKind::Other(_) => Ok(false),
    }
}

/// The copy that revisions are made from, against its source.
fn kas_copy(context: &CheckContext<'_>) -> Ruling {
    let copy = context.auth_config(KAS_NAMESPACE);
    match is_copied(context) {
        Err(gap) => return Ruling::unknown(gap),
        Ok(false) => return unwanted(context, &copy, Verdict::Extra),
        Ok(true) => {}
    }
    let source = context.auth_config(MANAGED_NAMESPACE);
    match (source.known(), copy.known()) {
        (Err(gap), _) | (Ok(_), Err(gap)) => Ruling::unknown(gap),
        (Ok(None), Ok(_)) => unwanted(context, &copy, Verdict::Extra),
        (Ok(Some(_)), Ok(None)) => Ruling::new(Verdict::Missing),
        (Ok(Some(source)), Ok(Some(copy))) if source.auth_config == copy.auth_config => Ruling::new(Verdict::Match),
        (Ok(Some(_)), Ok(Some(_))) => Ruling::new(Verdict::Drift),
    }
}

/// What kube-apiserver runs with, on all nodes together.
fn rollout(context: &CheckContext<'_>) -> Ruling {
    match context.availability() {
        Availability::Unknown(gap) => Ruling::unknown(gap.clone()),
        Availability::Available => Ruling::new(Verdict::Available),
        Availability::NotYet(Progress::RollingOut) => Ruling::new(Verdict::RollingOut),
        Availability::NotYet(Progress::NotStarted) => Ruling::new(Verdict::NotAvailable),
        Availability::NotWanted => match still_on_oidc(context) {
            Err(gap) => Ruling::unknown(gap),
            Ok(true) => Ruling::new(Verdict::NotAvailable).with(Code::StillOnOidc),
            Ok(false) if context.kind() == Ok(&AuthKind::IntegratedOAuth) => oauth::revisions(context),
            Ok(false) => Ruling { state: State::Match, ..Ruling::new(Verdict::NotAvailable) },
        },
    }
}

fn still_on_oidc(context: &CheckContext<'_>) -> Result<bool, Gap> {
    let Some(kas) = context.kube_api_server.known()? else { return Ok(false) };
    let mut gap = None;
    for revision in current_revisions(kas) {
        match still_carries(context, revision) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(why) => gap = Some(why),
        }
    }
    gap.map_or(Ok(false), Err)
}

/// Whether a resource of the OAuth stack should be there.
pub enum PartExpectation {
    Wanted,
    Unwanted,
    Either,
    NotKnown(Gap),
}

pub fn part_expectation(context: &CheckContext<'_>, part: &Part) -> PartExpectation {
    let claims = match (context.kind(), context.claims_sourcing()) {
        (Err(gap), _) => return PartExpectation::NotKnown(gap),
        (Ok(AuthKind::IntegratedOAuth | AuthKind::None | AuthKind::Other(_)), _) => {
            return if part.fate == Fate::Optional { PartExpectation::Either } else { PartExpectation::Wanted };
        }
        (Ok(AuthKind::Oidc), Err(gap)) => return PartExpectation::NotKnown(gap),
        (Ok(AuthKind::Oidc), Ok(claims)) => claims,
    };
    if claims && part.fate == Fate::KeptForClaims {
        return PartExpectation::Wanted;
    }
    match context.availability() {
        Availability::Available => PartExpectation::Unwanted,
        Availability::NotYet(_) | Availability::NotWanted => PartExpectation::Either,
        Availability::Unknown(gap) => PartExpectation::NotKnown(gap.clone()),
    }
}

fn stack_part(context: &CheckContext<'_>, part: &Part) -> Ruling {
    let sight = context.part(part);
    match (part_expectation(context, part), sight.known()) {
        (PartExpectation::NotKnown(gap), _) | (PartExpectation::Wanted, Err(gap)) => Ruling::unknown(gap),
        (PartExpectation::Either, _) => Ruling::new(Verdict::Match),
        (PartExpectation::Wanted, Ok(Some(mark))) => oauth::readiness(mark),
        (PartExpectation::Wanted, Ok(None)) => Ruling::new(Verdict::Missing),
        (PartExpectation::Unwanted, _) => unwanted(context, &sight, Verdict::Leftover),
    }
}

/// RoleBindingRestrictions: upstream keeps their definition, whatever the type.
fn restrictions(context: &CheckContext<'_>) -> Ruling {
    let definition = context.restrictions_definition();
    match definition.known() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(None) => {
            return match context.kind() {
                Err(gap) => Ruling::unknown(gap),
                Ok(AuthKind::IntegratedOAuth) => Ruling::new(Verdict::Missing),
                Ok(AuthKind::Oidc | AuthKind::None | AuthKind::Other(_)) => Ruling::new(Verdict::Match),
            };
        }
        Ok(Some(_)) => {}
    }
    match context.kind() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(AuthKind::IntegratedOAuth | AuthKind::None | AuthKind::Other(_)) => return Ruling::new(Verdict::Keep),
        Ok(AuthKind::Oidc) => {}
    }
    let restrictions = context.restrictions();
    if restrictions.iter().next().is_some() {
        return Ruling::new(Verdict::BlocksOidc);
    }
    match (restrictions.gap(), context.availability()) {
        (Some(gap), _) => Ruling::unknown(gap),
        (None, Availability::Unknown(gap)) => Ruling::unknown(gap.clone()),
        (None, Availability::NotYet(_) | Availability::NotWanted) => Ruling::new(Verdict::Keep),
        (None, Availability::Available) => unwanted(context, &definition, Verdict::Removable),
    }
}
