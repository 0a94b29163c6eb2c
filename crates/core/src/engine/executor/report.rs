//! The result of a run.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::engine::journal::VerifiedState;
use crate::engine::{Blocked, GateName, RecheckResult, Verb};

/// How one action ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ActionResult {
    /// Carried out, and seen to be.
    Done(VerifiedState),
    /// It was as it was wanted before this run changed anything: before a request was sent, or the object of a delete was gone
    /// when it arrived.
    Already,
    /// Deleted, and brought back because something refers to it now.
    Restored { why: String },
    /// Nothing was sent.
    Skipped { class: Skip, why: String },
    /// Sent, and the cluster did not take it.
    Failed { why: String },
    /// Sent, and the result is unknown.
    Unknown { why: String },
}

/// What an action with this verb found when it ended as [`ActionResult::Already`].
fn already(verb: Verb) -> &'static str {
    // Another client deleted it: the journal must not claim the delete.
    if verb == Verb::Delete { "already gone" } else { "already in the desired state" }
}

/// Why nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Skip {
    /// The world is not the one the plan shows.
    Stale,
    /// A gate is shut.
    Gate,
    /// The user stopped the run.
    Stopped,
}

/// Why a run ended before its time.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Halt {
    Stopped,
    Gate(Blocked),
    /// The journal takes nothing more.
    Journal(String),
}

/// The result of every approved action.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    pub plan: String,
    pub ends: BTreeMap<String, ActionResult>,
    pub halted: Option<Halt>,
    /// When the last reference scan read everything and found no reference to what was deleted.
    pub unreferenced_at: Option<Timestamp>,
    /// What a person should know besides, one sentence each.
    pub notices: Vec<String>,
}

impl ActionResult {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done(state) => state.as_str(),
            Self::Already => "already",
            Self::Restored { .. } => "restored",
            Self::Skipped { .. } => "skipped",
            Self::Failed { .. } => "failed",
            Self::Unknown { .. } => "unknown",
        }
    }

    /// The reason, or what an action with this verb found; empty where the word says all.
    pub fn why_of(&self, verb: Verb) -> &str {
        match self {
            Self::Already => already(verb),
            Self::Done(_)
            | Self::Restored { .. }
            | Self::Skipped { .. }
            | Self::Failed { .. }
            | Self::Unknown { .. } => self.why(),
        }
    }

    /// The reason; empty where the word says all.
    pub fn why(&self) -> &str {
        match self {
            Self::Done(_) | Self::Already => "",
            Self::Restored { why } | Self::Skipped { why, .. } | Self::Failed { why } | Self::Unknown { why } => why,
        }
    }

    /// Whether a request left the program.
    pub fn was_sent(&self) -> bool {
        match self {
            Self::Already | Self::Skipped { .. } => false,
            Self::Done(_) | Self::Restored { .. } | Self::Failed { .. } | Self::Unknown { .. } => true,
        }
    }

    /// Whether what was wanted holds.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Done(_) | Self::Already => true,
            Self::Restored { .. } | Self::Skipped { .. } | Self::Failed { .. } | Self::Unknown { .. } => false,
        }
    }

    /// How an action ends that was judged again and is not as the plan says.
    pub(super) fn refused(why: &RecheckResult) -> Self {
        let message = why.message().unwrap_or_default();
        match why {
            RecheckResult::Differs(_) => Self::stale(format!("judged again: {message}")),
            RecheckResult::Same | RecheckResult::Blocked(_) | RecheckResult::Stricter { .. } => Self::gated(message),
        }
    }

    pub(super) fn stale(why: impl Into<String>) -> Self {
        Self::Skipped { class: Skip::Stale, why: why.into() }
    }

    pub(super) fn gated(why: impl Into<String>) -> Self {
        Self::Skipped { class: Skip::Gate, why: why.into() }
    }

    pub(super) fn failed(why: impl Into<String>) -> Self {
        Self::Failed { why: why.into() }
    }
}

impl Halt {
    /// Why, in a few words.
    pub fn message(&self) -> String {
        match self {
            Self::Stopped => "stopped".to_owned(),
            Self::Gate(blocked) => format!("{}: {}", blocked.gate.as_str(), blocked.why),
            Self::Journal(why) => format!("the journal takes nothing more: {why}"),
        }
    }

    /// How an action ends that this halt kept from being sent.
    pub(super) fn end(&self) -> ActionResult {
        match self {
            Self::Stopped => {
                ActionResult::Skipped { class: Skip::Stopped, why: "stopped before it was sent".to_owned() }
            }
            Self::Gate(_) | Self::Journal(_) => ActionResult::gated(self.message()),
        }
    }

    /// How an action ends that was sent, and that this halt kept from being looked after.
    pub(super) fn end_of_sent(&self) -> ActionResult {
        let cause = match self {
            Self::Stopped => "the run was stopped".to_owned(),
            Self::Gate(_) | Self::Journal(_) => self.message(),
        };
        ActionResult::Unknown { why: format!("sent, not verified ({cause}); the next run reads the result") }
    }
}

impl Report {
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for end in self.ends.values() {
            *counts.entry(end.as_str().to_owned()).or_insert(0) += 1;
        }
        counts
    }

    /// What `apply` tells the shell: 0 all applied and verified, 2 partly, 3 refused for safety, 4 stale, 130 stopped
    /// before anything was sent.
    pub fn code(&self) -> u8 {
        if self.halted.is_none() && self.notices.is_empty() && self.ends.values().all(ActionResult::is_done) {
            return 0;
        }
        if self.ends.values().any(ActionResult::was_sent) {
            return 2;
        }
        let all = |class: Skip| {
            self.ends.values().all(|end| matches!(end, ActionResult::Skipped { class: found, .. } if *found == class))
        };
        match &self.halted {
            Some(Halt::Stopped) => 130,
            Some(Halt::Gate(Blocked { gate: GateName::ExpiredPlan, .. })) => 4,
            Some(Halt::Gate(_) | Halt::Journal(_)) => 3,
            None if all(Skip::Stale) => 4,
            None => 3,
        }
    }
}
