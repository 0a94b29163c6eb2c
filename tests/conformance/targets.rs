//! The servers that are held against each other, behind one trait.
//!
//! Always true: a target adds nothing to a request but what names the user, and hides nothing of the answer.

use serde_json::Value;

use crate::support::http::{Request, Response, Watched};
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
