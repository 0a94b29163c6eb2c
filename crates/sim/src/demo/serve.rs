//! The story's clusters on local ports, with a kubeconfig that leads to them.
//!
//! Always true:
//! - the kubeconfig lies in a folder of its own that only its owner can read, and goes with [`Served`];
//! - it names management clusters and reachable guests; guests' own kubeconfigs lead to the same ports, as in reality;
//! - a cluster that refuses connections is found at a port nobody listens on.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::account::API_KEY;
use super::objects;
use super::reach::Reach;
use super::story::{DemoRole, Story};
use super::{TOKEN, furnish};
use crate::ibm::{IbmListening, listen_ibm};
use crate::{Listening, SimCluster, listen};

/// A port with a name (tcpmux) that nobody has used in decades: what refuses connections is sent there.
const CLOSED_PORT: u16 = 1;
/// Folders of earlier runs that were killed may still be there; more than these are no accident.
const FOLDERS_MAX: u32 = 100;

/// The story, being served. Dropping it closes the ports and removes the kubeconfig.
#[derive(Debug)]
pub struct Served {
    /// Where the kubeconfig is.
    pub kubeconfig: PathBuf,
    /// Name and address of each cluster that can be reached.
    pub clusters: Vec<(String, SocketAddr)>,
    /// Where the IBM Cloud account is served, and the key that opens it.
    pub account: ServedAccount,
    _folder: Folder,
    _listening: Listening,
}

/// The IBM Cloud account, being served.
#[derive(Debug)]
pub struct ServedAccount {
    /// All services answer below it.
    pub url: String,
    pub api_key: &'static str,
    _listening: IbmListening,
}

/// Why the story can't be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("no ports can be opened from {address} on")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("no folder for the kubeconfig can be made in {}", parent.display())]
    Folder { parent: PathBuf, source: io::Error },
    #[error("the kubeconfig {} can't be written", path.display())]
    Kubeconfig { path: PathBuf, source: io::Error },
}

/// Serves every cluster that can be reached, one port each. With port 0 the system picks them.
///
/// From then on, the story's own kubeconfigs lead to these ports. `parent` is where the kubeconfig's folder is made.
///
/// # Errors
/// A port is taken, or the kubeconfig can't be written.
pub async fn serve(story: &mut Story, address: SocketAddr, parent: &Path) -> Result<Served, ServeError> {
    let open = story.clusters.iter().filter(|cluster| cluster.reach == Reach::Open);
    let open: Vec<(String, SimCluster)> = open.map(|cluster| (cluster.name.clone(), cluster.sim.clone())).collect();
    // Everybody is the admin: kubectl sends no token over plain http.
    let listening = listen(address, open).await.map_err(|source| ServeError::Listen { address, source })?;
    let account = serve_account(story, address, listening.clusters.len()).await?;
    redirect(story, address.ip(), &listening);
    let folder = Folder::make(parent)?;
    let kubeconfig = folder.path.join("kubeconfig");
    write_private(&kubeconfig, &kubeconfig_text(story))?;
    let clusters = listening.clusters.clone();
    Ok(Served { kubeconfig, clusters, account, _folder: folder, _listening: listening })
}

/// Serves the account on the port after those of the clusters.
async fn serve_account(story: &Story, mut address: SocketAddr, clusters: usize) -> Result<ServedAccount, ServeError> {
    if address.port() != 0 {
        address.set_port(address.port().saturating_add(u16::try_from(clusters).unwrap_or(u16::MAX)));
    }
    let listening = listen_ibm(address, story.account.clone()).await;
    let listening = listening.map_err(|source| ServeError::Listen { address, source })?;
    let url = format!("http://{}", reachable(listening.address));
    Ok(ServedAccount { url, api_key: API_KEY, _listening: listening })
}

/// Writes the addresses into the story: what a kubeconfig says from now on.
fn redirect(story: &mut Story, ip: IpAddr, listening: &Listening) {
    let addresses: BTreeMap<&str, SocketAddr> =
        listening.clusters.iter().map(|(name, address)| (name.as_str(), *address)).collect();
    for cluster in &mut story.clusters {
        let address = addresses.get(cluster.name.as_str()).copied();
        let address = address.unwrap_or(SocketAddr::new(ip, CLOSED_PORT));
        cluster.server = format!("http://{}", reachable(address));
    }
    for cluster in &story.clusters {
        let DemoRole::Guest { management, hosted_cluster, .. } = &cluster.role else { continue };
        let Some(management) = story.clusters.iter().find(|other| other.name == *management) else { continue };
        let Some(text) = furnish::kubeconfig_of(&management.sim, hosted_cluster) else { continue };
        let moved = objects::moved(&text, &cluster.server);
        furnish::kubeconfigs(&management.sim, hosted_cluster, &moved, management.sim.now());
    }
}

/// Where a server that listens everywhere is found from here.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// One context a reachable cluster; management clusters come first, and the first is the current one.
fn kubeconfig_text(story: &Story) -> String {
    let open: Vec<_> = story.clusters.iter().filter(|cluster| cluster.reach == Reach::Open).collect();
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

/// A folder that goes when it is dropped.
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
        // Somebody may have removed it already; there is nobody left to tell.
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
