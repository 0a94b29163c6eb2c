//! Which credentials are used: an explicit order, each step with its result. Pure.
//!
//! ```text
//!   environment: one of the two variables ──► refused, before anything else
//!        │ neither             └─ both ──► IRSA
//!        ▼
//!   the Secret the object names: keys ──► them;  absent, unusable ──► refused
//!        │ a web identity: its token is in the pod that uses it ──► on a workstation this machine's own login, else refused
//!        ▼ none named
//!   this machine's own login (`own_login`)
//! ```
//!
//! Invariants: a file that a Secret names is never read. A complete web identity comes before keys in the environment. Both
//! SDKs prefer the keys, so that a log line about a role can be false (`docs/facts/irsa-machineset.md` section 1.4).

use super::arn::RoleArn;
use super::sts::{Keys, WebIdentity};
use super::variables::{self, Variables};

/// What the environment says about IAM roles for service accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Irsa {
    Absent,
    Partial(Missing),
    Complete(WebIdentity),
    /// Both are there, and the role is no role's ARN.
    BadRole,
}

/// The variable that is missing while the other is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    RoleArn,
    TokenFile,
}

impl Missing {
    /// The code of the verdict `credentials-partial`.
    pub fn code(self) -> &'static str {
        match self {
            Self::RoleArn => "aws-role-arn-missing",
            Self::TokenFile => "aws-web-identity-token-file-missing",
        }
    }
}

/// The Secret an object names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedSecret {
    NotNamed,
    Absent,
    Held(SecretContent),
}

/// What a credentials Secret holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretContent {
    StaticKeys(Keys),
    WebIdentity(WebIdentity),
    Unusable { why: &'static str },
}

/// This machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    pub place: Place,
    /// What its login is configured as; nothing where only an instance's role is left.
    pub login: Option<String>,
}

/// Where the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a pod: its login is not the user's.
    Pod,
    Workstation,
}

/// What to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Irsa(WebIdentity),
    SecretKeys(Keys),
    /// This machine's own, and shown as such.
    OwnLogin,
}

/// Why nothing can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Partial(Missing),
    BadRole,
    SecretAbsent,
    SecretInvalid {
        why: &'static str,
    },
    /// The Secret names a token that is in the pod that uses it, and this machine has no login of its own.
    TokenElsewhere,
}

/// A step and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub message: String,
    pub went: Went,
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    /// Nothing there; on to the next.
    Past,
    Taken,
    Refused,
}

/// The way through the order, and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub steps: Vec<Step>,
    pub outcome: Result<Choice, Refusal>,
}

impl Irsa {
    pub fn of(env: &Variables) -> Self {
        match (env.get(variables::ROLE_ARN), env.get(variables::TOKEN_FILE)) {
            (Some(role), Some(file)) => match RoleArn::parse(role) {
                Ok(role) => Self::Complete(WebIdentity::new(role, file, env)),
                Err(_) => Self::BadRole,
            },
            (Some(_), None) => Self::Partial(Missing::TokenFile),
            (None, Some(_)) => Self::Partial(Missing::RoleArn),
            (None, None) => Self::Absent,
        }
    }
}

/// Walks through the order.
pub fn decide(env: &Variables, secret: NamedSecret, here: &Here) -> Decision {
    let mut steps = Vec::new();
    let mut step = |message: String, went: Went| steps.push(Step { message, went });
    match Irsa::of(env) {
        Irsa::Complete(identity) => {
            step(format!("environment: web identity of {}", identity.role), Went::Taken);
            return Decision { steps, outcome: Ok(Choice::Irsa(identity)) };
        }
        Irsa::Partial(missing) => {
            let refusal = Refusal::Partial(missing);
            step(format!("environment: {}", refusal.message()), Went::Refused);
            return Decision { steps, outcome: Err(refusal) };
        }
        Irsa::BadRole => {
            step(format!("environment: {}", Refusal::BadRole.message()), Went::Refused);
            return Decision { steps, outcome: Err(Refusal::BadRole) };
        }
        Irsa::Absent => {}
    }
    step("environment: no web identity variables".to_owned(), Went::Past);
    let outcome = match secret {
        NamedSecret::NotNamed => {
            let login = here.login.as_deref().unwrap_or("no keys, profile or container credentials");
            step(format!("this machine: {login}"), if here.login.is_some() { Went::Taken } else { Went::Past });
            return Decision { steps, outcome: Ok(Choice::OwnLogin) };
        }
        NamedSecret::Absent => Err(Refusal::SecretAbsent),
        NamedSecret::Held(SecretContent::Unusable { why }) => Err(Refusal::SecretInvalid { why }),
        NamedSecret::Held(SecretContent::StaticKeys(keys)) => {
            step("Secret: access keys".to_owned(), Went::Taken);
            return Decision { steps, outcome: Ok(Choice::SecretKeys(keys)) };
        }
        NamedSecret::Held(SecretContent::WebIdentity(identity)) => {
            step(
                format!("Secret: web identity of {}, whose token is in the pod that uses it", identity.role),
                Went::Past,
            );
            match (here.place, &here.login) {
                (Place::Workstation, Some(login)) => {
                    step(format!("this machine: {login}"), Went::Taken);
                    return Decision { steps, outcome: Ok(Choice::OwnLogin) };
                }
                (Place::Workstation, None) | (Place::Pod, _) => Err(Refusal::TokenElsewhere),
            }
        }
    };
    if let Err(refusal) = &outcome {
        step(format!("Secret: {}", refusal.message()), Went::Refused);
    }
    Decision { steps, outcome }
}

impl Refusal {
    pub fn message(self) -> String {
        match self {
            Self::Partial(Missing::RoleArn) => {
                "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing".to_owned()
            }
            Self::Partial(Missing::TokenFile) => {
                "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing".to_owned()
            }
            Self::BadRole => format!("AWS_ROLE_ARN: {}", super::arn::BadArn),
            Self::SecretAbsent => "the Secret is not there".to_owned(),
            Self::SecretInvalid { why } => format!("the Secret cannot be used: {why}"),
            Self::TokenElsewhere => {
                "the role's token is in the pod that uses it, and this machine has no AWS credentials".to_owned()
            }
        }
    }

    pub fn remedy(self) -> &'static str {
        match self {
            Self::Partial(Missing::TokenFile) => {
                "AWS_ROLE_ARN is set by hand, so the EKS webhook injected nothing: take it out of the pod's spec and \
                 annotate the ServiceAccount with eks.amazonaws.com/role-arn, or set both"
            }
            Self::Partial(Missing::RoleArn) => {
                "AWS_WEB_IDENTITY_TOKEN_FILE is set by hand, so the EKS webhook injected nothing: take it out of the \
                 pod's spec and annotate the ServiceAccount with eks.amazonaws.com/role-arn, or set both"
            }
            Self::BadRole => "write the role as arn:aws:iam::123456789012:role/name",
            Self::SecretAbsent => "create the Secret, or correct credentialsSecret.name in the provider spec",
            Self::TokenElsewhere => "name a profile with AWS_PROFILE, or run where the token is mounted",
            Self::SecretInvalid { .. } => {
                "give it aws_access_key_id and aws_secret_access_key, or credentials with a [default] profile"
            }
        }
    }
}
