//! The owner references a Secret should have: without dead owners, with its own control plane as the controller.
//!
//! Invariants: another controller's Secret gets no repair, and references that are neither dead nor the controller's own
//! stay as they are written.

use serde_json::{Value, json};

use super::facts::{Holder, Owner, Role};
use super::names::{CAPT_PLANE, CLUSTER};
use super::owner::{Ownership, stand};
use super::ruling::Ruling;
use super::subjects::Subject;
use super::verdict::Code;
use crate::kinds::is_same_uid;
use trueup_core::engine::{Change, FieldChange, JudgedFields, OwnerReference, Reason, fields_diff};
use trueup_core::world::Uid;

/// A repair of owner references.
pub struct OwnerRepair {
    pub change: Change,
    pub reason: Reason,
    pub diff: String,
    /// The references as they were judged. The Secret's version moves with every copy, which changes none of them.
    pub judged: JudgedFields,
}

/// The repair a ruling calls for; nothing where the owners are right, another controller's, or no owner is alive.
pub fn find(subject: &Subject<'_>, ruling: &Ruling<'_>, target: &Holder) -> Option<OwnerRepair> {
    let reason = match &ruling.ownership {
        Ownership::Dead { .. } => Reason::Differs,
        Ownership::Missing => Reason::Missing,
        Ownership::Fine | Ownership::Another { .. } | Ownership::NotKnown(_) => return None,
    };
    let controller = controller(subject)?;
    let is_dead = |owner: &&Owner| matches!(stand(subject, owner), Ownership::Dead { .. });
    let mut kept: Vec<OwnerReference> =
        target.owners.iter().filter(|owner| !is_dead(owner)).map(Owner::reference).collect();
    let is_controlled =
        target.owners.iter().filter(|owner| !is_dead(owner)).any(|owner| owner.role() == Role::Controller);
    if !is_controlled {
        let is_it = |owner: &OwnerReference| is_same_uid(&Uid::parse(&owner.uid), &Uid::parse(&controller.uid));
        match kept.iter_mut().find(|owner| is_it(owner)) {
            Some(owner) => owner.controller = Some(true),
            None => kept.push(controller),
        }
    }
    let (before, after) = (json!(references(target)), json!(kept));
    let at = |owners: Value| json!({ "metadata": { "ownerReferences": owners } });
    let before = at(if target.owners.is_empty() { Value::Null } else { before });
    let after = at(after);
    Some(OwnerRepair {
        diff: fields_diff(&before, &after),
        judged: JudgedFields::of(&before, &["/metadata/ownerReferences"]),
        change: Change::Patch(FieldChange {
            patch: after.as_object().cloned().unwrap_or_default(),
            export: Vec::new(),
        }),
        reason,
    })
}

/// Whether a ruling has one of the codes a repair is for.
pub fn is_wanted(ruling: &Ruling<'_>) -> bool {
    ruling.codes.contains(&Code::Owner) || ruling.codes.contains(&Code::OwnerMissing)
}

fn references(target: &Holder) -> Vec<OwnerReference> {
    target.owners.iter().map(Owner::reference).collect()
}

/// The living object of the cluster's name that controls the Secret: CAPT's control plane, else the Cluster.
pub fn controller(subject: &Subject<'_>) -> Option<OwnerReference> {
    let context = &subject.context;
    let plane = subject.owners.plane.seen.filter(|_| subject.owners.plane_key == subject.cluster_key);
    let of_plane = plane.map(|plane| (CAPT_PLANE.api_version(&context.planes.resource), CAPT_PLANE.kind, &plane.uid));
    let of_cluster = || {
        let cluster = subject.owners.cluster.seen?;
        Some((CLUSTER.api_version(&context.clusters.resource), CLUSTER.kind, &cluster.uid))
    };
    let (api_version, kind, uid) = of_plane.or_else(of_cluster)?;
    Some(OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: subject.cluster().to_owned(),
        uid: uid.to_string(),
        controller: Some(true),
        block_owner_deletion: None,
    })
}
