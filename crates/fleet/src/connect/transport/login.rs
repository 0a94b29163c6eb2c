//! The login: where the `Authorization` header comes from, and when it is renewed.
//!
//! Invariants:
//! - at most one plugin run or file read at a time, however many requests wait for it;
//! - a refused login (401) is forgotten at once; the request that met it is not sent again.
//!
//! Elsewhere: running plugins (`exec`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{Bearer, ClientCertificate, PemSource};
use crate::connect::env::Env;
use crate::connect::exec::{self, Credential, ExecError};
use crate::connect::kubeconfig::ExecSpec;
use crate::connect::plugins::PluginPolicy;
use crate::connect::text::printable;
use trueup_core::files;
use trueup_net::{SecretText, basic_auth};

/// A token file is looked at again after this long. Kubelet rotates projected tokens at 80 % of their life, which is
/// ten minutes at least, so one minute is early enough.
const TOKEN_FILE_FRESH: Duration = Duration::from_secs(60);

/// A plugin is run again this long before its credential ends: time for a request to arrive, and for clocks to differ.
const EXPIRY_MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// Gives the wall clock's time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The login of one context. Outlives its connections, so that reconnecting needs no new plugin run.
pub struct Login {
    source: Source,
    clock: Clock,
}

/// Why there is no `Authorization` header.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("the token file {file} cannot be read ({why})")]
    TokenFile { file: String, why: String },
    #[error("the token {whence} holds characters that no header can hold")]
    BadToken { whence: String },
    #[error("the credential plugin returned a new client certificate; reconnecting")]
    NewCertificate,
}

/// Which fetch a request's header came from, so that a late 401 does not discard a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lease(u64);

enum Source {
    Fixed(Option<HeaderValue>),
    Unusable,
    File { path: PathBuf, held: Mutex<Held<Instant>> },
    Exec(Box<Plugin>),
}

struct Plugin {
    spec: ExecSpec,
    env: Env,
    policy: PluginPolicy,
    clock: Clock,
    held: Mutex<Held<ExecHeld>>,
}

struct Held<T> {
    value: Option<(HeaderSlot, T)>,
    fetches: u64,
}

type HeaderSlot = Option<HeaderValue>;

struct ExecHeld {
    certificate: Option<ClientCertificate>,
    expires_at: Option<Timestamp>,
}

impl<T> Held<T> {
    fn empty() -> Mutex<Self> {
        Mutex::new(Self { value: None, fetches: 0 })
    }

    fn put(&mut self, header: HeaderSlot, rest: T) -> (HeaderSlot, Lease) {
        self.fetches += 1;
        self.value = Some((header.clone(), rest));
        (header, Lease(self.fetches))
    }

    fn forget(&mut self, lease: Lease) {
        if lease.0 == self.fetches {
            self.value = None;
        }
    }
}

impl Login {
    /// A login; `policy` decides whether its plugin may run.
    pub fn new(bearer: &Bearer, env: &Env, policy: &PluginPolicy, clock: Clock) -> Self {
        let plugin_clock = clock.clone();
        let source = match bearer {
            Bearer::None => Source::Fixed(None),
            Bearer::Token(token) => bearer_value(token).map_or(Source::Unusable, |value| Source::Fixed(Some(value))),
            Bearer::Basic { username, password } => Source::Fixed(Some(basic_auth(username, password))),
            Bearer::TokenFile(path) => Source::File { path: path.clone(), held: Held::empty() },
            Bearer::Exec(spec) => Source::Exec(Box::new(Plugin {
                spec: (**spec).clone(),
                env: env.clone(),
                policy: policy.clone(),
                clock: plugin_clock,
                held: Held::empty(),
            })),
        };
        Self { source, clock }
    }

    /// The time of the local clock.
    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Takes in a credential the plugin gave a person. Other logins have no use for one.
    ///
    /// # Errors
    /// The token can't be sent.
    pub fn begun_with(self, credential: Credential) -> Result<Self, Arc<LoginError>> {
        let source = match self.source {
            Source::Exec(mut plugin) => {
                let (header, rest) = taken(credential)?;
                plugin.held.get_mut().put(header, rest);
                Source::Exec(plugin)
            }
            other @ (Source::Fixed(_) | Source::Unusable | Source::File { .. }) => other,
        };
        Ok(Self { source, clock: self.clock })
    }

