//! Sends a request to an API server and checks the response's status.
//!
//! Invariants:
//! - buffers that may hold secrets are wiped on drop, as far as this program owns the bytes;
//! - an error message names the operation and quotes no body.

use std::time::Duration;

use bytes::Bytes;
use http::{StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use tokio::time::{Instant, timeout_at};
use zeroize::{Zeroize as _, Zeroizing};

use super::request::Part;
use crate::budgets::OverBudget;
use crate::connect::classify;
use crate::connect::send::{self, ANSWER_TIMEOUT, BODY_MAX, TransportError};
use trueup_core::world::{Gap, GapCause};

/// Only the Status object of a refusal is read.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// Sends requests to one cluster.
#[derive(Clone)]
pub(super) struct ApiClient {
    pub client: kube::Client,
}

/// The operation, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Listing,
    Watching,
    Reading,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The requested version or page is expired (410).
    Expired,
    /// The object or resource does not exist (404).
    NotFound(FailedRead),
    Other(FailedRead),
}

/// The remaining gap, and the server's Retry-After.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailedRead {
    pub gap: Gap,
    pub retry_after: Option<Duration>,
}

/// A streamed response.
pub(super) struct Stream {
    body: Body,
}

impl ApiClient {
    /// Reads a whole response.
    pub async fn read(
        &self,
        part: &Part<'_>,
        operation: Operation,
        uri: &str,
        accept: &str,
    ) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let stream = self.open(part, operation, uri, accept).await?;
        let collected = stream.collect(BODY_MAX, deadline).await;
        collected.map_err(|error| Failure::transport(part, operation, &error))
    }

    /// Opens a streamed response.
    pub async fn open(
        &self,
        part: &Part<'_>,
        operation: Operation,
        uri: &str,
        accept: &str,
    ) -> Result<Stream, Failure> {
        let answer = send::stream(&self.client, uri, accept).await;
        let answer = answer.map_err(|error| Failure::transport(part, operation, &error))?;
        let status = answer.status();
        let retry_after = retry_after(answer.headers());
        let stream = Stream { body: answer.into_body() };
        if status.is_success() {
            return Ok(stream);
        }
        // A refusal with an unreadable body still has its status.
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let body = stream.collect(REFUSAL_BYTES_MAX, deadline).await.unwrap_or_default();
        Err(refusal(part, operation, status, classify::reason(&body).as_deref(), retry_after))
    }
}

impl Stream {
    /// Returns the next chunk, or none at the clean end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(TransportError::BrokeOff(Box::new(error))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// Reads the whole body. Unlike `fleet::send::collect` it wipes the chunks it reads.
    async fn collect(mut self, bytes_max: usize, deadline: Instant) -> Result<Zeroizing<Vec<u8>>, TransportError> {
        let mut whole = Zeroizing::new(Vec::new());
        loop {
            let piece = timeout_at(deadline, self.next()).await;
            let piece = piece.unwrap_or(Err(TransportError::TimedOut { after: ANSWER_TIMEOUT }))?;
            let Some(piece) = piece else {
                return Ok(whole);
            };
            if whole.len() + piece.len() > bytes_max {
                return Err(TransportError::TooLarge { bytes_max });
            }
            grow(&mut whole, &piece);
            wipe(piece);
        }
    }
}

/// Appends without leaving an unwiped copy behind, which a growing vector would.
pub(super) fn grow(whole: &mut Zeroizing<Vec<u8>>, data: &[u8]) {
    if whole.capacity() - whole.len() < data.len() {
        let mut larger = Vec::with_capacity((whole.len() + data.len()).next_power_of_two());
        larger.extend_from_slice(whole);
        *whole = Zeroizing::new(larger);
    }
    whole.extend_from_slice(data);
}

/// Wipes a chunk, unless it is shared.
pub(super) fn wipe(piece: Bytes) {
    if let Ok(mut owned) = piece.try_into_mut() {
        owned.as_mut().zeroize();
    }
}

impl Operation {
    /// `listing v1/secrets in all namespaces`.
    pub fn what(self, part: &Part<'_>) -> String {
        let word = match self {
            Self::Listing => "listing",
            Self::Watching => "watching",
            Self::Reading => "reading",
        };
        format!("{word} {}", part.describe())
    }
}

impl Failure {
    pub fn transport(part: &Part<'_>, operation: Operation, error: &TransportError) -> Self {
        Self::Other(FailedRead { gap: classify::transport(error, &operation.what(part)), retry_after: None })
    }

    pub fn unreadable(part: &Part<'_>, operation: Operation, why: &str) -> Self {
        Self::because(GapCause::Unreadable, part, operation, why)
    }

    pub fn because(cause: GapCause, part: &Part<'_>, operation: Operation, why: &str) -> Self {
        Self::Other(FailedRead { gap: Gap::new(cause, format!("{}: {why}", operation.what(part))), retry_after: None })
    }

    pub fn over_budget(part: &Part<'_>, operation: Operation, over: &OverBudget) -> Self {
        Self::Other(FailedRead { gap: over.gap(&operation.what(part)), retry_after: None })
    }

    pub fn into_failed_read(self, part: &Part<'_>, operation: Operation) -> FailedRead {
        match self {
            Self::Expired => {
                FailedRead { gap: classify::status(StatusCode::GONE, None, &operation.what(part)), retry_after: None }
            }
            Self::NotFound(failed) | Self::Other(failed) => failed,
        }
    }
}

/// The failure of a status other than success.
pub(super) fn refusal(
    part: &Part<'_>,
    operation: Operation,
    status: StatusCode,
    reason: Option<&str>,
    retry_after: Option<Duration>,
) -> Failure {
    let failed = FailedRead { gap: classify::status(status, reason, &operation.what(part)), retry_after };
    match status {
        StatusCode::GONE => Failure::Expired,
        StatusCode::NOT_FOUND => Failure::NotFound(failed),
        // Statuses are an open set; `classify` has a message for each.
        _ => Failure::Other(failed),
    }
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
