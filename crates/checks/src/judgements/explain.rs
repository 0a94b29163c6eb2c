//! The long answers to all that was judged, on all cores.
//!
//! Invariants: the answers are in the order of the subjects, whichever thread was faster.

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
        let Some(domain) = domains.iter().find(|domain| domain.name() == group[0].0.domain) else { continue };
        let pass = domain.pass(view);
        judged.extend(group.iter().filter_map(|held| Some(both(held, pass.rule(held.0)?.explanation()))));
    }
    judged
}

fn both((subject, held): &(&SubjectId, &CurrentJudgement), explanation: Explanation) -> Judged {
    Judged { subject: (*subject).clone(), judgement: held.judgement.clone(), explanation }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{CheckDescription, CheckRules, ContextCache, Pass, Ruled, Touched};
    use trueup_core::engine::{CheckName, Judgement, State};
    use trueup_core::world::{Change, ChangeSet, Cluster, ClusterName, Interest, World};

    const NAME: CheckName = CheckName("counting");

    /// So many subjects in one cluster, the even ones with a ruling. It counts its contexts and rulings.
    #[derive(Default)]
    struct Counting {
        subjects: usize,
        contexts: AtomicUsize,
        rulings: AtomicUsize,
    }

    impl CheckRules for Counting {
        type Fleet<'a> = ();
        type Context<'a> = ();
        type Subject<'a> = usize;
        type Ruling<'a> = String;

        const NAME: CheckName = NAME;
        const DESCRIPTION: CheckDescription = CheckDescription::named(NAME.0);

        fn interests_of(&self, _: &Cluster, _: View<'_>) -> Vec<Interest> {
            Vec::new()
        }

        fn touched(&self, _: &ChangeSet, _: View<'_>) -> Touched {
            Touched { clusters: [ClusterName::new("a")].into(), ..Touched::default() }
        }

        fn fleet<'a>(&'a self, _: View<'a>) {}

        fn context<'a>(&'a self, _: &ClusterName, _: View<'a>, (): &()) -> Option<()> {
            self.contexts.fetch_add(1, Ordering::Relaxed);
            Some(())
        }

        fn subjects_in<'a>(&'a self, cluster: &ClusterName, _: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
            (0..self.subjects).map(|index| subject(cluster, index)).collect()
        }

        fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<usize> {
            contexts.of(&id.cluster)?;
            id.name.parse().ok()
        }

        fn rule<'a>(&'a self, id: &SubjectId, index: &usize, _: &ContextCache<'a, Self>) -> Option<String> {
            self.rulings.fetch_add(1, Ordering::Relaxed);
            index.is_multiple_of(2).then(|| id.name.clone())
        }

        fn judgement(_: &Ruled<'_, '_, Self>) -> Judgement {
            Judgement { state: State::Match, verdict: "counted", codes: Vec::new(), ownership_proofs: 0, until: None }
        }

        fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
            Explanation {
                uid: None,
                created: None,
                summary: ruled.ruling.clone(),
                expected: serde_json::Value::Null,
                actual: serde_json::Value::Null,
                evidence: Vec::new(),
                remedy: Vec::new(),
            }
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
            let domains: Vec<Box<dyn Check>> = vec![Box::new(Counting { subjects: count, ..Counting::default() })];
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

    #[test]
    fn a_subject_is_ruled_once_per_pass_whatever_is_derived_from_it() {
        let check = Counting { subjects: 10, ..Counting::default() };
        let world = World::default();
        let pass = check.pass(world.view("2026-11-16T10:00:00Z".parse().unwrap()));
        for subject in pass.subjects_in(&ClusterName::new("a")) {
            let Some(ruled) = pass.rule(&subject) else { continue };
            ruled.judgement();
            ruled.cells();
            ruled.explanation();
            ruled.panels();
        }
        let counted = (check.rulings.load(Ordering::Relaxed), check.contexts.load(Ordering::Relaxed));
        assert_eq!(counted, (10, 1), "rulings of ten subjects, contexts of one cluster");
    }

    #[test]
    fn judging_and_explaining_rule_each_subject_once_each() {
        let check = Arc::new(Counting { subjects: 10, ..Counting::default() });
        let domains: Vec<Box<dyn Check>> = vec![Box::new(Shared(check.clone()))];
        let (world, mut judgements) = (World::default(), Judgements::default());
        let view = world.view("2026-11-16T10:00:00Z".parse().unwrap());
        let mut changes = ChangeSet::default();
        changes.push(Change::Cluster(ClusterName::new("a")));
        judgements.follow(&domains, view, &changes);
        assert_eq!(check.rulings.swap(0, Ordering::Relaxed), 10, "judgement and cells come from one ruling");
        assert_eq!(explained(&judgements, &domains, view).len(), 5);
        assert_eq!(check.rulings.load(Ordering::Relaxed), 5, "only what was judged is explained, by one ruling each");
    }

    /// A check whose counters stay readable once it is boxed.
    struct Shared(Arc<Counting>);

    impl Check for Shared {
        fn name(&self) -> CheckName {
            NAME
        }

        fn interests_of(&self, _: &Cluster, _: View<'_>) -> Vec<Interest> {
            Vec::new()
        }

        fn interested(&self, _: &ChangeSet, _: View<'_>) -> BTreeSet<ClusterName> {
            BTreeSet::new()
        }

        fn touched(&self, changes: &ChangeSet, view: View<'_>) -> Touched {
            Check::touched(&*self.0, changes, view)
        }

        fn pass<'a>(&'a self, view: View<'a>) -> Box<dyn Pass + 'a> {
            self.0.pass(view)
        }
    }
}
