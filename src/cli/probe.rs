//! Trying things out, because somebody asked for it: `plan --probe`, `oidc render --probe`, and a key of the console.
//!
//! Always true: nothing is tried that its check does not allow, and nothing of a recording.

use std::collections::BTreeMap;

use futures::StreamExt as _;

use super::context::Context;
use super::look::{ObservedFleet, Seen};
use super::members::wall_clock;
use trueup_checks::external_oidc::WarningCode;
use trueup_checks::{Check, DiscoveryProbe, KubeconfigProbe, Probe};
use trueup_core::engine::{Evidence, Judged, PlanScope, SubjectId};
use trueup_core::world::View;
use trueup_fleet::connect::{Env, Fetched, ProbePlace, Probed, WellKnown, fetch_well_known, probe};
use trueup_fleet::live::Live;

/// Tries under way at once: each may take seconds, and none of them loads a cluster.
const AT_ONCE_MAX: usize = 16;

/// What was found out by trying, by subject.
pub type Tried = BTreeMap<SubjectId, Trial>;

/// What was found out by trying one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    Kubeconfig(Probed),
    Discovery(Fetched),
}

impl Trial {
    /// In a sentence.
    pub fn says(&self) -> String {
        match self {
            Self::Kubeconfig(probed) => probed.says(),
            Self::Discovery(fetched) => fetched.says(),
        }
    }

    /// The code a finding gets for it.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Kubeconfig(_) => None,
            Self::Discovery(fetched) => discovery_code(fetched).map(WarningCode::as_str),
        }
    }

    /// Whether it is bad enough to stand in the summary.
    fn is_bad(&self) -> bool {
        match self {
            Self::Kubeconfig(probed) => matches!(probed, Probed::NotAccepted(_)),
            Self::Discovery(fetched) => discovery_code(fetched).is_some(),
        }
    }
}

/// The warning that a discovery document is worth.
pub fn discovery_code(fetched: &Fetched) -> Option<WarningCode> {
    match fetched {
        Fetched::OtherIssuer(_) => Some(WarningCode::IssuerMismatch),
        Fetched::Unreachable(_) => Some(WarningCode::DiscoveryUnreachable),
        Fetched::Fine(_) | Fetched::NotTried(_) => None,
    }
}

/// Something that may be tried, and the subject it is about.
pub struct Wanted {
    subject: SubjectId,
    what: Ready,
}

/// Something that can be tried now.
pub enum Ready {
    /// With the client of the cluster it lies in.
    Kubeconfig(KubeconfigProbe, Option<kube::Client>),
    Discovery(DiscoveryProbe),
}

/// Everything of the scope that may be tried.
pub fn wanted(context: &Context, seen: &Seen, scope: &PlanScope) -> Vec<Wanted> {
    let ObservedFleet::Fleet(live) = &seen.sight else {
        context.note(RECORDING);
        return Vec::new();
    };
    let subjects = live.judgements().iter().map(|(subject, _)| subject).filter(|subject| scope.covers(subject));
    let wanted = |subject: &SubjectId| Some(Wanted { subject: subject.clone(), what: may_try(live, subject)? });
    subjects.filter_map(wanted).collect()
}

/// What a person is told who wants to try what is in a folder.
pub const RECORDING: &str = "--probe: a recording can't be tried";

/// Tries them, a few at once.
pub async fn try_all(context: &Context, wanted: Vec<Wanted>) -> Tried {
    let tries = wanted.into_iter().map(|Wanted { subject, what }| async move {
        let trial = try_one(&what, &context.env).await;
        (subject, trial)
    });
    futures::stream::iter(tries).buffer_unordered(AT_ONCE_MAX).collect().await
}

/// What may be tried of a subject, when its check lets it.
pub fn may_try(live: &Live, subject: &SubjectId) -> Option<Ready> {
    Some(match allowed(live.domains(), subject, live.view())? {
        Probe::Kubeconfig(probe) => {
            let client = live.client(&probe.cluster);
            Ready::Kubeconfig(probe, client)
        }
        Probe::Discovery(probe) => Ready::Discovery(probe),
    })
}

fn allowed(domains: &[Box<dyn Check>], subject: &SubjectId, view: View<'_>) -> Option<Probe> {
    domains.iter().find(|domain| domain.name() == subject.domain)?.probe(subject, view)
}

