//! What is kept of every finding: its sentence, the Authentication it follows from, and when the provider's CA ends.

use jiff::{SignedDuration, Timestamp};

use super::NAME;
use super::context::CheckContext;
use super::messages::summary;
use super::names::CONFIG_NAMESPACE;
use super::pem::latest_end;
use super::render::filled;
use super::ruling::Ruling;
use super::spec::{Authentication, PROVIDERS, TYPE};
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;
use crate::kinds::{AUTHENTICATION, SINGLETON};
use crate::outline::{Cause, CauseForm, CauseObject, End, Expiry, Outline};
use trueup_core::engine::State;
use trueup_core::world::{CollectionId, Gap, Key, Writer};

/// A CA that ends within this time is marked.
const EXPIRING: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The outline of a subject.
pub fn of(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Outline {
    let outline = match ruling.state {
        State::Match | State::Unknown => Outline::default(),
        State::Missing | State::Extra | State::Drift | State::Stale | State::Error | State::Blocked => {
            Outline::of(&summary(context, subject, ruling)).with_cause(cause(context, ruling))
        }
    };
    let is_authentication = matches!(subject, ResolvedSubject::Authentication);
    if is_authentication { outline.with_expiries(expiries(context)) } else { outline }
}

/// The Authentication, where something follows from it or is left of what it asked for.
fn cause(context: &CheckContext<'_>, ruling: &Ruling) -> Option<Cause> {
    let (effect, reason) = match ruling.verdict {
        Verdict::Extra | Verdict::Leftover => ("objects are left", "Authentication/cluster does not ask for them"),
        Verdict::Missing | Verdict::Drift => ("objects differ", "they do not follow Authentication/cluster yet"),
        Verdict::Unrenderable => ("objects wait", "Authentication/cluster is invalid"),
        Verdict::Valid
        | Verdict::Lockout
        | Verdict::Invalid
        | Verdict::KasWouldRefuse
        | Verdict::Match
        | Verdict::Available
        | Verdict::RollingOut
        | Verdict::NotAvailable
        | Verdict::OauthIncomplete
        | Verdict::NotReady
        | Verdict::NamespaceTerminating
        | Verdict::Degraded
        | Verdict::Keep
        | Verdict::BlocksOidc
        | Verdict::Removable
        | Verdict::Unknown => return None,
    };
    let cluster = context.name().clone();
    let object = CauseObject { check: NAME, cluster, kind: AUTHENTICATION.kind, key: Key::new(None, SINGLETON) };
    Some(Cause {
        object,
        effect,
        reason: reason.into(),
        written: last_write(context).cloned(),
        form: CauseForm::Effect,
    })
}

/// The last writer of the type or the providers.
fn last_write<'a>(context: &CheckContext<'a>) -> Option<&'a Writer> {
    let reading = context.view.read::<Authentication>(&CollectionId::all(context.name(), AUTHENTICATION));
    let writer = |field| reading.writer(&Key::new(None, SINGLETON), field);
    [writer(PROVIDERS), writer(TYPE)].into_iter().flatten().max_by_key(|writer| writer.at())
}

/// When the verdict began: that on the Authentication and its rollout with its last edit, that on an operator with the
/// first of its conditions.
pub fn began(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Option<Timestamp> {
    match ruling.verdict {
        Verdict::Degraded => {
            let ResolvedSubject::Operator(operator) = subject else { return None };
            operator.complaints(context).iter().filter(|one| one.is_bad()).filter_map(|one| one.complaint.since).min()
        }
        Verdict::Lockout | Verdict::Invalid | Verdict::KasWouldRefuse | Verdict::RollingOut => {
            last_write(context).and_then(Writer::at)
        }
        Verdict::Valid
        | Verdict::Match
        | Verdict::Missing
        | Verdict::Drift
        | Verdict::Extra
        | Verdict::Leftover
        | Verdict::Unrenderable
        | Verdict::Available
        | Verdict::NotAvailable
        | Verdict::OauthIncomplete
        | Verdict::NotReady
        | Verdict::NamespaceTerminating
        | Verdict::Keep
        | Verdict::BlocksOidc
        | Verdict::Removable
        | Verdict::Unknown => None,
    }
}

/// The CA of each provider that names one.
fn expiries(context: &CheckContext<'_>) -> Vec<Expiry> {
    let providers = context.authentication.seen.map_or(&[][..], |seen| &seen.spec.providers);
    let named = |provider: &super::spec::Provider| format!("CA of issuer {}", provider.issuer_url());
    ca_expiries(providers, CONFIG_NAMESPACE, named, |name| {
        context.bundle(CONFIG_NAMESPACE, name).known().map(|bundle| bundle.and_then(|bundle| bundle.text.as_deref()))
    })
}

/// When the CA of each provider that names one ends, each `named` as its row. `bundle` reads the text of a ConfigMap in `namespace`.
pub fn ca_expiries<'t>(
    providers: &[super::spec::Provider],
    namespace: &str,
    named: impl Fn(&super::spec::Provider) -> String,
    bundle: impl Fn(&str) -> Result<Option<&'t str>, Gap>,
) -> Vec<Expiry> {
    let expiry = |provider: &super::spec::Provider| {
        let name = filled(provider.issuer.ca.as_deref())?;
        let end = match bundle(name) {
            Err(gap) => End::NotKnown(gap.message),
            Ok(text) => match text.and_then(latest_end) {
                Some(until) => End::At { until, warn_from: until.saturating_sub(EXPIRING).unwrap_or(Timestamp::MIN) },
                None => End::NotKnown(format!("ConfigMap {namespace}/{name} has no certificate").into()),
            },
        };
        Some(Expiry { what: named(provider).into(), end })
    };
    providers.iter().filter_map(expiry).collect()
}
