//! The account on a local port, for HTTP clients.
//!
//! Invariants: dropping [`IbmListening`] closes the port.

use std::net::SocketAddr;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::account::IbmSim;

/// An account being served.
#[derive(Debug)]
pub struct IbmListening {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for IbmListening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Opens a port; with port 0 the system picks it.
pub async fn listen_ibm(address: SocketAddr, sim: IbmSim) -> std::io::Result<IbmListening> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(IbmListening { address, task: tokio::spawn(serve(listener, sim)) })
}

/// Accepts connections until aborted; its connections end with it.
async fn serve(listener: TcpListener, sim: IbmSim) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that broke before it was accepted affects only its client.
                let Ok((socket, _)) = accepted else { continue };
                let service = TowerToHyperService::new(sim.service());
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
