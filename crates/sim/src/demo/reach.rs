//! The way to a cluster of the story without a network in between.
//!
//! Always true: what can't be reached fails as it would over a network, so that callers can't tell the difference.
//!
//! Not here: sockets (`serve`).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower::Service;

use crate::{SimBody, SimCluster, SimLost, SimService};

/// Whether anybody listens where a cluster should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Open,
    /// Connections are refused.
    Refused,
}

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum NotReached {
    #[error("connecting failed")]
    Refused(#[source] io::Error),
    #[error(transparent)]
    Lost(SimLost),
}

/// A caller's way to one cluster, for `kube::Client::new`.
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

    /// The way to a server that nobody has made.
    pub fn nowhere() -> Self {
        Self { way: Way::Refused }
    }

    /// The real client on top of it. Needs a running tokio runtime.
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
