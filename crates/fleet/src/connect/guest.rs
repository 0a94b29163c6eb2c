//! The way into a HyperShift guest: the admin kubeconfig that its management cluster keeps in a Secret.
//!
//! Invariants:
//! - the kubeconfig's bytes stay in this file and are overwritten when it is done with them;
//! - what came out of a Secret runs no command and reads no file (`kubeconfig::Trust::FromSecret`), and leads only where
//!   the egress policy allows (`transport::GuestOrigin`);
//! - the Secret is read by its name, never by listing.
//!
//! Names and keys: `docs/facts/hypershift-oidc.md` section 2.4. Client certificates rotate, so [`GuestConnector::secret_read`]
//! says which version of the Secret was used: reconnect when it changes, and after a 401.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{StatusCode, Uri};
use serde::Deserialize;
use zeroize::{Zeroize as _, Zeroizing};

use super::connector::{Connector, LinkError, broken_settings, open_event};
use super::env::Env;
use super::kubeconfig::{Impersonation, Kubeconfig, KubeconfigError, Selection, Trust};
use super::link::LinkEvent;
use super::plugins::PluginPolicy;
use super::transport::{self, Clock, Connection, GuestOrigin, Login, OpenError};
use super::{classify, send};
use trueup_core::world::{Gap, GapCause, HostedBy, ResourceVersion};
use trueup_net::{SecretText, refusal_of};

/// The key of the Secret that holds the kubeconfig.
const KEY: &str = "kubeconfig";

/// Which Secrets hold a guest's kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestSecrets {
    /// Tried first: `.status.kubeconfig.name` of the HostedCluster.
    pub admin: String,
    /// Tried when the first leads nowhere: `.status.customKubeconfig.name`.
    pub custom: Option<String>,
}

/// The Secret a connection was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRead {
    pub name: String,
    pub version: ResourceVersion,
}

