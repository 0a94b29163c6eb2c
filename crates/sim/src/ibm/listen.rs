//! The account on a local port, for everybody who speaks HTTP.
//!
//! Always true: dropping [`IbmListening`] closes the port.

use std::net::SocketAddr;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::account::IbmSim;

/// An account that can be reached.
#[derive(Debug)]
pub struct IbmListening {
    pub address: SocketAddr,
    door: JoinHandle<()>,
}

impl Drop for IbmListening {
    fn drop(&mut self) {
        self.door.abort();
    }
}

/// Opens a port; with port 0 the system picks it.
pub async fn listen_ibm(address: SocketAddr, sim: IbmSim) -> std::io::Result<IbmListening> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(IbmListening { address, door: tokio::spawn(serve(listener, sim)) })
}

/// Takes connections until aborted; its connections end with it.
async fn serve(listener: TcpListener, sim: IbmSim) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that broke before it was taken is not our loss.
                let Ok((socket, _)) = accepted else { continue };
                let service = TowerToHyperService::new(sim.service());
                connections.spawn(async move {
                    let builder = auto::Builder::new(TokioExecutor::new());
                    // A client that goes away mid-answer is an ordinary end of a connection.
                    let _ended = builder.serve_connection(TokioIo::new(socket), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
