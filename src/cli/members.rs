//! The live clusters a command looks at: the chosen contexts of the kubeconfig, and the guests found behind them.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::context::Context;
use super::error::CliError;
use crate::config::ClusterRules;
use trueup_core::world::{Cluster, ClusterName, ClusterSource};
use trueup_fleet::clouds::Clouds;
use trueup_fleet::connect::{
    Clock, Connection, Connector, Env, GuestConnector, GuestSecrets, Impersonation, Kubeconfig, KubeconfigConnector,
    KubeconfigError, LinkError, Places, Selection,
};
use trueup_fleet::live::{ClusterAccount, Guest, GuestResolver, Member};

/// The contexts the command line chooses.
pub fn selection(context: &Context) -> Selection {
    let globals = &context.globals;
    if globals.all_contexts {
        Selection::All
    } else if globals.contexts.is_empty() {
        Selection::Current
    } else {
        Selection::Named(globals.contexts.clone())
    }
}

/// Who the command line asks to act as.
pub fn acting_as(context: &Context) -> Impersonation {
    let globals = &context.globals;
    Impersonation { user: globals.act_as.clone(), groups: globals.act_as_groups.clone(), ..Impersonation::default() }
}

/// Reads the kubeconfig.
///
/// # Errors
/// There is none, or it can't be read.
pub fn read_kubeconfig(context: &Context) -> Result<Kubeconfig, KubeconfigError> {
    Kubeconfig::read(&Places::new(context.globals.kubeconfig.as_deref(), &context.env))
}

/// The chosen contexts as members of the fleet. Where all are chosen, one that is incomplete is a member nobody can reach:
/// it must not hide the others.
///
/// # Errors
/// The kubeconfig can't be read, or a context that was chosen by itself is not there or incomplete.
pub fn members(context: &Context, rules: &ClusterRules) -> Result<Vec<Member>, CliError> {
    let kubeconfig = read_kubeconfig(context).map_err(kubeconfig_error)?;
    let names = kubeconfig.select(&selection(context)).map_err(kubeconfig_error)?;
    let mut members = Vec::new();
    for name in names {
        let connector: Arc<dyn Connector> = match kubeconfig.access(&name) {
            Ok(access) => {
                Arc::new(KubeconfigConnector::new(access, acting_as(context), context.env.clone(), wall_clock()))
            }
            Err(error) if context.globals.all_contexts => Arc::new(Incomplete(error)),
            Err(error) => return Err(kubeconfig_error(error)),
        };
        let cluster = ClusterName::new(name.as_str());
        members.push(Member {
            class: rules.class_of(&cluster, None),
            source: ClusterSource::Kubeconfig { context: name },
            hosted_by: None,
            connector,
            namespaces: rules.namespaces_of(&cluster).to_vec(),
            name: cluster,
        });
    }
    Ok(members)
}

/// A context that leads nowhere as it is written.
struct Incomplete(KubeconfigError);

impl Connector for Incomplete {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        Box::pin(std::future::ready(Err(self.0.clone().into())))
    }
}

pub fn kubeconfig_error(error: KubeconfigError) -> CliError {
    let cause = match std::error::Error::source(&error) {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    };
    CliError::failed("kubeconfig", cause, "or read a snapshot folder with --from")
}

/// Makes members of the guests that the management clusters host.
pub struct GuestsByKubeconfig {
    pub rules: ClusterRules,
    pub acting_as: Impersonation,
    pub env: Env,
    /// The clouds that the enabled checks need.
    pub clouds: Clouds,
}

impl GuestResolver for GuestsByKubeconfig {
    fn member(&self, guest: &Guest, management: &kube::Client) -> Member {
        let host = &guest.hosted_by.cluster;
        let connector = GuestConnector::new(
            management.clone(),
            guest.hosted_by.clone(),
            GuestSecrets::new(
                guest.hosted_by.name.as_str(),
                guest.link.kubeconfig_secret.as_deref(),
                guest.link.custom_kubeconfig_secret.as_deref(),
            ),
            self.acting_as.clone(),
            self.env.clone(),
            wall_clock(),
        );
        Member {
            name: guest.name.clone(),
            class: self.rules.class_of(&guest.name, Some(host)),
            source: ClusterSource::Hosted { by: host.clone() },
            hosted_by: Some(guest.hosted_by.clone()),
            connector: Arc::new(connector),
            namespaces: self.rules.namespaces_of(&guest.name).to_vec(),
        }
    }

    fn account_of(&self, account: &ClusterAccount, cluster: &Cluster, client: &kube::Client) -> Option<Member> {
        self.clouds.member_of(account, cluster, client)
    }
}

pub fn wall_clock() -> Clock {
    Arc::new(Timestamp::now)
}
