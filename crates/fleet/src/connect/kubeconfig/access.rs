//! All a connection needs to know of one context, checked once, with paths made absolute.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use http::Uri;

use super::error::{KubeconfigError, Part};
use super::file;
use super::merge::{Kubeconfig, Origin, Placed, Trust};
use crate::connect::text::{nearest, printable};
use trueup_core::world::Obj;
use trueup_net::{ClientCertificate, PemSource, SecretText, Verification};

/// How to reach a cluster, and as whom.
#[derive(Debug, Clone)]
pub struct Access {
    pub context: String,
    /// The kubeconfig it came from, for messages.
    pub place: String,
    pub server: Uri,
    /// The namespace of the context, `default` when it names none.
    pub namespace: String,
    pub verification: Verification,
    /// A proxy the kubeconfig demands. Secret because it may hold a password.
    pub proxy: Option<SecretText>,
    pub certificate: Option<ClientCertificate>,
    pub bearer: Bearer,
    pub impersonation: Impersonation,
    /// Who wrote the kubeconfig.
    pub trust: Trust,
}

/// What goes into the `Authorization` header.
#[derive(Debug, Clone)]
pub enum Bearer {
    None,
    Token(SecretText),
    TokenFile(PathBuf),
    Basic { username: String, password: SecretText },
    Exec(Box<ExecSpec>),
}

/// A credential plugin.
#[derive(Debug, Clone)]
pub struct ExecSpec {
    pub version: ExecVersion,
    /// A bare name to be looked up in `PATH`, or a path.
    pub command: PathBuf,
    pub args: Vec<SecretText>,
    pub env: Vec<(String, SecretText)>,
    pub install_hint: Option<String>,
    pub needs_terminal: NeedsTerminal,
    /// The cluster information for the plugin, if it asks for it: JSON. Secret because it may hold a proxy's password.
    pub cluster_info: Option<SecretText>,
}

trueup_core::named_enum! {
    /// The plugin protocol's versions that are spoken here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ExecVersion {
        V1 = "client.authentication.k8s.io/v1",
        V1Beta1 = "client.authentication.k8s.io/v1beta1",
    }
}

/// Whether a plugin insists on talking to a person (`interactiveMode: Always`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeedsTerminal {
    No,
    Yes,
}

/// The user to impersonate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Impersonation {
    pub user: Option<String>,
    pub uid: Option<String>,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Access {
    /// The credential plugin, if the login needs one.
    pub fn exec(&self) -> Option<&ExecSpec> {
        match &self.bearer {
            Bearer::Exec(spec) => Some(spec),
            Bearer::None | Bearer::Token(_) | Bearer::TokenFile(_) | Bearer::Basic { .. } => None,
        }
    }
}

impl Kubeconfig {
    /// What a connection to this context needs.
    ///
    /// # Errors
    /// The context, its cluster or its user is not there, a field makes no sense, or (in a kubeconfig from a Secret) a
    /// field would run a command or read a file.
    pub fn access(&self, context_name: &str) -> Result<Access, KubeconfigError> {
        self.select(&super::Selection::Named(vec![context_name.to_owned()]))?;
        let context = &self.contexts[context_name];
        let cluster_name = context.part.cluster.as_deref().unwrap_or_default();
        let cluster = self.referred(context_name, context, Part::Cluster, cluster_name, &self.clusters)?;
        let cluster_reader =
            Reader { trust: self.trust, origin: &cluster.origin, part: Part::Cluster, name: cluster_name };
        let server = cluster_reader.server(cluster.part.server.as_deref())?;
        let mut access = Access {
            context: context_name.to_owned(),
            place: context.origin.place.clone(),
            server,
            namespace: filled(context.part.namespace.as_deref()).unwrap_or("default").to_owned(),
            verification: cluster_reader.verification(&cluster.part)?,
            proxy: cluster_reader.proxy(cluster.part.proxy_url.as_ref())?,
            certificate: None,
            bearer: Bearer::None,
            impersonation: Impersonation::default(),
            trust: self.trust,
        };
        // A context without a user is anonymous, as for kubectl.
        if let Some(user_name) = filled(context.part.user.as_deref()) {
            let user = self.referred(context_name, context, Part::User, user_name, &self.users)?;
            let reader = Reader { trust: self.trust, origin: &user.origin, part: Part::User, name: user_name };
            access.certificate = reader.certificate(&user.part)?;
            access.bearer = reader.bearer(&user.part, &cluster.part, &access)?;
            access.impersonation = impersonation(&user.part);
        }
        Ok(access)
    }

    fn referred<'k, T>(
        &self,
        context_name: &str,
        context: &Placed<file::Context>,
        part: Part,
        name: &str,
        all: &'k BTreeMap<String, Placed<T>>,
    ) -> Result<&'k Placed<T>, KubeconfigError> {
        all.get(name).ok_or_else(|| KubeconfigError::Dangling {
            place: context.origin.place.clone(),
            context: context_name.to_owned(),
            part,
            name: name.to_owned(),
            known: nearest(name, all.keys().map(String::as_str)),
        })
    }
}

