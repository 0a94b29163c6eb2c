//! A real kube-apiserver for tests: started once for the whole test binary, ended with it.
//!
//! Always true:
//! - the server ends when the test process does, however that ends: it holds a lease on the process' stdin pipe;
//! - its folder goes with it;
//! - each [`Connection`] belongs to one test, because HTTP connections die with the runtime that opened them.
//!
//! Not here: building the server (`tests/real/kube-testserver/build.sh`).

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls_pki_types::{CertificateDer, pem::PemObject};
use serde_json::{Value, json};

use super::http::{Request, Response, Watched, read_response, read_watch};

const HOW_TO_BUILD: &str = "build it with tests/real/kube-testserver/build.sh and set TRUEUP_REAL_DIR";

/// A running kube-apiserver with etcd.
pub struct RealServer {
    process: Child,
    /// Closing it ends the server.
    lease: Option<ChildStdin>,
    kubeconfig: PathBuf,
}

/// Who asks. What each may do is said in `tests/real/kube-testserver/users.go`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// May do everything.
    Admin,
    /// May do nothing.
    Nobody,
    /// May do what the test bound it to.
    Limited,
}

/// HTTP/2 to one server as one user.
#[derive(Clone)]
pub struct Connection {
    client: Client<hyper_rustls::HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: String,
    token: String,
}

impl RealServer {
    /// The server that all tests of this binary share, or nothing when it was not built (see [`RealServer::start`]).
    pub fn shared() -> Option<&'static RealServer> {
        static SHARED: OnceLock<Option<RealServer>> = OnceLock::new();
        let program = built()?;
        SHARED.get_or_init(|| Some(start(&program, &[]).expect("the kube-apiserver that was built starts"))).as_ref()
    }

    /// Starts a server of its own, such as a guest cluster that goes down during the test.
    ///
    /// Without the binary it says so on stderr and returns nothing, so that the test can return early.
    /// Panics when `TRUEUP_REAL=required` and it is missing, or when it is there and does not start.
    pub fn start() -> Option<RealServer> {
        Some(start(&built()?, &[]).expect("the kube-apiserver that was built starts"))
    }

    /// As [`RealServer::start`], with more of kube-apiserver's own flags, which it may refuse.
    pub fn start_with(flags: &[&str]) -> Option<Result<RealServer>> {
        Some(start(&built()?, flags))
    }

    /// A kubeconfig with one context for each user: `admin` (current), `nobody`, `limited`, `admin-cert`.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Opens a connection for one test.
    pub fn connect(&self, user: User) -> Connection {
        connect(&self.kubeconfig, user).expect("the kubeconfig of the test server can be used")
    }

    /// Opens a connection for one test with this token.
    pub fn connect_with(&self, token: &str) -> Connection {
        Connection { token: token.to_owned(), ..self.connect(User::Nobody) }
    }

    /// Ends the server and waits until it is gone: connections are refused from then on.
    pub fn stop(&mut self) {
        drop(self.lease.take());
        self.process.wait().expect("the kube-apiserver can be waited for");
    }
}

/// The program, or nothing and a line that says which test was skipped and how to get the program.
fn built() -> Option<PathBuf> {
    let program = folder().join("kube-testserver");
    if program.exists() {
        return Some(program);
    }
    let required = std::env::var("TRUEUP_REAL").is_ok_and(|value| value == "required");
    assert!(!required, "no kube-apiserver at {}, but TRUEUP_REAL=required; {HOW_TO_BUILD}", program.display());
    let thread = std::thread::current();
    let test = thread.name().filter(|name| name.contains("::")).unwrap_or("a test with servers of its own");
    // Not eprintln: the test harness would keep that to itself when the test passes.
    let line = format!("skipped {test}: no kube-apiserver; {HOW_TO_BUILD}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
    None
}

impl Drop for RealServer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Connection {
    /// Forwards a request as this user, and streams the answer.
    pub async fn forward(&self, request: http::Request<Bytes>) -> Result<http::Response<hyper::body::Incoming>> {
        let (mut head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        head.uri = format!("{}{target}", self.base).parse()?;
        head.version = http::Version::HTTP_2;
        head.headers.remove(http::header::HOST);
        head.headers.remove(http::header::CONNECTION);
        head.headers.insert(http::header::AUTHORIZATION, format!("Bearer {}", self.token).parse()?);
        Ok(self.client.request(http::Request::from_parts(head, Full::new(body))).await?)
    }

    /// Sends one request, once. An error means that no whole answer came.
    pub async fn send(&self, request: &Request) -> Result<Response> {
        read_response(self.open(request).await?).await
    }

    /// Sends one watch request and reads it until an event for which `is_last` holds.
    pub async fn watch(&self, request: &Request, is_last: impl Fn(&Value) -> bool) -> Result<Watched> {
        read_watch(self.open(request).await?, is_last).await
    }

    /// Makes a namespace that no other test uses, and returns its name.
    pub async fn fresh_namespace(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let answer = self.send(&Request::post("/api/v1/namespaces", body)).await.expect("the server answers");
        assert_eq!(answer.status, 201, "making namespace {name}: {}", answer.body);
        name
    }

    async fn open(&self, request: &Request) -> Result<http::Response<hyper::body::Incoming>> {
        let request = request.clone().header("authorization", format!("Bearer {}", self.token)).to_http(&self.base)?;
        Ok(self.client.request(request.map(Full::new)).await?)
    }
}

/// Where what was built and installed for these tests is kept.
pub fn folder() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TRUEUP_REAL_DIR").unwrap_or_else(|| {
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        cache.unwrap_or_default().join("trueup-real")
    })
}

fn start(program: &Path, flags: &[&str]) -> Result<RealServer> {
    // The server removes this folder itself, because the shared one is never dropped.
    let dir = tempfile::Builder::new().prefix("trueup-real-").tempdir()?.keep();
    let mut log = tempfile::tempfile()?;
    let mut process = Command::new(program)
        .args(["--stdin-lease", "--temporary", "--dir"])
        .arg(&dir)
        .arg("--")
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log.try_clone()?)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let lease = process.stdin.take();
    let stdout = process.stdout.take().context("stdout is a pipe")?;
    let mut ready = String::new();
    BufReader::new(stdout).read_line(&mut ready)?;
    if ready.is_empty() {
        let status = process.wait()?;
        let mut said = String::new();
        log.seek(SeekFrom::Start(0))?;
        log.read_to_string(&mut said)?;
        bail!("{} ended before it was ready ({status}): {said}", program.display());
    }
    Ok(RealServer { process, lease, kubeconfig: PathBuf::from(ready.trim_end()) })
}

fn connect(kubeconfig: &Path, user: User) -> Result<Connection> {
    let config: Value = serde_json::from_slice(&std::fs::read(kubeconfig)?)?;
    let cluster = &config["clusters"][0]["cluster"];
    let authority = cluster["certificate-authority"].as_str().context("the kubeconfig names an authority")?;
    let name = match user {
        User::Admin => "admin",
        User::Nobody => "nobody",
        User::Limited => "limited",
    };
    let users = config["users"].as_array().context("the kubeconfig has users")?;
    let login = users.iter().find(|entry| entry["name"] == name).context("the kubeconfig knows the user")?;

    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority)?)?;
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http2().build();
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .retry_canceled_requests(false)
        .http2_only(true)
        .build(connector);
    Ok(Connection {
        client,
        base: cluster["server"].as_str().context("the kubeconfig names a server")?.to_owned(),
        token: login["user"]["token"].as_str().context("the user has a token")?.to_owned(),
    })
}
