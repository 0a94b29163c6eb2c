//! The permissions of this check in clusters; what it may do in an account is decided by IAM.

use super::names::{CAPI_CLUSTER, POWERVS_CLUSTER};
use crate::permissions::{Need, Permission, Write, own};

pub fn permissions() -> Vec<Permission> {
    vec![
        own(*POWERVS_CLUSTER, Need::Watch),
        own(*CAPI_CLUSTER, Need::Watch),
        // The annotation that remembers attached tags.
        own(*POWERVS_CLUSTER, Need::Write(Write::Patch)),
    ]
}
