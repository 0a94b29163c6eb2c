//! What an `oidc` command judges: a cluster's Authentication, a guest's HostedCluster, or a file in their place.
//!
//! Invariants: CAs, Secrets, trusted issuers and gates always come from the cluster or the snapshot.

use std::path::Path;

use super::super::error::CliError;
use super::candidate::Candidate;
use super::chosen;
use trueup_checks::DiscoveryProbe;
use trueup_checks::external_oidc::{
    AuthKind, AuthSpec, CandidateSpec, CheckContext, Checked, Gates, SpecVerdict, discovery,
};
use trueup_checks::hosted_oidc::{AuthBlock, HostedContext, check_new};
use trueup_core::world::{Cluster, Gap, HostedBy, View};

/// The command line's question.
pub struct Asked {
    cluster: Option<String>,
    candidate: Option<Candidate>,
}

impl Asked {
    /// Reads the file before anything is connected.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn new(cluster: Option<String>, file: Option<&Path>) -> Result<Self, CliError> {
        Ok(Self { cluster, candidate: file.map(Candidate::read).transpose()? })
    }

    /// The cluster that is meant.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn cluster<'v>(&self, view: View<'v>) -> Result<&'v Cluster, CliError> {
        chosen::choose(view, self.cluster.as_deref())
    }
}

/// A spec with the result of checking it.
pub struct JudgedSpec {
    /// `Authentication/cluster`, `HostedCluster clusters/guest-a`, or the file.
    pub title: String,
    pub spec: AuthSpec,
    /// Which fields count, or why that is not known.
    pub gates: Result<Gates, CliError>,
    pub checked: Checked,
    /// The discovery document of the cluster's own provider.
    pub document: Option<DiscoveryProbe>,
    /// What to say on stderr.
    pub notes: Vec<String>,
}

/// Judges what was asked for.
///
/// # Errors
/// There is no such cluster, or what it takes is not known.
pub fn judge(view: View<'_>, asked: &Asked) -> Result<JudgedSpec, CliError> {
    let cluster = asked.cluster(view)?;
    let guest = HostedContext::of_guest(view, &cluster.name);
    match (&asked.candidate, guest) {
        (None, Some(found)) => of_hosted(&found.map_err(|gap| not_known(cluster, gap))?, cluster),
        (None, None) => of_cluster(&chosen::context_of(view, cluster)?),
        (Some(candidate), Some(found)) => {
            let context = found.map_err(|gap| not_known(cluster, gap))?;
            let (spec, issuer) = match candidate {
                Candidate::Authentication(spec) => (Some(spec), None),
                Candidate::HostedCluster { block, issuer_url, .. } => (given(block)?, issuer_url.as_deref()),
            };
            let issuer = issuer.unwrap_or(&context.cluster.issuer_url);
            let gates = context.gates();
            Ok(of_file(spec, gates, |spec| Ok(context.check_with_issuer(spec, issuer)))?.hosted())
        }
        (Some(Candidate::Authentication(spec)), None) => {
            let context = chosen::context_of(view, cluster)?;
            let gates = context.gates.clone().map_err(|gap| not_known(cluster, gap))?;
            of_file(Some(spec), gates, |spec| context.check_candidate(spec).map_err(|gap| not_known(cluster, gap)))
        }
        (Some(Candidate::HostedCluster { namespace, name, block, issuer_url }), None) => {
            let (namespace, name) = (namespace.clone(), name.clone());
            let by = HostedBy { cluster: cluster.name.clone(), namespace, name };
            let issuer = issuer_url.as_deref();
            match HostedContext::of(view, by.clone()) {
                Some(context) => {
                    let issuer = issuer.unwrap_or(&context.cluster.issuer_url);
                    of_file(given(block)?, context.gates(), |spec| Ok(context.check_with_issuer(spec, issuer)))
                }
                None => {
                    let check = |spec: &CandidateSpec| Ok(check_new(view, &by, spec, issuer.unwrap_or_default()));
                    of_file(given(block)?, Gates::of_release(None), check)
                }
            }
            .map(JudgedSpec::hosted)
        }
    }
}

