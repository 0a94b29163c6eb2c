//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Invariants: a candidate is condemned only from complete lists; whatever isn't known makes it `unknown`.

use jiff::Timestamp;

use super::context::CheckContext;
use super::facts::{Client, Copy, CurrentClient, Day2, Hosted, Management, Origin, Pause, Restore, Value16};
use super::names::CopyKind;
use super::ownership::{Candidate, OidcMark, candidate, has_fingerprint, is_managed, oidc_mark};
use super::ruling::Ruling;
use super::settings::Settings;
use super::verdict::{Code, Verdict};
use trueup_core::world::{DeletionState, Gap, GapCause, MemberSet, NotRead, Observation, Resource, Sighting};

/// Judges one name of one kind in a guest's `openshift-config`; nothing when it is no subject.
pub fn rule(context: &CheckContext<'_>, kind: CopyKind, name: &str, settings: &Settings) -> Option<Ruling> {
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    let expected = wanted.is_some_and(|wanted| wanted.expects(kind, name));
    let copy = match context.copies(kind).get(&context.copy_key(name)) {
        Observation::Present(copy) => copy,
        Observation::ProvenAbsent(_) | Observation::Unknown(_) if !expected => return None,
        Observation::ProvenAbsent(_) => return Some(absent(context, kind, name)),
        Observation::Unknown(gap) => return Some(Ruling::unknown(gap)),
    };
    Some(present(context, kind, name, copy, settings))
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

fn present(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy, settings: &Settings) -> Ruling {
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
    if is_day2(context, kind, name, copy) {
        return Ruling::new(Verdict::Protected).with(Code::Day2);
    }
    if is_referenced_elsewhere(context, kind, name) {
        return Ruling::new(Verdict::Protected);
    }
    if let Some(pending) = still_named(context, kind, name) {
        return pending;
    }
    let orphan = match candidate(kind, copy) {
        Candidate::Certain => Verdict::OrphanCertain,
        Candidate::Probable => Verdict::OrphanProbable,
        Candidate::No => {
            let foreign = Ruling::new(Verdict::Foreign);
            let matches = settings.name_patterns.iter().any(|pattern| pattern.matches(name));
            return if matches { foreign.with(Code::NamePattern) } else { foreign };
        }
    };
    let ruling = condemn(context, kind, orphan, settings);
    if ruling.verdict == orphan && copy.meta.is_restored() { ruling.with(Code::Restored) } else { ruling }
}

/// Rule 3a: a Secret that its user makes in the guest, whatever its labels say.
fn is_day2(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> bool {
    let stub = || context.source(kind, name).seen.is_some_and(|stub| stub.origin == Origin::HostedClusterSourced);
    kind == CopyKind::Secret && (copy.origin == Origin::HostedClusterSourced || stub())
}

/// Rule 3 for a copy that is there.
fn in_use(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> Ruling {
    let source = match source_of(context, kind, name) {
        SourceOf::Nobody | SourceOf::TheUser => return Ruling::new(Verdict::Referenced),
        SourceOf::NotKnown(gap) => return Ruling::unknown(gap),
        SourceOf::Missing => return Ruling::new(Verdict::SourceMissing),
        SourceOf::Value(value) => value,
    };
    let ruling =
        if same_value(source, copy.value(kind)) { referenced(kind, copy) } else { Ruling::new(Verdict::StaleCopy) };
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
    match context.current_content(kind, name, mark) {
        Ok(content) => SourceOf::Value(content.value),
        Err(gap) => SourceOf::NotKnown(gap),
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
    let by_cluster =
        context.hosted_cluster.seen.is_some_and(|cluster| cluster.hosted.authentication.expects(kind, name));
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
fn condemn(context: &CheckContext<'_>, kind: CopyKind, orphan: Verdict, settings: &Settings) -> Ruling {
    if let Some(gap) = context.copies(kind).gap() {
        return Ruling::unknown(about(&format!("{}s of openshift-config", kind.resource().kind), gap));
    }
    if let Some(ruling) = undecided(context, kind) {
        return ruling;
    }
    match client_use(context, settings) {
        ClientUse::None => Ruling::new(orphan),
        ClientUse::Stale => Ruling::new(orphan).with(Code::ClientStale),
        ClientUse::Current { until, .. } => {
            Ruling { until, ..Ruling::new(Verdict::Pending).with(Code::ClientStillCurrent) }
        }
    }
}

/// The first lines of rule 6: why an object that nothing names can't be called unused. Leftovers share them.
pub fn undecided(context: &CheckContext<'_>, kind: CopyKind) -> Option<Ruling> {
    if let Some(gap) = members(context, kind).gap() {
        return Some(Ruling::unknown(gap).with(Code::FleetIncomplete));
    }
    if context.control_plane.is_proven_absent() && context.hosted_cluster.seen.is_some() {
        let message = "the HostedCluster exists and its HostedControlPlane does not: what it expects is not known";
        return Some(Ruling::unknown(Gap::new(GapCause::NotObserved, message)));
    }
    let moot = moot(context);
    let ruling = moot.iter().copied().fold(Ruling::new(Verdict::Moot), Ruling::with);
    (!moot.is_empty()).then(|| Ruling { until: pause_ends(context), ..ruling })
}

/// Where a reference to an object of the guest can be: the guest, and the cluster of its control plane.
pub fn members(context: &CheckContext<'_>, kind: CopyKind) -> MemberSet {
    let guest = (context.guest.name.to_string(), guest_gap(context, kind).map(NotRead::Incomplete));
    let management = match &context.home {
        Ok(by) if context.view.cluster(&by.cluster).is_none() => (by.cluster.to_string(), Some(NotRead::NotInRun)),
        Ok(by) => (by.cluster.to_string(), management_gap(context, kind).map(NotRead::Incomplete)),
        Err(gap) => ("management cluster".to_owned(), Some(NotRead::Incomplete(gap.clone()))),
    };
    MemberSet::fixed([guest, management])
}

fn about(what: &str, gap: Gap) -> Gap {
    Gap::new(gap.cause, format!("{what}: {}", gap.message))
}

/// The first thing of the management cluster that a candidate's judgement needs and that is not known.
fn management_gap(context: &CheckContext<'_>, kind: CopyKind) -> Option<Gap> {
    let plane = context.control_plane.gap.clone().map(|gap| about("HostedControlPlane", gap));
    let cluster = || context.hosted_cluster.gap.clone().map(|gap| about("HostedCluster", gap));
    plane.or_else(cluster).or_else(|| stubs_not_known(context, kind))
}

/// The same of the guest.
fn guest_gap(context: &CheckContext<'_>, kind: CopyKind) -> Option<Gap> {
    let authentication = context.authentication.gap.clone().map(|gap| about("Authentication/cluster", gap));
    let config_gap = |(resource, config): &(Resource, Sighting<'_, _>)| {
        Some(about(&format!("{}/cluster", resource.kind), config.gap.clone()?))
    };
    authentication.or_else(|| context.configs(kind).iter().find_map(config_gap))
}

/// A day-2 stub could be among Secrets that were not listed.
fn stubs_not_known(context: &CheckContext<'_>, kind: CopyKind) -> Option<Gap> {
    if kind != CopyKind::Secret {
        return None;
    }
    let gap = match context.sources(kind) {
        Some(reading) => reading.gap()?,
        None => Gap::new(GapCause::NotObserved, "the control plane's namespace is not known"),
    };
    Some(about("Secrets of the control plane's namespace", gap))
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
    let cluster = cluster.seen.map(|cluster| &cluster.hosted);
    cluster.into_iter().chain(context.control_plane.seen.map(|plane| &plane.hosted))
}

/// Whether a component of the guest still uses a client that the control plane does not list for it.
pub enum ClientUse<'a> {
    None,
    /// Only entries that no running console operator would leave as they are.
    Stale,
    Current {
        client: &'a Client,
        /// When the entry counts as stale.
        until: Option<Timestamp>,
    },
}

pub fn client_use<'a>(context: &CheckContext<'a>, settings: &Settings) -> ClientUse<'a> {
    let removed = context.console_operator().seen.is_some_and(|console| console.management == Management::Removed);
    if removed {
        return ClientUse::None;
    }
    let mut found = ClientUse::None;
    for current in unlisted(context) {
        let until = current.reported.and_then(|reported| reported.checked_add(settings.client_grace).ok());
        match until {
            Some(until) if until < context.view.now => found = ClientUse::Stale,
            // At this very moment it is not more than the grace period ago.
            Some(until) if until == context.view.now => {
                return ClientUse::Current { client: &current.client, until: None };
            }
            Some(_) | None => return ClientUse::Current { client: &current.client, until },
        }
    }
    found
}

/// The clients in use that the control plane does not list for their components.
fn unlisted<'a>(context: &CheckContext<'a>) -> impl Iterator<Item = &'a CurrentClient> {
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication).filter(|wanted| wanted.is_oidc());
    let is_listed = move |current: &Client| {
        wanted.is_some_and(|wanted| wanted.clients.iter().any(|listed| is_same_client(listed, current)))
    };
    let current = context.authentication.seen.map_or(&[][..], |guest| &guest.current);
    current.iter().filter(move |current| !is_listed(&current.client))
}

/// Another client id or issuer is another client. A status that names no issuer says nothing about it, but one
/// without a client id can't be recognised as the listed client.
fn is_same_client(listed: &Client, current: &Client) -> bool {
    let same_issuer = current.issuer.is_empty() || listed.issuer == current.issuer;
    let same_id = !current.client_id.is_empty() && listed.client_id == current.client_id;
    listed.component == current.component && same_id && same_issuer
}
