//! The user's own profile: `~/.aws/config` and `~/.aws/credentials`.
//!
//! Understood: keys, a role over another profile, a web identity, SSO whose login is still good, a credential process.
//! Everything else is reported as such. Files are read when they are needed and not kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use zeroize::Zeroizing;

use super::api::Aws;
use super::arn::RoleArn;
use super::endpoint::IGNORE_CONFIGURED;
use super::error::{AwsError, Class};
use super::ini::Ini;
use super::partition::Region;
use super::sso::{self, SsoProfile};
use super::sts::{Keys, WebIdentity};
use super::variables::Variables;
use trueup_net::SecretText;

/// How many roles may lead to each other.
const CHAIN_MAX: usize = 5;
/// How long a credential process may take: a person may have to touch a key, without seeing a question.
const PROCESS_TIMEOUT: Duration = Duration::from_secs(30);

/// Where the profiles are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    config: PathBuf,
    credentials: PathBuf,
    sso_cache: PathBuf,
    /// The profile that is meant unless another is named.
    pub current: String,
    env: Variables,
}

/// How a profile gets its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Profile {
    Keys(Keys),
    WebIdentity(WebIdentity),
    Role { role: RoleArn, source: Box<Profile>, session_name: String, external_id: Option<String> },
    Sso(SsoProfile),
    Process { command: String },
}

/// Why a profile can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    #[error("there is no profile {name:?} in {files}")]
    Missing { name: String, files: String },
    #[error("the profile {name:?} {why}")]
    Unusable { name: String, why: &'static str },
}

/// The text of both files, wiped after use.
struct Files {
    config: Zeroizing<String>,
    credentials: Zeroizing<String>,
}

impl Profiles {
    /// The places by the environment, or nothing without a home.
    pub fn of(env: &Variables) -> Option<Self> {
        let home = env.get("HOME").map(PathBuf::from);
        let place = |name: &str, default: &str| {
            let named = env.get(name).map(PathBuf::from);
            named.or_else(|| Some(home.as_ref()?.join(".aws").join(default)))
        };
        let current = env.get("AWS_PROFILE").or_else(|| env.get("AWS_DEFAULT_PROFILE")).unwrap_or("default").to_owned();
        Some(Self {
            config: place("AWS_CONFIG_FILE", "config")?,
            credentials: place("AWS_SHARED_CREDENTIALS_FILE", "credentials")?,
            sso_cache: home.unwrap_or_default().join(".aws/sso/cache"),
            current,
            env: env.clone(),
        })
    }

    /// Whether there is such a profile at all.
    pub async fn has(&self, name: &str) -> bool {
        let files = self.read().await;
        files.holds(name)
    }

    /// How a profile gets its keys.
    ///
    /// # Errors
    /// There is none of that name, or it is of a kind that isn't understood.
    pub async fn profile(&self, name: &str) -> Result<Profile, ProfileError> {
        let files = self.read().await;
        if !files.holds(name) {
            let files = format!("{} or {}", self.config.display(), self.credentials.display());
            return Err(ProfileError::Missing { name: name.to_owned(), files });
        }
        files.profile(name, &self.env, CHAIN_MAX)
    }

    /// `endpoint_url` of a profile.
    pub async fn endpoint_url(&self, name: &str) -> Option<String> {
        if self.env.is_on(IGNORE_CONFIGURED) {
            return None;
        }
        let files = self.read().await;
        let (config, credentials) = (Ini::parse(&files.config), Ini::parse(&files.credentials));
        let section = config.titles().find(|title| title_is(title, name));
        let url = credentials.get(name, "endpoint_url").or_else(|| config.get(section?, "endpoint_url"));
        url.map(str::to_owned)
    }

    async fn read(&self) -> Files {
        async fn text(path: &Path) -> Zeroizing<String> {
            // A file that isn't there or isn't text has no profiles; the error names both files.
            Zeroizing::new(tokio::fs::read_to_string(path).await.unwrap_or_default())
        }
        Files { config: text(&self.config).await, credentials: text(&self.credentials).await }
    }
}

impl Files {
    fn holds(&self, name: &str) -> bool {
        let in_config = Ini::parse(&self.config).titles().any(|title| title_is(title, name));
        in_config || Ini::parse(&self.credentials).has(name)
    }

