//! Which phase may follow which.
//!
//! Invariants: a terminal phase is never left; nothing is applied that was not approved in a phase before.
//!
//! Elsewhere: the phases themselves (`api`), when each is entered (`reconcile`, `run`).

use crate::api::Phase;

/// A change of phase that is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a Proposal that is {} cannot become {}", .from.as_str(), .to.as_str())]
pub struct IllegalTransition {
    pub from: Phase,
    pub to: Phase,
}

/// Checks a change of phase.
///
/// # Errors
/// The phase does not follow the other one.
pub fn transition(from: Phase, to: Phase) -> Result<Phase, IllegalTransition> {
    let allowed: &[Phase] = match from {
        Phase::Proposed => &[Phase::Approved, Phase::Refused, Phase::Expired, Phase::Superseded, Phase::Rejected],
        // Back to Proposed when a rule approved it and the brake for rules was reached meanwhile.
        Phase::Approved => {
            &[Phase::Proposed, Phase::Applying, Phase::Refused, Phase::Expired, Phase::Superseded, Phase::Rejected]
        }
        // Back to Approved when the run was stopped before anything was sent.
        Phase::Applying => &[Phase::Approved, Phase::Applied, Phase::PartlyApplied, Phase::Refused],
        Phase::Applied
        | Phase::PartlyApplied
        | Phase::Refused
        | Phase::Expired
        | Phase::Superseded
        | Phase::Rejected => &[],
    };
    if allowed.contains(&to) { Ok(to) } else { Err(IllegalTransition { from, to }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_phase_is_never_left() {
        for from in Phase::ALL.into_iter().filter(|phase| phase.is_terminal()) {
            for to in Phase::ALL {
                assert_eq!(transition(from, to), Err(IllegalTransition { from, to }));
            }
        }
    }

    #[test]
    fn only_an_approved_proposal_is_applied_and_only_an_applying_one_was() {
        for from in Phase::ALL {
            assert_eq!(transition(from, Phase::Applying).is_ok(), from == Phase::Approved, "{from:?}");
            for end in [Phase::Applied, Phase::PartlyApplied] {
                assert_eq!(transition(from, end).is_ok(), from == Phase::Applying, "{from:?} to {end:?}");
            }
        }
        let error = transition(Phase::Proposed, Phase::Applying).unwrap_err();
        assert_eq!(error.to_string(), "a Proposal that is Proposed cannot become Applying");
    }
}
