//! The permissions of this check. Kubeconfigs are named after their clusters, so no name is known beforehand.

use super::names::{APPLY, CAPT_PLANE, CLUSTER, CLUSTER_LABEL, HOSTED_CLUSTER, SECRET, WORKSPACE};
use crate::permissions::{Need, OwnerMark, Permission, Sign, Write, own};

pub fn permissions() -> Vec<Permission> {
    let kinds = [*CLUSTER, *CAPT_PLANE, *APPLY, WORKSPACE, *HOSTED_CLUSTER, SECRET];
    let mut all: Vec<Permission> = kinds.map(|resource| own(resource, Need::Watch)).into();
    let secrets = [Need::Get, Need::Write(Write::Create), Need::Write(Write::Patch)];
    all.extend(secrets.map(|need| own(SECRET, need)));
    all
}

/// The undo of a kubeconfig that was created deletes it; it carries its cluster's label.
pub fn owner_marks() -> Vec<OwnerMark> {
    vec![OwnerMark { resource: SECRET, sign: Sign::Label(CLUSTER_LABEL) }]
}