    fn profile(&self, name: &str, env: &Variables, left: usize) -> Result<Profile, ProfileError> {
        let bad = |why| ProfileError::Unusable { name: name.to_owned(), why };
        if left == 0 {
            return Err(bad("leads to other profiles without end"));
        }
        let (config, credentials) = (Ini::parse(&self.config), Ini::parse(&self.credentials));
        let section = config.titles().find(|title| title_is(title, name));
        let get =
            |key: &str| credentials.get(name, key).or_else(|| section.and_then(|section| config.get(section, key)));
        let keys = match (get("aws_access_key_id"), get("aws_secret_access_key")) {
            (Some(id), Some(secret)) => Some(Keys {
                access_key_id: id.to_owned(),
                secret_access_key: SecretText::new(secret),
                session_token: get("aws_session_token").map(SecretText::new),
                expires: None,
            }),
            (Some(_), None) | (None, Some(_)) => return Err(bad("has one of two access keys")),
            (None, None) => None,
        };
        if let Some(role) = get("role_arn") {
            let role = RoleArn::parse(role).map_err(|_| bad("has a role_arn that is not the ARN of a role"))?;
            let session_name = get("role_session_name").unwrap_or("trueup").to_owned();
            let external_id = get("external_id").map(str::to_owned);
            if get("mfa_serial").is_some() {
                return Err(bad("asks for a second factor; log in with `aws sts assume-role` and name those keys"));
            }
            if let Some(file) = get("web_identity_token_file") {
                return Ok(Profile::WebIdentity(WebIdentity::new(role, file, env)));
            }
            let source = match get("source_profile") {
                Some(source) if source == name => keys.map(Profile::Keys).ok_or_else(|| bad("is its own source"))?,
                Some(source) => self.profile(source, env, left - 1)?,
                None => return Err(bad("takes a role with credentials that only AWS's own machines have")),
            };
            return Ok(Profile::Role { role, source: Box::new(source), session_name, external_id });
        }
        if let Some(keys) = keys {
            return Ok(Profile::Keys(keys));
        }
        if let Some(sso) = sso::profile(&config, &get).map_err(bad)? {
            return Ok(Profile::Sso(sso));
        }
        match get("credential_process") {
            Some(command) => Ok(Profile::Process { command: command.to_owned() }),
            None => Err(bad("has no keys, role, SSO login or credential process")),
        }
    }
}

/// The config file writes `[profile x]`, except for the default one.
fn title_is(title: &str, name: &str) -> bool {
    let mut words = title.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("profile"), Some(rest), None) => rest == name,
        (Some("default"), None, None) => name == "default",
        _ => false,
    }
}

impl Aws {
    /// Keys of the user's own profile.
    ///
    /// # Errors
    /// The login has ended, the process failed, or STS says no.
    pub async fn profile_keys(
        &self,
        profiles: &Profiles,
        profile: &Profile,
        region: &Region,
    ) -> Result<Keys, AwsError> {
        match profile {
            Profile::Keys(keys) => Ok(keys.clone()),
            Profile::WebIdentity(identity) => Ok(self.exchange(identity, region).await?.keys),
            Profile::Role { role, source, session_name, external_id } => {
                let keys = Box::pin(self.profile_keys(profiles, source, region)).await?;
                let session = self.assume_role(&keys, role, session_name, external_id.as_deref(), region).await?;
                Ok(session.keys)
            }
            Profile::Sso(sso) => self.sso_keys(sso, &profiles.sso_cache).await,
            Profile::Process { command } => from_process(command).await,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProcessAnswer {
    access_key_id: String,
    secret_access_key: SecretText,
    session_token: Option<SecretText>,
    expiration: Option<jiff::Timestamp>,
}

/// Runs the user's own command, as their shell would.
async fn from_process(command: &str) -> Result<Keys, AwsError> {
    let failed = |why: &str| {
        let message = format!("the profile's credential_process {why}");
        AwsError::new(Class::Denied, "credential-process", message, "run the command yourself and see what it says")
    };
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(command).stdin(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    shell.kill_on_drop(true);
    let ran = tokio::time::timeout(PROCESS_TIMEOUT, shell.output()).await;
    let output = ran.map_err(|_| failed("takes too long"))?.map_err(|_| failed("cannot be run"))?;
    let stdout = Zeroizing::new(output.stdout);
    if !output.status.success() {
        return Err(failed("failed"));
    }
    let answer: ProcessAnswer =
        serde_json::from_slice(&stdout).map_err(|_| failed("printed something else than credentials"))?;
    let ProcessAnswer { access_key_id, secret_access_key, session_token, expiration: expires } = answer;
    Ok(Keys { access_key_id, secret_access_key, session_token, expires })
}
