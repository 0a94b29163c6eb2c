//! What the user's AWS files say about the login, beside what aws-config reads in them. Pure, but for the reading.
//!
//! Invariant: a profile that is named and does not exist is an error before anything is sent. aws-config passes over it to
//! the next source, and would use another identity than the one that was meant.

use std::error::Error as _;

use aws_config::profile::{ProfileParseError, ProfileSet};
use aws_runtime::env_config::file::EnvConfigFiles;
use aws_runtime::env_config::property::PropertiesKey;
use aws_types::os_shim_internal::{Env, Fs};

use super::super::arn::RoleArn;
use super::super::endpoint::IGNORE_CONFIGURED;
use super::super::partition::{Partition, Region};
use super::super::variables::Variables;
use trueup_net::{HostPort, NamedBy, one_line};

/// The profile that is meant unless another is named.
const DEFAULT: &str = "default";
/// Profiles that are listed where the named one does not exist.
const LISTED_MAX: usize = 10;
/// The services that logins are exchanged at, as `[services]` sections name them.
const LOGIN_SERVICES: [&str; 3] = ["sts", "sso", "sso_oidc"];
/// The variables that name hosts of the login.
const ENDPOINT_VARIABLES: [&str; 6] = [
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ENDPOINT_URL_SSO",
    "AWS_ENDPOINT_URL_SSO_OIDC",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
];

/// The user's AWS files, with what the environment says about them.
pub(super) struct OwnProfiles<'e> {
    env: &'e Variables,
    set: ProfileSet,
}

/// Where the chain of sources ends, by what is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Candidate {
    /// `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
    Environment,
    Profile {
        name: String,
        how: How,
    },
    /// The address that ECS or EKS Pod Identity put into the environment.
    Container,
    /// Nothing is configured: the machine's own role is left, where it has one.
    InstanceMetadata,
}

/// How a profile gets its keys, at the beginning of its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Keys,
    Role,
    WebIdentity,
    Sso,
    Process,
}

/// Why the files cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ProfileError {
    #[error("there is no profile {name:?} in {files}")]
    Missing { name: String, files: String, remedy: String },
    #[error("the profile {name:?} names source_profile {source_name:?}, which does not exist")]
    SourceMissing { name: String, source_name: String },
    #[error("the profile {name:?} requires a second factor (mfa_serial)")]
    SecondFactor { name: String },
    #[error("{0}")]
    Unreadable(String),
}

impl ProfileError {
    pub(super) fn remedy(&self) -> String {
        match self {
            Self::Missing { remedy, .. } => remedy.clone(),
            Self::SourceMissing { .. } => "correct source_profile".to_owned(),
            Self::SecondFactor { .. } => {
                "log in with `aws sts assume-role` and set the keys it prints in the environment".to_owned()
            }
            Self::Unreadable(_) => "correct the file".to_owned(),
        }
    }
}

impl<'e> OwnProfiles<'e> {
    /// Reads the files. One that does not exist has no profiles.
    ///
    /// # Errors
    /// A file cannot be read, or is not in the format of such files.
    pub(super) async fn load(variables: &'e Variables, env: &Env) -> Result<Self, ProfileError> {
        let loaded = aws_config::profile::load(&Fs::real(), env, &EnvConfigFiles::default(), None).await;
        let set = loaded.map_err(|error| {
            let parsing = error.source().and_then(|cause| cause.downcast_ref::<ProfileParseError>());
            let text = parsing.map_or_else(|| error.to_string(), ToString::to_string);
            // The first line names file and line; the next may quote the content.
            let first = text.lines().next().unwrap_or_default().trim_end_matches(':');
            ProfileError::Unreadable(one_line(first, 200))
        })?;
        Ok(Self { env: variables, set })
    }

