use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::engine::build::tests::any_given;
use crate::engine::in_order::THREADS_MAX;
use crate::engine::testing::{Given, finding, given};
use crate::engine::{Judged, PlanInput, build_streamed};

/// Explains from what was judged, and counts.
#[derive(Default)]
struct Counting<'g> {
    explanations: BTreeMap<&'g SubjectId, &'g Explanation>,
    explained: AtomicUsize,
    alive: AtomicUsize,
    alive_max: AtomicUsize,
}

impl Explain for Counting<'_> {
    fn start(&self) -> Box<dyn Explaining + '_> {
        Box::new(self)
    }
}

impl Explaining for &Counting<'_> {
    fn explain(&mut self, subject: &SubjectId) -> Option<Explanation> {
        self.explained.fetch_add(1, Ordering::SeqCst);
        let alive = self.alive.fetch_add(1, Ordering::SeqCst) + 1;
        self.alive_max.fetch_max(alive, Ordering::SeqCst);
        self.explanations.get(subject).map(|explanation| (*explanation).clone())
    }
}

/// The plan of a world in which only what has a remedy was explained before.
fn streamed<T>(given: &Given, with: impl FnOnce(StreamedPlan<'_>, &Counting<'_>) -> T) -> T {
    let is_kept = |one: &&Judged| !one.explanation.remedy.is_empty();
    let kept: Vec<Judged> = given.judged.iter().filter(is_kept).cloned().collect();
    let plain: Vec<&Judged> = given.judged.iter().filter(|one| !is_kept(one)).collect();
    let subjects: Vec<(&SubjectId, &Judgement)> = plain.iter().map(|one| (&one.subject, &one.judgement)).collect();
    let explanations = plain.iter().map(|one| (&one.subject, &one.explanation)).collect();
    let explain = Counting { explanations, ..Counting::default() };
    given.build(|input| {
        let input = PlanInput {
            judged: &kept,
            unexplained: Unexplained { subjects: &subjects, explain: &explain },
            clusters: input.clusters.clone(),
            observed: input.observed.clone(),
            ..*input
        };
        with(build_streamed(&input).unwrap(), &explain)
    })
}

fn text(plan: &StreamedPlan<'_>) -> String {
    let mut text = String::new();
    let Ok(()) = plan.write_file_text(|part| {
        text.push_str(part);
        Ok::<(), Infallible>(())
    });
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_streamed_plan_has_the_id_and_the_text_of_the_whole_one(given in any_given(), mark in any::<Option<u8>>()) {
        let mark = mark.map(|mark| mark.to_string());
        let whole = Plan { mark: mark.clone(), ..given.plan() };
        let (id, text) = streamed(&given, |plan, _| (plan.id.clone(), text(&Plan { mark, ..plan })));
        prop_assert_eq!(id, whole.id.clone());
        prop_assert_eq!(text, String::from(whole.file_text()));
    }
}

/// So many matches, and one finding with an action.
fn many(count: usize) -> Given {
    let matches = given().findings(count, |index| finding(&format!("x{index:06}")).state(State::Match));
    matches.finding(finding("orphan").deletes())
}

#[test]
fn a_finding_is_explained_once_for_the_id_and_once_for_its_text() {
    for count in [0, 3, 5_000] {
        let (id_only, with_text) = streamed(&many(count), |plan, explain| {
            let id_only = explain.explained.load(Ordering::SeqCst);
            assert_eq!(Plan::read(&text(&plan)).unwrap().findings.len(), count + 1);
            (id_only, explain.explained.load(Ordering::SeqCst))
        });
        assert_eq!((id_only, with_text), (count, 2 * count), "of {count} without a remedy");
    }
}

#[test]
fn the_number_of_explanations_that_exist_at_once_does_not_grow_with_the_findings() {
    let most = |count: usize| {
        streamed(&many(count), |plan, explain| {
            explain.alive.store(0, Ordering::SeqCst);
            explain.alive_max.store(0, Ordering::SeqCst);
            let make = |finding: Finding, _| {
                let bytes = canonical_bytes(&finding).unwrap();
                explain.alive.fetch_sub(usize::from(finding.actions.is_empty()), Ordering::SeqCst);
                bytes
            };
            let Ok(()) = plan.findings.each(|_| true, make, |_| Ok::<(), Infallible>(()));
            explain.alive_max.load(Ordering::SeqCst)
        })
    };
    for count in [1, 500, 20_000] {
        assert!(most(count) <= THREADS_MAX, "one per thread, of {count}: {}", most(count));
    }
}

#[test]
fn what_is_not_a_subject_any_more_is_written_as_such() {
    let subject = crate::engine::testing::subject("guest-a", "x");
    let judgement = finding("x").0.judgement;
    let text = given().build(|input| {
        let subjects = [(&subject, &judgement)];
        let input = PlanInput {
            unexplained: Unexplained { subjects: &subjects, ..Unexplained::NONE },
            clusters: input.clusters.clone(),
            observed: input.observed.clone(),
            ..*input
        };
        text(&build_streamed(&input).unwrap())
    });
    let plan = Plan::read(&text).unwrap();
    assert_eq!(plan.findings[0].summary, "not judged any more; run trueup plan again");
}

#[test]
fn a_fraction_in_a_streamed_finding_is_refused_with_its_place() {
    let mut one = finding("x").0;
    one.explanation.actual = json!({ "a": 1.5 });
    let explain = Counting { explanations: [(&one.subject, &one.explanation)].into(), ..Counting::default() };
    let place = given().build(|input| {
        let subjects = [(&one.subject, &one.judgement)];
        let input = PlanInput {
            unexplained: Unexplained { subjects: &subjects, explain: &explain },
            clusters: input.clusters.clone(),
            observed: input.observed.clone(),
            ..*input
        };
        build_streamed(&input).map(drop).unwrap_err().place
    });
    assert_eq!(place, "/findings/0/actual/a");
}
