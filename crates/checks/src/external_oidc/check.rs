//! The heart: what an Authentication asks for, who would refuse it, and the bytes it becomes.
//!
//! Invariants:
//! - the bytes are there exactly when the operator is known to write them;
//! - what depends on something unknown is `unknown`, unless something known already decides.
//!
//! Elsewhere: finding the inputs (`context`), the findings (`judge`).

use jiff::Timestamp;

use super::gates::Gates;
use super::problem::{Code, Problem, Refuser, Warning};
use super::render::render;
use super::spec::{AuthSpec, ClientStatus, TrustedIssuer};
use super::validate::{About, Findings, Unknown, validate};

/// Everything a check looks at.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    pub authentication: &'a AuthSpec,
    /// `status.oidcClients` of the same object.
    pub clients: &'a [ClientStatus],
    pub gates: &'a Gates,
    /// A ConfigMap of `openshift-config`, by name.
    pub ca: &'a dyn Fn(&str) -> CaBundle<'a>,
    /// A Secret of `openshift-config`, by name.
    pub secret: &'a dyn Fn(&str) -> Presence,
    /// `status.serviceAccountIssuers` of `KubeAPIServer/cluster`, or nothing while it is unknown.
    pub service_account_issuers: Option<&'a [TrustedIssuer]>,
    /// The text of `auth-config.json` as it is in the cluster, if it is there.
    pub present: Option<&'a str>,
    pub now: Timestamp,
}

/// What is known of a CA bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaBundle<'a> {
    /// Whether there is such a ConfigMap is not known, or what it holds.
    Unknown,
    Absent,
    /// There is no `data["ca-bundle.crt"]`, or it is empty.
    KeyMissing,
    Text(&'a str),
}

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Unknown,
    Absent,
    Present,
}

trueup_core::named_enum! {
    /// The verdict on an Authentication.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Verdict {
        Valid = "valid",
        Lockout = "lockout",
        Invalid = "invalid",
        KasWouldRefuse = "kas-would-refuse",
        Unknown = "unknown",
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub verdict: Verdict,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
    /// What could not be decided, a sentence each.
    pub unknowns: Vec<String>,
    /// The bytes of `auth-config.json`, where the operator would write them.
    pub rendered: Option<String>,
}

/// Judges an Authentication.
pub fn check(inputs: &Inputs<'_>) -> Checked {
    if !inputs.authentication.is_oidc() {
        let (problems, warnings, unknowns) = (Vec::new(), Vec::new(), Vec::new());
        return Checked { verdict: Verdict::Valid, problems, warnings, unknowns, rendered: None };
    }
    let Findings { problems, warnings, unknowns } = validate(inputs);
    let verdict = verdict(&problems, &unknowns);
    let undecided = unknowns.iter().any(|unknown| unknown.about == About::Writing);
    let written = !undecided && !problems.iter().any(is_invalid);
    let rendered = written.then(|| render(inputs.authentication, inputs.gates, inputs.ca)).flatten();
    let unknowns = unknowns.into_iter().map(|unknown| unknown.message).collect();
    Checked { verdict, problems, warnings, unknowns, rendered }
}

/// The first that holds; what can't be decided counts where it could change the answer.
fn verdict(problems: &[Problem], unknowns: &[Unknown]) -> Verdict {
    if problems.iter().any(|problem| problem.code == Code::NoProviders) {
        return Verdict::Lockout;
    }
    if problems.iter().any(is_invalid) {
        return Verdict::Invalid;
    }
    if unknowns.iter().any(|unknown| unknown.about == About::Writing) {
        return Verdict::Unknown;
    }
    let may_not_start = unknowns.iter().any(|unknown| unknown.about == About::Starting);
    match (problems.is_empty(), may_not_start) {
        (false, _) => Verdict::KasWouldRefuse,
        (true, true) => Verdict::Unknown,
        (true, false) => Verdict::Valid,
    }
}

fn is_invalid(problem: &Problem) -> bool {
    match problem.refuser {
        Refuser::Schema | Refuser::Operator => true,
        Refuser::KubeApiserver | Refuser::Nobody => false,
    }
}
