//! Sending a question to an API server and taking the answer apart, as far as its status.
//!
//! Always true:
//! - only `Client::send` is used: kube's `request` family logs whole bodies when decoding fails;
//! - what may hold secrets is wiped when it is let go, as far as this program holds the bytes;
//! - a failure's sentence quotes no body.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use zeroize::{Zeroize as _, Zeroizing};

use super::request::Part;
use crate::world::{Gap, GapCause};

/// How long an answer may take until its last byte. A page of 500 large objects over a slow line takes seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// The largest answer that is read. The API server's own limit for a request is 3 MB; 500 such objects never come
/// in one page in practice, and a body that is larger than this is not a page.
const BODY_BYTES_MAX: usize = 256 << 20;
/// Of a refusal only the Status is read.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// Asks one cluster.
#[derive(Clone)]
pub(super) struct Asker {
    pub client: kube::Client,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The version or the page asked for is no longer held (410).
    Expired,
    /// There is no such object, or no such resource (404).
    NotFound { retry_after: Option<Duration> },
    /// Anything else.
    Gap { gap: Gap, retry_after: Option<Duration> },
}

/// A watch under way.
pub(super) struct Stream {
    body: Body,
}

impl Asker {
    /// Reads a whole answer.
    pub async fn read(
        &self,
        part: &Part<'_>,
        verb: &str,
        uri: String,
        accept: &str,
    ) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let deadline = Instant::now() + ANSWER_WITHIN;
        let stream = self.open(part, verb, uri, accept, deadline).await?;
        stream.collect(part, verb, BODY_BYTES_MAX, deadline).await
    }

    /// Starts an answer that goes on.
    pub async fn open(
        &self,
        part: &Part<'_>,
        verb: &str,
        uri: String,
        accept: &str,
        deadline: Instant,
    ) -> Result<Stream, Failure> {
        let request = Request::get(uri)
            .header(header::ACCEPT, accept)
            .body(Body::empty())
            .map_err(|_| Failure::unreadable(part, verb, "the request has a name no URI can hold"))?;
        let answer = timeout_at(deadline, self.client.send(request))
            .await
            .map_err(|_| Failure::unreachable(part, verb, "no answer in time"))?
            .map_err(|error| Failure::unreachable(part, verb, &root_cause(&error)))?;
        let status = answer.status();
        let retry_after = retry_after(answer.headers());
        let stream = Stream { body: answer.into_body() };
        if status.is_success() {
            return Ok(stream);
        }
        // A refusal that can't be read is still the refusal its status says it is.
        let body = stream.collect(part, verb, REFUSAL_BYTES_MAX, deadline).await.unwrap_or_default();
        Err(refusal(part, verb, status, reason(&body).as_deref(), retry_after))
    }
}

impl Stream {
    /// The next piece, or nothing at the clean end.
    pub async fn next(&mut self, part: &Part<'_>) -> Result<Option<Bytes>, Failure> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(Failure::unreachable(part, "watch", &root_cause(&error))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    async fn collect(
        mut self,
        part: &Part<'_>,
        verb: &str,
        bytes_max: usize,
        deadline: Instant,
    ) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let mut whole = Zeroizing::new(Vec::new());
        loop {
            let frame = timeout_at(deadline, self.body.frame())
                .await
                .map_err(|_| Failure::unreachable(part, verb, "the answer stopped half-way"))?;
            let Some(frame) = frame else {
                return Ok(whole);
            };
            let frame = frame.map_err(|error| Failure::unreachable(part, verb, &root_cause(&error)))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if whole.len() + data.len() > bytes_max {
                return Err(Failure::unreadable(part, verb, "the answer is larger than any page"));
            }
            grow(&mut whole, &data);
            wipe(data);
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

impl Failure {
    pub fn gap(cause: GapCause, says: String) -> Self {
        Self::Gap { gap: Gap::new(cause, says), retry_after: None }
    }

    pub fn unreadable(part: &Part<'_>, verb: &str, why: &str) -> Self {
        Self::gap(GapCause::Unreadable, format!("{verb} {}: {why}", part.describe()))
    }

    pub fn unreachable(part: &Part<'_>, verb: &str, why: &str) -> Self {
        Self::gap(GapCause::Unreachable, format!("{verb} {}: {why}", part.describe()))
    }

    /// The gap this leaves, and the wait the server asked for.
    pub fn into_gap(self, part: &Part<'_>, verb: &str) -> (Gap, Option<Duration>) {
        let what = part.describe();
        match self {
            Self::Expired => (
                Gap::new(GapCause::CutShort, format!("{verb} {what}: the server let go of the list half-way (410)")),
                None,
            ),
            Self::NotFound { retry_after } => (
                Gap::new(GapCause::Discovery, format!("{verb} {what}: the server does not serve it (404)")),
                retry_after,
            ),
            Self::Gap { gap, retry_after } => (gap, retry_after),
        }
    }
}

/// What a status other than success means.
pub(super) fn refusal(
    part: &Part<'_>,
    verb: &str,
    status: StatusCode,
    reason: Option<&str>,
    retry_after: Option<Duration>,
) -> Failure {
    let what = part.describe();
    let code = status.as_u16();
    let (cause, says) = match code {
        410 => return Failure::Expired,
        404 => return Failure::NotFound { retry_after },
        401 => (GapCause::Unauthorized, format!("{verb} {what}: the credentials were refused (401)")),
        403 => (GapCause::Forbidden, format!("{verb} {what} is forbidden (403)")),
        406 => (GapCause::Unreadable, format!("{verb} {what}: the server can't answer in the form asked for (406)")),
        429 => (GapCause::Unreachable, format!("{verb} {what}: the server asks to wait (429)")),
        _ => {
            let reason = reason.map_or(String::new(), |reason| format!(" {reason}"));
            (GapCause::Unreachable, format!("{verb} {what}: the server answered {code}{reason}"))
        }
    };
    Failure::Gap { gap: Gap::new(cause, says), retry_after }
}

/// The machine-readable reason of a Status, if the body is one. Reasons are single words from a closed set.
fn reason(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Status {
        reason: Option<String>,
    }
    let status: Status = serde_json::from_slice(body).ok()?;
    status.reason.filter(|word| word.len() <= 40 && word.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The innermost cause, which is the one that says something: the outer ones say that something failed.
fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
