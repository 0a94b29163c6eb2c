//! Whose the Secret is, as its owner references say.

use super::facts::{Holder, Owner, Role};
use super::names::{CAPT_PLANE, CLUSTER, HOSTED_CLUSTER};
use super::subjects::{Sort, Subject};
use crate::kinds::is_same_uid;
use trueup_core::world::{Gap, Key, ObjectName, Uid};

/// What its owner references say of a Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// No owner, or the cluster it belongs to.
    Fine,
    /// Its owner is gone, or was recreated.
    Dead {
        owner: String,
    },
    /// Another controller's.
    Another {
        owner: String,
    },
    /// No owner at all, where CAPT's control plane should be one. With other control planes a Secret without an owner may
    /// be the user's own.
    Missing,
    NotKnown(Gap),
}

/// Groups of Cluster API and its providers end so.
const CAPI_GROUPS: &str = "cluster.x-k8s.io";

pub fn ownership(subject: &Subject<'_>, holder: &Holder) -> Ownership {
    if holder.owners.is_empty() && subject.sort == Sort::Capi && subject.owners.plane.seen.is_some() {
        return Ownership::Missing;
    }
    let stands: Vec<Ownership> = holder.owners.iter().map(|owner| stand(subject, owner)).collect();
    let first = |wanted: fn(&Ownership) -> bool| stands.iter().find(|stand| wanted(stand)).cloned();
    first(|stand| matches!(stand, Ownership::Another { .. }))
        .or_else(|| first(|stand| matches!(stand, Ownership::Dead { .. })))
        .or_else(|| first(|stand| matches!(stand, Ownership::NotKnown(_))))
        .unwrap_or(Ownership::Fine)
}

/// What one owner reference says.
pub fn stand(subject: &Subject<'_>, owner: &Owner) -> Ownership {
    let key = Key { name: ObjectName::new(&*owner.name), ..subject.key.clone() };
    let context = &subject.context;
    let named = || format!("{} {}", owner.kind, owner.name);
    let alive = |found: Option<&Uid>, gap: Option<Gap>| match (found, gap) {
        (Some(uid), _) if is_same_uid(uid, &owner.uid) => Ownership::Fine,
        (Some(_), _) | (None, None) => Ownership::Dead { owner: named() },
        (None, Some(gap)) => Ownership::NotKnown(gap),
    };
    let is = |group: &str, kind: &str| owner.group() == group && *owner.kind == *kind;
    if is(CLUSTER.group, CLUSTER.kind) {
        let sight = context.clusters.get(&key);
        return alive(sight.seen.map(|cluster| &cluster.uid), sight.gap).unless_other(subject, owner);
    }
    if is(CAPT_PLANE.group, CAPT_PLANE.kind) {
        let sight = context.planes.get(&key);
        return alive(sight.seen.map(|plane| &plane.uid), sight.gap).unless_other(subject, owner);
    }
    if is(HOSTED_CLUSTER.group, HOSTED_CLUSTER.kind) {
        let sight = context.hosted.get(&key);
        return alive(sight.seen.map(|hosted| &hosted.uid), sight.gap);
    }
    if owner.role() == Role::Owner || is_its_plane(subject, owner) {
        return Ownership::Fine;
    }
    Ownership::Another { owner: named() }
}

impl Ownership {
    /// A living owner of another name controls another cluster's things.
    fn unless_other(self, subject: &Subject<'_>, owner: &Owner) -> Self {
        let is_other =
            owner.role() == Role::Controller && *owner.name != *subject.cluster() && !is_its_plane(subject, owner);
        if is_other && self == Self::Fine {
            Self::Another { owner: format!("{} {}", owner.kind, owner.name) }
        } else {
            self
        }
    }
}

/// Whether a controller is the control plane the Cluster names. Where it names none, any of Cluster API's may be.
fn is_its_plane(subject: &Subject<'_>, owner: &Owner) -> bool {
    match subject.sort {
        Sort::Hosted => return owner.group().ends_with("openshift.io"),
        Sort::Capi | Sort::User => {}
    }
    match subject.owners.cluster.seen.and_then(|cluster| cluster.control_plane.as_ref()) {
        Some(plane) => *plane.kind == *owner.kind && *plane.name == *owner.name,
        None if subject.owners.plane.seen.is_some() => false,
        None => owner.group().ends_with(CAPI_GROUPS),
    }
}