/// Reads the fields of one part, and names that part when a field is wrong.
struct Reader<'k> {
    trust: Trust,
    origin: &'k Origin,
    part: Part,
    name: &'k str,
}

impl Reader<'_> {
    fn server(&self, text: Option<&str>) -> Result<Uri, KubeconfigError> {
        let bad = |why: &str| self.bad("server", why.to_owned());
        let text =
            filled(text).ok_or_else(|| bad("is not set; it should be the API server's URL, https://host:6443"))?;
        let uri: Uri = text.parse().map_err(|_| bad("is not a URL; it should look like https://host:6443"))?;
        let known_scheme = matches!(uri.scheme_str(), Some("https" | "http"));
        if !known_scheme || uri.host().is_none_or(str::is_empty) {
            return Err(bad("should begin with https:// (or http://) and name a host"));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(bad("holds a user name or password; put credentials into the user's fields"));
        }
        Ok(uri)
    }

    fn verification(&self, cluster: &file::Cluster) -> Result<Verification, KubeconfigError> {
        let roots = self.pem(
            "certificate-authority",
            cluster.certificate_authority.as_deref(),
            "certificate-authority-data",
            cluster.certificate_authority_data.as_ref(),
        )?;
        let server_name = filled(cluster.tls_server_name.as_deref()).map(str::to_owned);
        match (cluster.insecure_skip_tls_verify.unwrap_or(false), roots) {
            (false, roots) => Ok(Verification::Full { roots, server_name }),
            (true, None) => Ok(Verification::Skipped { server_name }),
            (true, Some(_)) => Err(self.bad(
                "insecure-skip-tls-verify",
                "is set beside a certificate authority; remove one of the two".to_owned(),
            )),
        }
    }

    fn proxy(&self, url: Option<&SecretText>) -> Result<Option<SecretText>, KubeconfigError> {
        let Some(url) = url.filter(|url| !url.is_empty()) else {
            return Ok(None);
        };
        let scheme = url.expose().split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let usable = matches!(scheme.as_deref(), Some("http" | "https" | "socks5"));
        if usable && url.expose().parse::<Uri>().is_ok_and(|uri| uri.host().is_some()) {
            return Ok(Some(url.clone()));
        }
        Err(self.bad("proxy-url", "should be http://, https:// or socks5:// and a host".to_owned()))
    }

    fn certificate(&self, user: &file::User) -> Result<Option<ClientCertificate>, KubeconfigError> {
        let chain = self.pem(
            "client-certificate",
            user.client_certificate.as_deref(),
            "client-certificate-data",
            user.client_certificate_data.as_ref(),
        )?;
        let key =
            self.pem("client-key", user.client_key.as_deref(), "client-key-data", user.client_key_data.as_ref())?;
        match (chain, key) {
            (Some(chain), Some(key)) => Ok(Some(ClientCertificate { chain, key })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(self.bad("client-key", "is missing beside the client certificate".to_owned())),
            (None, Some(_)) => Err(self.bad("client-certificate", "is missing beside the client key".to_owned())),
        }
    }

    /// The bearer, by client-go's precedence: what is written down wins over what a plugin would say.
    fn bearer(&self, user: &file::User, cluster: &file::Cluster, access: &Access) -> Result<Bearer, KubeconfigError> {
        let token_file = filled(user.token_file.as_deref()).map(|path| self.path("tokenFile", path)).transpose()?;
        let exec = user.exec.as_ref().map(|Obj(exec)| self.exec(exec, cluster, access)).transpose()?;
        if let Some(Obj(provider)) = &user.auth_provider {
            if self.trust == Trust::FromSecret {
                return Err(self.refused("auth-provider", "run a command or log in elsewhere"));
            }
            let name = printable(provider.name.as_deref().unwrap_or_default(), 60);
            let why = format!("{name:?} is a kind of login that Kubernetes has given up; use an exec plugin instead");
            return Err(self.bad("auth-provider", why));
        }
        if let Some(file) = token_file {
            return Ok(Bearer::TokenFile(file));
        }
        if let Some(token) = user.token.as_ref().filter(|token| !token.is_empty()) {
            return Ok(Bearer::Token(token.clone()));
        }
        if let Some(username) = filled(user.username.as_deref()) {
            let password = user.password.clone().unwrap_or_else(|| SecretText::new(String::new()));
            return Ok(Bearer::Basic { username: username.to_owned(), password });
        }
        Ok(exec.map_or(Bearer::None, |spec| Bearer::Exec(Box::new(spec))))
    }

    fn exec(&self, exec: &file::Exec, cluster: &file::Cluster, access: &Access) -> Result<ExecSpec, KubeconfigError> {
        if self.trust == Trust::FromSecret {
            return Err(self.refused("exec", "run a command"));
        }
        let version = match exec.api_version.as_deref() {
            Some("client.authentication.k8s.io/v1") => ExecVersion::V1,
            Some("client.authentication.k8s.io/v1beta1") => ExecVersion::V1Beta1,
            Some(_) | None => {
                let why = "should be client.authentication.k8s.io/v1 or …/v1beta1; update the plugin's configuration";
                return Err(self.bad("exec.apiVersion", why.to_owned()));
            }
        };
        let command = filled(exec.command.as_deref())
            .ok_or_else(|| self.bad("exec.command", "is not set; it names the plugin to run".to_owned()))?;
        let needs_terminal = match exec.interactive_mode.as_deref() {
            Some("Always") => NeedsTerminal::Yes,
            Some("Never" | "IfAvailable" | "") | None => NeedsTerminal::No,
            Some(_) => {
                return Err(self.bad("exec.interactiveMode", "should be Never, IfAvailable or Always".to_owned()));
            }
        };
        let variables = exec.env.iter().flatten().map(|Obj(variable)| (variable.name.clone(), variable.value.clone()));
        Ok(ExecSpec {
            version,
            command: self.command(command),
            args: exec.args.clone().unwrap_or_default(),
            env: variables.collect(),
            install_hint: filled(exec.install_hint.as_deref()).map(str::to_owned),
            needs_terminal,
            cluster_info: exec.provide_cluster_info.unwrap_or(false).then(|| cluster_info(cluster, access)),
        })
    }

    /// A bare name stays one, for `PATH`; a relative path is relative to the kubeconfig.
    fn command(&self, command: &str) -> PathBuf {
        let path = Path::new(command);
        if command.contains('/') { self.origin.folder.join(path) } else { path.to_owned() }
    }

    fn pem(
        &self,
        file_field: &'static str,
        file: Option<&str>,
        data_field: &'static str,
        data: Option<&SecretText>,
    ) -> Result<Option<PemSource>, KubeconfigError> {
        let file = filled(file).map(|path| self.path(file_field, path)).transpose()?;
        let Some(data) = data.filter(|data| !data.is_empty()) else {
            return Ok(file.map(PemSource::File));
        };
        let packed: zeroize::Zeroizing<String> = data.expose().split_ascii_whitespace().collect::<String>().into();
        let decoded = base64::engine::general_purpose::STANDARD.decode(packed.as_bytes()).ok();
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.ok_or_else(|| self.bad(data_field, "is not base64 of PEM text".to_owned()))?;
        Ok(Some(PemSource::Inline(SecretText::new(text))))
    }

    fn path(&self, field: &'static str, path: &str) -> Result<PathBuf, KubeconfigError> {
        match self.trust {
            Trust::UsersOwn | Trust::Pod => Ok(self.origin.folder.join(path)),
            Trust::FromSecret => Err(self.refused(field, "name a file to be read here")),
        }
    }

    fn bad(&self, field: &'static str, why: String) -> KubeconfigError {
        let (place, name) = (self.origin.place.clone(), self.name.to_owned());
        KubeconfigError::BadField { place, part: self.part, name, field, why }
    }

    fn refused(&self, field: &'static str, would: &'static str) -> KubeconfigError {
        let (place, name) = (self.origin.place.clone(), self.name.to_owned());
        KubeconfigError::Refused { place, part: self.part, name, field, would }
    }
}

