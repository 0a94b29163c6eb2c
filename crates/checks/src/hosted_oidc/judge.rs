//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Invariants: a candidate is condemned only from complete lists; whatever isn't known makes it `unknown`.

use jiff::Timestamp;

use super::context::CheckContext;
use super::facts::{Client, Copy, Day2, Hosted, Origin, Pause, Restore, Value16};
use super::names::CopyKind;
use super::ownership::{Candidate, OidcMark, candidate, has_fingerprint, is_managed, oidc_mark};
use super::ruling::Ruling;
use super::verdict::{Code, Verdict};
use trueup_core::engine::glob::Glob;
use trueup_core::world::{DeletionState, Gap, GapCause, Observation, Resource, Sighting};

/// Judges one name of one kind in a guest's `openshift-config`; nothing when it is no subject.
pub fn rule(context: &CheckContext<'_>, kind: CopyKind, name: &str, patterns: &[Glob]) -> Option<Ruling> {
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    let expected = wanted.is_some_and(|wanted| wanted.expects(kind, name));
    let copy = match context.copies(kind).get(&context.copy_key(name)) {
        Observation::Present(copy) => copy,
        Observation::ProvenAbsent(_) | Observation::Unknown(_) if !expected => return None,
        Observation::ProvenAbsent(_) => return Some(absent(context, kind, name)),
        Observation::Unknown(gap) => return Some(Ruling::unknown(gap)),
    };
    Some(present(context, kind, name, copy, patterns))
}

