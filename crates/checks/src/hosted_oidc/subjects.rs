//! Which subjects there are, and what each of them points at.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::context::CheckContext;
use super::judge::rule;
use super::names::{CONSOLE_NAMESPACE, COPIES_NAMESPACE, CopyKind};
use super::verdict::Verdict;
use super::{HostedOidc, NAME};
use crate::ContextCache;
use trueup_core::engine::SubjectId;
use trueup_core::world::{ClusterName, View};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

/// What a subject id points at.
pub enum ResolvedSubject<'a> {
    /// A name in a guest's `openshift-config`.
    Copy { context: Rc<CheckContext<'a>>, kind: CopyKind },
    /// One of those two collections as a whole.
    Collection { context: Rc<CheckContext<'a>>, kind: CopyKind },
    /// The console's mirror of a CA in a guest.
    ConsoleMirror { context: Rc<CheckContext<'a>> },
    /// An object in a control plane's namespace that is called like an orphan of this guest.
    ControlPlaneNamespace { context: Rc<CheckContext<'a>>, kind: CopyKind },
}

impl<'a> ResolvedSubject<'a> {
    pub fn of(subject: &SubjectId, contexts: &ContextCache<'a, HostedOidc>) -> Option<Self> {
        let kind = CopyKind::of(subject.kind)?;
        let namespace = subject.namespace.as_deref()?;
        if let Some(context) = contexts.of(&subject.cluster) {
            match (namespace, kind, subject.name.as_str()) {
                (COPIES_NAMESPACE, _, WHOLE_COLLECTION) => return Some(Self::Collection { context, kind }),
                (COPIES_NAMESPACE, _, _) => return Some(Self::Copy { context, kind }),
                (CONSOLE_NAMESPACE, CopyKind::ConfigMap, _) => return Some(Self::ConsoleMirror { context }),
                _ => {}
            }
        }
        let is_here = |context: &CheckContext<'_>| {
            context.source_namespace().is_some_and(|(cluster, held)| cluster == &subject.cluster && held == namespace)
        };
        // One guest may be known under two names: an orphan seen through either leaves the same thing here.
        let mut guests = contexts.fleet.all().iter();
        let context = guests.find(|context| is_here(context) && is_orphan(context, kind, &subject.name))?;
        Some(Self::ControlPlaneNamespace { context: context.clone(), kind })
    }
}

/// Every guest of the fleet.
pub fn guests(view: View<'_>) -> impl Iterator<Item = CheckContext<'_>> {
    view.clusters().filter_map(move |cluster| CheckContext::of(view, &cluster.name))
}

/// The subjects of one cluster: as a guest, and as a management cluster that holds leftovers of its guests.
pub fn list(cluster: &ClusterName, contexts: &ContextCache<'_, HostedOidc>) -> BTreeSet<SubjectId> {
    let mut subjects = BTreeSet::new();
    if let Some(context) = contexts.of(cluster) {
        for kind in CopyKind::ALL {
            guest_subjects(&context, kind, &mut subjects);
        }
    }
    for context in hosted_by(cluster, contexts.view) {
        for kind in CopyKind::ALL {
            subjects.extend(orphans(&context, kind).filter_map(|name| source_subject(&context, kind, name)));
        }
    }
    subjects
}

/// The guests a cluster hosts: those that say so, and those known only by their topology.
pub fn hosted_by<'a>(cluster: &ClusterName, view: View<'a>) -> impl Iterator<Item = CheckContext<'a>> {
    let may_be = view.guests_of(cluster).chain(view.unhosted().map(|guest| &guest.name));
    let contexts = may_be.filter_map(move |guest| CheckContext::of(view, guest));
    contexts.filter(move |context| context.home.as_ref().is_ok_and(|by| &by.cluster == cluster))
}

fn guest_subjects(context: &CheckContext<'_>, kind: CopyKind, subjects: &mut BTreeSet<SubjectId>) {
    let guest = &context.guest.name;
    let copies = context.copies(kind);
    if !copies.is_complete() {
        subjects.insert(subject(guest, kind, COPIES_NAMESPACE, WHOLE_COLLECTION));
    }
    subjects.extend(copies.iter().map(|(key, _)| subject(guest, kind, COPIES_NAMESPACE, key.name.as_str())));
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    if let Some(wanted) = wanted.filter(|wanted| wanted.is_oidc()) {
        let names = wanted.providers.names(kind).chain(wanted.claims_sources.names(kind));
        subjects.extend(names.map(|name| subject(guest, kind, COPIES_NAMESPACE, name)));
    }
    if kind.is_mirrored() {
        let mirrored = orphans(context, kind).filter(|name| context.console_mirror(name).is_some());
        subjects.extend(mirrored.map(|name| subject(guest, kind, CONSOLE_NAMESPACE, name)));
    }
}

/// The names of one kind that this guest's judgement calls orphans.
fn orphans<'s>(context: &'s CheckContext<'_>, kind: CopyKind) -> impl Iterator<Item = &'s str> {
    let names = context.copies(kind).iter().map(|(key, _)| key.name.as_str());
    names.filter(move |name| is_orphan(context, kind, name))
}

/// Whether the name is an orphan. Patterns mark foreign objects alone, so none are needed.
pub fn is_orphan(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> bool {
    let ruling = rule(context, kind, name, &[]);
    ruling.is_some_and(|ruling| matches!(ruling.verdict, Verdict::OrphanCertain | Verdict::OrphanProbable))
}

fn source_subject(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    context.source(kind, name).seen?;
    possible_source_subject(context, kind, name)
}

pub fn possible_source_subject(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    let (cluster, namespace) = context.source_namespace()?;
    Some(subject(cluster, kind, namespace, name))
}

pub fn subject(cluster: &ClusterName, kind: CopyKind, namespace: &str, name: &str) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: cluster.clone(),
        api_version: "v1",
        kind: kind.resource().kind,
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
        cloud: None,
    }
}
