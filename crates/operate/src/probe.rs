//! Probes on request: kubeconfigs, discovery documents and roles, each asked once.
//!
//! Invariants: nothing is probed that its check does not allow, and nothing of a snapshot.

use std::collections::BTreeMap;

use futures::StreamExt as _;

use crate::error::OperateError;
use crate::event::Notice;
use crate::fleet::Fleet;
use crate::session::{Session, wall_clock};
use trueup_checks::external_oidc::WarningCode;
use trueup_checks::{Check, DiscoveryProbe, KubeconfigProbe, Probe, RoleProbe, machineset_capacity};
use trueup_core::engine::{Evidence, Judged, PlanScope, SubjectId};
use trueup_core::world::{HostedBy, View};
use trueup_fleet::clouds::aws::account::{AwsCache, AwsWay, RoleTrial, RoleTried, try_role};
use trueup_fleet::connect::{
    Connection, Env, Fetched, GuestOrigin, ProbePlace, Probed, WellKnown, fetch_well_known, probe,
};
use trueup_fleet::live::Live;
use trueup_net::Egress;

/// Concurrent probes: each may take seconds, and none loads a cluster.
const CONCURRENT_MAX: usize = 16;

/// Results of probes, by subject.
pub type Probes = BTreeMap<SubjectId, ProbeResult>;

/// The result of one probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeResult {
    Kubeconfig(Probed),
    Discovery(Fetched),
    Role(RoleTried),
}

impl ProbeResult {
    /// One sentence.
    pub fn message(&self) -> String {
        match self {
            Self::Kubeconfig(probed) => probed.message(),
            Self::Discovery(fetched) => fetched.message(),
            Self::Role(tried) => tried.message(),
        }
    }

    /// What else there is to know, one line each.
    pub fn details(&self) -> &[String] {
        match self {
            Self::Kubeconfig(_) | Self::Discovery(_) => &[],
            Self::Role(tried) => tried.details(),
        }
    }

    /// The code it adds to a finding.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Kubeconfig(_) | Self::Role(_) => None,
            Self::Discovery(fetched) => discovery_code(fetched).map(WarningCode::as_str),
        }
    }

    /// Whether the summary of the finding mentions it.
    fn is_bad(&self) -> bool {
        match self {
            Self::Kubeconfig(probed) => matches!(probed, Probed::NotAccepted(_)),
            Self::Discovery(fetched) => discovery_code(fetched).is_some(),
            Self::Role(tried) => matches!(tried, RoleTried::Refused { .. }),
        }
    }
}

/// The warning about a discovery document.
pub fn discovery_code(fetched: &Fetched) -> Option<WarningCode> {
    match fetched {
        Fetched::OtherIssuer(_) => Some(WarningCode::IssuerMismatch),
        Fetched::Unreachable(_) => Some(WarningCode::DiscoveryUnreachable),
        Fetched::Fine(_) | Fetched::NotTried(_) => None,
    }
}

/// A probe that can be sent now.
pub enum Ready {
    /// With the connection to the cluster that holds the Secret, and the fleet's name of the cluster it leads to.
    Kubeconfig {
        probe: Box<KubeconfigProbe>,
        holder: Option<Box<Connection>>,
        leads_to: String,
    },
    Discovery(DiscoveryProbe),
    /// With the connection to the cluster of the workload.
    Role {
        probe: Box<RoleProbe>,
        cluster: Option<Box<Connection>>,
    },
}

impl Fleet {
    /// Probes everything of the scope that its check allows.
    ///
    /// # Errors
    /// The loop has ended.
    pub async fn probe(&self, scope: PlanScope) -> Result<Probes, OperateError> {
        if self.recording().is_some() {
            self.session().events.notice(Notice::ProbeOfSnapshot);
            return Ok(Probes::new());
        }
        let allowed = move |live: &Live| {
            let subjects = live.judgements().iter().map(|(subject, _)| subject);
            let covered = subjects.filter(|subject| scope.covers(subject));
            covered.filter_map(|subject| Some((subject.clone(), may_probe(live, subject)?))).collect::<Vec<_>>()
        };
        let session = self.session();
        let probes = self.ask(allowed).await?.into_iter().map(|(subject, ready)| async move {
            let result = probe_one(&ready, session).await;
            (subject, result)
        });
        Ok(futures::stream::iter(probes).buffer_unordered(CONCURRENT_MAX).collect().await)
    }
}

