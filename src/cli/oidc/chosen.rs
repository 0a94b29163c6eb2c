//! The one cluster an `oidc` command is about.

use jiff::Timestamp;

use super::super::context::Context;
use super::super::error::CliError;
use super::super::look::{ObservedFleet, look_at_folder};
use super::super::look_live;
use crate::config::Config;
use trueup_checks::external_oidc::{self, CheckContext};
use trueup_checks::{Check, SettingsTable};
use trueup_core::world::{Cluster, ClusterName, View};

/// What was seen, by this check alone: nothing else is asked of the clusters.
pub struct Looked {
    sight: ObservedFleet,
    now: Timestamp,
}

impl Looked {
    pub fn view(&self) -> View<'_> {
        self.sight.view(self.now)
    }

    /// Whether it was read from a folder, so that nothing can be asked.
    pub fn is_recording(&self) -> bool {
        matches!(self.sight, ObservedFleet::Folder { .. })
    }
}

/// Looks at the folder or the clusters of the command line.
///
/// # Errors
/// The place to look at can't be used at all.
pub async fn look(context: &Context) -> Result<Looked, CliError> {
    let mut config = context.config()?;
    only_this_check(&mut config)?;
    match &context.globals.from {
        Some(folder) => {
            let seen = look_at_folder(context, &mut config, folder, Timestamp::now())?;
            Ok(Looked { sight: seen.sight, now: seen.now })
        }
        None => {
            let (live, _) = look_live::connect(context, &mut config).await?;
            Ok(Looked { sight: ObservedFleet::Fleet(Box::new(live)), now: Timestamp::now() })
        }
    }
}

/// Leaves the one check; whoever asks for it by name wants it even if it is switched off.
fn only_this_check(config: &mut Config) -> Result<(), CliError> {
    let table = SettingsTable::empty("[domains.external-oidc]");
    let built: Result<Box<dyn Check>, _> = (external_oidc::ENTRY.build)(&table);
    let check = built.map_err(|_| CliError::failed("", "the check can't be made without settings", ""))?;
    config.domains.0 = vec![check];
    Ok(())
}

/// The cluster that is meant: the one that is named, or the only one.
///
/// # Errors
/// No cluster has this name, or several could be meant.
pub fn choose<'v>(view: View<'v>, named: Option<&str>) -> Result<&'v Cluster, CliError> {
    let clusters: Vec<&Cluster> = view.clusters().filter(|cluster| !cluster.source.is_account()).collect();
    let names: Vec<&str> = clusters.iter().map(|cluster| cluster.name.as_str()).collect();
    let one_of = || format!("name one of: {}", names.join(", "));
    match (named, names.as_slice()) {
        (Some(named), _) => {
            let found = view.cluster(&ClusterName::new(named));
            found.ok_or_else(|| CliError::usage("--cluster", format!("no cluster is named {named}"), one_of()))
        }
        (None, []) => Err(CliError::failed("oidc", "there is no cluster to look at", "see trueup doctor")),
        (None, [_]) => Ok(clusters[0]),
        (None, many) => Err(CliError::usage(
            "oidc",
            format!("there are {} clusters", many.len()),
            format!("{} with --cluster", one_of()),
        )),
    }
}

/// What the check knows of a cluster.
///
/// # Errors
/// The cluster has no Authentication of its own, or it could not be read.
pub fn scene<'v>(view: View<'v>, cluster: &Cluster) -> Result<CheckContext<'v>, CliError> {
    let doing = format!("cluster {}", cluster.name);
    if let Some(scene) = CheckContext::of(view, &cluster.name) {
        return Ok(scene);
    }
    if let Some(host) = &cluster.hosted_by {
        let (namespace, name) = (&host.namespace, &host.name);
        let cause = "its control plane is hosted, so its own Authentication decides nothing".to_owned();
        let hint = format!("look at spec.configuration.authentication of HostedCluster {namespace}/{name}");
        return Err(CliError::failed(doing, cause, hint));
    }
    match look_live::trouble(&cluster.link) {
        Some(why) => Err(CliError::refused(doing, why, "see trueup doctor")),
        None => Err(CliError::refused(
            doing,
            "Authentication/cluster is not known there, or its control plane is hosted elsewhere",
            "this command is about OpenShift clusters with a control plane of their own",
        )),
    }
}
