//! What is kept of every finding: its sentence, the HostedCluster it follows from, and since when.

use jiff::Timestamp;

use super::NAME;
use super::context::CheckContext;
use super::facts::{AuthBlock, Hosted, PROVIDERS, SpeakingCondition};
use super::hosted_cluster::HostedContext;
use super::messages::{hosted_cluster_summary, leftover_summary, moot_message, summary};
use super::names::HOSTED_CLUSTER;
use super::remedy::leftovers::Location;
use super::ruling::Ruling;
use super::settings::Settings;
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;
use crate::external_oidc::{Provider, ca_expiries};
use crate::outline::{Cause, CauseForm, CauseObject, Expiry, Outline};
use trueup_core::engine::State;
use trueup_core::world::{HostedBy, Key, View, Writer};

/// The outline of a subject.
pub fn of(settings: &Settings, name: &str, subject: &ResolvedSubject<'_>, ruling: &Ruling) -> Outline {
    // A certificate ends whatever the verdict is.
    let expiries = match subject {
        ResolvedSubject::HostedCluster { context } => issuer_expiries(context),
        ResolvedSubject::Copy { .. }
        | ResolvedSubject::ConsoleMirror { .. }
        | ResolvedSubject::ControlPlaneNamespace { .. }
        | ResolvedSubject::Collection { .. } => Vec::new(),
    };
    if matches!(ruling.state(), State::Match | State::Unknown) {
        return Outline::default().with_expiries(expiries);
    }
    let outline = match subject {
        ResolvedSubject::Copy { context, kind } => {
            Outline::of(&summary(context, settings, *kind, name, ruling)).with_cause(cause(context, ruling))
        }
        ResolvedSubject::ConsoleMirror { context } => {
            Outline::of(&leftover_summary(Location::Console, ruling)).with_cause(cause(context, ruling))
        }
        ResolvedSubject::ControlPlaneNamespace { context, kind } => {
            Outline::of(&leftover_summary(Location::ControlPlane(*kind), ruling)).with_cause(cause(context, ruling))
        }
        ResolvedSubject::HostedCluster { context } => {
            let checked = context.checked().ok().flatten();
            Outline::of(&hosted_cluster_summary(context, checked.as_ref(), ruling))
        }
        ResolvedSubject::Collection { .. } => Outline::default(),
    };
    outline.with_expiries(expiries)
}

/// When the CAs of the providers of a HostedCluster end.
fn issuer_expiries(context: &HostedContext<'_>) -> Vec<Expiry> {
    let AuthBlock::Given(candidate) = &context.cluster.block else { return Vec::new() };
    let spec = &candidate.spec;
    if !spec.is_oidc() {
        return Vec::new();
    }
    // Rows of one management cluster differ by the HostedCluster, and a HostedCluster has one provider in practice.
    let several = spec.providers.len() > 1;
    let named = |provider: &Provider| match several {
        true => format!("CA of HostedCluster {}: {}", context.by.name, provider.issuer_url()),
        false => format!("CA of HostedCluster {}", context.by.name),
    };
    ca_expiries(&spec.providers, context.by.namespace.as_str(), named, |name| {
        context.ca_bundle(name).known().map(|bundle| bundle.and_then(|bundle| bundle.text.as_deref()))
    })
}

/// The HostedCluster whose spec decides: what nothing names any more, or what nothing may be done to.
fn cause(context: &CheckContext<'_>, ruling: &Ruling) -> Option<Cause> {
    let by = context.home.as_ref().ok()?;
    let (effect, reason) = match ruling.verdict {
        Verdict::OrphanCertain | Verdict::OrphanProbable | Verdict::Leftover => {
            ("orphans", "no OIDC provider uses them any more".to_owned())
        }
        Verdict::Pending => ("copies wait", "the change has not reached the guest".to_owned()),
        Verdict::Moot => ("copies left alone", moot_message(ruling)),
        Verdict::Terminating
        | Verdict::Protected
        | Verdict::Unknown
        | Verdict::SourceMissing
        | Verdict::MissingCopy
        | Verdict::StaleCopy
        | Verdict::Referenced
        | Verdict::Foreign
        | Verdict::Valid
        | Verdict::Invalid
        | Verdict::KasWouldRefuse
        | Verdict::Degraded => return None,
    };
    let object = CauseObject { check: NAME, cluster: by.cluster.clone(), kind: HOSTED_CLUSTER.kind, key: key(by) };
    let written = if ruling.verdict == Verdict::Moot { None } else { last_write(context.view, by).cloned() };
    Some(Cause { object, effect, reason: reason.into(), written, form: CauseForm::Effect })
}

fn key(by: &HostedBy) -> Key {
    Key { namespace: Some(by.namespace.clone()), name: by.name.clone() }
}

/// The last writer of the providers of a HostedCluster.
pub fn last_write<'a>(view: View<'a>, by: &HostedBy) -> Option<&'a Writer> {
    let reading = view.read::<super::facts::HostedCluster>(&HOSTED_CLUSTER.collection_at(&by.cluster, view));
    reading.writer(&key(by), PROVIDERS)
}

/// When the verdict began, by the object itself.
pub fn began(subject: &ResolvedSubject<'_>, ruling: &Ruling) -> Option<Timestamp> {
    match (subject, ruling.verdict) {
        (ResolvedSubject::HostedCluster { context }, Verdict::Degraded) => {
            let hosted = [&context.cluster.hosted].into_iter();
            let plane = context.control_plane.seen.map(|plane| &plane.hosted);
            hosted.chain(plane).filter_map(|hosted| refused_since(hosted, context)).min()
        }
        (ResolvedSubject::HostedCluster { context }, Verdict::Invalid | Verdict::KasWouldRefuse) => {
            last_write(context.view(), &context.by).and_then(Writer::at)
        }
        (_, _) => None,
    }
}

fn refused_since(hosted: &Hosted, context: &HostedContext<'_>) -> Option<Timestamp> {
    let refusals: Vec<&str> = context.refusals().into_iter().map(SpeakingCondition::as_str).collect();
    let refused = hosted.complaints.iter().filter(|complaint| refusals.contains(&&*complaint.condition));
    refused.filter_map(|complaint| complaint.since).min()
}
