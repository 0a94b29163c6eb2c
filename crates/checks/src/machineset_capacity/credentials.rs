//! Where the annotating process would find its login to AWS, step by step.
//!
//! Invariants: half a pair of variables is an error before anything else is looked at. Upstream falls through to the
//! next source then, and says later that an instance type is unknown.

use super::catalogue::OWN_LOGIN;
use super::facts::{LoginSort, Provider, TokenMount};
use super::process_environment::{Said, Seen};
use super::subjects::Subject;
use super::verdict::{Code, Verdict};
use trueup_core::world::{Gap, Key, Link, ObjectName};

/// The result of looking for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// What the annotator sees is not known. `keys`: the Secret the set names, where it holds access keys.
    NotJudged {
        keys: Option<Key>,
    },
    NotKnown(Gap),
    /// A role that is taken on with the service account's token.
    Role {
        role: String,
        token_file: String,
        /// What is mounted there, where the pod is known.
        token: Option<TokenMount>,
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
    pub fn of(subject: &Subject<'_>) -> Self {
        let context = &subject.context;
        let Seen { role, token_file, has_pod_identity, pod, .. } = match &context.environment(subject.sort).said {
            Said::Nothing => return Self::NotJudged { keys: own_keys(subject) },
            Said::NotKnown(gap) => return Self::NotKnown(gap.clone()),
            Said::Known(seen) => seen,
        };
        match (role, token_file) {
            (Some(role), Some(token_file)) => {
                let token = pod.as_ref().map(|pod| pod.token.clone());
                return Self::Role { role: role.clone(), token_file: token_file.clone(), token };
            }
            (Some(_), None) => return Self::Half(Half::RoleAlone),
            (None, Some(_)) => return Self::Half(Half::TokenFileAlone),
            (None, None) => {}
        }
        let Some(key) = named_secret(subject) else { return Self::None { has_pod_identity: *has_pod_identity } };
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

    /// The login types are looked up with: the set's own keys where it has some, else this machine's own. Nothing where
    /// it is not known which.
    pub fn login(&self) -> Option<String> {
        match self {
            Self::NotJudged { keys: Some(key) } | Self::Secret { key, sort: SecretSort::Keys } => {
                Some(format!("secret/{key}"))
            }
            Self::NotJudged { keys: None }
            | Self::Role { .. }
            | Self::Secret { sort: SecretSort::WebIdentity, .. }
            | Self::Half(_)
            | Self::SecretMissing { .. }
            | Self::SecretInvalid { .. }
            | Self::None { .. } => Some(OWN_LOGIN.to_owned()),
            Self::NotKnown(_) => None,
        }
    }

    /// The verdict where there is no login, and the code beside any verdict.
    pub fn verdict(&self) -> (Option<Verdict>, Option<Code>) {
        match self {
            Self::Role { token: Some(TokenMount::NotMounted), .. } => {
                (Some(Verdict::TokenUnreadable), Some(Code::TokenNotMounted))
            }
            Self::Role { token: Some(TokenMount::NotAToken), .. } => {
                (Some(Verdict::TokenUnreadable), Some(Code::TokenPath))
            }
            Self::NotJudged { .. }
            | Self::Role { token: None | Some(TokenMount::NotNamed | TokenMount::Token { .. }), .. }
            | Self::Secret { sort: SecretSort::Keys, .. } => (None, None),
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

/// The Secret a set names for its login. Cluster API kinds name none.
fn named_secret(subject: &Subject<'_>) -> Option<Key> {
    match &subject.pool.provider {
        Provider::Inline { secret, .. } if !secret.is_empty() => {
            Some(Key { namespace: subject.namespace().cloned(), name: ObjectName::new(secret.as_ref()) })
        }
        Provider::Inline { .. }
        | Provider::Template { .. }
        | Provider::Absent
        | Provider::Unreadable
        | Provider::Foreign { .. } => None,
    }
}

/// The Secret a set of a live cluster names, where it holds access keys.
fn own_keys(subject: &Subject<'_>) -> Option<Key> {
    if subject.context.cluster.link == Link::Recorded {
        return None;
    }
    let key = named_secret(subject)?;
    let login = subject.context.login(&key).known().ok().flatten()?;
    (login.sort == LoginSort::Keys).then_some(key)
}
