//! What is kept of a kubeconfig, and how it is made of what is written there.

use std::borrow::Cow;
use std::fmt;

use super::authority::Authorities;
use super::certificate::{Certificate, CertificateFault};
use super::packed::decode;
use super::pair::{Credential, EndpointOverride, ForeignField, Pair, Trust};
use super::server::Server;
use super::token::Token;
use super::wire::{Cluster, Context, File, Hidden, User, parse};

/// A kubeconfig that was read: contexts can be looked at one by one.
pub struct Document {
    file: File,
    packing: Packing,
}

/// What is kept of a kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub current: Current,
    pub packing: Packing,
    pub elsewhere: ExecElsewhere,
}

/// What `current-context` leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    Pair(Box<Pair>),
    /// To nothing that could be judged.
    Nothing(ContextFault),
}

/// Whether the text was in base64 once more than it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Twice,
}

/// Whether a user that the current context does not lead to would run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecElsewhere {
    No,
    Yes,
}

/// Why `current-context` leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ContextFault {
    #[error("no current-context is set")]
    NotSet,
    #[error("current-context names a context that is not there")]
    NoSuchContext,
    #[error("the current context names a cluster that is not there")]
    NoSuchCluster,
    #[error("the current context names a user that is not there")]
    NoSuchUser,
}

/// Why bytes are no kubeconfig that could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it is not text")]
    NotText,
    #[error("it is not one document of YAML or JSON with the fields of a kubeconfig")]
    NotAKubeconfig,
    #[error("two of its clusters, contexts or users have the same name")]
    Duplicate,
    #[error("its server is not an address")]
    NoServer,
    #[error("its certificate-authority-data is not PEM certificates")]
    Authority,
    #[error("its {0}")]
    Certificate(#[from] CertificateFault),
}

impl Document {
    /// Reads YAML or JSON, with or without a byte order mark, in base64 once more or not.
    ///
    /// # Errors
    /// It is something else.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::NotText)?;
        let (text, packing) = match unpacked(text) {
            Some(inner) => (Cow::<str>::Owned(inner), Packing::Twice),
            None => (Cow::Borrowed(text), Packing::Plain),
        };
        let file = parse(text.trim_start_matches('\u{feff}'));
        if let Cow::Owned(mut copy) = text {
            zeroize::Zeroize::zeroize(&mut copy);
        }
        let file = file.ok_or(Unreadable::NotAKubeconfig)?;
        let is_doubled = has_repeats(file.clusters().map(|one| one.name.as_str()))
            || has_repeats(file.contexts().map(|one| one.name.as_str()))
            || has_repeats(file.users().map(|one| one.name.as_str()));
        if is_doubled { Err(Unreadable::Duplicate) } else { Ok(Self { file, packing }) }
    }

    /// What is kept of it.
    ///
    /// # Errors
    /// What the current context leads to can't be used by anybody.
    pub fn content(&self) -> Result<Content, Unreadable> {
        let current = match self.current() {
            Some(name) => self.pair(name)?,
            None => Current::Nothing(ContextFault::NotSet),
        };
        let used = self.current().and_then(|name| self.context(name)).and_then(|context| context.user.as_deref());
        let elsewhere = self.file.users().any(|user| Some(user.name.as_str()) != used && user.user.0.exec.is_some());
        let elsewhere = if elsewhere { ExecElsewhere::Yes } else { ExecElsewhere::No };
        Ok(Content { current, packing: self.packing, elsewhere })
    }

    /// The name of the current context.
    pub fn current(&self) -> Option<&str> {
        filled(self.file.current_context.as_deref())
    }

    /// The names of all contexts, as they are written.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.file.contexts().map(|context| context.name.as_str())
    }

    /// What a context leads to.
    ///
    /// # Errors
    /// Its cluster or its user is written in an unusable form.
    pub fn pair(&self, context: &str) -> Result<Current, Unreadable> {
        let Some(context) = self.context(context) else {
            return Ok(Current::Nothing(ContextFault::NoSuchContext));
        };
        let cluster = filled(context.cluster.as_deref());
        let cluster = self.file.clusters().find(|one| Some(one.name.as_str()) == cluster);
        let Some(cluster) = cluster.map(|one| &one.cluster.0) else {
            return Ok(Current::Nothing(ContextFault::NoSuchCluster));
        };
        // A context without a user is anonymous, as for kubectl.
        let nobody = User::default();
        let user = match filled(context.user.as_deref()) {
            None => &nobody,
            Some(name) => match self.file.users().find(|one| one.name == name) {
                Some(user) => &user.user.0,
                None => return Ok(Current::Nothing(ContextFault::NoSuchUser)),
            },
        };
        let server = cluster.server.as_deref().and_then(Server::parse).ok_or(Unreadable::NoServer)?;
        Ok(Current::Pair(Box::new(Pair {
            server,
            way_round: way_round(cluster),
            trust: trust(cluster)?,
            credential: credential(user)?,
            foreign: foreign(cluster, user),
        })))
    }

    /// Whether a bare token is the one the current context uses.
    pub fn uses_token(&self, token: &[u8]) -> bool {
        let user = self.current().and_then(|name| self.context(name)).and_then(|context| context.user.as_deref());
        let user = self.file.users().find(|one| Some(one.name.as_str()) == user);
        let held = user.and_then(|user| user.user.0.token.as_ref());
        held.is_some_and(|held| held.0.trim().as_bytes() == token.trim_ascii())
    }

    fn context(&self, name: &str) -> Option<&Context> {
        self.file.contexts().find(|context| context.name == name).map(|context| &context.context.0)
    }
}