pub async fn try_one(what: &Ready, env: &Env) -> Trial {
    match what {
        Ready::Kubeconfig(KubeconfigProbe { cluster, .. }, None) => {
            Trial::Kubeconfig(Probed::NotTried(format!("{cluster} is not connected")))
        }
        Ready::Kubeconfig(KubeconfigProbe { cluster: _, namespace, secret, key }, Some(client)) => {
            let place = ProbePlace { namespace, secret, key };
            Trial::Kubeconfig(probe(client, place, env, wall_clock()).await)
        }
        Ready::Discovery(probe) => Trial::Discovery(fetch(probe, env).await),
    }
}

/// Fetches a discovery document.
pub async fn fetch(probe: &DiscoveryProbe, env: &Env) -> Fetched {
    let DiscoveryProbe { url, issuer, roots } = probe;
    fetch_well_known(WellKnown { url, issuer, roots: roots.as_deref() }, env).await
}

/// Adds what was found out to what is said of each subject.
pub fn add(judged: &mut [Judged], tried: &Tried) {
    for Judged { subject, judgement, explanation } in judged {
        let Some(trial) = tried.get(subject) else { continue };
        let says = trial.says();
        if trial.is_bad() {
            explanation.summary = format!("{}; {says}", explanation.summary);
        }
        judgement.codes.extend(trial.code());
        judgement.codes.sort_unstable();
        judgement.codes.dedup();
        let place = match &subject.namespace {
            Some(namespace) => format!("{namespace}/{}", subject.name),
            None => subject.name.clone(),
        };
        explanation.evidence.push(Evidence {
            says,
            object: format!("{} {} {place}", subject.cluster, subject.kind),
            field: String::new(),
            resource_version: String::new(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::{Explanation, Judgement, State};
    use trueup_core::world::ClusterName;

    #[test]
    fn what_is_bad_is_in_the_summary_and_whatever_was_found_is_evidence() {
        let subject = |name: &str| SubjectId {
            domain: trueup_core::engine::CheckName("kubeconfig"),
            cluster: ClusterName::new("mgmt"),
            api_version: "v1",
            kind: "Secret",
            namespace: Some("team".to_owned()),
            name: name.to_owned(),
            cloud: None,
        };
        let judgement =
            Judgement { state: State::Match, verdict: "fresh", codes: Vec::new(), ownership_proofs: 0, until: None };
        let explanation = Explanation {
            uid: None,
            created: None,
            summary: "good for 9 minutes".to_owned(),
            expected: serde_json::Value::Null,
            actual: serde_json::Value::Null,
            evidence: Vec::new(),
            remedy: Vec::new(),
        };
        let refused = Probed::NotAccepted("the server does not accept it (401)".to_owned());
        let (other, away) = (Fetched::OtherIssuer("another".to_owned()), Fetched::Unreachable("away".to_owned()));
        let cases: [(&str, Option<Trial>, &str, &[&str]); 8] = [
            ("refused", Some(Trial::Kubeconfig(refused)), "good for 9 minutes; tried: the server does", &[]),
            ("accepted", Some(Trial::Kubeconfig(Probed::Accepted)), "good for 9 minutes", &[]),
            ("another issuer", Some(Trial::Discovery(other)), "; tried from here: another", &["issuer-mismatch"]),
            ("no document", Some(Trial::Discovery(away)), "; tried from here: away", &["discovery-unreachable"]),
            ("as expected", Some(Trial::Discovery(Fetched::Fine("x".to_owned()))), "good for 9 minutes", &[]),
            ("not asked", Some(Trial::Discovery(Fetched::NotTried("x".to_owned()))), "good for 9 minutes", &[]),
            ("not reached", Some(Trial::Kubeconfig(Probed::NotReached("x".to_owned()))), "good for 9 minutes", &[]),
            ("not tried", None, "good for 9 minutes", &[]),
        ];
        for (case, trial, expected, codes) in cases {
            let (judgement, explanation) = (judgement.clone(), explanation.clone());
            let mut judged = [Judged { subject: subject(case), judgement, explanation }];
            let evidence = usize::from(trial.is_some());
            add(&mut judged, &trial.into_iter().map(|trial| (subject(case), trial)).collect());
            let Explanation { summary, evidence: found, .. } = &judged[0].explanation;
            let fits =
                if expected.starts_with("good") { summary.starts_with(expected) } else { summary.contains(expected) };
            assert!(fits, "case: {case}: {summary}");
            assert_eq!((found.len(), judged[0].judgement.codes.as_slice()), (evidence, codes), "case: {case}");
        }
    }
}
