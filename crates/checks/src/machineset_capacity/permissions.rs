//! The permissions of this check in clusters; what it may do in an account is decided by IAM.

use super::names::{
    AUTHENTICATION, AWS_CLUSTER, CAPI_SET, CLUSTER, DEPLOYMENT, INFRASTRUCTURE, MACHINE_SET, MANAGED_PLANE, POD,
    SECRET, SERVICE_ACCOUNT, TEMPLATE, WORKLOAD,
};
use crate::permissions::{Need, Permission, Write, own};

pub fn permissions() -> Vec<Permission> {
    let sets = [*MACHINE_SET, *DEPLOYMENT, *CAPI_SET];
    let named = [*CLUSTER, *TEMPLATE, *AWS_CLUSTER, *MANAGED_PLANE, INFRASTRUCTURE, AUTHENTICATION];
    // The annotating Deployment may be in any namespace, and its pods and ServiceAccount are where it is.
    let environment = [WORKLOAD, POD, SERVICE_ACCOUNT];
    let watched = sets.into_iter().chain(named).chain(environment).chain([SECRET]);
    let mut all: Vec<Permission> = watched.map(|resource| own(resource, Need::Watch)).collect();
    all.push(own(SECRET, Need::Get));
    all.extend(sets.map(|resource| own(resource, Need::Write(Write::Patch))));
    all
}