/// The probe of a subject, when its check allows one.
pub fn may_probe(live: &Live, subject: &SubjectId) -> Option<Ready> {
    Some(match allowed(live.domains(), subject, live.view())? {
        Probe::Kubeconfig(probe) => {
            let holder = live.connection(&probe.cluster).cloned().map(Box::new);
            let leads_to = leads_to(live.view(), &probe);
            Ready::Kubeconfig { probe: Box::new(probe), holder, leads_to }
        }
        Probe::Discovery(probe) => Ready::Discovery(probe),
        Probe::Role(probe) => {
            let cluster = live.connection(&probe.cluster).cloned().map(Box::new);
            Ready::Role { probe: Box::new(probe), cluster }
        }
    })
}

fn allowed(domains: &[Box<dyn Check>], subject: &SubjectId, view: View<'_>) -> Option<Probe> {
    domains.iter().find(|domain| domain.name() == subject.domain)?.probe(subject, view)
}

/// The name by which `[egress] guests` knows the cluster that a kubeconfig leads to: that of the fleet, or its own where no
/// other cluster of the fleet has it.
fn leads_to(view: View<'_>, probe: &KubeconfigProbe) -> String {
    let KubeconfigProbe { cluster, namespace, leads_to, .. } = probe;
    let is_it =
        |by: &HostedBy| by.cluster == *cluster && by.namespace.as_str() == namespace && by.name.as_str() == leads_to;
    let hosted = view.clusters().find(|known| known.hosted_by.as_ref().is_some_and(is_it));
    match hosted {
        Some(known) => known.name.to_string(),
        None if view.clusters().any(|known| known.name.as_str() == leads_to) => {
            format!("{cluster}/{namespace}/{leads_to}")
        }
        None => leads_to.clone(),
    }
}

pub async fn probe_one(what: &Ready, session: &Session) -> ProbeResult {
    match what {
        Ready::Kubeconfig { probe, holder: None, .. } => {
            ProbeResult::Kubeconfig(Probed::NotTried(format!("{} is not connected", probe.cluster)))
        }
        Ready::Kubeconfig { probe: asked, holder: Some(holder), leads_to } => {
            let KubeconfigProbe { cluster: _, namespace, secret, key, leads_to: _ } = &**asked;
            let place = ProbePlace { namespace, secret, key };
            let origin = GuestOrigin {
                cluster: leads_to.clone(),
                holder: holder.holder_reach(),
                egress: session.settings.egress.clone(),
            };
            ProbeResult::Kubeconfig(probe(&holder.client, place, &origin, &session.env, wall_clock()).await)
        }
        Ready::Discovery(probe) => ProbeResult::Discovery(fetch(probe, &session.env, &session.settings.egress).await),
        Ready::Role { probe, cluster: None } => {
            ProbeResult::Role(RoleTried::NotTried(format!("{} is not connected", probe.cluster)))
        }
        Ready::Role { probe, cluster: Some(cluster) } => {
            let RoleProbe { cluster: _, namespace, service_account, audience, role, region } = &**probe;
            let trial = RoleTrial { namespace, service_account, audience: audience.as_deref(), role, region };
            let cache = AwsCache::new(AwsWay::Network, &session.env, wall_clock());
            let cache = cache.with_egress(session.settings.egress.clone());
            ProbeResult::Role(try_role(&cache, &cluster.client, &trial).await)
        }
    }
}

/// Fetches a discovery document.
pub async fn fetch(probe: &DiscoveryProbe, env: &Env, egress: &Egress) -> Fetched {
    let DiscoveryProbe { url, issuer, roots } = probe;
    fetch_well_known(WellKnown { url, issuer, roots: roots.as_deref() }, env, egress).await
}

