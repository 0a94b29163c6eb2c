//! The heart: what an Authentication asks for, who would refuse it, and the bytes it becomes.
//!
//! Invariants:
//! - the bytes are there exactly when the operator is known to write them;
//! - what depends on something unknown is `unknown`, unless something known already decides.
//!
//! Elsewhere: finding the inputs (`context`), the findings (`judge`).

use jiff::Timestamp;

use super::fields::UnknownField;
use super::gates::Gates;
use super::problem::{Code, Problem, Refuser, Warning};
use super::render::render;
use super::spec::{AuthSpec, ClientStatus, TrustedIssuer};
use super::validate::{About, Findings, Unknown, validate};
use trueup_core::world::ResourceVersion;

/// Everything a check looks at.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    pub authentication: &'a AuthSpec,
    pub provenance: Provenance,
    /// Fields of the same spec that no CRD has.
    pub unknown_fields: &'a [UnknownField],
    pub references: References<'a>,
    /// `status.oidcClients` of the same object.
    pub clients: &'a [ClientStatus],
    pub gates: &'a Gates,
    /// A ConfigMap of the namespace references point into, by name.
    pub ca: &'a dyn Fn(&str) -> CaBundle<'a>,
    /// A Secret of the same namespace, by name.
    pub secret: &'a dyn Fn(&str) -> Presence,
    /// `status.serviceAccountIssuers` of `KubeAPIServer/cluster`, or nothing while it is unknown.
    pub service_account_issuers: Option<&'a [TrustedIssuer]>,
    /// The text of `auth-config.json` as it is in the cluster, if it is there.
    pub present: Option<&'a str>,
    pub now: Timestamp,
}

/// Where a spec comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// An API server has accepted it.
    Stored,
    /// It is in a file: an API server with strict validation, as kubectl asks for, would still refuse it.
    File,
}

impl Provenance {
    /// By the object's version: only an API server gives it one.
    pub fn of(version: &ResourceVersion) -> Self {
        match version {
            ResourceVersion::Text(text) if text.is_empty() => Self::File,
            ResourceVersion::Text(_) | ResourceVersion::Number(_) => Self::Stored,
        }
    }
}

/// A spec that may be judged in place of the one a cluster has.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateSpec {
    pub spec: AuthSpec,
    pub unknown_fields: Vec<UnknownField>,
    pub provenance: Provenance,
}

/// The namespace that CAs and client secrets are looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References<'a> {
    /// `openshift-config` of the cluster itself.
    OpenshiftConfig,
    /// The namespace of a HostedCluster, in its management cluster.
    HostedCluster { namespace: &'a str },
}

impl References<'_> {
    pub fn namespace(&self) -> &str {
        match self {
            Self::OpenshiftConfig => "openshift-config",
            Self::HostedCluster { namespace } => namespace,
        }
    }
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
    let Findings { problems, warnings, unknowns } = validate(inputs);
    let verdict = verdict(&problems, &unknowns);
    let undecided = unknowns.iter().any(|unknown| unknown.about == About::Writing);
    let written = inputs.authentication.is_oidc() && !undecided && !problems.iter().any(is_invalid);
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
