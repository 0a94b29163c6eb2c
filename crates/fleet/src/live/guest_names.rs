//! What guests are called.
//!
//! A guest is called as its HostedCluster is called. When that name is taken (by a context of the kubeconfig, or by
//! another HostedCluster of the same name), it is called `<management>/<namespace>/<name>`. A name once given is kept,
//! so that a second guest of the same name does not rename the first.

use trueup_core::world::{ClusterName, Groups, HostedBy, ObjectName, View};

/// The HostedClusters that have a guest, by their short name.
#[derive(Debug, Default)]
pub(super) struct GuestNames(Groups<ObjectName, HostedBy>);

impl GuestNames {
    /// Notes a HostedCluster with a guest.
    pub fn insert(&mut self, guest: &HostedBy) {
        self.0.insert(guest.name.clone(), guest.clone());
    }

    /// Notes that a HostedCluster has no guest, or none of its own.
    pub fn remove(&mut self, guest: &HostedBy) {
        self.0.remove(&guest.name, guest);
    }

    /// The name of a guest. All that were found together are noted before the first is named.
    pub fn name(&self, guest: &HostedBy, view: View<'_>) -> ClusterName {
        if let Some(kept) = view.guests_at(guest).next() {
            return kept.clone();
        }
        let short = ClusterName::new(guest.name.as_str());
        let is_unnamed = |other: &&HostedBy| *other != guest && view.guests_at(other).next().is_none();
        let mut same_name = self.0.of(&guest.name);
        let is_taken = view.cluster(&short).is_some() || same_name.any(|other| is_unnamed(&other));
        if is_taken { long_name(guest) } else { short }
    }
}

fn long_name(guest: &HostedBy) -> ClusterName {
    let HostedBy { cluster, namespace, name } = guest;
    ClusterName::new(format!("{cluster}/{namespace}/{name}"))
}
