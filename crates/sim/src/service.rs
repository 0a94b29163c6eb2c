//! A simulated cluster as a tower service, for `kube::Client`.
//!
//! Invariants: impersonation headers and bearer tokens only change the identity; the core does the rest.
//!
//! Elsewhere: sockets (`listen`).

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use http_body::Body;
use http_body_util::BodyExt;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::api::{Answer, Identity, Query, Reply, Request};
use super::body::SimBody;
use super::cluster::SimCluster;

/// The connection was reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("connection reset by the simulated server")]
pub struct ConnectionReset;

/// One caller's connection to a cluster.
#[derive(Debug, Clone)]
pub struct SimService {
    cluster: SimCluster,
    identity: Option<Identity>,
    /// Identities by bearer token; when empty, tokens are ignored.
    tokens: Arc<BTreeMap<String, Identity>>,
}

impl SimService {
    pub(super) fn new(cluster: SimCluster, identity: Option<Identity>) -> Self {
        Self { cluster, identity, tokens: Arc::default() }
    }

    pub(super) fn with_tokens(mut self, tokens: Arc<BTreeMap<String, Identity>>) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sends one request to the core and returns its response.
    pub(super) async fn send<B>(self, request: http::Request<B>) -> Result<Response<SimBody>, ConnectionReset>
    where
        B: Body<Data = Bytes>,
    {
        if self.cluster.is_disconnected() {
            return Err(ConnectionReset);
        }
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| ConnectionReset)?.to_bytes();
        let header =
            |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or("").to_owned();
        let request = Request {
            method: head.method,
            path: head.uri.path().to_owned(),
            query: Query::parse(head.uri.query().unwrap_or("")),
            accept: header(ACCEPT),
            content_type: header(CONTENT_TYPE),
            user_agent: header(USER_AGENT),
            identity: self.caller(&head.headers),
            body,
        };
        let now = self.cluster.now();
        let before = self.cluster.version();
        let answer = self.cluster.lock().handle(now, &request);
        if self.cluster.version() != before {
            self.cluster.changed().notify_waiters();
        }
        let mut response = match answer {
            Answer::Reply(reply) => respond(reply),
            Answer::Watch(id) => stream(SimBody::watch(self.cluster, id)),
            Answer::Lost => return Err(ConnectionReset),
            Answer::Silence => std::future::pending().await,
        };
        response.headers_mut().extend(date_header(now));
        Ok(response)
    }

    fn caller(&self, headers: &HeaderMap) -> Option<Identity> {
        let text = |value: &HeaderValue| value.to_str().unwrap_or("").to_owned();
        if let Some(user) = headers.get("impersonate-user") {
            let groups = headers.get_all("impersonate-group").iter().map(text).collect();
            return Some(Identity { user: text(user), groups });
        }
        let token = headers.get(AUTHORIZATION).map(text);
        let token = token.as_deref().and_then(|value| value.strip_prefix("Bearer "));
        match token {
            _ if self.tokens.is_empty() => self.identity.clone(),
            Some(token) => self.tokens.get(token).cloned(),
            None => None,
        }
    }
}

impl_tower_service!(SimService, SimBody, ConnectionReset);

/// The `Date` of a response: the virtual time of its server. No header where HTTP has no such date.
pub fn date_header(now: Timestamp) -> Option<(HeaderName, HeaderValue)> {
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&now).ok()?;
    Some((DATE, HeaderValue::from_str(&date).ok()?))
}

/// Converts a reply of the core to HTTP.
pub fn respond(reply: Reply) -> Response<SimBody> {
    let Reply { status, content_type, retry_after_seconds, body, cut } = reply;
    let body = if cut { SimBody::cut(body) } else { SimBody::whole(body) };
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(seconds) = retry_after_seconds {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn stream(body: SimBody) -> Response<SimBody> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