/// `spec.cluster` of the plugin's input (`k8s.io/client-go/pkg/apis/clientauthentication`).
fn cluster_info(cluster: &file::Cluster, access: &Access) -> SecretText {
    let mut info = serde_json::Map::new();
    info.insert("server".to_owned(), access.server.to_string().trim_end_matches('/').into());
    if let Verification::Skipped { .. } = access.verification {
        info.insert("insecure-skip-tls-verify".to_owned(), true.into());
    }
    let texts = [
        ("tls-server-name", cluster.tls_server_name.as_deref()),
        ("certificate-authority-data", cluster.certificate_authority_data.as_ref().map(SecretText::expose)),
        ("proxy-url", cluster.proxy_url.as_ref().map(SecretText::expose)),
    ];
    for (field, text) in texts {
        if let Some(text) = filled(text) {
            info.insert(field.to_owned(), text.into());
        }
    }
    let meant = |entry: &&file::NamedExtension| entry.name == "client.authentication.k8s.io/exec";
    if let Some(entry) = cluster.extensions.iter().flatten().map(|Obj(entry)| entry).find(meant) {
        info.insert("config".to_owned(), entry.extension.clone());
    }
    SecretText::new(serde_json::Value::from(info).to_string())
}

fn impersonation(user: &file::User) -> Impersonation {
    Impersonation {
        user: filled(user.as_user.as_deref()).map(str::to_owned),
        uid: filled(user.as_uid.as_deref()).map(str::to_owned),
        groups: user.as_groups.clone().unwrap_or_default(),
        extra: user.as_user_extra.clone().unwrap_or_default(),
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}