/// Why a guest can't be reached. `secret` is `namespace/name`.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    #[error("the HostedCluster names {name:?} as its kubeconfig Secret, which is not a valid name")]
    BadName { name: String },
    #[error("Secret {secret} with the guest's kubeconfig does not exist (yet)")]
    SecretAbsent { secret: String },
    #[error("the Secret {secret} may not be read; reaching the guest needs `get` on it")]
    Forbidden { secret: String },
    #[error("{0}")]
    NotRead(Gap),
    #[error("the Secret {secret} has no key {key:?}")]
    KeyMissing { secret: String, key: &'static str },
    #[error("the key {key:?} of Secret {secret} does not hold text")]
    NotText { secret: String, key: &'static str },
    #[error(transparent)]
    Kubeconfig(KubeconfigError),
    #[error(transparent)]
    Open(OpenError),
    #[error("the guest's API server {host} is private: it can be reached only from its own network or by port-forward")]
    PrivateEndpoint { host: String },
    #[error("{0}")]
    Unreachable(Gap),
    #[error("{0}")]
    LoginRefused(Gap),
}

/// Connects to the guest of a HostedCluster.
pub struct GuestConnector {
    setup: GuestSetup,
    used: Mutex<Option<SecretRead>>,
}

/// What a connection to a guest needs.
pub struct GuestSetup {
    /// Reads the Secrets of the management cluster.
    pub management: kube::Client,
    pub guest: HostedBy,
    pub secrets: GuestSecrets,
    pub origin: GuestOrigin,
    pub acting_as: Impersonation,
    pub env: Env,
    pub clock: Clock,
}

impl GuestSecrets {
    /// The names from a HostedCluster's status, with HyperShift's default for the first.
    pub fn new(hosted_cluster: &str, admin: Option<&str>, custom: Option<&str>) -> Self {
        let admin = admin.filter(|name| !name.is_empty());
        Self {
            admin: admin.map_or_else(|| format!("{hosted_cluster}-admin-kubeconfig"), str::to_owned),
            custom: custom.filter(|name| !name.is_empty()).map(str::to_owned),
        }
    }
}

impl GuestConnector {
    pub fn new(setup: GuestSetup) -> Self {
        Self { setup, used: Mutex::new(None) }
    }

    /// The Secret the last good connection was made from.
    pub fn secret_read(&self) -> Option<SecretRead> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn reach(&self) -> Result<Connection, GuestError> {
        let first = self.reach_by(&self.setup.secrets.admin).await;
        match (first, &self.setup.secrets.custom) {
            (Err(error), Some(custom)) if error.leads_nowhere() => self.reach_by(custom).await.map_err(|_| error),
            (first, _) => first,
        }
    }

    async fn reach_by(&self, name: &str) -> Result<Connection, GuestError> {
        let secret = format!("{}/{name}", self.setup.guest.namespace);
        let body = self.get(name, &secret).await?;
        let (text, version) = kubeconfig_text(body, &secret, KEY)?;
        let (connection, host) = self.open(&text, &format!("Secret {secret}")).await?;
        drop(text);
        probe(&connection, &host).await?;
        let read = SecretRead { name: name.to_owned(), version };
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        Ok(connection)
    }

    async fn get(&self, name: &str, secret: &str) -> Result<Bytes, GuestError> {
        if !is_object_name(name) {
            return Err(GuestError::BadName { name: super::text::printable(name, 80) });
        }
        let path = format!("/api/v1/namespaces/{}/secrets/{name}", self.setup.guest.namespace);
        let what = format!("reading Secret {secret}");
        let answer = send::get_bytes(&self.setup.management, &path, send::JSON).await;
        let (code, body) = answer.map_err(|error| GuestError::NotRead(classify::transport(&error, &what)))?;
        match code {
            StatusCode::OK => Ok(body),
            StatusCode::NOT_FOUND => Err(GuestError::SecretAbsent { secret: secret.to_owned() }),
            StatusCode::FORBIDDEN => Err(GuestError::Forbidden { secret: secret.to_owned() }),
            other => Err(GuestError::NotRead(classify::status(other, classify::reason(&body).as_deref(), &what))),
        }
    }

    async fn open(&self, text: &str, place: &str) -> Result<(Connection, String), GuestError> {
        let file = Kubeconfig::parse(text, place, Trust::FromSecret).map_err(GuestError::Kubeconfig)?;
        let context = file.select(&Selection::Current).map_err(GuestError::Kubeconfig)?.remove(0);
        let access = file.access(&context).map_err(GuestError::Kubeconfig)?;
        let GuestSetup { management: _, guest: _, secrets: _, origin, acting_as, env, clock } = &self.setup;
        let login = Arc::new(Login::new(&access.bearer, env, &PluginPolicy::none(), clock.clone()));
        let opened = transport::open(&access, &login, acting_as, env, Some(origin)).await;
        Ok((opened.map_err(GuestError::Open)?, host_of(&access.server)))
    }
}

impl Connector for GuestConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        Box::pin(async { Ok(self.reach().await?) })
    }
}

impl GuestError {
    /// Whether another kubeconfig of the same guest could do better.
    fn leads_nowhere(&self) -> bool {
        match self {
            Self::SecretAbsent { .. }
            | Self::PrivateEndpoint { .. }
            | Self::Unreachable(_)
            | Self::Open(OpenError::Egress(_)) => true,
            Self::BadName { .. }
            | Self::Forbidden { .. }
            | Self::NotRead(_)
            | Self::KeyMissing { .. }
            | Self::NotText { .. }
            | Self::Kubeconfig(_)
            | Self::Open(OpenError::Tls(_) | OpenError::Proxy(_) | OpenError::Login(_) | OpenError::Impersonation(_))
            | Self::LoginRefused(_) => false,
        }
    }

