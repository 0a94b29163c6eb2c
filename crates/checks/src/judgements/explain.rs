//! The long answers to all that was judged, on all cores.
//!
//! Always true: the answers are in the order of the subjects, whoever was faster.

use crate::Check;
use trueup_core::engine::{Explanation, Judged, SubjectId};
use trueup_core::world::View;

use super::{CurrentJudgement, Judgements};

/// More threads than this wait for the allocator and for each other.
const THREADS_MAX: usize = 8;
/// Below this many subjects a thread costs more than it saves: starting one takes about as long as twenty answers.
const SUBJECTS_MIN: usize = 200;

/// Every subject with both answers.
pub fn explained(judgements: &Judgements, domains: &[Box<dyn Check>], view: View<'_>) -> Vec<Judged> {
    let held: Vec<(&SubjectId, &CurrentJudgement)> = judgements.iter().collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(THREADS_MAX).min(held.len() / SUBJECTS_MIN);
    if threads < 2 {
        return explain_part(&held, domains, view);
    }
    std::thread::scope(|scope| {
        let parts = held.chunks(held.len().div_ceil(threads));
        let workers: Vec<_> = parts.map(|part| scope.spawn(move || explain_part(part, domains, view))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("explaining does not panic")).collect()
    })
}

fn explain_part(held: &[(&SubjectId, &CurrentJudgement)], domains: &[Box<dyn Check>], view: View<'_>) -> Vec<Judged> {
    let mut judged = Vec::with_capacity(held.len());
    for group in held.chunk_by(|(one, _), (other, _)| one.domain == other.domain) {
        let domain = domains.iter().find(|domain| domain.name() == group[0].0.domain);
        let subjects: Vec<&SubjectId> = group.iter().map(|(subject, _)| *subject).collect();
        let answers = domain.map_or_else(Vec::new, |domain| domain.explain_all(&subjects, view));
        judged.extend(group.iter().zip(answers).filter_map(|(held, answer)| Some(both(held, answer?))));
    }
    judged
}

fn both((subject, held): &(&SubjectId, &CurrentJudgement), explanation: Explanation) -> Judged {
    Judged { subject: (*subject).clone(), judgement: held.judgement.clone(), explanation }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Touched;
    use trueup_core::engine::{CheckName, Judgement, State};
    use trueup_core::world::{Change, ChangeSet, ClusterName, Interest, World};

    const NAME: CheckName = CheckName("counting");

    /// So many subjects in one cluster; it explains the even ones, by their names.
    struct Counting(usize);

    impl Check for Counting {
        fn name(&self) -> CheckName {
            NAME
        }

        fn interests(&self, _: View<'_>) -> Vec<Interest> {
            Vec::new()
        }

        fn subjects_in(&self, cluster: &ClusterName, _: View<'_>) -> BTreeSet<SubjectId> {
            (0..self.0).map(|index| subject(cluster, index)).collect()
        }

        fn touched(&self, _: &ChangeSet, _: View<'_>) -> Touched {
            Touched { clusters: [ClusterName::new("a")].into(), ..Touched::default() }
        }

        fn judge(&self, _: &SubjectId, _: View<'_>) -> Option<Judgement> {
            Some(Judgement {
                state: State::Match,
                verdict: "counted",
                codes: Vec::new(),
                ownership_proofs: 0,
                until: None,
            })
        }

        fn explain(&self, subject: &SubjectId, _: View<'_>) -> Option<Explanation> {
            let even = subject.name.parse::<usize>().unwrap() % 2 == 0;
            even.then(|| Explanation {
                uid: None,
                created: None,
                summary: subject.name.clone(),
                expected: serde_json::Value::Null,
                actual: serde_json::Value::Null,
                evidence: Vec::new(),
                remedy: Vec::new(),
            })
        }
    }

    fn subject(cluster: &ClusterName, index: usize) -> SubjectId {
        let name = format!("{index:05}");
        SubjectId {
            domain: NAME,
            cluster: cluster.clone(),
            api_version: "v1",
            kind: "Secret",
            namespace: None,
            name,
            cloud: None,
        }
    }

    #[test]
    fn answers_stand_beside_their_subjects_in_order_however_many_threads_made_them() {
        let cases = [("none", 0), ("one thread", 10), ("several", 5 * SUBJECTS_MIN + 3), ("all", 9 * SUBJECTS_MIN)];
        for (case, count) in cases {
            let domains: Vec<Box<dyn Check>> = vec![Box::new(Counting(count))];
            let (world, mut judgements) = (World::default(), Judgements::default());
            let view = world.view("2026-11-16T10:00:00Z".parse().unwrap());
            let mut changes = ChangeSet::default();
            changes.push(Change::Cluster(ClusterName::new("a")));
            judgements.follow(&domains, view, &changes);
            let answers: Vec<(String, String)> = explained(&judgements, &domains, view)
                .into_iter()
                .map(|one| (one.subject.name, one.explanation.summary))
                .collect();
            let even = (0..count).step_by(2).map(|index| format!("{index:05}"));
            assert_eq!(answers, even.map(|name| (name.clone(), name)).collect::<Vec<_>>(), "case: {case}");
        }
    }
}
