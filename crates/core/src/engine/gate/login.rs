//! The gate for changes of who can log in: the user who makes one must still be able to log in afterwards.
//!
//! Invariants: a login that may not survive counts as one that does not.
//! Elsewhere: finding out how the user is logged in. [`OwnLogin`] is what was found out.

use super::{Blocked, Candidate, GateInputs, GateName, blocked};
use crate::engine::action::Stake;

/// How we are logged in to a cluster ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnLogin {
    /// kube-apiserver trusts the CA that signed it, whatever logs other users in.
    Certificate,
    /// kube-apiserver signs it itself.
    ServiceAccount,
    /// There is no network in between: the demo and tests.
    InProcess,
    /// Anything else, and why it ends with the change or may do so.
    MayEnd(String),
}

impl OwnLogin {
    /// Whether it works whatever logs other users in, in a sentence.
    ///
    /// # Errors
    /// The sentence says why it may not.
    pub fn survives(&self) -> Result<&'static str, String> {
        match self {
            Self::Certificate => Ok("your own login is a client certificate, which keeps working"),
            Self::ServiceAccount => Ok("your own login is a service account's token, which keeps working"),
            Self::InProcess => Ok("nothing logs in here"),
            Self::MayEnd(why) => Err(why.clone()),
        }
    }
}

/// Users do not lock themselves out.
pub fn own_login(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let name = candidate.cluster();
    if candidate.draft.stake != Stake::Login || !around.is_live(name) {
        return None;
    }
    let why = match around.conditions.logins.get(name) {
        Some(login) => login.survives().err()?,
        None => "how you are logged in is not known".to_owned(),
    };
    let way_out = "use a context with a client certificate, such as the installer's admin kubeconfig";
    Some(blocked(GateName::Access, format!("you could lose your own access to {name}: {why}; {way_out}")))
}
