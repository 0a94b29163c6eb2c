//! Sending a question to an API server and taking the answer apart, as far as its status.
//!
//! Always true:
//! - what may hold secrets is wiped when it is let go, as far as this program holds the bytes;
//! - a failure's sentence names what was being done and quotes no body.

use std::time::Duration;

use bytes::Bytes;
use http::{StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use tokio::time::{Instant, timeout_at};
use zeroize::{Zeroize as _, Zeroizing};

use super::request::Part;
use crate::connect::classify;
use crate::connect::send::{self, ANSWER_TIMEOUT, BODY_MAX, TransportError};
use trueup_core::world::{Gap, GapCause};

/// Of a refusal only the Status is read.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// Asks one cluster.
#[derive(Clone)]
pub(super) struct Asker {
    pub client: kube::Client,
}

/// What is being done, as sentences say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Listing,
    Watching,
    Reading,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The version or the page asked for is no longer held (410).
    Expired,
    /// There is no such object, or no such resource (404).
    NotFound(Lack),
    Other(Lack),
}

/// The gap that is left, and the wait the server asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lack {
    pub gap: Gap,
    pub retry_after: Option<Duration>,
}

/// An answer under way.
pub(super) struct Stream {
    body: Body,
}

impl Asker {
    /// Reads a whole answer.
    pub async fn read(
        &self,
        part: &Part<'_>,
        doing: Doing,
        uri: &str,
        accept: &str,
    ) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let stream = self.open(part, doing, uri, accept).await?;
        let collected = stream.collect(BODY_MAX, deadline).await;
        collected.map_err(|error| Failure::transport(part, doing, &error))
    }

    /// Starts an answer that goes on.
    pub async fn open(&self, part: &Part<'_>, doing: Doing, uri: &str, accept: &str) -> Result<Stream, Failure> {
        let answer = send::stream(&self.client, uri, accept).await;
        let answer = answer.map_err(|error| Failure::transport(part, doing, &error))?;
        let status = answer.status();
        let retry_after = retry_after(answer.headers());
        let stream = Stream { body: answer.into_body() };
        if status.is_success() {
            return Ok(stream);
        }
        // A refusal that can't be read is still the refusal its status says it is.
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let body = stream.collect(REFUSAL_BYTES_MAX, deadline).await.unwrap_or_default();
        Err(refusal(part, doing, status, classify::reason(&body).as_deref(), retry_after))
    }
}

impl Stream {
    /// The next piece, or nothing at the clean end.
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

    /// The whole of it. Unlike `fleet::send::collect` it wipes what it read from.
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

/// Wipes a piece of an answer, unless somebody else still holds it.
pub(super) fn wipe(piece: Bytes) {
    if let Ok(mut owned) = piece.try_into_mut() {
        owned.as_mut().zeroize();
    }
}

impl Doing {
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
    pub fn transport(part: &Part<'_>, doing: Doing, error: &TransportError) -> Self {
        Self::Other(Lack { gap: classify::transport(error, &doing.what(part)), retry_after: None })
    }

    pub fn unreadable(part: &Part<'_>, doing: Doing, why: &str) -> Self {
        Self::because(GapCause::Unreadable, part, doing, why)
    }

    pub fn because(cause: GapCause, part: &Part<'_>, doing: Doing, why: &str) -> Self {
        Self::Other(Lack { gap: Gap::new(cause, format!("{}: {why}", doing.what(part))), retry_after: None })
    }

    pub fn into_lack(self, part: &Part<'_>, doing: Doing) -> Lack {
        match self {
            Self::Expired => {
                Lack { gap: classify::status(StatusCode::GONE, None, &doing.what(part)), retry_after: None }
            }
            Self::NotFound(lack) | Self::Other(lack) => lack,
        }
    }
}

/// What a status other than success means.
pub(super) fn refusal(
    part: &Part<'_>,
    doing: Doing,
    status: StatusCode,
    reason: Option<&str>,
    retry_after: Option<Duration>,
) -> Failure {
    let lack = Lack { gap: classify::status(status, reason, &doing.what(part)), retry_after };
    match status {
        StatusCode::GONE => Failure::Expired,
        StatusCode::NOT_FOUND => Failure::NotFound(lack),
        // The open set of foreign statuses; classify has a sentence for each.
        _ => Failure::Other(lack),
    }
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
