//! How an action differs from the one a plan built now would hold.

use std::fmt;

use crate::engine::action::Blocked;
use crate::engine::tier::Tier;

/// What judging again says about an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecheckResult {
    /// A plan built now offers it, unblocked and for the same verdict.
    Same,
    Differs(Difference),
    /// Every gate that is shut now.
    Blocked(Vec<Blocked>),
    /// It needs more approval than the plan says.
    Stricter {
        planned: Tier,
        now: Tier,
    },
}

/// What is not as the plan says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Its cluster is not connected.
    NotConnected {
        cluster: String,
    },
    /// What it rests on could not be read again, and why.
    NotRead(String),
    FindingGone,
    VerdictChanged {
        before: String,
        now: String,
        summary: String,
    },
    /// A plan built now would not hold it; the summary of its finding, where there is one.
    NotOffered {
        summary: Option<String>,
    },
    Target,
    Preconditions,
    Source,
    Change,
    Undo,
    RestsOn,
    Dependencies,
    /// The file shows another preview than a plan built now: the first field that differs.
    Preview {
        field: &'static str,
    },
    /// The journal of this state folder gives no such undo, and why.
    NoUndo {
        why: String,
    },
    /// The journal gives another undo: the first field that differs.
    OtherUndo {
        field: &'static str,
    },
}

impl RecheckResult {
    /// Whether the world moved on. Otherwise sending the action would not be safe.
    pub fn is_stale(&self) -> bool {
        match self {
            Self::Differs(_) => true,
            Self::Same | Self::Blocked(_) | Self::Stricter { .. } => false,
        }
    }

    /// Returns the reason in one phrase; nothing when the action is the same.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Same => None,
            Self::Differs(difference) => Some(difference.to_string()),
            Self::Blocked(gates) => {
                let gates: Vec<String> =
                    gates.iter().map(|blocked| format!("{}: {}", blocked.gate.as_str(), blocked.why)).collect();
                Some(gates.join("; "))
            }
            Self::Stricter { planned, now } => {
                Some(format!("tier is {now} now, plan says {planned}; run trueup plan again"))
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = |f: &mut fmt::Formatter<'_>, what: &str| write!(f, "{what} changed since the plan was made");
        match self {
            Self::NotConnected { cluster } => write!(f, "{cluster} is not connected"),
            Self::NotRead(why) => f.write_str(why),
            Self::FindingGone => f.write_str("its finding is gone"),
            Self::VerdictChanged { before, now, summary } => write!(f, "verdict was {before}, now {now}: {summary}"),
            Self::NotOffered { summary: Some(summary) } => write!(f, "a plan made now would not hold it: {summary}"),
            Self::NotOffered { summary: None } => f.write_str("a plan made now would not hold it: its finding is gone"),
            Self::Target => changed(f, "the target"),
            Self::Preconditions => changed(f, "the target's version or content"),
            Self::Source => changed(f, "the source of the copy"),
            Self::Change => changed(f, "what would be written"),
            Self::Undo => changed(f, "how it can be undone"),
            Self::RestsOn => f.write_str("the plan does not name every collection the action rests on"),
            Self::Dependencies => f.write_str("the plan does not name every action it depends on"),
            Self::Preview { field } => write!(f, "a plan made now shows another {field}"),
            Self::NoUndo { why } if why.is_empty() => {
                f.write_str("the journal of this state folder has no such entry to undo")
            }
            Self::NoUndo { why } => write!(f, "cannot undo: {why}"),
            Self::OtherUndo { field } => write!(f, "the undo derived from the journal has another {field}"),
        }
    }
}
