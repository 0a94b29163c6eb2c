//! The status of a Proposal after a run. Pure.
//!
//! Invariants: a Proposal is Applied only when every action of the run ended as wanted; what was sent is never shown as
//! refused.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use crate::api::{ActionRecord, Phase, ProposalStatus};
use crate::recorded::READY;
use trueup_core::engine::executor::{ActionResult, Halt, Report};
use trueup_core::engine::{GateName, Plan};

/// How a run ended, for the phase of its Proposal.
pub fn phase_of(report: &Report) -> Phase {
    let ends = || report.ends.values();
    let is_done = |end: &ActionResult| match end {
        ActionResult::Done(_) | ActionResult::Already => true,
        ActionResult::Restored { .. }
        | ActionResult::Skipped { .. }
        | ActionResult::Failed { .. }
        | ActionResult::Unknown { .. } => false,
    };
    let was_sent = ends().any(ActionResult::was_sent);
    match &report.halted {
        None if ends().all(is_done) => Phase::Applied,
        // Nothing has happened, and the approval still holds: the next holder of the shard applies it.
        Some(Halt::Stopped) if !was_sent => Phase::Approved,
        Some(Halt::Gate(blocked)) if !was_sent && blocked.gate == GateName::Lease => Phase::Approved,
        Some(_) | None if was_sent => Phase::PartlyApplied,
        Some(_) | None => Phase::Refused,
    }
}

/// How each action ended.
pub fn records(plan: &Plan, report: &Report, at: Timestamp) -> Vec<ActionRecord> {
    let record = |action: &trueup_core::engine::Action| {
        let end = report.ends.get(&action.id)?;
        let message = end.why_of(action.verb()).to_owned();
        Some(ActionRecord { id: action.id.clone(), outcome: end.as_str().to_owned(), message, at })
    };
    plan.actions.iter().filter_map(record).collect()
}

/// A sentence about a run.
pub fn summary(report: &Report) -> String {
    let counts: Vec<String> = report.counts().iter().map(|(word, count)| format!("{count} {word}")).collect();
    match &report.halted {
        Some(halt) => format!("{}; {}", counts.join(", "), halt.message()),
        None => counts.join(", "),
    }
}

/// Puts the status into a phase, with the reason as its condition.
pub fn enter(status: &mut ProposalStatus, phase: Phase, message: &str, at: Timestamp) {
    status.phase = phase;
    let is_ready = match phase {
        Phase::Proposed | Phase::Approved | Phase::Applying | Phase::Applied => "True",
        Phase::PartlyApplied | Phase::Refused | Phase::Expired | Phase::Superseded | Phase::Rejected => "False",
    };
    let condition = Condition {
        type_: READY.to_owned(),
        status: is_ready.to_owned(),
        reason: phase.as_str().to_owned(),
        message: message.chars().take(MESSAGE_MAX).collect(),
        last_transition_time: Time(api_time(at)),
        observed_generation: None,
    };
    status.conditions.retain(|one| one.type_ != READY);
    status.conditions.push(condition);
}

/// The longest message of a condition (`maxLength` of metav1.Condition).
const MESSAGE_MAX: usize = 32_768;

/// A status that was just created.
pub fn created(phase: Phase, shard: u32, message: &str, at: Timestamp) -> ProposalStatus {
    let mut status = ProposalStatus {
        phase,
        shard: Some(shard),
        approvals: Vec::new(),
        actions: Vec::new(),
        journal: None,
        conditions: Vec::new(),
    };
    enter(&mut status, phase, message, at);
    status
}

/// Whole seconds, as metav1.Time has them.
fn api_time(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::Blocked;
    use trueup_core::engine::executor::Skip;
    use trueup_core::engine::journal::VerifiedState;

    fn report(ends: &[ActionResult], halted: Option<Halt>) -> Report {
        let ends = ends.iter().enumerate().map(|(index, end)| (format!("a{index}"), end.clone())).collect();
        Report { ends, halted, ..Report::default() }
    }

    #[test]
    fn the_phase_says_how_the_run_ended() {
        let gone = ActionResult::Done(VerifiedState::Gone);
        let skipped = |class| ActionResult::Skipped { class, why: String::new() };
        let unknown = ActionResult::Unknown { why: String::new() };
        let lease = Some(Halt::Gate(Blocked { gate: GateName::Lease, why: String::new() }));
        let cases = [
            ("all done", vec![gone.clone(), ActionResult::Already], None, Phase::Applied),
            ("one refused", vec![gone.clone(), skipped(Skip::Stale)], None, Phase::PartlyApplied),
            ("all refused", vec![skipped(Skip::Gate)], None, Phase::Refused),
            ("unknown", vec![unknown], None, Phase::PartlyApplied),
            ("stopped before anything", vec![skipped(Skip::Stopped)], Some(Halt::Stopped), Phase::Approved),
            (
                "stopped after something",
                vec![gone.clone(), skipped(Skip::Stopped)],
                Some(Halt::Stopped),
                Phase::PartlyApplied,
            ),
            ("the Lease was lost before anything", vec![skipped(Skip::Gate)], lease.clone(), Phase::Approved),
            ("the Lease was lost after all", vec![gone], lease, Phase::PartlyApplied),
        ];
        for (case, ends, halted, expected) in cases {
            assert_eq!(phase_of(&report(&ends, halted)), expected, "case: {case}");
        }
    }

    #[test]
    fn a_status_has_one_condition_with_the_reason() {
        let at = "2026-11-16T10:00:00.5Z".parse().unwrap();
        let mut status = created(Phase::Proposed, 7, "waiting", at);
        enter(&mut status, Phase::Refused, "expired-plan", at);
        let [condition] = &status.conditions[..] else { panic!("{status:?}") };
        assert_eq!((condition.reason.as_str(), condition.status.as_str()), ("Refused", "False"));
        assert_eq!(condition.message, "expired-plan");
        assert_eq!(condition.last_transition_time.0.to_string(), "2026-11-16T10:00:00Z");
        assert_eq!((status.phase, status.shard), (Phase::Refused, Some(7)));
    }
}
