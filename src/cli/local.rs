//! The user's own kubeconfig files as a member of the fleet, beside the clusters they lead to.

use std::sync::Arc;

use super::context::Context;
use super::members::{selection, wall_clock};
use crate::config::Config;
use trueup_checks::kubeconfig;
use trueup_core::world::{ClusterName, ClusterSource};
use trueup_fleet::connect::{LocalConnector, Places};
use trueup_fleet::live::Member;

/// What the member is called.
const NAME: &str = "local";
/// What it is called where a context has that name.
const OTHER_NAME: &str = "local-kubeconfig";

/// The member that lists the chosen contexts; nobody needs it where the check of kubeconfigs is switched off.
pub fn member(context: &Context, config: &Config, clusters: &[Member]) -> Option<Member> {
    let is_wanted = config.domains.0.iter().any(|domain| domain.name() == kubeconfig::NAME);
    is_wanted.then(|| {
        let is_taken = clusters.iter().any(|cluster| cluster.name.as_str() == NAME);
        let name = ClusterName::new(if is_taken { OTHER_NAME } else { NAME });
        let places = Places::new(context.globals.kubeconfig.as_deref(), &context.env);
        Member {
            class: config.clusters.class_of(&name, None),
            source: ClusterSource::Local,
            hosted_by: None,
            connector: Arc::new(LocalConnector::new(places, selection(context), wall_clock())),
            namespaces: Vec::new(),
            name,
        }
    })
}
