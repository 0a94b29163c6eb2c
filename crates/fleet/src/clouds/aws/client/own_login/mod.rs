//! This machine's own login: the chain of sources of aws-config, with our HTTP client, clock and environment.
//!
//! ```text
//! keys of the environment ─► profile (keys, roles, SSO, process) ─► container (ECS, EKS Pod Identity) ─► instance (IMDSv2)
//! ```
//!
//! Invariants:
//! - files are read for each login, so that a new one counts without a restart; keys are kept until they end or are refused;
//! - no text of aws-config reaches an error: a credential process may print secrets, and it quotes them.
//!
//! Elsewhere: IRSA of this process, Secrets (`order`); where an endpoint may be (`trueup_net::Egress`).

mod net_http;
mod profiles;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::{Duration, SystemTime};

use aws_config::{BehaviorVersion, ConfigLoader};
use aws_credential_types::Credentials;
use aws_credential_types::credential_feature::AwsCredentialFeature;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_async::time::TimeSource;
use aws_smithy_types::retry::RetryConfig;
use aws_types::os_shim_internal::Env as SdkEnv;
use jiff::Timestamp;
use tokio::sync::Mutex as Turn;

use super::error::{AwsError, Class};
use super::partition::{self, Partition, Region};
use super::sts::Keys;
use super::variables::Variables;
use crate::connect::Clock;
use net_http::{Failure, Failures, NetHttp};
use profiles::{Candidate, How, OwnProfiles, ProfileError};
use trueup_net::http::{HttpClient, HttpSettings};
use trueup_net::{Destination, Egress, Identity, Proxies, SecretText};

/// How long a login may take: a process may wait for a touch of a key. Shorter than a list waits for its answer.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the user's files may take: one may be a pipe.
const FILES_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a request for credentials is sent at most.
const ATTEMPTS_MAX: u32 = 2;
/// The code of a machine without any source.
pub const OWN_LOGIN_NONE: &str = "own-login-none";

/// The way to the servers of a login.
#[derive(Debug, Clone)]
pub enum LoginReach {
    Network { proxies: Proxies, egress: Egress },
    InProcess(HttpClient),
}

/// This machine's own login.
pub struct OwnLogin {
    env: Variables,
    reach: LoginReach,
    clock: Clock,
    slot: Turn<Slot>,
}

#[derive(Default)]
struct Slot {
    held: Option<OwnKeys>,
    failed: Option<(AwsError, Timestamp)>,
}

/// Keys, and where they are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnKeys {
    pub keys: Keys,
    /// How people call the source.
    pub source: String,
}

impl OwnLogin {
    /// `env` without the variables of a web identity, which are exchanged elsewhere.
    pub fn new(env: &Variables, reach: LoginReach, clock: Clock) -> Self {
        Self { env: env.without_web_identity(), reach, clock, slot: Turn::default() }
    }

    /// The keys of this machine, from the first source that has some.
    ///
    /// # Errors
    /// No source has keys, or the first that is configured failed; the same error for as long as it holds.
    pub async fn keys(&self) -> Result<OwnKeys, AwsError> {
        // Held across the login on purpose: all callers wait for the same one.
        let mut slot = self.slot.lock().await;
        let now = (self.clock)();
        if let Some(held) = slot.held.as_ref().filter(|held| held.keys.are_good_at(now)) {
            return Ok(held.clone());
        }
        slot.failed.take_if(|(_, until)| *until <= now);
        if let Some((error, _)) = &slot.failed {
            return Err(error.clone());
        }
        let logged_in = tokio::time::timeout(LOGIN_TIMEOUT, self.log_in()).await;
        let logged_in = logged_in.unwrap_or_else(|_| {
            let message = format!("this machine's AWS login took longer than {} s", LOGIN_TIMEOUT.as_secs());
            Err(AwsError::new(
                Class::Transient,
                "timeout",
                message,
                "see what it waits for: aws sts get-caller-identity",
            ))
        });
        match &logged_in {
            Ok(held) => slot.held = Some(held.clone()),
            Err(error) => slot.failed = Some((error.clone(), error.holds_until(now))),
        }
        logged_in
    }

    /// Drops keys that AWS refused, unless others have taken their place.
    pub async fn forget(&self, refused: &Keys) {
        let mut slot = self.slot.lock().await;
        slot.held.take_if(|held| held.keys == *refused);
    }

