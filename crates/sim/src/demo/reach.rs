//! In-process connections to the clusters of the demo.
//!
//! Invariants: a cluster that cannot be reached fails like a network connection, so that callers see no difference.
//!
//! Elsewhere: sockets (`serve`).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower::Service;

use crate::{ConnectionReset, SimBody, SimCluster, SimService};

/// Whether a cluster accepts connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Open,
    /// Connections are refused.
    Refused,
}

/// Why a request got no response.
#[derive(Debug, thiserror::Error)]
pub enum NotReached {
    #[error("connection failed")]
    Refused(#[source] io::Error),
    #[error(transparent)]
    Lost(ConnectionReset),
}

/// A connection to one cluster, for `kube::Client::new`.
#[derive(Debug, Clone)]
pub struct DemoService {
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    To(SimService),
    Refused,
}

impl DemoService {
    pub(super) fn new(sim: &SimCluster, reach: Reach) -> Self {
        let way = match reach {
            Reach::Open => Way::To(sim.service()),
            Reach::Refused => Way::Refused,
        };
        Self { way }
    }

    /// Returns a connection to a server that does not exist.
    pub fn unreachable() -> Self {
        Self { way: Way::Refused }
    }

    /// Returns a kube client on this connection. Needs a running tokio runtime.
    pub fn client(self) -> kube::Client {
        kube::Client::new(self, "default")
    }
}

impl<B> Service<Request<B>> for DemoService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    type Response = Response<SimBody>;
    type Error = NotReached;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NotReached>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NotReached>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match &mut self.way {
            Way::To(service) => {
                let answer = service.call(request);
                Box::pin(async { answer.await.map_err(NotReached::Lost) })
            }
            Way::Refused => {
                Box::pin(std::future::ready(Err(NotReached::Refused(io::ErrorKind::ConnectionRefused.into()))))
            }
        }
    }
}
