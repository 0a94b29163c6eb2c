//! The servers that are held against each other, behind one trait.
//!
//! Always true: a target adds nothing to a request but what names the user, and hides nothing of the answer.

use serde_json::Value;
use tower::ServiceExt;
use trueup_sim::{SimBody, SimCluster};

use crate::support::http::{Request, Response, Watched, read_response, read_watch};
use crate::support::real::Connection;

/// Something that answers like a Kubernetes API server.
pub trait Target: Clone + Send + Sync + 'static {
    fn send(&self, request: &Request) -> impl Future<Output = anyhow::Result<Response>> + Send;

    /// Reads a watch until an event for which `is_last` holds.
    fn watch(
        &self,
        request: &Request,
        is_last: impl Fn(&Value) -> bool + Send + Sync,
    ) -> impl Future<Output = anyhow::Result<Watched>> + Send;
}

impl Target for Connection {
    async fn send(&self, request: &Request) -> anyhow::Result<Response> {
        Connection::send(self, request).await
    }

    async fn watch(
        &self,
        request: &Request,
        is_last: impl Fn(&Value) -> bool + Send + Sync,
    ) -> anyhow::Result<Watched> {
        Connection::watch(self, request, is_last).await
    }
}

impl Target for SimCluster {
    async fn send(&self, request: &Request) -> anyhow::Result<Response> {
        read_response(open(self, request).await?).await
    }

    async fn watch(
        &self,
        request: &Request,
        is_last: impl Fn(&Value) -> bool + Send + Sync,
    ) -> anyhow::Result<Watched> {
        read_watch(open(self, request).await?, is_last).await
    }
}

async fn open(cluster: &SimCluster, request: &Request) -> anyhow::Result<http::Response<SimBody>> {
    let request = request.to_http("http://sim")?.map(http_body_util::Full::new);
    Ok(cluster.service().oneshot(request).await?)
}