/// Rule 3 for a name that is expected and proven absent.
fn absent(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Ruling {
    match source_of(context, kind, name) {
        SourceOf::Nobody | SourceOf::TheUser => Ruling::new(Verdict::MissingCopy).with(Code::UserProvided),
        SourceOf::NotKnown(gap) => Ruling::unknown(gap),
        SourceOf::Missing => Ruling::new(Verdict::SourceMissing),
        SourceOf::Value(_) => Ruling::new(Verdict::MissingCopy),
    }
}

fn present(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy, patterns: &[Glob]) -> Ruling {
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    let expected = wanted.is_some_and(|wanted| wanted.expects(kind, name));
    if copy.meta.is_terminating() {
        return Ruling::new(Verdict::Terminating);
    }
    if kind.protected_names().contains(&name) {
        let protected = Ruling::new(Verdict::Protected);
        return if expected { protected.with(Code::NamedByOidc) } else { protected };
    }
    if expected {
        return in_use(context, kind, name, copy);
    }
    if is_referenced_elsewhere(context, kind, name) {
        return Ruling::new(Verdict::Protected);
    }
    if let Some(pending) = still_named(context, kind, name) {
        return pending;
    }
    match candidate(kind, copy) {
        Candidate::Certain => condemn(context, kind, Verdict::OrphanCertain),
        Candidate::Probable => condemn(context, kind, Verdict::OrphanProbable),
        Candidate::No => {
            let foreign = Ruling::new(Verdict::Foreign);
            let matches = patterns.iter().any(|pattern| pattern.matches(name));
            if matches { foreign.with(Code::NamePattern) } else { foreign }
        }
    }
}

/// Rule 3 for a copy that is there.
fn in_use(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> Ruling {
    let source = match source_of(context, kind, name) {
        SourceOf::Nobody | SourceOf::TheUser => return Ruling::new(Verdict::Referenced),
        SourceOf::NotKnown(gap) => return Ruling::unknown(gap),
        SourceOf::Missing => return Ruling::new(Verdict::SourceMissing),
        SourceOf::Value(value) => value,
    };
    let ruling = if same_value(source, copy.value) { referenced(kind, copy) } else { Ruling::new(Verdict::StaleCopy) };
    if is_empty(source) { ruling.with(Code::EmptySource) } else { ruling }
}

/// A copy in use that would only be a probable orphan later, because nothing marks it as made for OIDC.
fn referenced(kind: CopyKind, copy: &Copy) -> Ruling {
    let ruling = Ruling::new(Verdict::Referenced);
    let unlabelled = oidc_mark(copy) == OidcMark::Absent && is_managed(copy) && has_fingerprint(kind, copy);
    if unlabelled { ruling.with(Code::Unlabelled) } else { ruling }
}

/// HyperShift writes an empty value when its source lacks the key: absent and empty are the same.
fn same_value(source: Option<Value16>, copy: Option<Value16>) -> bool {
    match (source, copy) {
        (Some(source), Some(copy)) if !is_empty(Some(source)) => source == copy,
        (source, copy) => is_empty(source) && is_empty(copy),
    }
}

fn is_empty(value: Option<Value16>) -> bool {
    value.is_none_or(|value| value.length == 0)
}

/// Where the value of an expected name comes from.
enum SourceOf {
    /// An external claims source: it is not copied, the user creates it in the guest.
    Nobody,
    /// A day-2 secret: the source is a stub, the user makes the secret in the guest.
    TheUser,
    NotKnown(Gap),
    Missing,
    Value(Option<Value16>),
}

fn source_of(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> SourceOf {
    let plane = context.control_plane.seen;
    let copied = plane.is_some_and(|plane| plane.hosted.authentication.providers.contains(kind, name));
    if !copied {
        return SourceOf::Nobody;
    }
    let sight = context.source(kind, name);
    if let Some(gap) = sight.gap {
        return SourceOf::NotKnown(gap);
    }
    let Some(mark) = sight.seen else {
        return SourceOf::Missing;
    };
    let day2 = plane.is_some_and(|plane| plane.day2 == Day2::Honoured);
    if kind == CopyKind::Secret && day2 && mark.origin == Origin::HostedClusterSourced {
        return SourceOf::TheUser;
    }
    match context.source_content(kind, name) {
        Observation::Present(content) if content.version == mark.version => SourceOf::Value(content.value),
        Observation::Present(_) => {
            SourceOf::NotKnown(Gap::new(GapCause::NotObserved, "its source has changed and is being read again"))
        }
        Observation::ProvenAbsent(_) => {
            SourceOf::NotKnown(Gap::new(GapCause::NotObserved, "its source went away while it was read"))
        }
        Observation::Unknown(gap) => SourceOf::NotKnown(gap),
    }
}

/// Rule 4.
fn is_referenced_elsewhere(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> bool {
    context.configs(kind).iter().any(|(_, config)| config.seen.is_some_and(|config| config.refs.contains(kind, name)))
        || context.control_plane.seen.is_some_and(|plane| plane.other_refs.contains(kind, name))
}

/// Rule 5.
fn still_named(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Option<Ruling> {
    let by_guest = context.authentication.seen.is_some_and(|guest| guest.spec.names(kind, name));
    let by_cluster = context.hosted_cluster.seen.is_some_and(|cluster| cluster.0.authentication.expects(kind, name));
    let by_plane = context.control_plane.seen.map(|plane| plane.hosted.authentication.names(kind, name));
    let not_propagated = by_cluster && by_plane == Some(false);
    match (by_guest, not_propagated) {
        (false, false) => None,
        (true, false) => Some(Ruling::new(Verdict::Pending).with(Code::GuestStillRefers)),
        (false, true) => Some(Ruling::new(Verdict::Pending).with(Code::NotPropagated)),
        (true, true) => Some(Ruling::new(Verdict::Pending).with(Code::GuestStillRefers).with(Code::NotPropagated)),
    }
}

/// Rule 6 for a candidate: what stands between it and being called an orphan.
fn condemn(context: &CheckContext<'_>, kind: CopyKind, orphan: Verdict) -> Ruling {
    if let Some(gap) = not_known(context, kind) {
        return Ruling::unknown(gap);
    }
    let moot = moot(context);
    if !moot.is_empty() {
        let ruling = moot.into_iter().fold(Ruling::new(Verdict::Moot), Ruling::with);
        return Ruling { until: pause_ends(context), ..ruling };
    }
    if still_current(context).is_some() {
        return Ruling::new(Verdict::Pending).with(Code::ClientStillCurrent);
    }
    Ruling::new(orphan)
}

/// The first thing a candidate's judgement needs and that is not known.
fn not_known(context: &CheckContext<'_>, kind: CopyKind) -> Option<Gap> {
    let about = |what: &str, gap: Gap| Gap::new(gap.cause, format!("{what}: {}", gap.message));
    if let Some(gap) = context.copies(kind).gap() {
        return Some(about(&format!("{}s of openshift-config", kind.resource().kind), gap));
    }
    if let Err(gap) = &context.home {
        return Some(gap.clone());
    }
    if let Some(gap) = context.control_plane.gap.clone() {
        return Some(about("HostedControlPlane", gap));
    }
    if let Some(gap) = context.hosted_cluster.gap.clone() {
        return Some(about("HostedCluster", gap));
    }
    if context.control_plane.is_proven_absent() && context.hosted_cluster.seen.is_some() {
        let message = "the HostedCluster exists and its HostedControlPlane does not: what it expects is not known";
        return Some(Gap::new(GapCause::NotObserved, message));
    }
    if let Some(gap) = context.authentication.gap.clone() {
        return Some(about("Authentication/cluster", gap));
    }
    let config_gap = |(resource, config): &(Resource, Sighting<'_, _>)| {
        Some(about(&format!("{}/cluster", resource.kind), config.gap.clone()?))
    };
    context.configs(kind).iter().find_map(config_gap)
}

/// Why nothing should be done to this guest at all.
fn moot(context: &CheckContext<'_>) -> Vec<Code> {
    let mut codes = Vec::new();
    if context.hosted_cluster.is_proven_absent() || context.control_plane.is_proven_absent() {
        codes.push(Code::Gone);
    }
    for hosted in hosted(context) {
        if hosted.deletion_state == DeletionState::Terminating {
            codes.push(Code::Deleting);
        }
        if hosted.pause.holds(context.view.now) {
            codes.push(Code::Paused);
        }
        if hosted.restore == Restore::GoingOn {
            codes.push(Code::Restored);
        }
    }
    codes
}

/// When a pause that is set to end ends.
fn pause_ends(context: &CheckContext<'_>) -> Option<Timestamp> {
    hosted(context)
        .filter_map(|hosted| match hosted.pause {
            Pause::Until(end) if end > context.view.now => Some(end),
            Pause::Until(_) | Pause::ForEver | Pause::No => None,
        })
        .min()
}

/// The HostedCluster and its control plane, as far as they were seen.
pub fn hosted<'a>(context: &CheckContext<'a>) -> impl Iterator<Item = &'a Hosted> + use<'a> {
    let cluster: &Sighting<'a, _> = &context.hosted_cluster;
    let cluster = cluster.seen.map(|cluster| &cluster.0);
    cluster.into_iter().chain(context.control_plane.seen.map(|plane| &plane.hosted))
}

/// A client the guest still uses although the control plane lists another one, or none, for its component.
pub fn still_current<'a>(context: &CheckContext<'a>) -> Option<&'a Client> {
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication).filter(|wanted| wanted.is_oidc());
    let guest = context.authentication.seen?;
    let is_listed = |current: &Client| {
        wanted.is_some_and(|wanted| wanted.clients.iter().any(|listed| is_same_client(listed, current)))
    };
    guest.current.iter().find(|current| !is_listed(current))
}

/// Another client id or issuer is another client. A status that names no issuer says nothing about it, but one
/// without a client id can't be recognised as the listed client.
fn is_same_client(listed: &Client, current: &Client) -> bool {
    let same_issuer = current.issuer.is_empty() || listed.issuer == current.issuer;
    let same_id = !current.client_id.is_empty() && listed.client_id == current.client_id;
    listed.component == current.component && same_id && same_issuer
}
