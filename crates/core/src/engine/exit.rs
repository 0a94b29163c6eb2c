//! What `trueup plan` tells the shell.

use super::finding::State;
use super::plan::Plan;

/// How a plan ends the command that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanExit {
    /// Every finding matches and nothing is blocked.
    AllMatch,
    /// Something can be done.
    Changes,
    /// Something is not as it should be or not known, and nothing can be done about it from here.
    NotClear,
}

/// Whether everything that was to be judged could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputReading {
    Whole,
    /// Some file or cluster could not be read; what it held is not known.
    Gaps,
}

/// Decides the exit of `plan`.
///
/// An action that can be done outweighs a gap: the plan is there to be looked at either way, and says what is unknown.
pub fn plan_exit<F>(plan: &Plan<F>, reading: InputReading) -> PlanExit {
    if plan.actions.iter().any(|action| action.blocked_by.is_empty()) {
        return PlanExit::Changes;
    }
    let all_match = plan.summary.findings.keys().all(|state| state == State::Match.as_str());
    if all_match && plan.actions.is_empty() && reading == InputReading::Whole {
        PlanExit::AllMatch
    } else {
        PlanExit::NotClear
    }
}

impl PlanExit {
    pub fn code(self) -> u8 {
        match self {
            Self::AllMatch => 0,
            Self::Changes => 2,
            Self::NotClear => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gate::ReadOnly;
    use crate::engine::testing::{Given, finding, given};

    #[test]
    fn the_code_says_whether_something_can_be_done_or_is_not_clear() {
        let matching = || given().finding(finding("a").state(State::Match));
        let unknown = || given().finding(finding("a").state(State::Unknown));
        let change = || given().finding(finding("a").state(State::Extra).deletes());
        let cases: [(&str, Given, InputReading, u8); 9] = [
            ("nothing judged", given(), InputReading::Whole, 0),
            ("all match", matching(), InputReading::Whole, 0),
            ("all match, a file unread", matching(), InputReading::Gaps, 3),
            ("unknown", unknown(), InputReading::Whole, 3),
            ("a change", change(), InputReading::Whole, 2),
            ("a change, a file unread", change(), InputReading::Gaps, 2),
            (
                "a change beside an unknown",
                change().finding(finding("b").state(State::Unknown)),
                InputReading::Whole,
                2,
            ),
            ("a blocked change", change().conditions(|c| c.read_only = ReadOnly::ByFlag), InputReading::Whole, 3),
            (
                "all match, and a blocked action",
                given()
                    .finding(finding("a").state(State::Match).deletes())
                    .conditions(|c| c.read_only = ReadOnly::ByFlag),
                InputReading::Whole,
                3,
            ),
        ];
        for (case, given, reading, expected) in cases {
            assert_eq!(plan_exit(&given.plan(), reading).code(), expected, "case: {case}");
        }
    }
}