/// The text inside, when all of it is base64 of text. A kubeconfig itself never is: it has colons.
fn unpacked(text: &str) -> Option<String> {
    let is_packed = !text.trim().is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\r\n \t".contains(&byte));
    if !is_packed {
        return None;
    }
    let inner = decode(text.as_bytes())?;
    std::str::from_utf8(&inner).ok().map(str::to_owned)
}

fn has_repeats<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn foreign(cluster: &Cluster, user: &User) -> Box<[ForeignField]> {
    let is_filled = |text: &Option<String>| filled(text.as_deref()).is_some();
    let all = [
        (ForeignField::Exec, user.exec.is_some()),
        (ForeignField::AuthProvider, user.auth_provider.is_some()),
        (ForeignField::TokenFile, is_filled(&user.token_file)),
        (ForeignField::ClientCertificate, is_filled(&user.client_certificate)),
        (ForeignField::ClientKey, is_filled(&user.client_key)),
        (ForeignField::CertificateAuthority, is_filled(&cluster.certificate_authority)),
    ];
    all.into_iter().filter_map(|(field, is_there)| is_there.then_some(field)).collect()
}

fn way_round(cluster: &Cluster) -> Option<EndpointOverride> {
    let proxy = cluster.proxy_url.as_ref().filter(|url| !url.0.is_empty()).map(|_| EndpointOverride::Proxy);
    proxy.or(filled(cluster.tls_server_name.as_deref()).map(|_| EndpointOverride::ServerName))
}

fn trust(cluster: &Cluster) -> Result<Trust, Unreadable> {
    if cluster.insecure_skip_tls_verify.unwrap_or(false) {
        return Ok(Trust::Unverified);
    }
    if let Some(data) = cluster.certificate_authority_data.as_ref().filter(|data| !data.0.is_empty()) {
        return Authorities::parse(data.0.as_bytes()).map(Trust::Authorities).ok_or(Unreadable::Authority);
    }
    let is_file = filled(cluster.certificate_authority.as_deref()).is_some();
    Ok(if is_file { Trust::File } else { Trust::System })
}

/// What is written down wins over what a plugin would say, as for client-go.
fn credential(user: &User) -> Result<Credential, Unreadable> {
    if let Some(token) = hidden(&user.token) {
        return Ok(Credential::Token(Token::parse(token)));
    }
    if filled(user.token_file.as_deref()).is_some() {
        return Ok(Credential::File);
    }
    let certificate_file = filled(user.client_certificate.as_deref()).is_some();
    let key_file = filled(user.client_key.as_deref()).is_some();
    match (hidden(&user.client_certificate_data), hidden(&user.client_key_data)) {
        (Some(chain), Some(key)) => return Ok(Credential::Certificate(certificate(chain, key)?)),
        (Some(_), None) if !key_file => return Err(CertificateFault::NoKey.into()),
        (None, Some(_)) if !certificate_file => return Err(CertificateFault::NoCertificate.into()),
        (Some(_) | None, Some(_) | None) => {}
    }
    if certificate_file || key_file {
        return Ok(Credential::File);
    }
    if user.exec.is_some() {
        return Ok(Credential::Exec);
    }
    if user.auth_provider.is_some() {
        return Ok(Credential::AuthProvider);
    }
    let is_basic = filled(user.username.as_deref()).is_some() || hidden(&user.password).is_some();
    Ok(if is_basic { Credential::Basic } else { Credential::Nothing })
}

fn certificate(chain: &str, key: &str) -> Result<Certificate, CertificateFault> {
    let chain = decode(chain.as_bytes()).ok_or(CertificateFault::NotPem)?;
    let key = decode(key.as_bytes()).ok_or(CertificateFault::KeyNotPem)?;
    Certificate::read(&chain, &key)
}

fn hidden(text: &Option<Hidden>) -> Option<&str> {
    filled(text.as_ref().map(|text| text.0.as_str()))
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Document(…)")
    }
}