    /// The event for the link's state machine.
    pub(super) fn event(&self) -> LinkEvent {
        match self {
            Self::BadName { .. } | Self::Kubeconfig(_) => broken_settings(self),
            Self::Open(error) => open_event(error),
            // A guest that is being made gets its Secret, and then its key, after a while.
            Self::SecretAbsent { .. }
            | Self::KeyMissing { .. }
            | Self::NotText { .. }
            | Self::PrivateEndpoint { .. } => LinkEvent::Failing(Gap::new(GapCause::Unreachable, self.to_string())),
            Self::Forbidden { .. } => LinkEvent::Failing(Gap::new(GapCause::Forbidden, self.to_string())),
            Self::NotRead(gap) | Self::Unreachable(gap) => LinkEvent::Failing(gap.clone()),
            Self::LoginRefused(gap) => LinkEvent::Unauthorized {
                gap: gap.clone(),
                hint: "the guest's admin kubeconfig is out of date; HyperShift should renew it".to_owned(),
            },
        }
    }
}

#[derive(Deserialize)]
struct Secret {
    metadata: SecretMetadata,
    data: Option<BTreeMap<String, SecretText>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecretMetadata {
    resource_version: String,
}

/// Picks the kubeconfig out of a Secret and overwrites the response it came in.
pub(super) fn kubeconfig_text(
    body: Bytes,
    secret: &str,
    key: &'static str,
) -> Result<(Zeroizing<String>, ResourceVersion), GuestError> {
    let decoded = serde_json::from_slice::<Secret>(&body)
        .map_err(|_| GuestError::NotRead(classify::undecodable(&body, &format!("reading Secret {secret}"))));
    if let Ok(mut buffer) = body.try_into_mut() {
        buffer.zeroize();
    }
    let Secret { metadata, data } = decoded?;
    let entry = data.as_ref().and_then(|data| data.get(key)).filter(|value| !value.is_empty());
    let entry = entry.ok_or_else(|| GuestError::KeyMissing { secret: secret.to_owned(), key })?;
    let not_text = || GuestError::NotText { secret: secret.to_owned(), key };
    let bytes = base64::engine::general_purpose::STANDARD.decode(entry.expose()).map_err(|_| not_text())?;
    let text = String::from_utf8(bytes).map_err(|_| not_text())?;
    Ok((Zeroizing::new(text), ResourceVersion::parse(&metadata.resource_version)))
}

/// Reads what every user may read, to learn whether the server responds and accepts the credentials.
async fn probe(connection: &Connection, host: &str) -> Result<(), GuestError> {
    let what = format!("reaching {host}");
    match send::get_bytes(&connection.client, "/version", send::JSON).await {
        Ok((StatusCode::UNAUTHORIZED, _)) => {
            Err(GuestError::LoginRefused(classify::status(StatusCode::UNAUTHORIZED, None, &what)))
        }
        Ok(_) => Ok(()),
        Err(error) => {
            let gap = classify::transport(&error, &what);
            Err(if matches!(gap.cause, GapCause::Unauthorized) {
                GuestError::LoginRefused(gap)
            } else if is_private(host) && refusal_of(&error).is_none() {
                GuestError::PrivateEndpoint { host: host.to_owned() }
            } else {
                GuestError::Unreachable(gap)
            })
        }
    }
}

fn host_of(server: &Uri) -> String {
    server.host().unwrap_or_default().to_owned()
}

/// Whether a host name means something only inside a cluster or a private zone.
fn is_private(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    let inside = [".hypershift.local", ".svc", ".svc.cluster.local", ".cluster.local"];
    !address && (!host.contains('.') || inside.iter().any(|end| host.ends_with(end)))
}

/// RFC 1123 subdomain: what may stand in a path without being something else.
pub(crate) fn is_object_name(name: &str) -> bool {
    let letters = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, b'-' | b'.');
    let edges = |letter: Option<u8>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    name.len() <= 253 && name.bytes().all(letters) && edges(name.bytes().next()) && edges(name.bytes().last())
}

#[cfg(test)]
mod tests;
