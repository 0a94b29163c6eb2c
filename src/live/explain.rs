//! The long answers to all that was judged, on all cores.
//!
//! Always true: the answers are in the order of the subjects, whoever was faster.

use crate::domains::Domain;
use crate::engine::{Explanation, Judged, SubjectId};
use crate::world::View;

use super::judge::{Held, Judgements};

/// More threads than this wait for the allocator and for each other.
const THREADS_MAX: usize = 8;
/// Below this many subjects a thread costs more than it saves: starting one takes about as long as twenty answers.
const SUBJECTS_MIN: usize = 200;

/// Every subject with both answers.
pub fn explained(judgements: &Judgements, domains: &[Box<dyn Domain>], view: View<'_>) -> Vec<Judged> {
    let held: Vec<(&SubjectId, &Held)> = judgements.iter().collect();
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

fn explain_part(held: &[(&SubjectId, &Held)], domains: &[Box<dyn Domain>], view: View<'_>) -> Vec<Judged> {
    let mut judged = Vec::with_capacity(held.len());
    for group in held.chunk_by(|(one, _), (other, _)| one.domain == other.domain) {
        let domain = domains.iter().find(|domain| domain.name() == group[0].0.domain);
        let subjects: Vec<&SubjectId> = group.iter().map(|(subject, _)| *subject).collect();
        let answers = domain.map_or_else(Vec::new, |domain| domain.explain_all(&subjects, view));
        judged.extend(group.iter().zip(answers).filter_map(|(held, answer)| Some(both(held, answer?))));
    }
    judged
}

fn both((subject, held): &(&SubjectId, &Held), explanation: Explanation) -> Judged {
    Judged { subject: (*subject).clone(), judgement: held.judgement.clone(), explanation }
}
