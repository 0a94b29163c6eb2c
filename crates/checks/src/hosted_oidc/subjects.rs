//! Which subjects there are, and what each of them points at.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::context::{CheckContext, hosted_by};
use super::hosted_cluster::{self, HostedContext};
use super::leftovers::{is_orphan, marked_sources, mirrors, orphans, rule_source};
use super::names::{CONSOLE_NAMESPACE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER};
use super::ownership::{mirror_proofs, proofs, source_proofs};
use super::settings::Settings;
use super::verdict::Verdict;
use super::{HostedOidc, NAME};
use crate::ContextCache;
use trueup_core::engine::SubjectId;
use trueup_core::world::{ClusterName, HostedBy, Namespace, ObjectName};

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
    /// An object in the control plane's namespace of this guest.
    ControlPlaneNamespace { context: Rc<CheckContext<'a>>, kind: CopyKind },
    /// A HostedCluster of a management cluster.
    HostedCluster { context: Box<HostedContext<'a>> },
}

impl<'a> ResolvedSubject<'a> {
    pub fn of(subject: &SubjectId, contexts: &ContextCache<'a, HostedOidc>) -> Option<Self> {
        let namespace = subject.namespace.as_deref()?;
        if subject.kind == HOSTED_CLUSTER.kind {
            let (cluster, name) = (subject.cluster.clone(), ObjectName::new(subject.name.as_str()));
            let by = HostedBy { cluster, namespace: Namespace::new(namespace), name };
            let context = Box::new(HostedContext::of(contexts.view, by)?);
            return Some(Self::HostedCluster { context });
        }
        let kind = CopyKind::of(subject.kind)?;
        if let Some(context) = contexts.of(&subject.cluster) {
            match (namespace, kind, subject.name.as_str()) {
                (COPIES_NAMESPACE, _, WHOLE_COLLECTION) => return Some(Self::Collection { context, kind }),
                (COPIES_NAMESPACE, _, _) => return Some(Self::Copy { context, kind }),
                (CONSOLE_NAMESPACE, CopyKind::ConfigMap, _) => return Some(Self::ConsoleMirror { context }),
                _ => {}
            }
        }
        // One guest may be known under two names: what is known through either counts.
        let settings = &contexts.check.settings;
        let here = contexts.fleet.with_sources_in(&subject.cluster, &Namespace::new(namespace));
        let is_known = |context: &CheckContext<'_>| {
            let ruling = rule_source(context, kind, &subject.name, settings);
            ruling.is_some_and(|ruling| ruling.verdict != Verdict::Unknown)
        };
        let orphaned = here.iter().find(|context| is_orphan(context, kind, &subject.name, settings));
        let context = orphaned.or_else(|| here.iter().find(|context| is_known(context))).or(here.first())?;
        Some(Self::ControlPlaneNamespace { context: (*context).clone(), kind })
    }
}

impl ResolvedSubject<'_> {
    /// The independent proofs that the subject is the platform's, one line each.
    pub fn proofs(&self, name: &str) -> Vec<String> {
        match self {
            Self::Copy { context, kind } => {
                let copy = context.copies(*kind).get(&context.copy_key(name)).present();
                copy.map_or_else(Vec::new, |copy| proofs(context, *kind, name, copy))
            }
            Self::ConsoleMirror { context } => context.console_mirror(name).map_or_else(Vec::new, mirror_proofs),
            Self::ControlPlaneNamespace { context, kind } => {
                let (Ok(by), Some(mark)) = (&context.home, context.source(*kind, name).seen) else { return Vec::new() };
                let content = context.current_content(*kind, name, mark);
                content.map_or_else(|_| Vec::new(), |content| source_proofs(*kind, by, mark, content))
            }
            Self::Collection { .. } | Self::HostedCluster { .. } => Vec::new(),
        }
    }
}

/// The subjects of one cluster: as a guest, and as a management cluster that holds leftovers of its guests.
pub fn list(cluster: &ClusterName, contexts: &ContextCache<'_, HostedOidc>) -> BTreeSet<SubjectId> {
    let mut subjects = BTreeSet::new();
    let settings = &contexts.check.settings;
    if let Some(context) = contexts.of(cluster) {
        for kind in CopyKind::ALL {
            guest_subjects(&context, kind, settings, &mut subjects);
        }
    }
    for context in hosted_by(contexts.view, cluster).filter_map(|guest| contexts.of(guest)) {
        for kind in CopyKind::ALL {
            let names = marked_sources(&context, kind).chain(orphans(&context, kind, settings));
            let left = names.filter(|name| rule_source(&context, kind, name, settings).is_some());
            subjects.extend(left.filter_map(|name| possible_source_subject(&context, kind, name)));
        }
    }
    subjects.extend(hosted_cluster::all(contexts.view, cluster).iter().map(hosted_cluster_subject));
    subjects
}

fn guest_subjects(context: &CheckContext<'_>, kind: CopyKind, settings: &Settings, subjects: &mut BTreeSet<SubjectId>) {
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
        let orphaned = orphans(context, kind, settings).filter(|name| context.console_mirror(name).is_some());
        subjects.extend(mirrors(context).chain(orphaned).map(|name| subject(guest, kind, CONSOLE_NAMESPACE, name)));
    }
}

pub fn possible_source_subject(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    let (cluster, namespace) = context.source_namespace()?;
    Some(subject(cluster, kind, namespace, name))
}

/// The subject of a HostedCluster.
pub fn hosted_cluster_subject(by: &HostedBy) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: by.cluster.clone(),
        api_version: HOSTED_CLUSTER.api_version(&HOSTED_CLUSTER),
        kind: HOSTED_CLUSTER.kind,
        namespace: Some(by.namespace.to_string()),
        name: by.name.to_string(),
        cloud: None,
    }
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
