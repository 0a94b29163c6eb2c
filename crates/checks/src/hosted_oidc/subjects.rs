//! Which subjects there are, and what each of them points at.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::NAME;
use super::judge::rule;
use super::names::{CONSOLE_NAMESPACE, COPIES_NAMESPACE, CopyKind};
use super::scene::{Scene, Scenes};
use super::verdict::Verdict;
use trueup_core::engine::SubjectId;
use trueup_core::world::{Cluster, ClusterName, View};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

/// What a subject id points at.
pub enum Place<'a> {
    /// A name in a guest's `openshift-config`.
    Copy { scene: Rc<Scene<'a>>, kind: CopyKind },
    /// One of those two collections as a whole.
    Collection { scene: Rc<Scene<'a>>, kind: CopyKind },
    /// The console's mirror of a CA in a guest.
    ConsoleMirror { scene: Rc<Scene<'a>> },
    /// An object in a control plane's namespace that is called like an orphan of this guest.
    ControlPlaneNamespace { scene: Rc<Scene<'a>>, kind: CopyKind },
}

impl<'a> Place<'a> {
    pub fn of(subject: &SubjectId, scenes: &Scenes<'a>) -> Option<Self> {
        let kind = CopyKind::of(subject.kind)?;
        let namespace = subject.namespace.as_deref()?;
        if let Some(scene) = scenes.of(&subject.cluster) {
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
        let mut guests = scenes.guests().iter();
        let scene = guests.find(|scene| lies_here(scene) && is_orphan(scene, kind, &subject.name))?;
        Some(Self::ControlPlaneNamespace { scene: scene.clone(), kind })
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
    for scene in hosted_by(cluster, view) {
        for kind in CopyKind::ALL {
            subjects.extend(orphans(&scene, kind).filter_map(|name| source_subject(&scene, kind, name)));
        }
    }
    subjects
}

/// The guests a cluster hosts. Those that say who hosts them are told apart before anything is looked up.
fn hosted_by<'a>(cluster: &ClusterName, view: View<'a>) -> impl Iterator<Item = Scene<'a>> {
    let may_be = move |guest: &Cluster| guest.hosted_by.as_ref().is_none_or(|by| &by.cluster == cluster);
    let scenes =
        view.clusters().filter(move |guest| may_be(guest)).filter_map(move |guest| Scene::of(view, &guest.name));
    scenes.filter(move |scene| scene.home.as_ref().is_ok_and(|by| &by.cluster == cluster))
}

fn guest_subjects(scene: &Scene<'_>, kind: CopyKind, subjects: &mut BTreeSet<SubjectId>) {
    let guest = &scene.guest.name;
    let copies = scene.copies(kind);
    if !copies.is_complete() {
        subjects.insert(subject(guest, kind, COPIES_NAMESPACE, WHOLE_COLLECTION));
    }
    subjects.extend(copies.iter().map(|(key, _)| subject(guest, kind, COPIES_NAMESPACE, key.name.as_str())));
    let wanted = scene.control_plane.seen.map(|plane| &plane.hosted.authentication);
    if let Some(wanted) = wanted.filter(|wanted| wanted.is_oidc()) {
        let names = wanted.providers.names(kind).chain(wanted.claims_sources.names(kind));
        subjects.extend(names.map(|name| subject(guest, kind, COPIES_NAMESPACE, name)));
    }
    if kind.is_mirrored() {
        let mirrored = orphans(scene, kind).filter(|name| scene.console_mirror(name).is_some());
        subjects.extend(mirrored.map(|name| subject(guest, kind, CONSOLE_NAMESPACE, name)));
    }
}

/// The names of one kind that this guest's judgement calls orphans.
fn orphans<'s>(scene: &'s Scene<'_>, kind: CopyKind) -> impl Iterator<Item = &'s str> {
    let names = scene.copies(kind).iter().map(|(key, _)| key.name.as_str());
    names.filter(move |name| is_orphan(scene, kind, name))
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
        cloud: None,
    }
}