/// Adds results to what was judged.
pub(crate) fn add(judged: &mut [Judged], probes: &Probes) {
    for one in judged {
        let Some(result) = probes.get(&one.subject) else { continue };
        match result {
            ProbeResult::Role(RoleTried::Refused { .. }) => machineset_capacity::apply_refusal(one),
            ProbeResult::Role(RoleTried::Accepted { .. } | RoleTried::NotTried(_))
            | ProbeResult::Kubeconfig(_)
            | ProbeResult::Discovery(_) => {}
        }
        let Judged { subject, judgement, explanation } = one;
        let message = result.message();
        if result.is_bad() {
            explanation.summary = format!("{}; {message}", explanation.summary);
        }
        judgement.codes.extend(result.code());
        judgement.codes.sort_unstable();
        judgement.codes.dedup();
        let place = match &subject.namespace {
            Some(namespace) => format!("{namespace}/{}", subject.name),
            None => subject.name.clone(),
        };
        let object = format!("{} {} {place}", subject.cluster, subject.kind);
        let lines = std::iter::once(message).chain(result.details().iter().cloned());
        explanation.evidence.extend(lines.map(|message| Evidence {
            message,
            object: object.clone(),
            field: String::new(),
            resource_version: String::new(),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::{Explanation, Judgement, State};
    use trueup_core::world::ClusterName;

    #[test]
    fn a_refused_role_is_denied_with_the_trust_policy_as_evidence() {
        let subject = SubjectId {
            domain: trueup_core::engine::CheckName("machineset-capacity"),
            cluster: ClusterName::new("shop"),
            api_version: "machine.openshift.io/v1beta1",
            kind: "MachineSet",
            namespace: Some("openshift-machine-api".to_owned()),
            name: "workers".to_owned(),
            cloud: None,
        };
        let refused = RoleTried::Refused {
            why: "AccessDenied".to_owned(),
            claims: "aud a".to_owned(),
            beside: vec!["trust policy: x: differs".to_owned()],
        };
        let accepted = RoleTried::Accepted { assumed: "arn".to_owned(), claims: "aud a".to_owned() };
        let cases = [
            ("refused", refused, "denied", State::Error, 2),
            ("accepted", accepted, "match", State::Match, 1),
            ("not tried", RoleTried::NotTried("x".to_owned()), "match", State::Match, 1),
        ];
        for (case, tried, verdict, state, lines) in cases {
            let judgement = Judgement {
                state: State::Match,
                verdict: "match",
                codes: Vec::new(),
                ownership_proofs: 0,
                until: None,
            };
            let explanation = Explanation {
                uid: None,
                created: None,
                summary: "annotated".to_owned(),
                expected: serde_json::Value::Null,
                actual: serde_json::Value::Null,
                evidence: Vec::new(),
                remedy: Vec::new(),
            };
            let mut judged = [Judged { subject: subject.clone(), judgement, explanation }];
            add(&mut judged, &Probes::from([(subject.clone(), ProbeResult::Role(tried))]));
            let [Judged { judgement, explanation, .. }] = judged;
            assert_eq!((judgement.verdict, judgement.state), (verdict, state), "case: {case}");
            assert_eq!(explanation.evidence.len(), lines, "case: {case}");
        }
    }

    #[test]
    fn a_failed_probe_is_in_the_summary_and_every_probe_is_evidence() {
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
        let cases: [(&str, Option<ProbeResult>, &str, &[&str]); 8] = [
            ("refused", Some(ProbeResult::Kubeconfig(refused)), "good for 9 minutes; tried: the server does", &[]),
            ("accepted", Some(ProbeResult::Kubeconfig(Probed::Accepted)), "good for 9 minutes", &[]),
            ("another issuer", Some(ProbeResult::Discovery(other)), "; tried from here: another", &["issuer-mismatch"]),
            ("no document", Some(ProbeResult::Discovery(away)), "; tried from here: away", &["discovery-unreachable"]),
            ("as expected", Some(ProbeResult::Discovery(Fetched::Fine("x".to_owned()))), "good for 9 minutes", &[]),
            ("not asked", Some(ProbeResult::Discovery(Fetched::NotTried("x".to_owned()))), "good for 9 minutes", &[]),
            (
                "not reached",
                Some(ProbeResult::Kubeconfig(Probed::NotReached("x".to_owned()))),
                "good for 9 minutes",
                &[],
            ),
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
