//! What RBAC gives to names: which bindings name a user or one of their groups.
//!
//! Invariants: a list that isn't complete is said to be so beside whatever was found in it.

use super::context::CheckContext;
use super::facts::{Binding, Named};
use super::names::{CLUSTER_ROLE_BINDING, ROLE_BINDING};
use trueup_core::world::{CollectionId, Gap, Key, Reading};

/// One binding that names a user or group.
pub struct Bound<'a> {
    /// `ClusterRoleBinding` or `RoleBinding`.
    pub kind: &'static str,
    pub key: &'a Key,
    pub binding: &'a Binding,
}

impl Bound<'_> {
    /// `RoleBinding team/admins → ClusterRole admin`.
    pub fn message(&self) -> String {
        format!("{} {} → {}", self.kind, self.key, self.binding.role)
    }
}

/// Every binding of a cluster, those of the whole cluster first.
pub fn all<'a>(context: &CheckContext<'a>) -> Vec<Bound<'a>> {
    let of = |kind: &'static str, reading: Reading<'a, Binding>| {
        reading.iter().map(|(key, binding)| Bound { kind, key, binding }).collect::<Vec<_>>()
    };
    let [cluster, namespaced] = readings(context);
    let mut all = of(CLUSTER_ROLE_BINDING.kind, cluster);
    all.extend(of(ROLE_BINDING.kind, namespaced));
    all
}

/// What of the bindings is not known.
pub fn gaps(context: &CheckContext<'_>) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = readings(context).iter().filter_map(Reading::gap).collect();
    gaps.dedup();
    gaps
}

/// The collections the bindings are read from.
pub fn collections(context: &CheckContext<'_>) -> [CollectionId; 2] {
    [CLUSTER_ROLE_BINDING, ROLE_BINDING].map(|resource| CollectionId::all(context.name(), resource))
}

fn readings<'a>(context: &CheckContext<'a>) -> [Reading<'a, Binding>; 2] {
    collections(context).map(|id| context.view.read(&id))
}

/// The bindings that name a user or one of these groups, each with the name it was found by.
pub fn naming<'a>(context: &CheckContext<'a>, username: &str, groups: &[String]) -> Vec<(Bound<'a>, &'a Named)> {
    let is_meant = |named: &&Named| match named {
        Named::User(name) => **name == *username,
        Named::Group(name) => groups.iter().any(|group| **name == **group),
    };
    let found = |bound: Bound<'a>| bound.binding.named.iter().find(is_meant).map(|named| (bound, named));
    all(context).into_iter().filter_map(found).collect()
}
