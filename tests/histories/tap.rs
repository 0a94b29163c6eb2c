//! The way of an engine's requests to its clusters: the real client, with the world in place of the wire.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Response};
use http_body_util::BodyExt as _;
use kube::client::Body;
use trueup_core::engine::executor::{ClusterPort, Clusters};
use trueup_fleet::kube_cluster::KubeCluster;
use trueup_sim::api::Query;
use trueup_sim::{ConnectionReset, Identity, Request, SimBody, respond};

use super::world::{Heard, Shared, Site};

/// One engine's way to one cluster.
pub struct Tap {
    shared: Shared,
    who: usize,
    site: usize,
}

/// The client of an engine for one cluster.
pub fn client(shared: &Shared, who: usize, site: usize) -> kube::Client {
    kube::Client::new(Tap { shared: shared.clone(), who, site }, "default")
}

/// The ports of an engine, one for each cluster of `sites`.
pub fn ports(shared: &Shared, who: usize, sites: impl IntoIterator<Item = usize>) -> Clusters {
    let port = |site: usize| {
        let port: Arc<dyn ClusterPort> = Arc::new(KubeCluster::new(client(shared, who, site)));
        (Site::name(site), port)
    };
    sites.into_iter().map(port).collect()
}

impl tower::Service<http::Request<Body>> for Tap {
    type Response = Response<SimBody>;
    type Error = ConnectionReset;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectionReset>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionReset>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (head, body) = request.into_parts();
        // The bodies an engine sends are whole when it sends them.
        let body = body.collect().now_or_never().and_then(Result::ok).map(|body| body.to_bytes()).unwrap_or_default();
        let header =
            |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or("").to_owned();
        let request = Request {
            method: head.method,
            path: head.uri.path().to_owned(),
            query: Query::parse(head.uri.query().unwrap_or("")),
            accept: header(ACCEPT),
            content_type: header(CONTENT_TYPE),
            user_agent: String::new(),
            identity: Some(Identity::admin()),
            body,
        };
        let (shared, who, site) = (self.shared.clone(), self.who, self.site);
        let latency = {
            let mut world = shared.lock();
            if world.engines[who].alive {
                world.check_send(who, site, &request);
            }
            if world.faults.latency && !world.resting { 1 + world.rng.draw() % 40 } else { 0 }
        };
        Box::pin(async move {
            if latency > 0 {
                tokio::time::sleep(Duration::from_millis(latency)).await;
            }
            let heard = shared.lock().ask(who, site, &request);
            match heard {
                Heard::Reply { reply, lied: _ } => Ok(respond(reply)),
                Heard::Lost => Err(ConnectionReset),
                Heard::Silence | Heard::Dead => std::future::pending().await,
            }
        })
    }
}