    /// Checks what aws-config passes over.
    ///
    /// # Errors
    /// The named profile or the source of a profile does not exist, or needs a second factor.
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        let name = self.set.selected_profile();
        if self.set.get_profile(name).is_none() && name != DEFAULT {
            return Err(self.missing(name));
        }
        for (name, source) in self.sources() {
            if source.is_some_and(|source| self.set.get_profile(source).is_none()) {
                let source_name = source.unwrap_or_default().to_owned();
                return Err(ProfileError::SourceMissing { name: name.to_owned(), source_name });
            }
            let profile = self.set.get_profile(name);
            if profile.is_some_and(|one| one.get("role_arn").is_some() && one.get("mfa_serial").is_some()) {
                return Err(ProfileError::SecondFactor { name: name.to_owned() });
            }
        }
        Ok(())
    }

    fn missing(&self, name: &str) -> ProfileError {
        let mut known: Vec<&str> = self.set.profiles().collect();
        known.sort_unstable();
        let nearest = known.iter().filter(|one| strsim::jaro_winkler(one, name) > 0.8);
        let nearest = nearest.max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let remedy = match nearest {
            Some(nearest) => format!("did you mean {nearest:?}? correct AWS_PROFILE"),
            None if known.is_empty() => "correct AWS_PROFILE, or run aws configure".to_owned(),
            None => {
                let listed: Vec<String> = known.iter().take(LISTED_MAX).map(|name| one_line(name, 60)).collect();
                format!("set AWS_PROFILE to one of {}", listed.join(", "))
            }
        };
        let file = |variable: &str, usual: &str| self.env.get(variable).unwrap_or(usual).to_owned();
        let config = file("AWS_CONFIG_FILE", "~/.aws/config");
        let files = format!("{config} or {}", file("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"));
        ProfileError::Missing { name: one_line(name, 100), files: one_line(&files, 300), remedy }
    }

    /// The selected profile and those its role is taken on with, each with the next.
    fn sources(&self) -> Vec<(&str, Option<&str>)> {
        let mut sources: Vec<(&str, Option<&str>)> = Vec::new();
        let mut next = Some(self.set.selected_profile());
        while let Some(name) = next.filter(|name| sources.iter().all(|(seen, _)| seen != name)) {
            let profile = self.set.get_profile(name);
            next = profile.filter(|one| one.get("role_arn").is_some()).and_then(|one| one.get("source_profile"));
            sources.push((name, next));
        }
        sources
    }

    /// The first source that is configured.
    pub(super) fn candidate(&self) -> Candidate {
        let has = |name| self.env.get(name).is_some();
        if has("AWS_ACCESS_KEY_ID") && has("AWS_SECRET_ACCESS_KEY") {
            return Candidate::Environment;
        }
        let name = self.set.selected_profile();
        let is_missing = self.set.get_profile(name).is_none() && name != DEFAULT;
        if let Some(how) = self.how().or(is_missing.then_some(How::Keys)) {
            return Candidate::Profile { name: name.to_owned(), how };
        }
        let in_container = super::super::variables::CONTAINER_CREDENTIALS.into_iter().any(has);
        if in_container { Candidate::Container } else { Candidate::InstanceMetadata }
    }

    fn how(&self) -> Option<How> {
        let (last, _) = self.sources().pop()?;
        let profile = self.set.get_profile(last)?;
        let has = |key| profile.get(key).is_some();
        // The order of aws-config.
        if has("web_identity_token_file") {
            Some(How::WebIdentity)
        } else if has("sso_session") || has("sso_start_url") {
            Some(How::Sso)
        } else if has("credential_process") {
            Some(How::Process)
        } else if has("role_arn") {
            Some(How::Role)
        } else {
            (has("aws_access_key_id") || has("aws_secret_access_key")).then_some(How::Keys)
        }
    }

    /// `endpoint_url` of the profile, for every service.
    pub(super) fn endpoint_url(&self) -> Option<&str> {
        self.set.get("endpoint_url").filter(|_| !self.env.is_on(IGNORE_CONFIGURED))
    }

    /// The region of environment and profile, or the first of the partition of the profile's role.
    pub(super) fn region(&self) -> Option<Region> {
        let named =
            ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| Region::parse(self.env.get(name)?));
        let of_role = || Partition::parse(RoleArn::parse(self.set.get("role_arn")?).ok()?.partition());
        named.or_else(|| Region::parse(self.set.get("region")?)).or_else(|| of_role().map(Partition::home))
    }

    /// The hosts that the user named for the login, in the environment or in the profile.
    pub(super) fn named_hosts(&self) -> Vec<(HostPort, NamedBy)> {
        let in_env = ENDPOINT_VARIABLES.into_iter().filter_map(|name| self.env.get(name));
        let in_profile =
            ["endpoint_url", "ec2_metadata_service_endpoint"].into_iter().filter_map(|key| self.set.get(key));
        let services = self.set.get("services");
        let of_services = LOGIN_SERVICES.into_iter().filter_map(|service| {
            let key = PropertiesKey::builder().section_key("services").section_name(services?).property_name(service);
            let key = key.sub_property_name("endpoint_url").build().ok()?;
            self.set.other_sections().get(&key).map(String::as_str)
        });
        let hosts = in_env.chain(in_profile).chain(of_services).filter_map(|url| HostPort::of(&url.parse().ok()?));
        hosts.map(|host| (host, NamedBy::User)).collect()
    }
}

impl Candidate {
    /// How people call it.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Environment => "access keys of the environment".to_owned(),
            Self::Profile { name, how } => {
                let how = match how {
                    How::Keys | How::Role => "",
                    How::WebIdentity => " (web identity)",
                    How::Sso => " (SSO)",
                    How::Process => " (credential process)",
                };
                format!("your own profile {name:?}{how}")
            }
            Self::Container => "the credentials of this container (ECS, EKS Pod Identity)".to_owned(),
            Self::InstanceMetadata => "the role of this instance (IMDSv2)".to_owned(),
        }
    }
}