    /// The header to send, fetched if the one held is missing or about to end.
    ///
    /// The locks below are held across an await on purpose: they are what keeps a second plugin from starting, and
    /// every waiting request needs its result anyway. Dropping the future kills the plugin and leaves nothing held.
    pub(super) async fn header(&self) -> Result<(HeaderSlot, Lease), Arc<LoginError>> {
        match &self.source {
            Source::Fixed(value) => Ok((value.clone(), Lease(0))),
            Source::Unusable => Err(Arc::new(LoginError::BadToken { whence: "in the kubeconfig".to_owned() })),
            Source::File { path, held } => {
                let mut held = held.lock().await;
                match &held.value {
                    Some((header, read_at)) if read_at.elapsed() < TOKEN_FILE_FRESH => {
                        Ok((header.clone(), Lease(held.fetches)))
                    }
                    Some(_) | None => Ok(held.put(Some(read_token(path).await?), Instant::now())),
                }
            }
            Source::Exec(plugin) => {
                let Plugin { spec, env, policy, clock, held } = &**plugin;
                let mut held = held.lock().await;
                let known = match &held.value {
                    Some((header, rest)) if is_fresh(rest.expires_at, clock()) => {
                        return Ok((header.clone(), Lease(held.fetches)));
                    }
                    Some((_, rest)) => rest.certificate.clone(),
                    None => None,
                };
                let first = held.fetches == 0;
                let (header, rest) = fetch(spec, env, policy).await?;
                let changed = rest.certificate != known;
                let answer = held.put(header, rest);
                // A certificate belongs to the TLS session: the open one still shows the old.
                if changed && !first { Err(Arc::new(LoginError::NewCertificate)) } else { Ok(answer) }
            }
        }
    }

    /// The client certificate a plugin brings, if this login has a plugin and it brings one.
    pub(super) async fn certificate(&self) -> Result<Option<ClientCertificate>, Arc<LoginError>> {
        let Source::Exec(plugin) = &self.source else {
            return Ok(None);
        };
        match self.header().await {
            Ok(_) => {}
            // Just what is asked for: the connection being made will show the new one.
            Err(error) if matches!(*error, LoginError::NewCertificate) => {}
            Err(error) => return Err(error),
        }
        let held = plugin.held.lock().await;
        Ok(held.value.as_ref().and_then(|(_, rest)| rest.certificate.clone()))
    }

    /// Forgets the header of this lease: the server did not take it.
    pub(super) async fn refused(&self, lease: Lease) {
        match &self.source {
            Source::Fixed(_) | Source::Unusable => {}
            Source::File { held, .. } => held.lock().await.forget(lease),
            Source::Exec(plugin) => plugin.held.lock().await.forget(lease),
        }
    }
}

async fn fetch(spec: &ExecSpec, env: &Env, policy: &PluginPolicy) -> Result<(HeaderSlot, ExecHeld), Arc<LoginError>> {
    let given = exec::run(spec, env, policy, exec::TIMEOUT).await.map_err(|error| Arc::new(LoginError::Exec(error)))?;
    taken(given)
}

/// A credential as it is held.
fn taken(credential: Credential) -> Result<(HeaderSlot, ExecHeld), Arc<LoginError>> {
    let Credential { token, certificate, expires_at } = credential;
    let whence = || LoginError::BadToken { whence: "from the credential plugin".to_owned() };
    let header = token.as_ref().map(|token| bearer_value(token).ok_or_else(whence)).transpose()?;
    let certificate = certificate
        .map(|(chain, key)| ClientCertificate { chain: PemSource::Inline(chain), key: PemSource::Inline(key) });
    Ok((header, ExecHeld { certificate, expires_at }))
}

async fn read_token(path: &Path) -> Result<HeaderValue, Arc<LoginError>> {
    let file = || printable(&path.to_string_lossy(), 300);
    let whole = path.to_owned();
    let text = tokio::task::spawn_blocking(move || files::read_text(&whole, files::CREDENTIAL_BYTES_MAX)).await;
    let text = text.unwrap_or_else(|ended| Err(std::io::Error::other(ended)));
    let text = text.map_err(|error| LoginError::TokenFile { file: file(), why: error.kind().to_string() })?;
    let token = SecretText::new(text.trim().to_owned());
    if token.is_empty() {
        return Err(Arc::new(LoginError::TokenFile { file: file(), why: "it is empty".to_owned() }));
    }
    bearer_value(&token).ok_or_else(|| Arc::new(LoginError::BadToken { whence: format!("in {}", file()) }))
}

fn bearer_value(token: &SecretText) -> Option<HeaderValue> {
    let text = Zeroizing::new(format!("Bearer {}", token.expose().trim()));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn is_fresh(expires_at: Option<Timestamp>, now: Timestamp) -> bool {
    expires_at.is_none_or(|end| now.duration_until(end) > EXPIRY_MARGIN)
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, clock: _ } = self;
        f.debug_struct("Login").field("source", source).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fixed(None) => "Anonymous",
            Self::Fixed(Some(_)) | Self::Unusable => "Fixed(…)",
            Self::File { .. } => "File(…)",
            Self::Exec(_) => "Exec(…)",
        })
    }
}

#[cfg(test)]
mod tests;