fn not_known(cluster: &Cluster, gap: Gap) -> CliError {
    CliError::refused(
        format!("cluster {}", cluster.name),
        gap.message.to_string(),
        "see trueup doctor for what can be read",
    )
}

/// The authentication of a HostedCluster in a file; nothing where it has none.
fn given(block: &AuthBlock) -> Result<Option<&CandidateSpec>, CliError> {
    match block {
        AuthBlock::Given(candidate) => Ok(Some(candidate)),
        AuthBlock::Absent => Ok(None),
        AuthBlock::TypeEmpty | AuthBlock::Unreadable(_) => Err(CliError::refused(
            "-f",
            "spec.configuration.authentication.type is empty, and HyperShift refuses that",
            "set it to OIDC or IntegratedOAuth",
        )),
    }
}

fn of_cluster(context: &CheckContext<'_>) -> Result<JudgedSpec, CliError> {
    let failed = |gap: Gap| not_known(context.cluster, gap);
    let checked = context.checked().map_err(failed)?.clone();
    let spec = context.authentication.seen.map(|authentication| authentication.spec.clone()).unwrap_or_default();
    let gates = context.gates.clone().map_err(failed);
    let title = "Authentication/cluster".to_owned();
    Ok(JudgedSpec { title, spec, gates, checked, document: discovery(context), notes: Vec::new() })
}

fn of_hosted(context: &HostedContext<'_>, cluster: &Cluster) -> Result<JudgedSpec, CliError> {
    let checked = context.checked().map_err(|gap| not_known(cluster, gap))?.unwrap_or_else(nothing);
    let spec = match &context.cluster.block {
        AuthBlock::Given(candidate) => candidate.spec.clone(),
        AuthBlock::Absent | AuthBlock::TypeEmpty | AuthBlock::Unreadable(_) => AuthSpec::default(),
    };
    let title = format!("HostedCluster {}", context.key());
    let judged = JudgedSpec { title, spec, gates: Ok(context.gates()), checked, document: None, notes: Vec::new() };
    Ok(judged.hosted())
}

/// A file without authentication asks for nothing.
fn nothing() -> Checked {
    let (problems, warnings, unknowns) = (Vec::new(), Vec::new(), Vec::new());
    Checked { verdict: SpecVerdict::Valid, problems, warnings, unknowns, rendered: None }
}

fn of_file(
    candidate: Option<&CandidateSpec>,
    gates: Gates,
    check: impl Fn(&CandidateSpec) -> Result<Checked, CliError>,
) -> Result<JudgedSpec, CliError> {
    let mut notes = Vec::new();
    let gates = Ok(gates);
    let title = "the file".to_owned();
    let Some(candidate) = candidate else {
        return Ok(JudgedSpec { title, spec: AuthSpec::default(), gates, checked: nothing(), document: None, notes });
    };
    let mut candidate = candidate.clone();
    if !candidate.spec.is_oidc() && !candidate.spec.providers.is_empty() {
        notes
            .push(format!("the type in the file is {}; it is judged as if it were OIDC", candidate.spec.kind.as_str()));
        candidate.spec.kind = AuthKind::Oidc;
    }
    let checked = check(&candidate)?;
    Ok(JudgedSpec { title, spec: candidate.spec, gates, checked, document: None, notes })
}

impl JudgedSpec {
    /// Says what is different for a hosted cluster.
    fn hosted(mut self) -> Self {
        let message = "HyperShift writes a file of its own, which may be spelled differently and is not compared";
        self.notes.push(message.to_owned());
        self
    }

    /// The type where it is not OIDC.
    pub fn not_oidc(&self) -> Option<&str> {
        (!self.spec.is_oidc()).then(|| self.spec.kind.as_str())
    }
}
