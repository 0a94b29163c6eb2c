//! Logging in to a cluster from the console: its credential plugin on the terminal, or what to do instead.
//!
//! Always true: what a plugin prints goes to the cluster's connection and nowhere else.

use std::sync::Arc;

use super::FleetKind;
use super::live_handle::LiveHandle;
use crate::cli::members;
use crate::console::run::Login;
use trueup_core::world::{ClusterName, ClusterSource};
use trueup_fleet::connect::{Access, Bearer, ExecSpec, KubeconfigConnector, plugin_on_terminal, read_credential};
use trueup_fleet::live::Member;

/// How a person logs in to this cluster.
pub fn way(fleet: &LiveHandle, kind: &FleetKind, cluster: &ClusterName) -> Login {
    let otherwise = |says: &str| Login::Otherwise(says.to_owned());
    match kind {
        FleetKind::Demo => return otherwise("the demo's clusters need no login"),
        FleetKind::Folder(_) => return otherwise("a recording needs no login"),
        FleetKind::Kubeconfig { contexts } if !contexts.iter().any(|name| name == cluster.as_str()) => {
            return Login::Otherwise(format!(
                "{cluster} is reached with a kubeconfig its management cluster holds; log in there"
            ));
        }
        FleetKind::Kubeconfig { .. } => {}
    }
    let access = match access(fleet, cluster) {
        Ok(access) => access,
        Err(says) => return Login::Otherwise(says),
    };
    match &access.bearer {
        Bearer::Exec(spec) => match plugin_on_terminal(spec, &fleet.context.env) {
            Ok(command) => Login::Program(Box::new(command)),
            Err(error) => Login::Otherwise(error.to_string()),
        },
        Bearer::TokenFile(path) => {
            let path = path.display();
            Login::Otherwise(format!("the token of {cluster} is read from {path}: renew that file, then ctrl-r"))
        }
        Bearer::Token(_) | Bearer::Basic { .. } | Bearer::None => Login::Otherwise(format!(
            "the kubeconfig holds the credential of {cluster} itself: log in with oc or your provider's tool; the file is watched"
        )),
    }
}

/// The cluster, reached with the credential its plugin printed.
///
/// # Errors
/// What was printed is no credential, in a sentence.
pub fn member(fleet: &LiveHandle, cluster: &ClusterName, printed: &[u8]) -> Result<Member, String> {
    let access = access(fleet, cluster)?;
    let spec = plugin(&access).ok_or("the kubeconfig names no credential plugin any more")?;
    let credential = read_credential(spec, printed).map_err(|error| error.to_string())?;
    let (context, rules) = (&fleet.context, &fleet.config.clusters);
    let (acting_as, env) = (members::acting_as(context), context.env.clone());
    let connector = KubeconfigConnector::logged_in(access, acting_as, env, members::wall_clock(), credential);
    Ok(Member {
        name: cluster.clone(),
        class: rules.class_of(cluster, None),
        source: ClusterSource::Kubeconfig { context: cluster.to_string() },
        hosted_by: None,
        connector: Arc::new(connector.map_err(|error| error.to_string())?),
        namespaces: rules.namespaces_of(cluster).to_vec(),
    })
}

fn access(fleet: &LiveHandle, cluster: &ClusterName) -> Result<Access, String> {
    let kubeconfig = members::read_kubeconfig(&fleet.context).map_err(|error| error.to_string())?;
    kubeconfig.access(cluster.as_str()).map_err(|error| error.to_string())
}

fn plugin(access: &Access) -> Option<&ExecSpec> {
    match &access.bearer {
        Bearer::Exec(spec) => Some(spec),
        Bearer::None | Bearer::Token(_) | Bearer::TokenFile(_) | Bearer::Basic { .. } => None,
    }
}
