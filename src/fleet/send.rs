//! Asks an API server for bytes, within limits.
//!
//! Always true:
//! - `Client::send` alone is used: kube's `request` writes whole bodies into the log when they can't be decoded;
//! - a body is never read past its limit, and a wait never goes past its own.
//!
//! Not here: decoding, and what an answer means (`classify`).

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;

/// What a body may measure. A page of 500 objects is about 4 MiB; etcd allows 1.5 MiB an object, so a page of very
/// large ones could reach 750, but then the page should be smaller rather than this number larger.
pub const BODY_MAX: usize = 64 << 20;

/// How long a whole answer may take. The API server itself gives up after 60 s (`--request-timeout`).
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(65);

/// How long a watch may take to begin. Its first line may be far away, but its headers come at once.
pub const STREAM_START_TIMEOUT: Duration = Duration::from_secs(30);

/// Plain JSON.
pub const JSON: &str = "application/json";

/// Why there is no answer. What the server answered with, whatever its status, is no error here.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    #[error("the request can't be built")]
    Unsayable(#[source] http::Error),
    #[error("the request failed")]
    Client(#[source] Box<kube::Error>),
    #[error("no whole answer within {} s", .after.as_secs())]
    TimedOut { after: Duration },
    #[error("the answer broke off")]
    BrokeOff(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the answer is larger than {} MiB", .bytes_max >> 20)]
    TooLarge { bytes_max: usize },
}

/// GETs a path (with its query) and collects the body.
///
/// # Errors
/// No answer, or none within the limits. A status such as 403 is an answer.
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
pub async fn collect(mut body: Body, bytes_max: usize) -> Result<Bytes, TransportError> {
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| TransportError::BrokeOff(Box::new(error)))?;
        if let Ok(data) = frame.into_data() {
            if collected.len() + data.len() > bytes_max {
                return Err(TransportError::TooLarge { bytes_max });
            }
            collected.extend_from_slice(&data);
        }
    }
    Ok(collected.freeze())
}

async fn send(client: &kube::Client, path_and_query: &str, accept: &str) -> Result<Response<Body>, TransportError> {
    let request = Request::get(path_and_query)
        .header(header::ACCEPT, accept)
        .body(Body::empty())
        .map_err(TransportError::Unsayable)?;
    client.send(request).await.map_err(|error| TransportError::Client(Box::new(error)))
}
