//! Which subjects there are, and what each of them points at.

use std::collections::BTreeSet;

use super::NAME;
use super::judge::rule;
use super::names::{CONSOLE_NAMESPACE, COPIES_NAMESPACE, CopyKind};
use super::scene::Scene;
use super::verdict::Verdict;
use crate::engine::SubjectId;
use crate::world::{ClusterName, View};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

/// What a subject id points at.
pub enum Place<'a> {
    /// A name in a guest's `openshift-config`.
    Copy { scene: Scene<'a>, kind: CopyKind },
    /// One of those two collections as a whole.
    Collection { scene: Scene<'a>, kind: CopyKind },
    /// The console's mirror of a CA in a guest.
    ConsoleMirror { scene: Scene<'a> },
    /// An object in a control plane's namespace that is called like an orphan of this guest.
    ControlPlaneNamespace { scene: Scene<'a>, kind: CopyKind },
}

impl<'a> Place<'a> {
    pub fn of(subject: &SubjectId, view: View<'a>) -> Option<Self> {
        let kind = CopyKind::of(subject.kind)?;
        let namespace = subject.namespace.as_deref()?;
        if let Some(scene) = Scene::of(view, &subject.cluster) {
            match (namespace, kind, subject.name.as_str()) {
                (COPIES_NAMESPACE, _, WHOLE_COLLECTION) => return Some(Self::Collection { scene, kind }),
                (COPIES_NAMESPACE, _, _) => return Some(Self::Copy { scene, kind }),
                (CONSOLE_NAMESPACE, CopyKind::ConfigMap, _) => return Some(Self::ConsoleMirror { scene }),
                _ => {}
            }
        }
        let lies_here = |scene: &Scene<'_>| {
            scene.source_namespace().is_some_and(|(cluster, held)| cluster == &subject.cluster && held == namespace)
        };
        // One guest may be known under two names: an orphan seen through either leaves the same thing here.
        let mut scenes = guests(view).filter(|scene| lies_here(scene) && is_orphan(scene, kind, &subject.name));
        Some(Self::ControlPlaneNamespace { scene: scenes.next()?, kind })
    }
}

/// Every guest of the fleet.
pub fn guests(view: View<'_>) -> impl Iterator<Item = Scene<'_>> {
    view.clusters().filter_map(move |cluster| Scene::of(view, &cluster.name))
}

/// The subjects of one cluster: as a guest, and as a management cluster that holds leftovers of its guests.
pub fn list(cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
    let mut subjects = BTreeSet::new();
    if let Some(scene) = Scene::of(view, cluster) {
        for kind in CopyKind::ALL {
            guest_subjects(&scene, kind, &mut subjects);
        }
    }
    for scene in guests(view).filter(|scene| scene.home.as_ref().is_ok_and(|by| &by.cluster == cluster)) {
        for (kind, name) in orphans(&scene) {
            subjects.extend(source_subject(&scene, kind, &name));
        }
    }
    subjects
}

fn guest_subjects(scene: &Scene<'_>, kind: CopyKind, subjects: &mut BTreeSet<SubjectId>) {
    let guest = &scene.guest.name;
    let copies = scene.copies(kind);
    if !copies.is_complete() {
        subjects.insert(subject(guest, kind, COPIES_NAMESPACE, WHOLE_COLLECTION));
    }
    subjects.extend(copies.iter().map(|(key, _)| subject(guest, kind, COPIES_NAMESPACE, key.name.as_str())));
    if let Some(wanted) = scene.control_plane.seen.map(|plane| &plane.hosted.authentication).filter(|all| all.is_oidc())
    {
        let names = wanted.providers.names(kind).chain(wanted.claims_sources.names(kind));
        subjects.extend(names.map(|name| subject(guest, kind, COPIES_NAMESPACE, name)));
    }
    if kind == CopyKind::ConfigMap {
        let orphans = orphans(scene).into_iter().filter(|(orphan, _)| *orphan == kind);
        let mirrored = orphans.filter(|(_, name)| scene.console_mirror(name).is_some());
        subjects.extend(mirrored.map(|(_, name)| subject(guest, kind, CONSOLE_NAMESPACE, &name)));
    }
}

/// The names this guest's judgement calls orphans.
fn orphans(scene: &Scene<'_>) -> Vec<(CopyKind, String)> {
    let mut orphans = Vec::new();
    for kind in CopyKind::ALL {
        for (key, _) in scene.copies(kind).iter() {
            if is_orphan(scene, kind, key.name.as_str()) {
                orphans.push((kind, key.name.to_string()));
            }
        }
    }
    orphans
}

/// Whether the name is an orphan. Patterns mark foreign objects alone, so none are needed.
pub fn is_orphan(scene: &Scene<'_>, kind: CopyKind, name: &str) -> bool {
    let ruling = rule(scene, kind, name, &[]);
    ruling.is_some_and(|ruling| matches!(ruling.verdict, Verdict::OrphanCertain | Verdict::OrphanProbable))
}

fn source_subject(scene: &Scene<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    scene.source(kind, name).seen?;
    possible_source_subject(scene, kind, name)
}

pub fn possible_source_subject(scene: &Scene<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    let (cluster, namespace) = scene.source_namespace()?;
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
    }
}
