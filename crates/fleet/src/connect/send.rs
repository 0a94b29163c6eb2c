//! Sends GET requests, and POSTs that create no object, to an API server, within limits of time and size.
//!
//! Invariants:
//! - only `Client::send` is used: kube's `request` writes whole bodies into the log when they cannot be decoded;
//! - a body is never read past its limit, and a wait never exceeds its own.
//!
//! Elsewhere: decoding; the meaning of a response (`classify`).

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use kube::client::Body;
use serde_json::Value;
use trueup_net::BodyError;

/// The largest body of a response. A page of 500 objects is about 4 MiB; etcd allows 1.5 MiB an object, so a page of very
/// large ones could reach 750, but then the page should be smaller rather than this number larger.
pub const BODY_MAX: usize = 64 << 20;

/// How long a whole response may take. The API server itself gives up after 60 s (`--request-timeout`).
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(65);

/// How long a watch may take to begin. Its first line may be far away, but its headers come at once.
pub const STREAM_START_TIMEOUT: Duration = Duration::from_secs(30);

/// Plain JSON.
pub const JSON: &str = "application/json";

/// Why there is no response. A response, whatever its status, is not an error here.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("the request cannot be built")]
    Unsayable(#[source] http::Error),
    #[error("the request failed")]
    Client(#[source] Box<kube::Error>),
    #[error("no complete response within {} s", .after.as_secs())]
    TimedOut { after: Duration },
    #[error("the response broke off")]
    BrokeOff(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the response is larger than {}", trueup_net::limit(*.bytes_max))]
    TooLarge { bytes_max: usize },
}

/// GETs a path (with its query) and collects the body.
///
/// # Errors
/// No response, or none within the limits. A status such as 403 is a response.
pub async fn get_bytes(
    client: &kube::Client,
    path_and_query: &str,
    accept: &str,
) -> Result<(StatusCode, Bytes), TransportError> {
    let fetching = async {
        let response = send(client, path_and_query, accept).await?;
        let status = response.status();
        Ok((status, collect(response.into_body(), BODY_MAX).await?))
    };
    let limit = ANSWER_TIMEOUT;
    tokio::time::timeout(limit, fetching).await.unwrap_or(Err(TransportError::TimedOut { after: limit }))
}

/// POSTs a review or a request for a token, and collects the answer.
///
/// # Errors
/// As [`get_bytes`].
pub async fn post_json(
    client: &kube::Client,
    path: &str,
    body: &Value,
    bytes_max: usize,
    limit: Duration,
) -> Result<(StatusCode, Bytes), TransportError> {
    let request = Request::post(path)
        .header(header::ACCEPT, JSON)
        .header(header::CONTENT_TYPE, JSON)
        .body(Body::from(body.to_string().into_bytes()))
        .map_err(TransportError::Unsayable)?;
    let asking = async {
        let response = client.send(request).await.map_err(|error| TransportError::Client(Box::new(error)))?;
        let status = response.status();
        Ok((status, collect(response.into_body(), bytes_max).await?))
    };
    tokio::time::timeout(limit, asking).await.unwrap_or(Err(TransportError::TimedOut { after: limit }))
}

/// GETs a path and hands back the response with its body still to be read, for watches.
///
/// # Errors
/// The response does not begin in time. How long it may stay silent after that is the caller's matter.
pub async fn stream(
    client: &kube::Client,
    path_and_query: &str,
    accept: &str,
) -> Result<Response<Body>, TransportError> {
    let limit = STREAM_START_TIMEOUT;
    let starting = send(client, path_and_query, accept);
    tokio::time::timeout(limit, starting).await.unwrap_or(Err(TransportError::TimedOut { after: limit }))
}

/// Reads a body to its end, up to a limit.
///
/// # Errors
/// It breaks off, or is larger.
pub async fn collect(body: Body, bytes_max: usize) -> Result<Bytes, TransportError> {
    trueup_net::collect(body, bytes_max).await.map_err(|error| match error {
        BodyError::BrokeOff(error) => TransportError::BrokeOff(Box::new(error)),
        BodyError::TooLarge { bytes_max } => TransportError::TooLarge { bytes_max },
    })
}

async fn send(client: &kube::Client, path_and_query: &str, accept: &str) -> Result<Response<Body>, TransportError> {
    let request = Request::get(path_and_query)
        .header(header::ACCEPT, accept)
        .body(Body::empty())
        .map_err(TransportError::Unsayable)?;
    client.send(request).await.map_err(|error| TransportError::Client(Box::new(error)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::Full;

    use super::*;

    /// A client whose server answers with the path and form it was asked for.
    fn echoing() -> kube::Client {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let accept = request.headers()[header::ACCEPT].to_str().unwrap();
            let text = format!("{} {} {accept}", request.method(), request.uri());
            Ok::<_, Infallible>(Response::builder().status(403).body(Full::new(Bytes::from(text))).unwrap())
        });
        kube::Client::new(service, "default")
    }

    /// A client whose server never answers.
    fn silent() -> kube::Client {
        let service =
            tower::service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Full<Bytes>>, Infallible>>());
        kube::Client::new(service, "default")
    }

    #[tokio::test]
    async fn any_status_is_an_answer() {
        let (status, body) = get_bytes(&echoing(), "/api/v1/pods?limit=5", "application/json").await.unwrap();
        assert_eq!((status, &body[..]), (StatusCode::FORBIDDEN, &b"GET /api/v1/pods?limit=5 application/json"[..]));
        let response = stream(&echoing(), "/w", "x/y").await.unwrap();
        assert_eq!(collect(response.into_body(), BODY_MAX).await.unwrap(), "GET /w x/y");
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit_and_not_past_it() {
        for (case, bytes_max, fits) in [("exactly", 10, true), ("one too many", 9, false)] {
            let read = collect(Body::from(b"0123456789".to_vec()), bytes_max).await;
            match (read, fits) {
                (Ok(bytes), true) => assert_eq!(bytes.len(), 10, "case: {case}"),
                (Err(TransportError::TooLarge { bytes_max: limit }), false) => {
                    assert_eq!(limit, bytes_max, "case: {case}")
                }
                (read, _) => panic!("case: {case}: {read:?}"),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_at_the_limit() {
        let answer = get_bytes(&silent(), "/api", JSON).await;
        assert!(matches!(answer, Err(TransportError::TimedOut { after: ANSWER_TIMEOUT })), "{answer:?}");
        let watch = stream(&silent(), "/api", JSON).await;
        assert!(matches!(watch, Err(TransportError::TimedOut { after: STREAM_START_TIMEOUT })));
    }

    #[tokio::test]
    async fn a_path_that_cannot_be_sent_is_an_error_and_not_a_panic() {
        assert!(matches!(get_bytes(&echoing(), "/a b", JSON).await, Err(TransportError::Unsayable(_))));
        assert!(matches!(get_bytes(&echoing(), "/a", "x\ny").await, Err(TransportError::Unsayable(_))));
    }
}
