//! Handle of one simulated account, and its tower service.
//!
//! Invariants: now is the start time plus tokio's clock, so a paused clock is virtual time; the lock is held for one call
//! of the core and never across an await.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::reply::{IbmAnswer, IbmReply};
use super::request::{IbmRequest, pairs};
use super::server::IbmServer;
use super::store::Thing;
use crate::LocalServer;
use crate::service::date_header;

/// Initial settings of an account.
#[derive(Debug, Clone)]
pub struct IbmSimOptions {
    pub account: String,
    pub api_key: String,
    /// Ids derive from it.
    pub seed: u64,
    pub start: Timestamp,
}

/// One simulated account; clones share its state.
#[derive(Debug, Clone)]
pub struct IbmSim {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    start: Timestamp,
    began: Instant,
    /// Time added by `advance` to tokio's clock.
    ahead: Mutex<Duration>,
    server: Mutex<IbmServer>,
}

/// The connection was reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("connection reset by the simulated account")]
pub struct IbmConnectionReset;

impl IbmSim {
    pub fn new(options: IbmSimOptions) -> Self {
        let IbmSimOptions { account, api_key, seed, start } = options;
        let server = Mutex::new(IbmServer::new(&account, &api_key, seed));
        Self { inner: Arc::new(Inner { start, began: Instant::now(), ahead: Mutex::default(), server }) }
    }

    pub fn now(&self) -> Timestamp {
        let ahead = *self.inner.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = SignedDuration::try_from(self.inner.began.elapsed() + ahead).unwrap_or(SignedDuration::MAX);
        self.inner.start.checked_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// Moves the account's clock forward without waiting.
    pub fn advance(&self, by: Duration) {
        *self.inner.ahead.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    /// Runs `work` on the core, after all changes that are due by now.
    pub fn with<T>(&self, work: impl FnOnce(&mut IbmServer, Timestamp) -> T) -> T {
        let now = self.now();
        let mut server = self.lock();
        server.settle(now);
        work(&mut server, now)
    }

    pub fn seed(&self, thing: Thing) {
        self.with(|server, _| server.seed(thing));
    }

    pub fn service(&self) -> IbmService {
        IbmService(self.clone())
    }

    /// Opens a port for plain HTTP; with port 0 the system picks it.
    ///
    /// # Errors
    /// The port is in use.
    pub async fn listen(&self, address: SocketAddr) -> std::io::Result<LocalServer> {
        LocalServer::open(address, self.service()).await
    }

    fn lock(&self) -> MutexGuard<'_, IbmServer> {
        self.inner.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The account as a tower service.
#[derive(Debug, Clone)]
pub struct IbmService(IbmSim);

impl IbmService {
    async fn send<B>(self, request: http::Request<B>) -> Result<Response<Full<Bytes>>, IbmConnectionReset>
    where
        B: Body<Data = Bytes>,
    {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| IbmConnectionReset)?.to_bytes();
        let text = |name: &str| {
            head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let host = head.uri.authority().map_or_else(|| text("host"), ToString::to_string);
        let request = IbmRequest {
            method: head.method,
            base: format!("http://{host}"),
            path: head.uri.path().to_owned(),
            query: pairs(head.uri.query().unwrap_or_default()),
            authorization: text(header::AUTHORIZATION.as_str()),
            crn: text("crn"),
            body,
        };
        let answer = self.0.with(|server, now| server.handle(now, &request));
        match answer {
            IbmAnswer::Reply(reply) => {
                let mut response = respond(reply);
                response.headers_mut().extend(date_header(self.0.now()));
                Ok(response)
            }
            IbmAnswer::Lost => Err(IbmConnectionReset),
            IbmAnswer::Silence => std::future::pending().await,
        }
    }
}

impl_tower_service!(IbmService, Full<Bytes>, IbmConnectionReset);

fn respond(reply: IbmReply) -> Response<Full<Bytes>> {
    let IbmReply { status, content_type, headers, body } = reply;
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