    /// How people call the source that will be used; nothing where only the instance's role is left.
    pub async fn configured(&self) -> Option<String> {
        match self.profiles(&self.sdk_env()).await.ok()?.candidate() {
            Candidate::InstanceMetadata => None,
            source @ (Candidate::Environment | Candidate::Profile { .. } | Candidate::Container) => {
                Some(source.message())
            }
        }
    }

    /// `endpoint_url` of the user's profile, for every service.
    pub async fn endpoint_url(&self) -> Option<String> {
        self.profiles(&self.sdk_env()).await.ok()?.endpoint_url().map(str::to_owned)
    }

    /// The region of environment and profile.
    pub async fn region(&self) -> Option<Region> {
        self.profiles(&self.sdk_env()).await.ok()?.region()
    }

    async fn log_in(&self) -> Result<OwnKeys, AwsError> {
        let env = self.sdk_env();
        let profiles = self.profiles(&env).await.map_err(unusable)?;
        profiles.check().map_err(unusable)?;
        let (candidate, failures) = (profiles.candidate(), Failures::default());
        let http = self.http(&profiles, failures.clone())?;
        let region = profiles.region().unwrap_or_else(|| Partition::Aws.home());
        let sdk = loader(env, http)
            .region(aws_config::Region::new(region.to_string()))
            .time_source(SdkClock(self.clock.clone()))
            .load()
            .await;
        let provider = sdk.credentials_provider().expect("the loader sets the chain of sources");
        match provider.provide_credentials().await {
            Ok(credentials) => Ok(OwnKeys { keys: keys_of(&credentials), source: source_of(&credentials, &candidate) }),
            Err(error) => Err(failed(&candidate, &error, failures.last())),
        }
    }

    fn http(&self, profiles: &OwnProfiles<'_>, failures: Failures) -> Result<NetHttp, AwsError> {
        let (proxies, egress) = match &self.reach {
            LoginReach::InProcess(http) => {
                return Ok(NetHttp { proxied: http.clone(), direct: http.clone(), failures });
            }
            LoginReach::Network { proxies, egress } => (proxies, egress),
        };
        let named = profiles.named_hosts();
        let own = Destination::Cloud { identity: Identity::Own, is_published: partition::is_published, named: &named };
        let permit =
            egress.permit(&own).map_err(|error| broken("egress", error.to_string(), "allow it in [egress]"))?;
        let settings = HttpSettings::new(permit);
        let client =
            |settings| HttpClient::new(settings).map_err(|error| broken("proxy", error.to_string(), "correct it"));
        let proxied = client(HttpSettings { proxies: proxies.clone(), ..settings.clone() })?;
        Ok(NetHttp { proxied, direct: client(settings)?, failures })
    }

    async fn profiles(&self, env: &SdkEnv) -> Result<OwnProfiles<'_>, ProfileError> {
        let loading = OwnProfiles::load(&self.env, env);
        let late = || ProfileError::Unreadable("the AWS configuration files cannot be read in time".to_owned());
        tokio::time::timeout(FILES_TIMEOUT, loading).await.map_err(|_| late())?
    }

    /// The environment as aws-config sees it: empty variables are unset, and the CLI's older name of the profile counts.
    fn sdk_env(&self) -> SdkEnv {
        let older = self.env.get("AWS_DEFAULT_PROFILE").filter(|_| self.env.get("AWS_PROFILE").is_none());
        let all: Vec<(&str, &str)> = self.env.iter().chain(older.map(|name| ("AWS_PROFILE", name))).collect();
        SdkEnv::from_slice(&all)
    }
}

fn loader(env: SdkEnv, http: NetHttp) -> ConfigLoader {
    aws_config::defaults(BehaviorVersion::latest())
        .env(env)
        .http_client(http)
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX))
}

