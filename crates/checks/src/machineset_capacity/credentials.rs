//! Where the annotating process would find its login to AWS, step by step.
//!
//! Invariants: half a pair of variables is an error before anything else is looked at. Upstream falls through to the
//! next source then, and says later that an instance type is unknown.

use super::context::CheckContext;
use super::facts::{LoginSort, Provider};
use super::process_environment::{Said, Seen, Whose};
use super::verdict::{Code, Verdict};
use trueup_core::world::{Gap, Key, Namespace, ObjectName};

/// The result of looking for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// The environment of the process is not known.
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
    pub fn of(context: &CheckContext<'_>, namespace: Option<&Namespace>, provider: &Provider) -> Self {
        let Seen { role, token_file, has_pod_identity, .. } = match &context.process_environment.said {
            Said::Nothing => return Self::NotJudged,
            Said::NotKnown(gap) => return Self::NotKnown(gap.clone()),
            Said::Known(seen) => seen,
        };
        match (role, token_file) {
            (Some(role), Some(token_file)) => {
                return Self::Role { role: role.clone(), token_file: token_file.clone() };
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
            | Provider::Foreign { .. } => return Self::None { has_pod_identity: *has_pod_identity },
        };
        let key = Key { namespace: namespace.cloned(), name: ObjectName::new(name.as_ref()) };
        match context.login(&key).known() {
            Err(gap) => Self::NotKnown(gap),
            Ok(None) => Self::SecretMissing { key },
            Ok(Some(login)) => match login.sort {
                LoginSort::Keys => Self::Secret { key, sort: SecretSort::Keys },
                LoginSort::WebIdentity => Self::Secret { key, sort: SecretSort::WebIdentity },
                LoginSort::Unusable => Self::SecretInvalid { key },
            },
        }
    }

    /// Whose login an account uses; nothing where there is none. A role that a pod takes on with a token
    /// of its own can't be taken on here.
    pub fn login(&self, whose: Whose) -> Option<String> {
        match (self, whose) {
            (Self::NotJudged, _) | (Self::Role { .. }, Whose::Process) => Some("environment".to_owned()),
            (Self::Role { .. }, Whose::Pod) => Some("pod".to_owned()),
            (Self::Secret { key, .. }, Whose::Process) => Some(format!("secret/{key}")),
            (Self::Secret { key, .. }, Whose::Pod) => Some(format!("pod/secret/{key}")),
            (
                Self::NotKnown(_)
                | Self::Half(_)
                | Self::SecretMissing { .. }
                | Self::SecretInvalid { .. }
                | Self::None { .. },
                _,
            ) => None,
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
