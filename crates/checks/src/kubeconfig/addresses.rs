//! Which cluster of the fleet a kubeconfig leads to: found by its server and its authorities.
//!
//! Invariants: only the clusters that name one of these values are looked at, and each is taken at what it says now. Of several
//! the first counts, by cluster of the fleet, then Clusters before control planes, then by key.
//! Elsewhere: what one cluster says (`expected`), who is judged again when that changes (`touched`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::content::{Pair, Trust};
use super::context::CheckContext;
use super::expected::{Expected, Who};
use super::facts::{Anchor, CapiCluster, CaptPlane};
use super::names::clusters_of_anchor;
use super::subjects::Owners;
use trueup_core::world::{ClusterName, Key, ObjectName, View};

/// Expected endpoints and CA fingerprints of the clusters of the fleet.
pub struct FleetAddresses<'a> {
    view: View<'a>,
    contexts: RefCell<BTreeMap<ClusterName, Option<Rc<CheckContext<'a>>>>>,
}

/// The object that has a kubeconfig of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OwnerKind {
    Cluster,
    Plane,
}

impl<'a> FleetAddresses<'a> {
    pub fn new(view: View<'a>) -> Self {
        Self { view, contexts: RefCell::default() }
    }

    /// Another cluster of the fleet that a kubeconfig leads to, when it does not lead to this one.
    pub fn another(&self, pair: &Pair, who: &Who, own: &Expected<'_>) -> Option<Who> {
        if !own.owns_server(&pair.server) {
            let found = self.first([pair.server.as_str().into()].into(), who, |other| other.owns_server(&pair.server));
            if found.is_some() {
                return found;
            }
        }
        let Trust::Authorities(held) = &pair.trust else { return None };
        if own.owns_authorities(held) {
            return None;
        }
        let mut prints: Vec<Box<str>> = Vec::new();
        held.index(&mut |print| prints.push(print.into()));
        self.first(prints, who, |other| other.owns_authorities(held))
    }

    /// The first other cluster that names one of these values and for which `is_it` is true.
    fn first(&self, values: Vec<Box<str>>, who: &Who, is_it: impl Fn(&Expected<'a>) -> bool) -> Option<Who> {
        let mut found: BTreeSet<(ClusterName, OwnerKind, Key)> = BTreeSet::new();
        for (cluster, key) in values.iter().flat_map(|value| self.naming(value)) {
            let Some(context) = self.context(&cluster) else { continue };
            found.extend(kind_of(&context, &key).map(|kind| (cluster, kind, key)));
        }
        let others = found.into_iter().map(|(context, _, key)| Who { context, key }).filter(|other| other != who);
        others.into_iter().find(|other| {
            let context = self.context(&other.context);
            context.is_some_and(|context| is_it(&Expected::of(&context, &other.key, &Owners::of(&context, &other.key))))
        })
    }

    /// The clusters with an object that names this value.
    fn naming(&self, value: &str) -> BTreeSet<(ClusterName, Key)> {
        let mut all = BTreeSet::new();
        for (id, key, _) in self.view.indexed::<CapiCluster>(value) {
            all.insert((id.cluster.clone(), key.clone()));
        }
        for (id, key, _) in self.view.indexed::<CaptPlane>(value) {
            let of = self.context(&id.cluster).and_then(|context| context.control_planes().cluster_of(key).cloned());
            all.insert((id.cluster.clone(), of.unwrap_or_else(|| key.clone())));
        }
        for (id, key, _) in self.view.indexed::<Anchor>(value) {
            let beside = |cluster: &str| Key { name: ObjectName::new(cluster), ..key.clone() };
            all.extend(clusters_of_anchor(key.name.as_str()).map(|name| (id.cluster.clone(), beside(name))));
        }
        all
    }

    fn context(&self, cluster: &ClusterName) -> Option<Rc<CheckContext<'a>>> {
        if let Some(held) = self.contexts.borrow().get(cluster) {
            return held.clone();
        }
        let context = CheckContext::of(self.view, cluster).map(Rc::new);
        self.contexts.borrow_mut().insert(cluster.clone(), context.clone());
        context
    }
}

/// What has a kubeconfig of this name; nothing where there is no such object.
fn kind_of(context: &CheckContext<'_>, key: &Key) -> Option<OwnerKind> {
    let has_plane = || context.planes.get(key).seen.is_some() && !context.control_planes().belongs_elsewhere(key);
    match context.clusters.get(key).seen {
        Some(_) => Some(OwnerKind::Cluster),
        None => has_plane().then_some(OwnerKind::Plane),
    }
}
