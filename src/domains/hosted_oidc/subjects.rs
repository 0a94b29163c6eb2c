//! Which subjects there are, and which of them a change touches.

use std::collections::BTreeSet;

use super::judge::{Ruling, rule};
use super::names::{CONSOLE_NAMESPACE, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER, INFRASTRUCTURE};
use super::scene::Scene;
use super::verdict::Verdict;
use super::{HostedOidc, NAME};
use crate::domains::Touched;
use crate::engine::SubjectId;
use crate::world::{Change, ChangeSet, ClusterName, CollectionId, Namespace, Scope, View, What};

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
        for scene in guests(view).filter(|scene| scene.home.as_ref().is_ok_and(|by| &by.cluster == cluster)) {
            for (kind, name) in self.orphans(&scene) {
                subjects.extend(source_subject(&scene, kind, &name));
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
        if let Some(wanted) =
            scene.control_plane.seen.map(|plane| &plane.hosted.authentication).filter(|all| all.is_oidc())
        {
            let names = wanted.providers.names(kind).chain(wanted.claims_sources.names(kind));
            subjects.extend(names.map(|name| subject(guest, kind, COPIES_NAMESPACE, name)));
        }
        if kind == CopyKind::ConfigMap {
            let orphans = self.orphans(scene).into_iter().filter(|(orphan, _)| *orphan == kind);
            let mirrored = orphans.filter(|(_, name)| scene.console_mirror(name).is_some());
            subjects.extend(mirrored.map(|(_, name)| subject(guest, kind, CONSOLE_NAMESPACE, &name)));
        }
    }

    /// The names this guest's judgement calls orphans.
    fn orphans(&self, scene: &Scene<'_>) -> Vec<(CopyKind, String)> {
        let mut orphans = Vec::new();
        for kind in CopyKind::ALL {
            for (key, _) in scene.copies(kind).iter() {
                if self.is_orphan(scene, kind, key.name.as_str()) {
                    orphans.push((kind, key.name.to_string()));
                }
            }
        }
        orphans
    }

    pub(super) fn is_orphan(&self, scene: &Scene<'_>, kind: CopyKind, name: &str) -> bool {
        let ruling: Option<Ruling> = rule(scene, kind, name, &self.settings.name_patterns);
        ruling.is_some_and(|ruling| matches!(ruling.verdict, Verdict::OrphanCertain | Verdict::OrphanProbable))
    }

    pub(super) fn find_touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
        let mut subjects = BTreeSet::new();
        let mut clusters = BTreeSet::new();
        for change in changes.iter() {
            match change {
                Change::Collection { id, what: What::Keys(keys) } if is_copies(id) => {
                    let scene = Scene::of(view, &id.cluster);
                    let Some(kind) = CopyKind::of(id.resource.kind) else { continue };
                    for key in keys {
                        let name = key.name.as_str();
                        subjects.insert(subject(&id.cluster, kind, COPIES_NAMESPACE, name));
                        subjects.extend(
                            (kind == CopyKind::ConfigMap).then(|| subject(&id.cluster, kind, CONSOLE_NAMESPACE, name)),
                        );
                        subjects.extend(scene.as_ref().and_then(|scene| possible_source_subject(scene, kind, name)));
                    }
                }
                Change::Collection { id, .. } => touch_neighbours(&id.cluster, concerns_all(id), view, &mut clusters),
                Change::Cluster(name) => touch_neighbours(name, true, view, &mut clusters),
            }
        }
        if clusters.is_empty() {
            return Touched::Subjects(subjects);
        }
        clusters.extend(subjects.into_iter().map(|subject| subject.cluster));
        Touched::Clusters(clusters)
    }
}

/// A change in a cluster touches itself, the guests it hosts and the cluster that hosts it.
fn touch_neighbours(changed: &ClusterName, whole_fleet: bool, view: View<'_>, clusters: &mut BTreeSet<ClusterName>) {
    clusters.insert(changed.clone());
    for scene in guests(view) {
        match &scene.home {
            Ok(by) if &by.cluster == changed => drop(clusters.insert(scene.guest.name.clone())),
            Ok(by) if &scene.guest.name == changed => drop(clusters.insert(by.cluster.clone())),
            // Which HostedCluster a guest belongs to may have just become known.
            Err(_) if whole_fleet => drop(clusters.insert(scene.guest.name.clone())),
            Ok(_) | Err(_) => {}
        }
    }
}

fn concerns_all(id: &CollectionId) -> bool {
    [HOSTED_CLUSTER, CONTROL_PLANE, INFRASTRUCTURE].contains(&id.resource)
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
