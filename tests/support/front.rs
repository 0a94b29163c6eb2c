//! A listener in front of a server: it lets requests through, holds the one a test names, or answers in its place, and
//! remembers what it let through.
//!
//! Always true:
//! - a request that is held before the server never reaches it; one whose answer is held was carried out;
//! - it lives on a thread of its own, so that tests with runtimes of their own can share it.
//!
//! Not here: faults of a simulated server (`trueup_sim`).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::sync::watch;
use tower::ServiceExt as _;
use trueup_sim::SimCluster;

/// How long a request may take to arrive that a test waits for, on a machine that is busy with something else.
const ARRIVAL_MAX: Duration = Duration::from_secs(60);

/// What servers answer with.
pub type FrontBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// The server behind.
pub trait Upstream: Send + Sync + 'static {
    fn forward(&self, request: Request<Bytes>) -> BoxFuture<'_, anyhow::Result<Response<FrontBody>>>;
}

impl Upstream for SimCluster {
    fn forward(&self, request: Request<Bytes>) -> BoxFuture<'_, anyhow::Result<Response<FrontBody>>> {
        Box::pin(async move {
            let answer = self.service().oneshot(request.map(Full::new)).await?;
            Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
        })
    }
}

/// Requests by method and the end of their path.
#[derive(Debug, Clone)]
pub struct Which {
    pub method: Method,
    pub path_end: String,
}

impl Which {
    pub fn new(method: Method, path_end: &str) -> Self {
        Self { method, path_end: path_end.to_owned() }
    }

    fn fits(&self, method: &Method, path: &str) -> bool {
        *method == self.method && path.ends_with(&self.path_end)
    }
}

/// Where a request is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    BeforeTheServer,
    AfterTheServer,
}

/// A request that will be held, for good.
pub struct Held(watch::Receiver<bool>);

impl Held {
    /// Waits until the request is there, and held.
    pub async fn reached(mut self) {
        let arrival = tokio::time::timeout(ARRIVAL_MAX, self.0.wait_for(|there| *there));
        arrival.await.expect("the request arrives in time").expect("the front lives on");
    }
}

enum Rule {
    /// The so-manieth request from now, counted from 0.
    Hold {
        which: Which,
        left: usize,
        moment: Moment,
        there: watch::Sender<bool>,
    },
    Answer {
        which: Which,
        status: u16,
        body: Value,
    },
}

/// What a rule makes of a request.
enum Fate {
    Through,
    Held(Moment, watch::Sender<bool>),
    Answered(u16, Value),
}

#[derive(Default)]
struct Book {
    rules: Vec<Rule>,
    through: Vec<(Method, String)>,
}

/// The listener.
#[derive(Clone)]
pub struct Front {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
}

impl Front {
    /// Listens on a port of its own until the process ends.
    pub fn start(upstream: impl Upstream) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let book = Arc::new(Mutex::new(Book::default()));
        let served = book.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            runtime.block_on(serve(listener, Arc::new(upstream), served));
        });
        Self { address, book }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Holds the `nth` such request from now on, counted from 0.
    pub fn hold(&self, which: Which, nth: usize, moment: Moment) -> Held {
        let (there, seen) = watch::channel(false);
        self.book.lock().unwrap().rules.push(Rule::Hold { which, left: nth, moment, there });
        Held(seen)
    }

    /// Answers such requests in the server's place.
    pub fn answer(&self, which: Which, status: u16, body: Value) {
        self.book.lock().unwrap().rules.push(Rule::Answer { which, status, body });
    }

    /// Lets requests to this path through again.
    pub fn let_through(&self, path: &str) {
        self.book.lock().unwrap().rules.retain(|rule| match rule {
            Rule::Hold { which, .. } | Rule::Answer { which, .. } => which.path_end != path,
        });
    }

    /// How many such requests reached the server.
    pub fn through(&self, which: &Which) -> usize {
        let book = self.book.lock().unwrap();
        book.through.iter().filter(|(method, path)| which.fits(method, path)).count()
    }
}

async fn serve(listener: std::net::TcpListener, upstream: Arc<dyn Upstream>, book: Arc<Mutex<Book>>) {
    listener.set_nonblocking(true).expect("a listener can be made to wait");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener can be waited for");
    while let Ok((socket, _)) = listener.accept().await {
        let (upstream, book) = (upstream.clone(), book.clone());
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (upstream, book) = (upstream.clone(), book.clone());
            async move { pass(request, upstream.as_ref(), &book).await }
        });
        let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
        tokio::spawn(async move { drop(server.serve_connection(TokioIo::new(socket), service).await) });
    }
}

async fn pass(
    request: Request<Incoming>,
    upstream: &dyn Upstream,
    book: &Mutex<Book>,
) -> anyhow::Result<Response<FrontBody>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let fate = book.lock().unwrap().fate(&head.method, head.uri.path());
    match fate {
        Fate::Through => {}
        Fate::Answered(status, body) => {
            let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed_unsync();
            return Ok(Response::builder().status(status).header("content-type", "application/json").body(body)?);
        }
        Fate::Held(Moment::BeforeTheServer, there) => {
            there.send_replace(true);
            return std::future::pending().await;
        }
        Fate::Held(Moment::AfterTheServer, there) => {
            book.lock().unwrap().through.push((head.method.clone(), head.uri.path().to_owned()));
            let answer = upstream.forward(Request::from_parts(head, body)).await?;
            drop(answer.into_body().collect().await);
            there.send_replace(true);
            return std::future::pending().await;
        }
    }
    book.lock().unwrap().through.push((head.method.clone(), head.uri.path().to_owned()));
    upstream.forward(Request::from_parts(head, body)).await
}

impl Book {
    fn fate(&mut self, method: &Method, path: &str) -> Fate {
        for rule in &mut self.rules {
            match rule {
                Rule::Answer { which, status, body } if which.fits(method, path) => {
                    return Fate::Answered(*status, body.clone());
                }
                Rule::Hold { which, left, moment, there } if which.fits(method, path) && !*there.borrow() => {
                    if *left == 0 {
                        return Fate::Held(*moment, there.clone());
                    }
                    *left -= 1;
                }
                Rule::Answer { .. } | Rule::Hold { .. } => {}
            }
        }
        Fate::Through
    }
}