/// How people call the source that the keys are from, by aws-config's own word: it may have passed over the first.
fn source_of(credentials: &Credentials, candidate: &Candidate) -> String {
    let features = credentials.get_property::<Vec<AwsCredentialFeature>>();
    let has = |feature: &AwsCredentialFeature| features.is_some_and(|features| features.contains(feature));
    let source = [
        (AwsCredentialFeature::CredentialsProfile, candidate),
        (AwsCredentialFeature::CredentialsEnvVars, &Candidate::Environment),
        (AwsCredentialFeature::CredentialsHttp, &Candidate::Container),
        (AwsCredentialFeature::CredentialsImds, &Candidate::InstanceMetadata),
    ];
    let found = source.into_iter().find_map(|(feature, source)| has(&feature).then_some(source));
    found.unwrap_or(candidate).message()
}

fn keys_of(credentials: &Credentials) -> Keys {
    Keys {
        access_key_id: credentials.access_key_id().to_owned(),
        secret_access_key: SecretText::new(credentials.secret_access_key()),
        session_token: credentials.session_token().map(SecretText::new),
        expires: credentials.expiry().and_then(|at| Timestamp::try_from(at).ok()),
    }
}

fn broken(code: &str, message: String, remedy: &str) -> AwsError {
    AwsError::new(Class::Denied, code, message, remedy)
}

fn unusable(error: ProfileError) -> AwsError {
    broken("profile", error.to_string(), &error.remedy())
}

/// Why there are no keys: by the source that was to give some, and by the last request that failed.
fn failed(candidate: &Candidate, error: &CredentialsError, failure: Option<Failure>) -> AwsError {
    let none = |why: &str| {
        let message = format!("this machine has no AWS credentials of its own{why}");
        broken(
            OWN_LOGIN_NONE,
            message,
            "name a profile with AWS_PROFILE, or set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE",
        )
    };
    let what = candidate.message();
    match (candidate, failure, error) {
        // Other clouds answer at the same address.
        (Candidate::InstanceMetadata, Some(Failure::Answered { status, .. }), _) => {
            none(&format!(" (instance metadata: HTTP {status})"))
        }
        (Candidate::InstanceMetadata, _, CredentialsError::CredentialsNotLoaded(_)) => none(""),
        (_, Some(Failure::Unanswered { host, error }), _) => AwsError::unanswered(&what, &host, &error),
        (_, Some(Failure::Answered { host, status, code }), _) => {
            let error = AwsError::answered(&format!("{what}: {host}"), status, &code, "");
            match (candidate, error.class) {
                (Candidate::Profile { name, how: How::Sso }, Class::Denied) => {
                    AwsError { remedy: format!("run aws sso login --profile {name}, and check sso_role_name"), ..error }
                }
                (
                    Candidate::Environment
                    | Candidate::Profile { .. }
                    | Candidate::Container
                    | Candidate::InstanceMetadata,
                    _,
                ) => error,
            }
        }
        (_, None, _) => not_sent(candidate, &what),
    }
}

/// A source that failed before any request.
fn not_sent(candidate: &Candidate, what: &str) -> AwsError {
    let (code, why, remedy) = match candidate {
        Candidate::Profile { name, how: How::Sso } => {
            return broken(
                "sso-login",
                format!("{what}: the SSO login has ended, or never was"),
                &format!("run aws sso login --profile {name}"),
            );
        }
        Candidate::Profile { how: How::Process, .. } => {
            ("credential-process", "credential_process gave no keys", "run the command yourself and see what it prints")
        }
        Candidate::Profile { how: How::WebIdentity, .. } => {
            ("profile", "the web identity token cannot be read", "check web_identity_token_file")
        }
        Candidate::Profile { how: How::Keys | How::Role, .. } => {
            ("profile", "it cannot be used", "see what `aws sts get-caller-identity` says about it")
        }
        Candidate::Container => (
            "container-credentials",
            "they cannot be asked for",
            "check AWS_CONTAINER_CREDENTIALS_FULL_URI and AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        ),
        Candidate::Environment | Candidate::InstanceMetadata => {
            ("own-login", "it cannot be used", "see what `aws sts get-caller-identity` says about it")
        }
    };
    broken(code, format!("{what}: {why}"), remedy)
}

/// Our clock, as aws-config reads it.
struct SdkClock(Clock);

impl TimeSource for SdkClock {
    fn now(&self) -> SystemTime {
        (self.0)().into()
    }
}

impl fmt::Debug for SdkClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SdkClock")
    }
}

impl fmt::Debug for OwnLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnLogin").field("env", &self.env).finish_non_exhaustive()
    }
}
