//! Serves the demo's clusters on local ports, with a kubeconfig for them.
//!
//! Invariants:
//! - the kubeconfig is in a folder that only its owner can read, and is removed with [`Served`];
//! - it lists management clusters and reachable guests; the guests' own kubeconfigs name the same ports;
//! - a cluster that refuses connections has the address of a closed port;
//! - on an address that is not loopback a config is beside the kubeconfig: kubeconfigs in Secrets may use plain http on
//!   such an address only where the config says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::account::API_KEY;
use super::objects;
use super::reach::Reach;
use super::scenario::{DemoRole, Scenario};
use super::{TOKEN, seed};
use crate::{Listening, LocalServer, SimCluster, listen};

/// tcpmux, unused for decades: the port of clusters that refuse connections.
const CLOSED_PORT: u16 = 1;
/// Folders of earlier runs that were killed may still exist; more than this many is an error.
const FOLDERS_MAX: u32 = 100;

/// The demo while it is served. Dropping it closes the ports and removes the kubeconfig.
#[derive(Debug)]
pub struct Served {
    /// Path of the kubeconfig.
    pub kubeconfig: PathBuf,
    /// Path of the config that a client needs to reach the guests, unless they are on loopback.
    pub config: Option<PathBuf>,
    /// Name and address of each reachable cluster.
    pub clusters: Vec<(String, SocketAddr)>,
    /// Address and API key of the IBM Cloud account.
    pub account: ServedAccount,
    _folder: Folder,
    _listening: Listening,
}

/// The IBM Cloud account while it is served.
#[derive(Debug)]
pub struct ServedAccount {
    /// Base address of all its services.
    pub url: String,
    pub api_key: &'static str,
    _listening: LocalServer,
}

/// Why the demo cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on ports from {address}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot create a folder for the kubeconfig in {}", parent.display())]
    Folder { parent: PathBuf, source: io::Error },
    #[error("cannot write kubeconfig {}", path.display())]
    Kubeconfig { path: PathBuf, source: io::Error },
}

/// Serves every reachable cluster, one port each. With port 0 the system picks the ports.
///
/// The demo's own kubeconfigs are rewritten to these ports. `parent` receives the folder of the kubeconfig.
///
/// # Errors
/// A port is in use, or the kubeconfig cannot be written.
pub async fn serve(scenario: &mut Scenario, address: SocketAddr, parent: &Path) -> Result<Served, ServeError> {
    let open = scenario.clusters.iter().filter(|cluster| cluster.reach == Reach::Open);
    let open: Vec<(String, SimCluster)> = open.map(|cluster| (cluster.name.clone(), cluster.sim.clone())).collect();
    // Every caller is the admin: kubectl sends no token over plain HTTP.
    let listening = listen(address, open).await.map_err(|source| ServeError::Listen { address, source })?;
    let account = serve_account(scenario, address, listening.clusters.len()).await?;
    redirect(scenario, address.ip(), &listening);
    let folder = Folder::make(parent)?;
    let kubeconfig = folder.path.join("kubeconfig");
    write_private(&kubeconfig, &kubeconfig_text(scenario))?;
    let config = (!address.ip().is_loopback()).then(|| folder.path.join("config.toml"));
    if let Some(config) = &config {
        write_private(config, &config_text(scenario, reachable(address).ip()))?;
    }
    let clusters = listening.clusters.clone();
    Ok(Served { kubeconfig, config, clusters, account, _folder: folder, _listening: listening })
}

/// Serves the account on the port after those of the clusters.
async fn serve_account(
    scenario: &Scenario,
    mut address: SocketAddr,
    clusters: usize,
) -> Result<ServedAccount, ServeError> {
    if address.port() != 0 {
        address.set_port(address.port().saturating_add(u16::try_from(clusters).unwrap_or(u16::MAX)));
    }
    let listening = scenario.account.listen(address).await;
    let listening = listening.map_err(|source| ServeError::Listen { address, source })?;
    let url = format!("http://{}", reachable(listening.address));
    Ok(ServedAccount { url, api_key: API_KEY, _listening: listening })
}

/// Writes the addresses to the scenario and to its kubeconfigs.
fn redirect(scenario: &mut Scenario, ip: IpAddr, listening: &Listening) {
    let addresses: BTreeMap<&str, SocketAddr> =
        listening.clusters.iter().map(|(name, address)| (name.as_str(), *address)).collect();
    for cluster in &mut scenario.clusters {
        let address = addresses.get(cluster.name.as_str()).copied();
        let address = address.unwrap_or(SocketAddr::new(ip, CLOSED_PORT));
        cluster.server = format!("http://{}", reachable(address));
    }
    for cluster in &scenario.clusters {
        let DemoRole::Guest { management, hosted_cluster, .. } = &cluster.role else { continue };
        let Some(management) = scenario.clusters.iter().find(|other| other.name == *management) else { continue };
        let Some(text) = seed::kubeconfig_of(&management.sim, hosted_cluster) else { continue };
        let moved = objects::moved(&text, &cluster.server);
        seed::kubeconfigs(&management.sim, hosted_cluster, &moved, management.sim.now());
    }
}

/// Returns the address at which a server that listens on all interfaces is reached from this machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// One context per reachable cluster; management clusters come first, and the first is the current context.
fn kubeconfig_text(scenario: &Scenario) -> String {
    let open: Vec<_> = scenario.clusters.iter().filter(|cluster| cluster.reach == Reach::Open).collect();
    let current = open.first().map_or("", |cluster| cluster.name.as_str());
    let mut text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {current}\nusers:\n- name: admin\n  user:\n    token: {TOKEN}\n"
    );
    text.push_str("clusters:\n");
    for cluster in &open {
        text.push_str(&format!("- name: {}\n  cluster:\n    server: {}\n", cluster.name, cluster.server));
    }
    text.push_str("contexts:\n");
    for cluster in &open {
        let context = match &cluster.role {
            DemoRole::Management { context } => context,
            DemoRole::Guest { .. } => &cluster.name,
        };
        text.push_str(&format!("- name: {context}\n  context:\n    cluster: {}\n    user: admin\n", cluster.name));
    }
    text
}

/// A config that allows the guests what their kubeconfigs use: plain http on this address.
fn config_text(scenario: &Scenario, ip: IpAddr) -> String {
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    let words = match (ip.is_loopback(), is_link_local) {
        (true, _) => r#""http", "loopback""#,
        (false, true) => r#""http", "link-local""#,
        (false, false) => r#""http""#,
    };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for cluster in &scenario.clusters {
        if let DemoRole::Guest { hosted_cluster, .. } = &cluster.role {
            names.extend([hosted_cluster.as_str(), cluster.name.as_str()]);
        }
    }
    let lines: String = names.iter().map(|name| format!("{name:?} = [{words}]\n")).collect();
    format!("# The guests of this demo are served by plain http.\n[egress.guests]\n{lines}")
}

/// A folder that is removed on drop.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn make(parent: &Path) -> Result<Self, ServeError> {
        let own = std::process::id();
        for number in 0..FOLDERS_MAX {
            let path = parent.join(format!("trueup-demo-{own}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(ServeError::Folder { parent: parent.to_owned(), source }),
            }
        }
        let source = io::ErrorKind::AlreadyExists.into();
        Err(ServeError::Folder { parent: parent.to_owned(), source })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It may have been removed already, and drop cannot report an error.
        let _gone = std::fs::remove_dir_all(&self.path);
    }
}

fn write_private(path: &Path, text: &str) -> Result<(), ServeError> {
    let written = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    };
    written().map_err(|source| ServeError::Kubeconfig { path: path.to_owned(), source })
}
