//! The long answer: one line, expected beside actual, and evidence that names object, field and version.

mod hosted_cluster;
mod leftovers;

use super::conditions::copy_lines;
use super::context::CheckContext;
use super::facts::Copy;
use super::judge::{ClientUse, client_use, members};
use super::messages::summary;
use super::names::{COPIES_NAMESPACE, CopyKind, SINGLETON};
use super::ownership::proofs;
use super::remedy::actions;
use super::remedy::leftovers::Location;
use super::ruling::Ruling;
use super::settings::Settings;
use super::sides::sides;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use crate::evidence::{bare, versioned_line as line};
use trueup_core::engine::{Evidence, Explanation, SubjectId};
use trueup_core::world::Key;

pub fn explain(settings: &Settings, subject: &SubjectId, place: &ResolvedSubject<'_>, ruling: &Ruling) -> Explanation {
    let name = subject.name.as_str();
    match place {
        ResolvedSubject::Copy { context, kind } => {
            let copy = context.copies(*kind).get(&context.copy_key(name)).present();
            let (expected, actual) = sides(context, *kind, name, copy, ruling);
            Explanation {
                uid: copy.map(|copy| copy.meta.uid.clone()),
                created: copy.and_then(|copy| copy.meta.created()),
                summary: summary(context, settings, *kind, name, ruling),
                expected,
                actual,
                evidence: evidence(context, settings, *kind, name, copy, ruling),
                remedy: actions(settings, context, *kind, name, copy, ruling),
            }
        }
        ResolvedSubject::Collection { context, kind } => {
            let gap = ruling.gap.as_ref().map_or_else(String::new, |gap| gap.message.to_string());
            let (guest, word) = (&context.guest.name, kind.resource().kind);
            bare(
                format!(
                    "{word}s of {COPIES_NAMESPACE} are not known completely: {gap}; trueup doctor says what cannot be read"
                ),
                Evidence {
                    message: gap,
                    object: format!("{guest} {word} {COPIES_NAMESPACE}/*"),
                    field: String::new(),
                    resource_version: String::new(),
                },
            )
        }
        ResolvedSubject::ConsoleMirror { context } => {
            leftovers::explain(settings, context, Location::Console, name, place.proofs(name), ruling)
        }
        ResolvedSubject::ControlPlaneNamespace { context, kind } => {
            leftovers::explain(settings, context, Location::ControlPlane(*kind), name, place.proofs(name), ruling)
        }
        ResolvedSubject::HostedCluster { context } => hosted_cluster::explain(context, ruling),
    }
}

fn evidence(
    context: &CheckContext<'_>,
    settings: &Settings,
    kind: CopyKind,
    name: &str,
    copy: Option<&Copy>,
    ruling: &Ruling,
) -> Vec<Evidence> {
    let mut lines = gap_lines(context, kind, context.guest.name.as_str(), ruling);
    lines.extend(plane_evidence(context, kind, name));
    lines.extend(cluster_evidence(context, kind, name, ruling));
    lines.extend(copy_lines(context, name, ruling));
    lines.extend(guest_evidence(context, settings, kind, name));
    lines.extend(config_evidence(context, kind, name));
    lines.extend(source_evidence(context, kind, name, ruling));
    if let Some(copy) = copy {
        lines.extend(deletion_line(context, kind, name, copy));
        lines.push(copy_evidence(context, kind, name, copy));
    }
    lines
}

/// The source, where its presence is the cause.
fn source_evidence(context: &CheckContext<'_>, kind: CopyKind, name: &str, ruling: &Ruling) -> Option<Evidence> {
    let message = match ruling.verdict {
        Verdict::SourceMissing => "the source does not exist",
        Verdict::MissingCopy => "the source exists",
        Verdict::StaleCopy => "the source holds another value",
        Verdict::Terminating
        | Verdict::Protected
        | Verdict::Unknown
        | Verdict::Referenced
        | Verdict::Pending
        | Verdict::Foreign
        | Verdict::Moot
        | Verdict::OrphanCertain
        | Verdict::OrphanProbable
        | Verdict::Leftover
        | Verdict::Valid
        | Verdict::Invalid
        | Verdict::KasWouldRefuse
        | Verdict::Degraded => return None,
    };
    let (cluster, namespace) = context.source_namespace()?;
    let object = format!("{cluster} {} {namespace}/{name}", kind.resource().kind);
    Some(line(message.to_owned(), object, &format!("data.{}", kind.copied_key()), String::new()))
}

