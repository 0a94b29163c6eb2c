//! `/healthz`, `/readyz` and `/metrics` over HTTP.
//!
//! Invariants: nothing but GET is answered, and no body is read.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::metrics::{Metrics, OPEN_METRICS};
use trueup_operate::wall_clock;

/// Connections at once: probes and a few collectors.
const CONNECTIONS_MAX: usize = 64;
/// How long one connection may last.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(60);

/// A bound listener.
pub struct Server {
    listener: TcpListener,
    metrics: Arc<Metrics>,
}

impl Server {
    /// Listens on an address.
    ///
    /// # Errors
    /// The address cannot be used.
    pub async fn bind(address: SocketAddr, metrics: Arc<Metrics>) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, metrics })
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is aborted.
    pub async fn run(self) {
        let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok(permit) = connections.clone().acquire_owned().await else { return };
            let Ok((socket, _)) = self.listener.accept().await else {
                // Out of file descriptors: an accept that fails at once would spin.
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            };
            let metrics = self.metrics.clone();
            tokio::spawn(async move {
                let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let response = answer(request.method(), request.uri().path(), &metrics, wall_clock()());
                    std::future::ready(Ok::<_, Infallible>(response))
                });
                let builder = auto::Builder::new(TokioExecutor::new());
                let serving = builder.serve_connection(TokioIo::new(socket), service);
                let _ended = tokio::time::timeout(CONNECTION_TIME_MAX, serving).await;
                drop(permit);
            });
        }
    }
}

fn answer(method: &Method, path: &str, metrics: &Metrics, now: Timestamp) -> Response<Full<Bytes>> {
    let (status, kind, text) = match (method, path) {
        (&Method::GET, "/healthz") => (StatusCode::OK, "text/plain", "ok\n".to_owned()),
        (&Method::GET, "/readyz") if metrics.is_ready() => (StatusCode::OK, "text/plain", "ok\n".to_owned()),
        (&Method::GET, "/readyz") => {
            (StatusCode::SERVICE_UNAVAILABLE, "text/plain", "the fleet is being listed\n".to_owned())
        }
        (&Method::GET, "/metrics") => (StatusCode::OK, OPEN_METRICS, metrics.render(now)),
        (&Method::GET, _) => (StatusCode::NOT_FOUND, "text/plain", String::new()),
        (_, _) => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", String::new()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_ready_once_the_fleet_was_listed() {
        let metrics = Metrics::default();
        let status = |method: Method, path| answer(&method, path, &metrics, Timestamp::UNIX_EPOCH).status().as_u16();
        assert_eq!(status(Method::GET, "/healthz"), 200);
        assert_eq!(status(Method::GET, "/readyz"), 503);
        metrics.ready();
        assert_eq!(status(Method::GET, "/readyz"), 200);
        assert_eq!(status(Method::GET, "/metrics"), 200);
        assert_eq!(status(Method::GET, "/"), 404);
        assert_eq!(status(Method::POST, "/metrics"), 405);
    }
}
