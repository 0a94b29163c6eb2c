//! The one cluster an `oidc` command is about.

use super::super::context::Context;
use super::super::error::CliError;
use super::super::fleet;
use crate::config::Config;
use trueup_checks::external_oidc::{self, CheckContext};
use trueup_checks::hosted_oidc::HostedOidc;
use trueup_checks::{Check, SettingsTable};
use trueup_core::world::{Cluster, ClusterName, View};
use trueup_operate::{Fleet, link_error};

/// Connects to the folder or the clusters of the command line, with this check only.
///
/// # Errors
/// No cluster can be used.
pub async fn connect(context: &Context) -> Result<Fleet, CliError> {
    let mut config = context.config()?;
    only_this_check(&mut config)?;
    Ok(fleet::connect(context, config).await?.0)
}

/// Enables only the checks of authentication, even if the config disables them.
fn only_this_check(config: &mut Config) -> Result<(), CliError> {
    let table = SettingsTable::empty("[domains.external-oidc]");
    let built: Result<Box<dyn Check>, _> = (external_oidc::ENTRY.build)(&table);
    let check = built.map_err(|_| CliError::failed("", "the check cannot be built without settings", ""))?;
    config.domains.0 = vec![check, Box::new(HostedOidc::for_candidates())];
    Ok(())
}

/// Returns the named cluster, or the only one.
///
/// # Errors
/// No cluster has this name, or there are several and none is named.
pub fn choose<'v>(view: View<'v>, named: Option<&str>) -> Result<&'v Cluster, CliError> {
    let clusters: Vec<&Cluster> = view.clusters().filter(|cluster| !cluster.source.is_account()).collect();
    let names: Vec<&str> = clusters.iter().map(|cluster| cluster.name.as_str()).collect();
    let one_of = || format!("name one of: {}", names.join(", "));
    match (named, names.as_slice()) {
        (Some(named), _) => {
            let found = view.cluster(&ClusterName::new(named));
            found.ok_or_else(|| CliError::usage("--cluster", format!("no cluster is named {named}"), one_of()))
        }
        (None, []) => Err(CliError::failed("oidc", "there are no clusters", "see trueup doctor")),
        (None, [_]) => Ok(clusters[0]),
        (None, many) => Err(CliError::usage(
            "oidc",
            format!("there are {} clusters", many.len()),
            format!("{} with --cluster", one_of()),
        )),
    }
}

/// The context of the check for a cluster.
///
/// # Errors
/// The cluster has no Authentication, or it cannot be read.
pub fn context_of<'v>(view: View<'v>, cluster: &Cluster) -> Result<CheckContext<'v>, CliError> {
    let doing = format!("cluster {}", cluster.name);
    if let Some(context) = CheckContext::of(view, &cluster.name) {
        return Ok(context);
    }
    if let Some(host) = &cluster.hosted_by {
        let (namespace, name) = (&host.namespace, &host.name);
        let cause = "its control plane is hosted, so its Authentication is not used".to_owned();
        let hint = format!("see spec.configuration.authentication of HostedCluster {namespace}/{name}");
        return Err(CliError::failed(doing, cause, hint));
    }
    match link_error(&cluster.link) {
        Some(why) => Err(CliError::refused(doing, why, "see trueup doctor")),
        None => Err(CliError::refused(
            doing,
            "Authentication/cluster is not observed, or the control plane is hosted",
            "use an OpenShift cluster with its own control plane",
        )),
    }
}
