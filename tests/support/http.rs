//! One request and its answer, as plain values: what is sent is what the test wrote.
//!
//! Always true:
//! - any status is an answer, not an error; only a broken connection is one;
//! - a watch is read until what the test waits for came, the server ended it, or [`WATCH_WAIT_MAX`] passed, and the
//!   answer says which of these it was.
//!
//! Not here: connections (`real`), the simulated server (`tests/real/conformance/targets.rs`).

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::Value;

/// How long a watch may take to bring what the test waits for. An event comes within milliseconds on an idle machine;
/// this is for one that compiles something else on all its cores.
const WATCH_WAIT_MAX: Duration = Duration::from_secs(20);

/// One request, before it meets a server.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: http::Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<Value>,
}

/// The answer to a request that is not a watch.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub status: u16,
    /// The body as JSON; a string when it is none, `null` when it is empty.
    pub body: Value,
}

/// What a watch brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Watched {
    /// The server answered with a status instead of a stream.
    Refused(Response),
    /// The last event is the one that was waited for.
    Reached(Vec<Value>),
    /// The server ended the stream first.
    Ended(Vec<Value>),
    /// Nothing more came in time.
    Silent(Vec<Value>),
}

impl Request {
    pub fn new(method: http::Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: Vec::new(), headers: Vec::new(), body: None }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(http::Method::GET, path)
    }

    pub fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new(http::Method::POST, path).json("application/json", body)
    }

    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn json(mut self, content_type: &str, body: Value) -> Self {
        self.body = Some(body);
        self.header("content-type", content_type)
    }

    /// The path with its query, as it stands in the request line.
    pub fn target(&self) -> String {
        let encode =
            |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
        let pairs: Vec<_> =
            self.query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        if pairs.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, pairs.join("&")) }
    }

    /// The same request in the words of the `http` crate, for the server at `base` (`https://host:port`).
    pub fn to_http(&self, base: &str) -> anyhow::Result<http::Request<Bytes>> {
        let mut built = http::Request::builder().method(&self.method).uri(format!("{base}{}", self.target()));
        for (name, value) in &self.headers {
            built = built.header(*name, value);
        }
        let bytes = self.body.as_ref().map(serde_json::to_vec).transpose()?.unwrap_or_default();
        Ok(built.body(Bytes::from(bytes))?)
    }
}

/// Reads a whole answer.
pub async fn read_response<B>(answer: http::Response<B>) -> anyhow::Result<Response>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.map_err(|error| anyhow::anyhow!(error.into()))?.to_bytes();
    Ok(Response { status, body: parse_body(&bytes) })
}

/// Reads a watch until an event for which `is_last` holds.
pub async fn read_watch<B>(answer: http::Response<B>, is_last: impl Fn(&Value) -> bool) -> anyhow::Result<Watched>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if answer.status() != http::StatusCode::OK {
        return Ok(Watched::Refused(read_response(answer).await?));
    }
    let mut body = answer.into_body();
    let mut events = Vec::new();
    let mut unread = Vec::new();
    let deadline = tokio::time::Instant::now() + WATCH_WAIT_MAX;
    loop {
        let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
            Err(_elapsed) => return Ok(Watched::Silent(events)),
            Ok(None) => return Ok(Watched::Ended(events)),
            Ok(Some(frame)) => frame.map_err(|error| anyhow::anyhow!(error.into()))?,
        };
        unread.extend_from_slice(frame.data_ref().map_or(&[][..], |bytes| bytes));
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            let event = parse_body(&line);
            let last = is_last(&event);
            events.push(event);
            if last {
                return Ok(Watched::Reached(events));
            }
        }
    }
}

fn parse_body(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}
