//! Simulated clusters on local ports, for kubectl and other HTTP clients.
//!
//! Invariants: one port per cluster; HTTP/1.1 and HTTP/2 (prior knowledge) on each; dropping [`Listening`] closes all.
//!
//! Elsewhere: TLS. A kubeconfig for these ports has `server: http://…`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tower::{BoxError, Service};

use super::api::Identity;
use super::cluster::SimCluster;

/// Clusters being served.
#[derive(Debug)]
pub struct Listening {
    /// Name and address of each cluster, in the order given.
    pub clusters: Vec<(String, SocketAddr)>,
    servers: Vec<LocalServer>,
}

impl Listening {
    /// Returns a kubeconfig with one context per cluster. The first is the current context.
    pub fn kubeconfig(&self) -> String {
        let current = self.clusters.first().map_or("", |(name, _)| name);
        let mut text = format!("apiVersion: v1\nkind: Config\ncurrent-context: {current:?}\n");
        text.push_str("users:\n- name: admin\n  user: {}\nclusters:\n");
        for (name, address) in &self.clusters {
            text.push_str(&format!("- name: {name:?}\n  cluster:\n    server: http://{address}\n"));
        }
        text.push_str("contexts:\n");
        for (name, _) in &self.clusters {
            text.push_str(&format!("- name: {name:?}\n  context:\n    cluster: {name:?}\n    user: admin\n"));
        }
        text
    }
}

/// Opens a port for each cluster; every caller is the admin. With port 0 the system picks the ports;
/// otherwise they count up from `address`.
pub async fn listen(address: SocketAddr, clusters: Vec<(String, SimCluster)>) -> std::io::Result<Listening> {
    listen_with_tokens(address, clusters, BTreeMap::new()).await
}

/// Like [`listen`]; `tokens` maps bearer tokens to identities, and any other caller receives 401.
pub async fn listen_with_tokens(
    address: SocketAddr,
    clusters: Vec<(String, SimCluster)>,
    tokens: BTreeMap<String, Identity>,
) -> std::io::Result<Listening> {
    let tokens = Arc::new(tokens);
    let mut listening = Listening { clusters: Vec::new(), servers: Vec::new() };
    for (index, (name, cluster)) in clusters.into_iter().enumerate() {
        let mut address = address;
        if address.port() != 0 {
            address.set_port(address.port().saturating_add(u16::try_from(index).unwrap_or(u16::MAX)));
        }
        let server = LocalServer::open(address, cluster.service().with_tokens(tokens.clone())).await?;
        listening.clusters.push((name, server.address));
        listening.servers.push(server);
    }
    Ok(listening)
}

/// A service on one local port. Dropping it closes the port and its connections.
#[derive(Debug)]
pub struct LocalServer {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl LocalServer {
    /// Opens a port for plain HTTP; with port 0 the system picks it.
    ///
    /// # Errors
    /// The port is in use.
    pub async fn open<S, B>(address: SocketAddr, service: S) -> std::io::Result<Self>
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { address, task: tokio::spawn(serve(listener, service)) })
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Accepts connections until aborted; its connections end with it.
async fn serve<S, B>(listener: TcpListener, service: S)
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that broke before it was accepted affects only its client.
                let Ok((socket, _)) = accepted else { continue };
                let service = TowerToHyperService::new(service.clone());
                connections.spawn(async move {
                    let builder = auto::Builder::new(TokioExecutor::new());
                    // A client may disconnect in the middle of a response.
                    let _ended = builder.serve_connection(TokioIo::new(socket), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
