//! Login to a cluster from the console: runs its credential plugin on the terminal, or returns advice.
//!
//! Invariants: the output of a plugin is used for the connection to the cluster only.

use super::FleetKind;
use crate::console::run::Login;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::{Access, Bearer, ExecSpec, PluginQuestion, plugin_on_terminal, read_credential};
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

/// The plugin as a program, or the question whether it may run.
fn program(fleet: &Fleet, spec: &ExecSpec) -> Login {
    let Session { env, plugins, .. } = &**fleet.session();
    if let Some(question) = plugins.question(spec, env) {
        return Login::Ask(question);
    }
    let command = match plugin_on_terminal(spec, env, plugins) {
        Ok(command) => command,
        Err(error) => return Login::Otherwise(error.to_string()),
    };
    Login::Program(Box::new(command))
}

/// The question that the plugin of a cluster needs, if any.
pub fn question(fleet: &Fleet, kind: &FleetKind, cluster: &ClusterName) -> Option<PluginQuestion> {
    match method(fleet, kind, cluster) {
        Login::Ask(question) => Some(question),
        Login::Program(_) | Login::Otherwise(_) => None,
    }
}

/// Remembers that the plugin of a cluster may run.
pub fn approve(fleet: &Fleet, cluster: &ClusterName) {
    let Session { env, plugins, .. } = &**fleet.session();
    let approved = access(fleet, cluster).and_then(|access| match access.exec() {
        Some(spec) => plugins.approve(spec, env),
        None => Ok(()),
    });
    if let Err(why) = approved {
        fleet.session().events.notice(Notice::PluginNotKept { why });
    }
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
