//! Where the annotating process would find its login to AWS, step by step.
//!
//! Always true: half a pair of variables is an error before anything else is looked at. Upstream falls through to the
//! next source then, and says later that an instance type is unknown.

use super::facts::{LoginSort, Provider};
use super::scene::{Sight, Site};
use super::verdict::{Code, Verdict};
use crate::world::{Gap, Key, Namespace, ObjectName};

/// What came of looking for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nobody says what the process would see.
    NotJudged,
    NotKnown(Gap),
    /// A role that is taken on with the service account's token.
    Role {
        role: String,
        token_file: String,
    },
    /// One of the pair without the other.
    Half(Half),
    Secret {
        key: Key,
        sort: SecretSort,
    },
    SecretMissing {
        key: Key,
    },
    SecretInvalid {
        key: Key,
    },
    /// No source at all.
    None {
        has_pod_identity: bool,
    },
}

/// Which of the pair is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    RoleAlone,
    TokenFileAlone,
}

/// A Secret that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretSort {
    Keys,
    WebIdentity,
}

impl Credentials {
    /// Rule 6.
    pub fn of(site: &Site<'_>, namespace: &Namespace, provider: &Provider) -> Self {
        let Some((_, reading)) = &site.environment else { return Self::NotJudged };
        let Some((_, environment)) = reading.iter().next() else {
            return reading.gap().map_or(Self::NotJudged, Self::NotKnown);
        };
        match (&environment.role, &environment.token_file) {
            (Some(role), Some(token_file)) => {
                return Self::Role { role: role.to_string(), token_file: token_file.to_string() };
            }
            (Some(_), None) => return Self::Half(Half::RoleAlone),
            (None, Some(_)) => return Self::Half(Half::TokenFileAlone),
            (None, None) => {}
        }
        let name = match provider {
            Provider::Inline { secret, .. } if !secret.is_empty() => secret,
            Provider::Inline { .. }
            | Provider::Template { .. }
            | Provider::Absent
            | Provider::Unreadable
            | Provider::Foreign { .. } => return Self::None { has_pod_identity: environment.has_pod_identity },
        };
        let key = Key { namespace: Some(namespace.clone()), name: ObjectName::new(name.as_ref()) };
        match site.login(&key) {
            Sight::NotKnown(gap) => Self::NotKnown(gap),
            Sight::Absent => Self::SecretMissing { key },
            Sight::Seen(login) => match login.sort {
                LoginSort::Keys => Self::Secret { key, sort: SecretSort::Keys },
                LoginSort::WebIdentity => Self::Secret { key, sort: SecretSort::WebIdentity },
                LoginSort::Unusable => Self::SecretInvalid { key },
            },
        }
    }

    /// How an account is told with whose login to ask; nothing where there is none.
    pub fn login(&self) -> Option<String> {
        match self {
            Self::NotJudged | Self::Role { .. } => Some("environment".to_owned()),
            Self::Secret { key, .. } => Some(format!("secret/{key}")),
            Self::NotKnown(_)
            | Self::Half(_)
            | Self::SecretMissing { .. }
            | Self::SecretInvalid { .. }
            | Self::None { .. } => None,
        }
    }

    /// The verdict where there is no login, and the code beside any verdict.
    pub fn verdict(&self) -> (Option<Verdict>, Option<Code>) {
        match self {
            Self::NotJudged | Self::Role { .. } | Self::Secret { sort: SecretSort::Keys, .. } => (None, None),
            Self::Secret { sort: SecretSort::WebIdentity, .. } => (None, Some(Code::SecretWebIdentity)),
            Self::NotKnown(_) => (Some(Verdict::Unknown), None),
            Self::Half(Half::RoleAlone) => {
                (Some(Verdict::CredentialsPartial), Some(Code::AwsWebIdentityTokenFileMissing))
            }
            Self::Half(Half::TokenFileAlone) => (Some(Verdict::CredentialsPartial), Some(Code::AwsRoleArnMissing)),
            Self::SecretMissing { .. } => (Some(Verdict::SecretMissing), None),
            Self::SecretInvalid { .. } => (Some(Verdict::SecretInvalid), None),
            Self::None { has_pod_identity } => {
                (Some(Verdict::CredentialsNone), has_pod_identity.then_some(Code::PodIdentity))
            }
        }
    }
}
