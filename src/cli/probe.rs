//! Trying kubeconfigs, because somebody asked for it: `plan --probe`, and a key of the console.
//!
//! Always true: nothing is tried that its check does not allow, and nothing of a recording.

use std::collections::BTreeMap;

use futures::StreamExt as _;

use super::context::Context;
use super::look::{Seen, Sight};
use super::members::wall_clock;
use crate::domains::{Domain, Probe};
use crate::engine::{Evidence, Judged, PlanScope, SubjectId};
use crate::fleet::{Env, ProbePlace, Probed, probe};
use crate::world::View;

/// Tries under way at once: each may take seconds, and none of them loads a cluster.
const AT_ONCE_MAX: usize = 16;

/// What was found out by trying, by subject.
pub type Tried = BTreeMap<SubjectId, Probed>;

/// A kubeconfig that may be tried, and the client of the cluster it lies in.
pub struct Wanted {
    subject: SubjectId,
    probe: Probe,
    client: Option<kube::Client>,
}

/// Every kubeconfig of the scope that may be tried.
pub fn wanted(context: &Context, seen: &Seen, scope: &PlanScope) -> Vec<Wanted> {
    let Sight::Fleet(live) = &seen.sight else {
        context.note("--probe: a recording can't be tried");
        return Vec::new();
    };
    let subjects = live.judgements().iter().map(|(subject, _)| subject).filter(|subject| scope.covers(subject));
    let wanted = |subject: &SubjectId| {
        let probe = may_try(live.domains(), subject, live.view())?;
        Some(Wanted { subject: subject.clone(), client: live.client(&probe.cluster), probe })
    };
    subjects.filter_map(wanted).collect()
}

/// Tries them, a few at once.
pub async fn try_all(context: &Context, wanted: Vec<Wanted>) -> Tried {
    let tries = wanted.into_iter().map(|Wanted { subject, probe, client }| async move {
        let probed = match client {
            Some(client) => try_one(&client, &probe, &context.env).await,
            None => Probed::NotTried(format!("{} is not connected", probe.cluster)),
        };
        (subject, probed)
    });
    futures::stream::iter(tries).buffer_unordered(AT_ONCE_MAX).collect().await
}

/// The kubeconfig of a subject, when its check lets it be tried.
pub fn may_try(domains: &[Box<dyn Domain>], subject: &SubjectId, view: View<'_>) -> Option<Probe> {
    domains.iter().find(|domain| domain.name() == subject.domain)?.probe(subject, view)
}

pub async fn try_one(client: &kube::Client, wanted: &Probe, env: &Env) -> Probed {
    let Probe { cluster: _, namespace, secret, key } = wanted;
    probe(client, ProbePlace { namespace, secret, key }, env, wall_clock()).await
}

/// Adds what was found out to what is said of each subject.
pub fn add(judged: &mut [Judged], tried: &Tried) {
    for Judged { subject, judgement: _, explanation } in judged {
        let Some(probed) = tried.get(subject) else { continue };
        let says = probed.says();
        if let Probed::NotAccepted(_) = probed {
            explanation.summary = format!("{}; {says}", explanation.summary);
        }
        let place = format!("{}/{}", subject.namespace.as_deref().unwrap_or_default(), subject.name);
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
    use crate::engine::{Explanation, Judgement, State};
    use crate::world::ClusterName;

    #[test]
    fn a_login_that_is_refused_is_in_the_summary_and_whatever_was_found_is_evidence() {
        let subject = |name: &str| SubjectId {
            domain: crate::engine::DomainName("kubeconfig"),
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
        let cases = [
            ("refused", Some(Probed::NotAccepted("the server does not accept it (401)".to_owned())), "(401)", 1),
            ("accepted", Some(Probed::Accepted), "good for 9 minutes", 1),
            ("not tried", None, "good for 9 minutes", 0),
        ];
        for (case, probed, expected, evidence) in cases {
            let (judgement, explanation) = (judgement.clone(), explanation.clone());
            let mut judged = [Judged { subject: subject(case), judgement, explanation }];
            add(&mut judged, &probed.into_iter().map(|probed| (subject(case), probed)).collect());
            let Explanation { summary, evidence: found, .. } = &judged[0].explanation;
            assert!(summary.contains(expected), "case: {case}: {summary}");
            assert_eq!(found.len(), evidence, "case: {case}");
        }
    }
}
