//! The dependency gate: what has to be done first must be able to run, and be selected with what needs it.
//!
//! An action that is not selected is not blocked by another one that is not selected: both can be chosen together (a group).
//! Whether they are is decided at admission.

use super::{Blocked, Candidate, GateName, Gated, Need, blocked};

/// Blocks what waits for something that will not happen.
pub fn dependency(candidates: &[Candidate<'_>], gated: &mut [Gated]) {
    let runnable = runnable(candidates, gated);
    for (candidate, gated) in candidates.iter().zip(gated) {
        let refusals = candidate.needs.iter().filter_map(|need| refusal(candidate, need, candidates, &runnable));
        gated.blocked_by.extend(refusals);
    }
}

fn refusal(candidate: &Candidate<'_>, need: &Need, candidates: &[Candidate<'_>], runnable: &[bool]) -> Option<Blocked> {
    let why = match need {
        Need::NotPlanned { finding } => format!("what has to be done first, for {finding}, is not in this plan"),
        Need::Candidate(index) if is_left_behind(candidate, &candidates[*index]) => {
            format!("{} has to be done first and is not selected; select it too", candidates[*index].id)
        }
        Need::Candidate(index) if !runnable[*index] => {
            format!("{} has to be done first and is blocked", candidates[*index].id)
        }
        Need::Candidate(_) => return None,
    };
    Some(blocked(GateName::Dependency, why))
}

/// Whether a selected action needs one that is not selected.
fn is_left_behind(candidate: &Candidate<'_>, needed: &Candidate<'_>) -> bool {
    candidate.draft.selected && !needed.draft.selected
}

/// Which candidates could run: not blocked, and everything they need is selected with them and could run before them.
///
/// Grown from nothing, so that actions which wait for each other in a circle never count.
pub fn runnable(candidates: &[Candidate<'_>], gated: &[Gated]) -> Vec<bool> {
    let mut runnable = vec![false; candidates.len()];
    loop {
        let mut grew = false;
        for (index, candidate) in candidates.iter().enumerate() {
            if !runnable[index] && gated[index].blocked_by.is_empty() && is_ready(candidate, candidates, &runnable) {
                runnable[index] = true;
                grew = true;
            }
        }
        if !grew {
            return runnable;
        }
    }
}

fn is_ready(candidate: &Candidate<'_>, candidates: &[Candidate<'_>], runnable: &[bool]) -> bool {
    candidate.needs.iter().all(|need| match need {
        Need::Candidate(index) => !is_left_behind(candidate, &candidates[*index]) && runnable[*index],
        Need::NotPlanned { .. } => false,
    })
}
