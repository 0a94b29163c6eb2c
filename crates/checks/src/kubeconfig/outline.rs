//! What is kept of every finding: its sentence, and when its credential ends.

use jiff::Timestamp;

use super::NAME;
use super::content::{Credential, Pair};
use super::freshness::expiring_from;
use super::judge::pair_of;
use super::messages::summary;
use super::names::CLUSTER;
use super::ruling::Ruling;
use super::subjects::{ResolvedSubject, Sort};
use super::verdict::Verdict;
use crate::outline::{Cause, CauseForm, CauseObject, End, Expiry, Outline};
use trueup_core::engine::State;
use trueup_core::world::Key;

/// The outline of a kubeconfig.
pub fn of(subject: &ResolvedSubject<'_>, ruling: &Ruling<'_>) -> Outline {
    let expiry = match subject {
        ResolvedSubject::Collection { gap, .. } => Expiry { what: "".into(), end: End::NotKnown(gap.message.clone()) },
        ResolvedSubject::Kubeconfig(_) | ResolvedSubject::Own(_) => expiry(pair(subject, ruling), ruling),
    };
    let outline = sentence(subject, ruling);
    let cause = (!outline.is_empty()).then(|| cause(subject, ruling)).flatten();
    outline.with_cause(cause).with_expiries([expiry])
}

/// What several kubeconfigs can follow from: a cluster that moved, and a client that does not write them any more.
fn cause(subject: &ResolvedSubject<'_>, ruling: &Ruling<'_>) -> Option<Cause> {
    let ResolvedSubject::Kubeconfig(subject) = subject else { return None };
    let (check, cluster) = (NAME, subject.context.cluster.name.clone());
    let cause = |kind, key, effect, reason: String| Cause {
        object: CauseObject { check, cluster: cluster.clone(), kind, key },
        effect,
        reason: reason.into(),
        written: None,
        form: CauseForm::Effect,
    };
    match ruling.verdict() {
        Verdict::EndpointDrift | Verdict::CaDrift | Verdict::WrongCluster if subject.sort != Sort::Hosted => {
            let (key, effect) = (subject.cluster_key.clone(), "kubeconfigs do not lead to their cluster");
            let reason = format!("Cluster {key} has another endpoint or CA");
            Some(cause(CLUSTER.kind, key, effect, reason))
        }
        Verdict::Expired | Verdict::Expiring | Verdict::RefreshStalled | Verdict::BehindSource => {
            let writer = subject.context.writer(&subject.key)?;
            let key = Key::new(subject.key.namespace.as_ref().map(|namespace| namespace.as_str()), writer);
            let reason = format!("{writer} wrote them last, and not again");
            Some(cause("field manager", key, "kubeconfigs are not renewed", reason))
        }
        Verdict::Unknown
        | Verdict::Missing
        | Verdict::Unreadable
        | Verdict::ExecRefused
        | Verdict::EndpointDrift
        | Verdict::CaDrift
        | Verdict::WrongCluster
        | Verdict::NotYetValid
        | Verdict::Contract
        | Verdict::SourceInvalid
        | Verdict::SourceMissing
        | Verdict::Waiting
        | Verdict::CaRotating
        | Verdict::Opaque
        | Verdict::Fresh => None,
    }
}

/// Its sentence without a moment relative to now: when it ends is shown beside it.
fn sentence(subject: &ResolvedSubject<'_>, ruling: &Ruling<'_>) -> Outline {
    let verdict = ruling.verdict();
    let kind = pair(subject, ruling).map_or("kubeconfig", |pair| pair.credential.kind());
    match (verdict, subject) {
        (Verdict::Expired, _) => Outline::of(&format!("the {kind} has expired")),
        (Verdict::Expiring, _) => Outline::of(&format!("the {kind} expires soon")),
        (Verdict::Waiting, _) => Outline::of("the cluster is being created"),
        (_, _) if matches!(verdict.state(), State::Match | State::Unknown) => Outline::default(),
        (_, ResolvedSubject::Kubeconfig(subject)) => Outline::of(&summary(subject, ruling, Timestamp::UNIX_EPOCH)),
        (_, ResolvedSubject::Own(_)) => Outline::of(&format!("the {kind} is not usable: {}", verdict.as_str())),
        (_, ResolvedSubject::Collection { .. }) => Outline::default(),
    }
}

fn pair<'r>(subject: &'r ResolvedSubject<'_>, ruling: &'r Ruling<'_>) -> Option<&'r Pair> {
    match subject {
        ResolvedSubject::Kubeconfig(subject) => pair_of(subject.sort, ruling.target?),
        ResolvedSubject::Own(own) => own.pair(),
        ResolvedSubject::Collection { .. } => None,
    }
}

/// When its credential ends.
fn expiry(pair: Option<&Pair>, ruling: &Ruling<'_>) -> Expiry {
    let end = match pair {
        Some(pair) => match (pair.credential.span().until, &pair.credential) {
            (Some(until), credential) => {
                let span = credential.span();
                End::At { until, warn_from: expiring_from(credential, span.issued.or(span.from), until) }
            }
            (None, Credential::Exec | Credential::AuthProvider) => End::Never("renewed by its plugin"),
            (None, Credential::File) => End::NotKnown("it is in a file".into()),
            (None, Credential::Certificate(_) | Credential::Basic | Credential::Nothing) => End::Never("no expiry"),
            (None, Credential::Token(_)) => End::NotKnown("expiry cannot be checked offline".into()),
        },
        None => {
            let why = ruling.gap.as_ref().map(|gap| gap.message.clone());
            End::NotKnown(why.unwrap_or_else(|| ruling.verdict().as_str().into()))
        }
    };
    Expiry { what: "".into(), end }
}

/// When the verdict began, by the credential itself.
pub fn began(subject: &ResolvedSubject<'_>, ruling: &Ruling<'_>) -> Option<Timestamp> {
    let credential = &pair(subject, ruling)?.credential;
    let span = credential.span();
    match ruling.verdict() {
        Verdict::Expired => span.until,
        Verdict::Expiring => Some(expiring_from(credential, span.issued.or(span.from), span.until?)),
        Verdict::Unknown
        | Verdict::Missing
        | Verdict::Unreadable
        | Verdict::ExecRefused
        | Verdict::WrongCluster
        | Verdict::NotYetValid
        | Verdict::EndpointDrift
        | Verdict::CaDrift
        | Verdict::Contract
        | Verdict::RefreshStalled
        | Verdict::BehindSource
        | Verdict::SourceInvalid
        | Verdict::SourceMissing
        | Verdict::Waiting
        | Verdict::CaRotating
        | Verdict::Opaque
        | Verdict::Fresh => None,
    }
}
