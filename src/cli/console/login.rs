//! Login to a cluster from the console: runs its credential plugin on the terminal, or returns advice.
//!
//! Invariants: the output of a plugin is used for the connection to the cluster only.

use super::FleetKind;
use crate::console::run::Login;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::{Access, Bearer, ExecSpec, plugin_on_terminal, read_credential};
use trueup_fleet::live::Member;
use trueup_operate::{Fleet, Notice, Session, logged_in};

/// Returns how to log in to a cluster.
pub fn method(fleet: &Fleet, kind: &FleetKind, cluster: &ClusterName) -> Login {
    let otherwise = |message: &str| Login::Otherwise(message.to_owned());
    match kind {
        FleetKind::Demo => return otherwise("demo clusters need no login"),
        FleetKind::Folder(_) => return otherwise("recorded clusters need no login"),
        FleetKind::Kubeconfig { contexts } if !contexts.iter().any(|name| name == cluster.as_str()) => {
            return Login::Otherwise(format!("the kubeconfig of {cluster} is in its management cluster; log in there"));
        }
        FleetKind::Kubeconfig { .. } => {}
    }
    let access = match access(fleet, cluster) {
        Ok(access) => access,
        Err(message) => return Login::Otherwise(message),
    };
    match &access.bearer {
        Bearer::Exec(spec) => program(fleet, spec),
        Bearer::TokenFile(path) => {
            let path = path.display();
            Login::Otherwise(format!("the token of {cluster} is in {path}; renew that file, then reconnect"))
        }
        Bearer::Token(_) | Bearer::Basic { .. } | Bearer::None => Login::Otherwise(format!(
            "the kubeconfig has a static credential for {cluster}; log in with oc or your provider's tool; the file is watched"
        )),
    }
}

/// The plugin as a program. The user asks for it, so that it is approved from now on.
fn program(fleet: &Fleet, spec: &ExecSpec) -> Login {
    let Session { env, plugins, .. } = &**fleet.session();
    let command = match plugin_on_terminal(spec, env, plugins) {
        Ok(command) => command,
        Err(error) => return Login::Otherwise(error.to_string()),
    };
    if let Err(why) = plugins.approve(spec, env) {
        fleet.session().events.notice(Notice::PluginNotKept { why });
    }
    Login::Program(Box::new(command))
}

/// The cluster, connected with the credential that its plugin printed.
///
/// # Errors
/// The output is not a credential.
pub fn member(fleet: &Fleet, cluster: &ClusterName, printed: &[u8]) -> Result<Member, String> {
    let access = access(fleet, cluster)?;
    let spec = access.exec().ok_or("the kubeconfig no longer names a credential plugin")?;
    let credential = read_credential(spec, printed).map_err(|error| error.to_string())?;
    logged_in(fleet.session(), cluster, access, credential).map_err(|error| error.to_string())
}

fn access(fleet: &Fleet, cluster: &ClusterName) -> Result<Access, String> {
    let kubeconfig = fleet.session().read_kubeconfig().map_err(|error| error.to_string())?;
    kubeconfig.access(cluster.as_str()).map_err(|error| error.to_string())
}
