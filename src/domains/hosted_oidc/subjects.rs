//! Which subjects there are, and which of them a change touches.

use std::collections::BTreeSet;

use super::judge::{Ruling, rule};
use super::names::{CONSOLE_NAMESPACE, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER};
use super::scene::Scene;
use super::verdict::Verdict;
use super::{HostedOidc, NAME};
use crate::domains::Touched;
use crate::engine::SubjectId;
use crate::world::{Change, ChangeSet, Cluster, ClusterName, CollectionId, Key, Namespace, Scope, View, What};

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
    /// An object in a control plane's namespace.
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
        let scene = guests(view).find(|scene| {
            scene.source_namespace().is_some_and(|(cluster, held)| cluster == &subject.cluster && held == namespace)
        })?;
        Some(Self::ControlPlaneNamespace { scene, kind })
    }
}

/// Every guest of the fleet.
pub fn guests(view: View<'_>) -> impl Iterator<Item = Scene<'_>> {
    view.clusters().filter_map(move |cluster| Scene::of(view, &cluster.name))
}

impl HostedOidc {
    /// The subjects of one cluster: as a guest, and as a management cluster that holds leftovers of its guests.
    pub(super) fn list_subjects(&self, cluster: &ClusterName, view: View<'_>) -> BTreeSet<SubjectId> {
        let mut subjects = BTreeSet::new();
        if let Some(scene) = Scene::of(view, cluster) {
            for kind in CopyKind::ALL {
                self.guest_subjects(&scene, kind, &mut subjects);
            }
        }
        for scene in hosted_by(cluster, view) {
            for kind in CopyKind::ALL {
                let orphans = self.orphans(&scene, kind);
                subjects.extend(orphans.filter_map(|name| source_subject(&scene, kind, name)));
            }
        }
        subjects
    }

    fn guest_subjects(&self, scene: &Scene<'_>, kind: CopyKind, subjects: &mut BTreeSet<SubjectId>) {
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
            let mirrored = self.orphans(scene, kind).filter(|name| scene.console_mirror(name).is_some());
            subjects.extend(mirrored.map(|name| subject(guest, kind, CONSOLE_NAMESPACE, name)));
        }
    }

    /// The names of one kind that this guest's judgement calls orphans.
    fn orphans<'s>(&'s self, scene: &'s Scene<'_>, kind: CopyKind) -> impl Iterator<Item = &'s str> {
        let names = scene.copies(kind).iter().map(|(key, _)| key.name.as_str());
        names.filter(move |name| self.is_orphan(scene, kind, name))
    }

    pub(super) fn is_orphan(&self, scene: &Scene<'_>, kind: CopyKind, name: &str) -> bool {
        let ruling: Option<Ruling> = rule(scene, kind, name, &self.settings.name_patterns);
        ruling.is_some_and(|ruling| matches!(ruling.verdict, Verdict::OrphanCertain | Verdict::OrphanProbable))
    }
}

/// Which judgements a change set touches.
pub fn touched(changes: &ChangeSet, view: View<'_>) -> Touched {
    let mut touched = Touched::default();
    for change in changes.iter() {
        match change {
            Change::Collection { id, what: What::Keys(keys) } if is_copies(id) => {
                touch_copies(id, keys, view, &mut touched);
            }
            Change::Collection { id, what: What::Keys(keys) } if is_hosting(id) => {
                // Which control plane is whose is itself among what may have changed: look at all guests of the cluster,
                // and at those nobody is known to host.
                let is_meant = |scene: &Scene<'_>| is_about(scene, id, keys);
                guests(view).filter(is_meant).for_each(|scene| touch_guest(&scene, &mut touched));
            }
            Change::Collection { id: CollectionId { cluster, .. }, .. } | Change::Cluster(cluster) => {
                touched.clusters.insert(cluster.clone());
                if view.cluster(cluster).is_none() {
                    // Gone, and with it the knowledge of who hosted it and what it left there.
                    touched.clusters.extend(view.clusters().map(|other| other.name.clone()));
                }
                let is_near = |scene: &Scene<'_>| {
                    &scene.guest.name == cluster || scene.home.as_ref().map_or(true, |by| &by.cluster == cluster)
                };
                guests(view).filter(is_near).for_each(|scene| touch_guest(&scene, &mut touched));
            }
        }
    }
    touched
}

/// The guests a cluster hosts. Guests that say who hosts them are told apart before anything is looked up.
fn hosted_by<'a>(cluster: &ClusterName, view: View<'a>) -> impl Iterator<Item = Scene<'a>> {
    let may_host = move |guest: &Cluster| guest.hosted_by.as_ref().is_none_or(|by| &by.cluster == cluster);
    let scenes =
        view.clusters().filter(move |guest| may_host(guest)).filter_map(move |guest| Scene::of(view, &guest.name));
    scenes.filter(move |scene| scene.home.as_ref().is_ok_and(|by| &by.cluster == cluster))
}

/// A copy, and what may be left of it elsewhere.
fn touch_copies(id: &CollectionId, keys: &[Key], view: View<'_>, touched: &mut Touched) {
    let Some(kind) = CopyKind::of(id.resource.kind) else { return };
    let scene = Scene::of(view, &id.cluster);
    for name in keys.iter().map(|key| key.name.as_str()) {
        touched.subjects.insert(subject(&id.cluster, kind, COPIES_NAMESPACE, name));
        touched.subjects.extend(kind.is_mirrored().then(|| subject(&id.cluster, kind, CONSOLE_NAMESPACE, name)));
        touched.subjects.extend(scene.as_ref().and_then(|scene| possible_source_subject(scene, kind, name)));
    }
}

/// Everything of a guest, and what may be left of its copies in the control plane's namespace.
fn touch_guest(scene: &Scene<'_>, touched: &mut Touched) {
    touched.clusters.insert(scene.guest.name.clone());
    for kind in CopyKind::ALL {
        let copies = scene.copies(kind);
        let names = copies.iter().map(|(key, _)| key.name.as_str());
        touched.subjects.extend(names.filter_map(|name| possible_source_subject(scene, kind, name)));
    }
}

/// Whether one of these HostedClusters or control planes is this guest's, or may have become so.
fn is_about(scene: &Scene<'_>, id: &CollectionId, keys: &[Key]) -> bool {
    let Ok(by) = &scene.home else { return true };
    let is_home = |key: &Key| key.name == by.name && key.namespace.as_ref() == Some(&by.namespace);
    let is_plane = |key: &Key| key.name == by.name || scene.control_plane_key.as_ref() == Some(key);
    let is_meant = |key: &Key| if id.resource == HOSTED_CLUSTER { is_home(key) } else { is_plane(key) };
    by.cluster == id.cluster && keys.iter().any(is_meant)
}

fn is_hosting(id: &CollectionId) -> bool {
    [HOSTED_CLUSTER, CONTROL_PLANE].contains(&id.resource)
}

fn is_copies(id: &CollectionId) -> bool {
    id.scope == Scope::Namespace(Namespace::new(COPIES_NAMESPACE)) && CopyKind::of(id.resource.kind).is_some()
}

fn source_subject(scene: &Scene<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    scene.source(kind, name).seen?;
    possible_source_subject(scene, kind, name)
}

fn possible_source_subject(scene: &Scene<'_>, kind: CopyKind, name: &str) -> Option<SubjectId> {
    let (cluster, namespace) = scene.source_namespace()?;
    Some(subject(cluster, kind, namespace, name))
}

fn subject(cluster: &ClusterName, kind: CopyKind, namespace: &str, name: &str) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: cluster.clone(),
        api_version: "v1",
        kind: kind.resource().kind,
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    }
}
