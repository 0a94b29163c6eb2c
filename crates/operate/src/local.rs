//! The user's own kubeconfig files as a member of the fleet.

use std::sync::Arc;

use crate::session::{Session, wall_clock};
use trueup_checks::{Check, kubeconfig};
use trueup_core::world::{ClusterName, ClusterSource};
use trueup_fleet::connect::LocalConnector;
use trueup_fleet::live::Member;

/// The name of the member.
const NAME: &str = "local";
/// Its name where a context has the first one.
const OTHER_NAME: &str = "local-kubeconfig";

/// The member that lists the selected contexts; absent where the check of kubeconfigs is disabled.
pub fn member(session: &Session, checks: &[Box<dyn Check>], clusters: &[Member]) -> Option<Member> {
    if !checks.iter().any(|check| check.name() == kubeconfig::NAME) {
        return None;
    }
    let is_taken = clusters.iter().any(|cluster| cluster.name.as_str() == NAME);
    let name = ClusterName::new(if is_taken { OTHER_NAME } else { NAME });
    Some(Member {
        class: session.settings.clusters.class_of(&name, None),
        source: ClusterSource::Local,
        hosted_by: None,
        connector: Arc::new(LocalConnector::new(session.places(), session.contexts.selection.clone(), wall_clock())),
        namespaces: Vec::new(),
        name,
    })
}
