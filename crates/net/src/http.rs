//! Sends a request and collects the response: hyper, rustls with ring, proxies by the environment.
//!
//! Invariants:
//! - a request is sent at most once; the caller decides whether to repeat it;
//! - the whole response arrives within limits of time and size, or not at all;
//! - an error names what failed and quotes neither the URL's query nor a body.
//!
//! Elsewhere: signing, paging, the meaning of a status (`fleet::clouds`).

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use rustls::ClientConfig;
use tokio::time::Instant;
use tower::{BoxError, Service, ServiceExt as _};

use crate::body::{BodyError, collect, limit};
use crate::dial::{Connector, pooled, refusal_of};
use crate::egress::{EgressRefused, Permit};
use crate::failure::{Causes, NotReached, failure_of};
use crate::proxy::{Proxies, ProxyError, Routes};
use crate::roots::Roots;
use crate::tls::{self, TlsError, Verification};

/// How long an idle connection is kept. Clouds close theirs after about a minute.
const IDLE_MAX: Duration = Duration::from_secs(50);

/// How long a whole response may take. EC2 needs up to 5 s for its whole catalogue, IBM's search about as long.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest body of a response. The largest known, the EC2 catalogue of 1,395 types, is 5.8 MB.
pub const BODY_MAX: usize = 32 << 20;

/// The settings of a client. Without others: the system's certificates, no proxy, and the limits above.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Authorities that are trusted beside the system's.
    pub extra_roots: Option<Roots>,
    pub proxies: Proxies,
    /// Where its connections may lead.
    pub permit: Permit,
    pub answer_timeout: Duration,
    pub body_max: usize,
}

impl HttpSettings {
    pub fn new(permit: Permit) -> Self {
        Self {
            extra_roots: None,
            proxies: Proxies::default(),
            permit,
            answer_timeout: ANSWER_TIMEOUT,
            body_max: BODY_MAX,
        }
    }
}

/// Settings no client can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpSetupError {
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A response, whatever its status.
#[derive(Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("no complete response within {} s", .after.as_secs())]
    TimedOut { after: Duration },
    #[error("{0}")]
    NotReached(NotReached),
    #[error("{0}")]
    NotAllowed(EgressRefused),
    #[error("the response broke off")]
    BrokeOff,
    #[error("the response is larger than {}", limit(*.bytes_max))]
    TooLarge { bytes_max: usize },
}

type Body = UnsyncBoxBody<Bytes, BoxError>;
type Carry = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> + Send + Sync;

/// Called with the headers of every response and how long they took.
type OnAnswer = dyn Fn(&HeaderMap, Duration) + Send + Sync;

/// Sends requests and collects responses. Clones share their connections.
#[derive(Clone)]
pub struct HttpClient {
    carry: Arc<Carry>,
    on_answer: Option<Arc<OnAnswer>>,
    answer_timeout: Duration,
    body_max: usize,
}

impl HttpClient {
    /// A client for any number of servers that the system's roots (and `extra_roots`) vouch for.
    ///
    /// # Errors
    /// A proxy setting that cannot be used: a direct connection instead could leak the request around the proxy.
    pub fn new(settings: HttpSettings) -> Result<Self, HttpSetupError> {
        let config = tls::system_config(settings.extra_roots.as_ref());
        Self::over(config, None, settings)
    }

    /// A client for one server whose certificate is verified as `verification` says.
    ///
    /// # Errors
    /// Roots or a proxy setting that cannot be used.
    pub async fn verifying(verification: &Verification, settings: HttpSettings) -> Result<Self, HttpSetupError> {
        let config = tls::client_config(verification, None, tls::no_files).await?;
        Self::over(config, verification.server_name(), settings)
    }

    fn over(config: ClientConfig, server_name: Option<&str>, settings: HttpSettings) -> Result<Self, HttpSetupError> {
        let HttpSettings { extra_roots: _, proxies, permit, answer_timeout, body_max } = settings;
        proxies.check()?;
        let connector = Connector::new(config, server_name, Routes::Environment(proxies), permit)?;
        let pooled = pooled(connector, IDLE_MAX);
        let carry = move |request| -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
            let pooled = pooled.clone();
            Box::pin(
                async move { Ok(pooled.request(request).await?.map(|body| body.map_err(Into::into).boxed_unsync())) },
            )
        };
        Ok(Self { carry: Arc::new(carry), on_answer: None, answer_timeout, body_max })
    }

    /// A client whose server is in this process: tests and the demo.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let carry = move |request| -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
            let service = service.clone();
            Box::pin(async move {
                let response = service.oneshot(request).await.map_err(Into::into)?;
                Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
            })
        };
        Self { carry: Arc::new(carry), on_answer: None, answer_timeout: ANSWER_TIMEOUT, body_max: BODY_MAX }
    }

    /// The same client with another time limit for a whole response.
    pub fn within(self, answer_timeout: Duration) -> Self {
        Self { answer_timeout, ..self }
    }

    /// The same client, which shows the headers of every response and how long they took to `on_answer`.
    pub fn observed_by(self, on_answer: impl Fn(&HeaderMap, Duration) + Send + Sync + 'static) -> Self {
        Self { on_answer: Some(Arc::new(on_answer)), ..self }
    }

    /// Sends a request and collects its response.
    ///
    /// # Errors
    /// No response, or none within the limits. A status such as 403 is a response.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Answer, HttpError> {
        let fetching = async {
            let sent = Instant::now();
            let response = (self.carry)(request.map(Full::new)).await.map_err(|error| not_reached(&*error))?;
            let (head, body) = response.into_parts();
            if let Some(on_answer) = &self.on_answer {
                on_answer(&head.headers, sent.elapsed());
            }
            Ok(Answer { status: head.status, headers: head.headers, body: collect(body, self.body_max).await? })
        };
        let after = self.answer_timeout;
        tokio::time::timeout(after, fetching).await.unwrap_or(Err(HttpError::TimedOut { after }))
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { carry: _, on_answer: _, answer_timeout, body_max } = self;
        f.debug_struct("HttpClient")
            .field("answer_timeout", answer_timeout)
            .field("body_max", body_max)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Answer {
    /// Shows nothing of the content: responses of a token service are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers: _, body } = self;
        f.debug_struct("Answer").field("status", status).field("bytes", &body.len()).finish_non_exhaustive()
    }
}

/// Why a failed request got no response, found in the errors behind it.
fn not_reached(error: &(dyn Error + 'static)) -> HttpError {
    let is_incomplete = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message)
    };
    if let Some(refused) = refusal_of(error) {
        return HttpError::NotAllowed(refused.clone());
    }
    match Causes::of(error).find_map(failure_of) {
        Some(why) => HttpError::NotReached(why),
        None if Causes::of(error).any(is_incomplete) => HttpError::BrokeOff,
        None => HttpError::NotReached(NotReached::Other),
    }
}

impl From<BodyError<BoxError>> for HttpError {
    fn from(error: BodyError<BoxError>) -> Self {
        match error {
            BodyError::BrokeOff(_) => Self::BrokeOff,
            BodyError::TooLarge { bytes_max } => Self::TooLarge { bytes_max },
        }
    }
}

#[cfg(test)]
mod tests;
