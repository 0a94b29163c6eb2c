//! A scripted server for tests, byte for byte: for responses that `sim` never sends.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::StreamBody;
use jiff::Timestamp;
use kube::client::Body;
use tokio::sync::mpsc;

use super::{Clock, Jitter, Ports};
use trueup_core::decode::Digester;
use trueup_core::world::{ClusterName, CollectionId, Fact, Interner, Misfit, RawObject, Resource};

pub(super) const SECRETS: Resource =
    Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };

/// One scripted response.
pub(super) struct Reply {
    status: u16,
    body: mpsc::UnboundedReceiver<Bytes>,
    retry_after: Option<u64>,
}

impl Reply {
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(Bytes::from(body.into())).unwrap();
        Self { status, body: receiver, retry_after: None }
    }

    /// A response that stays open until its sender is dropped.
    pub fn open() -> (mpsc::UnboundedSender<Bytes>, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, Self { status: 200, body: receiver, retry_after: None })
    }

    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

type Frames = dyn futures::Stream<Item = Result<http_body::Frame<Bytes>, Infallible>> + Send;
type FakeBody = StreamBody<std::pin::Pin<Box<Frames>>>;
type Script = Box<dyn FnMut(&str) -> Reply + Send>;

/// A client of the scripted server, and the log of its requests.
#[derive(Clone)]
pub(super) struct Fake {
    script: Arc<Mutex<Script>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    pub fn new(script: impl FnMut(&str) -> Reply + Send + 'static) -> Self {
        Self { script: Arc::new(Mutex::new(Box::new(script))), log: Arc::default() }
    }

    pub fn client(&self) -> kube::Client {
        let fake = self.clone();
        kube::Client::new(tower::service_fn(move |request| std::future::ready(fake.answer(&request))), "default")
    }

    /// Requests so far, in order.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn answer(&self, request: &Request<Body>) -> Result<Response<FakeBody>, Infallible> {
        let uri = request.uri().to_string();
        self.log.lock().unwrap().push(uri.clone());
        let mut reply = (self.script.lock().unwrap())(&uri);
        let frames = futures::stream::poll_fn(move |context| {
            reply.body.poll_recv(context).map(|piece| piece.map(|data| Ok(http_body::Frame::data(data))))
        });
        let mut response: Response<FakeBody> = Response::new(StreamBody::new(Box::pin(frames)));
        *response.status_mut() = StatusCode::from_u16(reply.status).unwrap();
        if let Some(seconds) = reply.retry_after {
            response.headers_mut().insert(http::header::RETRY_AFTER, seconds.into());
        }
        Ok(response)
    }
}

/// The paused tokio clock as wall time.
pub(super) struct PausedClock {
    began: tokio::time::Instant,
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        start + jiff::SignedDuration::try_from(self.began.elapsed()).unwrap()
    }
}

/// A constant jitter.
pub(super) struct FixedJitter;

impl Jitter for FixedJitter {
    fn fraction(&self) -> f64 {
        0.5
    }
}

pub(super) fn ports() -> Ports {
    let clock = PausedClock { began: tokio::time::Instant::now() };
    Ports::new(Arc::new(clock), Arc::new(FixedJitter), Digester::new(&[3; 32]))
}

pub(super) fn secrets() -> CollectionId {
    CollectionId::all(&ClusterName::new("c"), SECRETS)
}

/// A fact for tests: the version; objects labelled `bad` are rejected.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Version(pub String);

impl Fact for Version {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        match raw.meta.label("bad") {
            Some(_) => Err(raw.misfit("labelled bad")),
            None => Ok(Self(raw.meta.resource_version.to_string())),
        }
    }
}

/// Another fact of the same objects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Digested(pub Option<trueup_core::world::Digest>);

impl Fact for Digested {
    const DIGESTED_KEYS: &'static [&'static str] = &["k"];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self(raw.entry("k").and_then(|entry| entry.digest)))
    }
}

/// A Secret `n/<name>` at a version.
pub(super) fn secret(name: &str, version: u64) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","resourceVersion":"{version}"}},"data":{{"k":"djE="}}}}"#)
}

pub(super) fn page(version: u64, token: &str, items: &[String]) -> String {
    let items = items.join(",");
    format!(
        r#"{{"kind":"SecretList","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[{items}]}}"#
    )
}

pub(super) fn event(kind: &str, object: &str) -> Bytes {
    Bytes::from(format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"))
}

pub(super) fn bookmark(version: u64) -> Bytes {
    event("BOOKMARK", &format!(r#"{{"kind":"Secret","metadata":{{"resourceVersion":"{version}"}}}}"#))
}
