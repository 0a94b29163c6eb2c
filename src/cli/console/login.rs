//! Logging in to a cluster from the console: its credential plugin on the terminal, or what to do instead.
//!
//! Invariants: what a plugin prints goes to the cluster's connection and nowhere else.

use super::FleetKind;
use crate::console::run::Login;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::{Access, Bearer, ExecSpec, plugin_on_terminal, read_credential};
use trueup_fleet::live::Member;
use trueup_operate::{Fleet, logged_in};

/// How a person logs in to this cluster.
pub fn way(fleet: &Fleet, kind: &FleetKind, cluster: &ClusterName) -> Login {
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
        Bearer::Exec(spec) => match plugin_on_terminal(spec, &fleet.session().env) {
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
pub fn member(fleet: &Fleet, cluster: &ClusterName, printed: &[u8]) -> Result<Member, String> {
    let access = access(fleet, cluster)?;
    let spec = plugin(&access).ok_or("the kubeconfig no longer names a credential plugin")?;
    let credential = read_credential(spec, printed).map_err(|error| error.to_string())?;
    logged_in(fleet.session(), cluster, access, credential).map_err(|error| error.to_string())
}

fn access(fleet: &Fleet, cluster: &ClusterName) -> Result<Access, String> {
    let kubeconfig = fleet.session().read_kubeconfig().map_err(|error| error.to_string())?;
    kubeconfig.access(cluster.as_str()).map_err(|error| error.to_string())
}

fn plugin(access: &Access) -> Option<&ExecSpec> {
    match &access.bearer {
        Bearer::Exec(spec) => Some(spec),
        Bearer::None | Bearer::Token(_) | Bearer::TokenFile(_) | Bearer::Basic { .. } => None,
    }
}
