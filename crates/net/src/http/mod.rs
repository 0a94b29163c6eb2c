//! The HTTP client under both clouds: hyper, rustls with ring, proxies by the environment.
//!
//! Always true:
//! - a request goes out at most once; who may repeat it decides above;
//! - the whole answer comes within a limit of time and bytes, or not at all;
//! - an error names what failed and quotes neither URL query nor body.
//!
//! Not here: signing, paging, what a status means (`cloud::aws`, `cloud::ibm`).

mod dial;
mod roots;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use tower::{BoxError, Service, ServiceExt as _};

pub use dial::{BadProxy, Proxies};
pub use roots::{BadRoots, Roots};

/// How long a whole answer may take. EC2 needs up to 5 s for its whole catalogue, IBM's search about as long.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// What an answer may measure. The largest known, the EC2 catalogue of 1,395 types, is 5.8 MB.
pub const BODY_MAX: usize = 32 << 20;

/// What a client is made of. The default is the system's certificates, no proxy, and the limits above.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Authorities that are trusted beside the system's.
    pub extra_roots: Option<Roots>,
    pub proxies: Proxies,
    pub answer_timeout: Duration,
    pub body_max: usize,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self { extra_roots: None, proxies: Proxies::default(), answer_timeout: ANSWER_TIMEOUT, body_max: BODY_MAX }
    }
}

/// An answer, whatever its status.
#[derive(Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("no whole answer within {} s", .after.as_secs())]
    TimedOut { after: Duration },
    #[error("{0}")]
    NotReached(NotReached),
    #[error("the answer broke off")]
    BrokeOff,
    #[error("the answer is larger than {} MiB", .bytes_max >> 20)]
    TooLarge { bytes_max: usize },
}

/// Why nobody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotReached {
    #[error("the name of the host can't be looked up")]
    NameLookup,
    #[error("the connection was refused")]
    Refused,
    #[error("no connection within {} s", dial::CONNECT_TIMEOUT.as_secs())]
    TimedOut,
    #[error("the server's certificate is not signed by an authority that is trusted here")]
    UnknownAuthority,
    #[error("the server's certificate does not fit its name or the time")]
    BadCertificate,
    #[error("no TLS session came about")]
    Tls,
    #[error("the proxy did not open the way")]
    Proxy,
    #[error("the connection failed")]
    Other,
}

type Body = UnsyncBoxBody<Bytes, BoxError>;
type Carry = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> + Send + Sync;

/// Sends requests and collects answers. Clones share their connections.
#[derive(Clone)]
pub struct HttpClient {
    carry: Arc<Carry>,
    answer_timeout: Duration,
    body_max: usize,
}

impl HttpClient {
    /// A client for the network.
    ///
    /// # Errors
    /// A proxy setting that can't be understood: going straight instead could leak the request around the proxy.
    pub fn new(settings: HttpSettings) -> Result<Self, BadProxy> {
        let HttpSettings { extra_roots, proxies, answer_timeout, body_max } = settings;
        let pooled = dial::client(extra_roots.as_ref(), &proxies)?;
        let carry = move |request| -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
            let pooled = pooled.clone();
            Box::pin(
                async move { Ok(pooled.request(request).await?.map(|body| body.map_err(Into::into).boxed_unsync())) },
            )
        };
        Ok(Self { carry: Arc::new(carry), answer_timeout, body_max })
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
        Self { carry: Arc::new(carry), answer_timeout: ANSWER_TIMEOUT, body_max: BODY_MAX }
    }

    /// The same, with so much time for a whole answer.
    pub fn within(self, answer_timeout: Duration) -> Self {
        Self { answer_timeout, ..self }
    }

    /// Sends a request and collects its answer.
    ///
    /// # Errors
    /// No answer, or none within the limits. A status such as 403 is an answer.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Answer, HttpError> {
        let fetching = async {
            let response = (self.carry)(request.map(Full::new)).await.map_err(|error| not_reached(&*error))?;
            let (head, body) = response.into_parts();
            Ok(Answer { status: head.status, headers: head.headers, body: collect(body, self.body_max).await? })
        };
        let after = self.answer_timeout;
        tokio::time::timeout(after, fetching).await.unwrap_or(Err(HttpError::TimedOut { after }))
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { carry: _, answer_timeout, body_max } = self;
        f.debug_struct("HttpClient")
            .field("answer_timeout", answer_timeout)
            .field("body_max", body_max)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Answer {
    /// Says nothing of the content: answers of a token service are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers: _, body } = self;
        f.debug_struct("Answer").field("status", status).field("bytes", &body.len()).finish_non_exhaustive()
    }
}

async fn collect(mut body: Body, bytes_max: usize) -> Result<Bytes, HttpError> {
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| HttpError::BrokeOff)?.into_data() else { continue };
        if collected.len() + data.len() > bytes_max {
            return Err(HttpError::TooLarge { bytes_max });
        }
        collected.extend_from_slice(&data);
    }
    Ok(collected.freeze())
}

/// What a failed request says, found in the errors behind it.
fn not_reached(error: &(dyn Error + 'static)) -> HttpError {
    let mut next = Some(error);
    let mut broke_off = false;
    while let Some(current) = next {
        if let Some(why) = dial::reason(current) {
            return HttpError::NotReached(why);
        }
        broke_off |= current.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message);
        // What an `io::Error` wraps is skipped by its `source`.
        let wrapped = current.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner),
            None => current.source(),
        };
    }
    if broke_off { HttpError::BrokeOff } else { HttpError::NotReached(NotReached::Other) }
}

#[cfg(test)]
mod tests;
