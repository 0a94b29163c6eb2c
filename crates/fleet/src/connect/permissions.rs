//! The permissions of connecting: who a cluster is, and which guests it has.

use super::identity;
use trueup_checks::GuestUse;
use trueup_checks::kinds::{CONFIG_MAP, HOSTED_CLUSTER, INFRASTRUCTURE, SECRET};
use trueup_checks::permissions::{Need, Permission, guest, own};
use trueup_core::world::Resource;

const NAMESPACE: Resource =
    Resource { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

/// What every cluster is asked for, and the guests of those that have some.
pub fn permissions(guests: GuestUse) -> Vec<Permission> {
    let mut all = Vec::new();
    for site in [own, guest] {
        all.push(site(NAMESPACE, Need::Get).only(None, identity::NAMESPACE));
        all.push(site(CONFIG_MAP, Need::Get).only(Some(identity::NAMESPACE), identity::ROOTS));
    }
    if guests == GuestUse::Read {
        // The kubeconfig of a guest is in its HostedCluster's namespace, under the name that its status has.
        all.extend([own(*HOSTED_CLUSTER, Need::Watch), own(INFRASTRUCTURE, Need::Watch), own(SECRET, Need::Get)]);
    }
    all
}
