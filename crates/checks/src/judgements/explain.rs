//! The long answers: made when needed, on all cores, and dropped; kept only where they come with a remedy.
//!
//! Invariants: the answers are in the order of the subjects, whichever thread was faster.

use std::collections::BTreeSet;
use std::convert::Infallible;

use crate::{Check, Pass};
use trueup_core::engine::{CheckName, Explain, Explaining, Explanation, Judged, Judgement, SubjectId, in_order};
use trueup_core::world::View;

use super::{CurrentJudgement, Judgements};

/// Explains what the checks judge at one moment.
#[derive(Clone, Copy)]
pub struct Explainer<'a> {
    pub domains: &'a [Box<dyn Check>],
    pub view: View<'a>,
}

/// The pass of the check whose subjects are being asked for: they are sorted by check.
struct CurrentPass<'a> {
    explainer: Explainer<'a>,
    pass: Option<(CheckName, Box<dyn Pass + 'a>)>,
}

/// Every subject, explained where that has to be kept.
#[derive(Debug, Clone, Default)]
pub struct Remedied {
    /// Those with a remedy, and those that were asked for, in order.
    pub judged: Vec<Judged>,
    /// Those that are no subject any more, by time alone.
    pub ended: BTreeSet<SubjectId>,
}

/// Every subject with both answers.
pub fn explained(judgements: &Judgements, domains: &[Box<dyn Check>], view: View<'_>) -> Vec<Judged> {
    remedied(judgements, domains, view, |_| true).judged
}

/// The subjects with a remedy, and those that `also` names, with both answers.
pub fn remedied(
    judgements: &Judgements,
    domains: &[Box<dyn Check>],
    view: View<'_>,
    also: impl Fn(&SubjectId) -> bool + Sync,
) -> Remedied {
    let held: Vec<(&SubjectId, &CurrentJudgement)> = judgements.iter().collect();
    let explainer = Explainer { domains, view };
    let mut all = Remedied::default();
    let mut number = 0;
    let look = |current: &mut CurrentPass<'_>, number: usize| {
        let subject: &SubjectId = held[number].0;
        current.look(subject, also(subject))
    };
    let Ok(()) = in_order(
        held.len(),
        || explainer.current(),
        look,
        |looked| {
            let (subject, CurrentJudgement { judgement, .. }) = held[number];
            match looked {
                Looked::Explained(explanation) => {
                    let (subject, judgement) = (subject.clone(), judgement.clone());
                    all.judged.push(Judged { subject, judgement, explanation: *explanation });
                }
                Looked::NoRemedy => {}
                Looked::Ended => drop(all.ended.insert(subject.clone())),
            }
            number += 1;
            Ok::<(), Infallible>(())
        },
    );
    all
}

/// What a subject has to be kept for.
enum Looked {
    Explained(Box<Explanation>),
    NoRemedy,
    Ended,
}

impl Remedied {
    /// The other subjects of the same judgements, in order.
    pub fn others<'j>(&self, judgements: &'j Judgements) -> Vec<(&'j SubjectId, &'j Judgement)> {
        let mut kept = self.judged.iter().map(|one| &one.subject).peekable();
        let mut is_other = |subject: &SubjectId| {
            while kept.next_if(|kept| *kept < subject).is_some() {}
            kept.peek() != Some(&subject) && !self.ended.contains(subject)
        };
        judgements.iter().filter(|(id, _)| is_other(id)).map(|(id, held)| (id, &held.judgement)).collect()
    }
}

impl<'a> Explainer<'a> {
    fn current(self) -> CurrentPass<'a> {
        CurrentPass { explainer: self, pass: None }
    }
}

impl Explain for Explainer<'_> {
    fn start(&self) -> Box<dyn Explaining + '_> {
        Box::new(self.current())
    }
}

impl<'a> CurrentPass<'a> {
    fn of(&mut self, name: CheckName) -> Option<&dyn Pass> {
        if self.pass.as_ref().is_none_or(|(current, _)| *current != name) {
            let check = self.explainer.domains.iter().find(|domain| domain.name() == name)?;
            self.pass = Some((name, check.pass(self.explainer.view)));
        }
        self.pass.as_ref().map(|(_, pass)| &**pass)
    }

    fn look(&mut self, subject: &SubjectId, is_wanted: bool) -> Looked {
        let Some(ruled) = self.of(subject.domain).and_then(|pass| pass.rule(subject)) else { return Looked::Ended };
        match is_wanted || ruled.has_remedy() {
            true => Looked::Explained(Box::new(ruled.explanation())),
            false => Looked::NoRemedy,
        }
    }
}

impl Explaining for CurrentPass<'_> {
    fn explain(&mut self, subject: &SubjectId) -> Option<Explanation> {
        Some(self.of(subject.domain)?.rule(subject)?.explanation())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{Cell, CheckDescription, CheckRules, ContextCache, Ruled, Touched};
    use trueup_core::engine::State;
    use trueup_core::world::{Change, ChangeSet, Cluster, ClusterName, Interest, World};

    /// As many as make several threads worth their start.
    const SEVERAL: usize = 400;

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

        fn cells(_: &Ruled<'_, '_, Self>) -> Vec<Cell> {
            vec![Cell::Number(1)]
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
        let cases = [("none", 0), ("one thread", 10), ("several", 5 * SEVERAL + 3), ("all", 9 * SEVERAL)];
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
    fn a_command_that_shows_no_list_holds_the_same_verdicts_and_nothing_beside_them() {
        let domains: Vec<Box<dyn Check>> = vec![Box::new(Counting { subjects: 10, ..Counting::default() })];
        let world = World::default();
        let view = world.view("2026-11-16T10:00:00Z".parse().unwrap());
        let mut changes = ChangeSet::default();
        changes.push(Change::Cluster(ClusterName::new("a")));
        let [rows, verdicts] = [Judgements::default(), Judgements::of_verdicts()].map(|mut judgements| {
            judgements.follow(&domains, view, &changes);
            judgements
        });
        assert_eq!(rows.len(), 5);
        for ((subject, row), (other, verdict)) in rows.iter().zip(verdicts.iter()) {
            assert_eq!((subject, &row.judgement, row.since), (other, &verdict.judgement, verdict.since));
            assert_eq!(row.cells, [Cell::Number(1)]);
            assert_eq!(*verdict, CurrentJudgement::new(row.judgement.clone(), row.since));
        }
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