/// A copy whose deletion was requested: its finalizers keep it.
fn deletion_line(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> Option<Evidence> {
    let finalizers = copy.finalizers.as_ref()?;
    let object = format!("{} {} {COPIES_NAMESPACE}/{name}", context.guest.name, kind.resource().kind);
    let message = format!("deletion was requested; finalizers: {}", finalizers.message());
    Some(line(message, object, "metadata.finalizers", copy.meta.version.to_string()))
}

/// What is not known about an object: each member that was not read, or the one gap.
fn gap_lines(context: &CheckContext<'_>, kind: CopyKind, object: &str, ruling: &Ruling) -> Vec<Evidence> {
    if ruling.has(Code::FleetIncomplete) {
        let missing = members(context, kind).missing;
        return missing.into_iter().map(|one| line(one.why.to_string(), one.name, "", String::new())).collect();
    }
    let gap = ruling.gap.iter().map(|gap| line(gap.message.to_string(), object.to_owned(), "", String::new()));
    gap.collect()
}

fn plane_evidence(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Vec<Evidence> {
    let (Ok(by), Some(key)) = (&context.home, &context.control_plane_key) else {
        return Vec::new();
    };
    let object = format!("{} HostedControlPlane {key}", by.cluster);
    let Some(plane) = context.control_plane.seen else {
        let absent = context.control_plane.is_proven_absent();
        return absent.then(|| line("does not exist".to_owned(), object, "", String::new())).into_iter().collect();
    };
    let version = || plane.hosted.version.to_string();
    let wanted = &plane.hosted.authentication;
    let kind_field = "spec.configuration.authentication.type";
    let mut lines =
        vec![line(format!("authentication type is {}", wanted.kind.as_str()), object.clone(), kind_field, version())];
    let named = [&wanted.providers, &wanted.claims_sources].into_iter().find_map(|refs| refs.find(kind, name));
    match named {
        Some(found) => lines.push(line("names it".to_owned(), object.clone(), &found.field, version())),
        None => {
            let field = "spec.configuration.authentication.oidcProviders";
            lines.push(line("no provider names it".to_owned(), object.clone(), field, version()));
        }
    }
    if let Some(found) = plane.other_refs.find(kind, name) {
        lines.push(line("refers to it".to_owned(), object, &found.field, version()));
    }
    lines
}

fn cluster_evidence(context: &CheckContext<'_>, kind: CopyKind, name: &str, ruling: &Ruling) -> Vec<Evidence> {
    let Ok(by) = &context.home else {
        return Vec::new();
    };
    let object = format!(
        "{} HostedCluster {}",
        by.cluster,
        Key { namespace: Some(by.namespace.clone()), name: by.name.clone() }
    );
    let Some(cluster) = context.hosted_cluster.seen else {
        let absent = context.hosted_cluster.is_proven_absent();
        return absent.then(|| line("does not exist".to_owned(), object, "", String::new())).into_iter().collect();
    };
    let version = || cluster.hosted.version.to_string();
    let mut lines = Vec::new();
    if ruling.codes.contains(&Code::NotPropagated) {
        let found = cluster.hosted.authentication.providers.find(kind, name);
        let field = found.map_or("spec.configuration.authentication.oidcProviders", |found| &found.field);
        lines.push(line("names it".to_owned(), object.clone(), field, version()));
    }
    if ruling.verdict == Verdict::Moot {
        lines.extend(moot_fields(ruling).map(|(message, field)| line(message, object.clone(), field, version())));
    }
    if is_settled_by_the_spec(ruling.verdict) {
        let message =
            "what providers name is changed here: the guest's own Authentication is write-protected".to_owned();
        lines.push(line(message, object.clone(), "spec.configuration.authentication.oidcProviders", version()));
    }
    lines
}

/// Why a hosted cluster is left alone, and the field that says so.
pub(super) fn moot_fields(ruling: &Ruling) -> impl Iterator<Item = (String, &'static str)> + '_ {
    let fields = [
        (Code::Paused, "is paused", "spec.pausedUntil"),
        (Code::Deleting, "is being deleted", "metadata.deletionTimestamp"),
        (Code::Gone, "does not exist", ""),
        (Code::Restored, "is being restored from a backup", "metadata.annotations"),
    ];
    fields.into_iter().filter(|(code, ..)| ruling.has(*code)).map(|(_, message, field)| (message.to_owned(), field))
}

/// Whether a user has to change the provider references, or wait until they are propagated.
fn is_settled_by_the_spec(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Pending | Verdict::SourceMissing | Verdict::MissingCopy => true,
        Verdict::Terminating
        | Verdict::Protected
        | Verdict::Unknown
        | Verdict::StaleCopy
        | Verdict::Referenced
        | Verdict::Foreign
        | Verdict::Moot
        | Verdict::OrphanCertain
        | Verdict::OrphanProbable
        | Verdict::Leftover
        | Verdict::Valid
        | Verdict::Invalid
        | Verdict::KasWouldRefuse
        | Verdict::Degraded => false,
    }
}

fn guest_evidence(context: &CheckContext<'_>, settings: &Settings, kind: CopyKind, name: &str) -> Vec<Evidence> {
    let object = format!("{} Authentication {SINGLETON}", context.guest.name);
    let Some(guest) = context.authentication.seen else {
        let absent = context.authentication.is_proven_absent();
        return absent.then(|| line("does not exist".to_owned(), object, "", String::new())).into_iter().collect();
    };
    let version = || guest.version.to_string();
    let named = [&guest.spec.providers, &guest.spec.claims_sources].into_iter().find_map(|refs| refs.find(kind, name));
    let mut lines = match named {
        Some(found) => vec![line("names it".to_owned(), object.clone(), &found.field, version())],
        None => vec![line(
            "Authentication/cluster does not reference it".to_owned(),
            object.clone(),
            "spec.oidcProviders",
            version(),
        )],
    };
    let message = match client_use(context, settings) {
        ClientUse::Current { client, .. } => {
            format!("{} still uses client {} of {}", client.component, client.client_id, client.provider)
        }
        ClientUse::Stale => "only entries that were not reported for longer than client_grace".to_owned(),
        ClientUse::None => "no component uses a client that HostedControlPlane does not list".to_owned(),
    };
    lines.push(line(message, object, "status.oidcClients", version()));
    lines
}

fn config_evidence(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Vec<Evidence> {
    let mut silent = Vec::new();
    let mut lines = Vec::new();
    for (resource, config) in context.configs(kind) {
        match config.seen.map(|config| (config, config.refs.find(kind, name))) {
            Some((config, Some(found))) => {
                let object = format!("{} {} {SINGLETON}", context.guest.name, resource.kind);
                lines.push(line("refers to it".to_owned(), object, &found.field, config.version.to_string()));
            }
            Some((_, None)) => silent.push(resource.kind),
            None if config.is_proven_absent() => silent.push(resource.kind),
            None => {}
        }
    }
    if lines.is_empty() && !silent.is_empty() {
        let message = format!("no {} config refers to it", silent.join(", "));
        lines.push(line(message, format!("{} config.openshift.io/v1", context.guest.name), "", String::new()));
    }
    lines
}

fn copy_evidence(context: &CheckContext<'_>, kind: CopyKind, name: &str, copy: &Copy) -> Evidence {
    let marks = proofs(context, kind, name, copy);
    let message = if marks.is_empty() { "nothing marks it as HyperShift's".to_owned() } else { marks.join("; ") };
    let object = format!("{} {} {COPIES_NAMESPACE}/{name}", context.guest.name, kind.resource().kind);
    line(message, object, "metadata.labels", copy.meta.version.to_string())
}
