//! The members of a live fleet: the selected contexts of the kubeconfig, and the guests they host.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::error::OperateError;
use crate::session::{Session, wall_clock};
use crate::settings::ClusterRules;
use trueup_core::world::{Cluster, ClusterName, ClusterSource};
use trueup_fleet::clouds::Clouds;
use trueup_fleet::connect::{
    Access, Connection, Connector, Credential, Env, GuestConnector, GuestOrigin, GuestSecrets, GuestSetup,
    Impersonation, KubeconfigConnector, KubeconfigError, LinkError, LoginError, Selection,
};
use trueup_fleet::live::{ClusterAccount, Guest, GuestResolver, Member};
use trueup_net::Egress;

/// The selected contexts as members of the fleet. Where all contexts are selected, an incomplete one is a member that
/// cannot be reached: it must not hide the others.
///
/// # Errors
/// The kubeconfig cannot be read, or a context selected by name is missing or incomplete.
pub fn members(session: &Session) -> Result<Vec<Member>, OperateError> {
    let (kubeconfig, rules) = (session.read_kubeconfig()?, &session.settings.clusters);
    let names = kubeconfig.select(&session.contexts.selection)?;
    let mut members = Vec::new();
    for name in names {
        let connector: Arc<dyn Connector> = match kubeconfig.access(&name) {
            Ok(access) => {
                let (impersonation, env) = (session.contexts.impersonation.clone(), session.env.clone());
                Arc::new(KubeconfigConnector::new(access, impersonation, env, &session.plugins, wall_clock()))
            }
            Err(error) if session.contexts.selection == Selection::All => Arc::new(Incomplete(error)),
            Err(error) => return Err(error.into()),
        };
        members.push(member(rules, name, connector));
    }
    Ok(members)
}

/// A client for one context of the kubeconfig, beside the fleet, and the context's namespace.
///
/// # Errors
/// The context is missing or incomplete, or its API server cannot be reached.
pub async fn connect_context(session: &Session, context: &str) -> Result<(kube::Client, String), OperateError> {
    let access = session.read_kubeconfig()?.access(context)?;
    let (namespace, impersonation) = (access.namespace.clone(), session.contexts.impersonation.clone());
    let connector =
        KubeconfigConnector::new(access, impersonation, session.env.clone(), &session.plugins, wall_clock());
    let connection = connector.connect().await.map_err(|error| OperateError::Start(format!("{context}: {error}")))?;
    Ok((connection.client, namespace))
}

/// A context of the kubeconfig as a member, reached with a credential that its plugin just printed.
///
/// # Errors
/// The credential does not fit the context.
pub fn logged_in(
    session: &Session,
    cluster: &ClusterName,
    access: Access,
    credential: Credential,
) -> Result<Member, Arc<LoginError>> {
    let (impersonation, env) = (session.contexts.impersonation.clone(), session.env.clone());
    let plugins = &session.plugins;
    let connector = KubeconfigConnector::logged_in(access, impersonation, env, plugins, wall_clock(), credential)?;
    Ok(member(&session.settings.clusters, cluster.to_string(), Arc::new(connector)))
}

fn member(rules: &ClusterRules, context: String, connector: Arc<dyn Connector>) -> Member {
    let name = ClusterName::new(context.as_str());
    Member {
        class: rules.class_of(&name, None),
        source: ClusterSource::Kubeconfig { context },
        hosted_by: None,
        connector,
        namespaces: rules.namespaces_of(&name).to_vec(),
        name,
    }
}

/// A context that lacks a cluster or user.
struct Incomplete(KubeconfigError);

impl Connector for Incomplete {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        Box::pin(std::future::ready(Err(self.0.clone().into())))
    }
}

/// Makes members of the guests that the management clusters host.
pub struct GuestsByKubeconfig {
    pub rules: ClusterRules,
    pub impersonation: Impersonation,
    pub env: Env,
    /// The clouds that the enabled checks need.
    pub clouds: Clouds,
    /// What kubeconfigs out of Secrets may use.
    pub egress: Egress,
}

impl GuestResolver for GuestsByKubeconfig {
    fn member(&self, guest: &Guest, management: &Connection) -> Member {
        let host = &guest.hosted_by.cluster;
        let connector = GuestConnector::new(GuestSetup {
            management: management.client.clone(),
            guest: guest.hosted_by.clone(),
            secrets: GuestSecrets::new(
                guest.hosted_by.name.as_str(),
                guest.link.kubeconfig_secret.as_deref(),
                guest.link.custom_kubeconfig_secret.as_deref(),
            ),
            origin: GuestOrigin {
                cluster: guest.name.to_string(),
                holder: management.holder_reach(),
                egress: self.egress.clone(),
            },
            acting_as: self.impersonation.clone(),
            env: self.env.clone(),
            clock: wall_clock(),
        });
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
