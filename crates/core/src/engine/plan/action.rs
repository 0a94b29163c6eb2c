//! An action as plan files hold it.
//!
//! Invariants: `verb` and `change` of the file are one typed [`Change`]; `finding` of the file repeats the origin and
//! decides nothing; `rests_on` is sorted. What does not fit is a read error that names the action.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::Preconditions;
use crate::engine::action::{Blocked, Reason, Undo, Verb};
use crate::engine::change::{Change, ChangeError};
use crate::engine::origin::Origin;
use crate::engine::reference::ObjectRef;
use crate::engine::rests_on::CollectionRef;
use crate::engine::tier::Tier;

/// One write with its target and preconditions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "ActionFile")]
pub struct Action {
    pub id: String,
    pub origin: Origin,
    pub domain: String,
    pub cluster: String,
    pub change: Change,
    pub target: ObjectRef,
    pub preconditions: Preconditions,
    /// The collections the conclusion rests on: those a recheck lists again.
    pub rests_on: Vec<CollectionRef>,
    pub selected: bool,
    pub reason: Reason,
    pub ownership: Vec<String>,
    pub tier: Tier,
    pub diff: String,
    pub undo: Undo,
    pub depends_on: Vec<String>,
    pub blocked_by: Vec<Blocked>,
    /// The name of the actions it belongs together with. `--only` and `--exclude` take it.
    pub group: Option<String>,
}

/// Why an action of a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("action {action}: {fault}; run trueup plan again")]
pub struct ActionReadError {
    pub action: String,
    pub fault: ActionFault,
}

/// What is wrong with an action of a file.
#[derive(Debug, thiserror::Error)]
pub enum ActionFault {
    #[error("origin is missing")]
    NoOrigin,
    #[error("finding is `{finding}`, which contradicts its origin")]
    OtherFinding { finding: String },
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error("{} does not apply to its target", .verb.as_str())]
    Target { verb: Verb },
    #[error("its id is used twice")]
    Repeated,
    #[error("another action makes the same change")]
    RepeatedWrite,
}

/// The shape of an action in a file that is read.
#[derive(Deserialize)]
pub(super) struct ActionFile {
    id: String,
    #[serde(default)]
    finding: String,
    #[serde(default)]
    origin: Option<Origin>,
    domain: String,
    cluster: String,
    verb: Verb,
    target: ObjectRef,
    preconditions: Preconditions,
    #[serde(default)]
    rests_on: Vec<CollectionRef>,
    selected: bool,
    reason: Reason,
    ownership: Vec<String>,
    tier: Tier,
    diff: String,
    change: Value,
    undo: Undo,
    depends_on: Vec<String>,
    blocked_by: Vec<Blocked>,
    #[serde(default)]
    group: Option<String>,
}

/// The shape of an action in a file that is written.
#[derive(Serialize)]
struct ActionOut<'a> {
    id: &'a str,
    finding: &'a str,
    domain: &'a str,
    cluster: &'a str,
    verb: Verb,
    target: &'a ObjectRef,
    preconditions: &'a Preconditions,
    origin: &'a Origin,
    rests_on: &'a [CollectionRef],
    selected: bool,
    reason: Reason,
    ownership: &'a [String],
    tier: Tier,
    diff: &'a str,
    change: &'a Change,
    undo: Undo,
    depends_on: &'a [String],
    blocked_by: &'a [Blocked],
    #[serde(skip_serializing_if = "Option::is_none")]
    group: &'a Option<String>,
}

impl Action {
    pub fn verb(&self) -> Verb {
        self.change.verb()
    }

    /// Returns the id of the finding it comes from; nothing for an undo or a restore.
    pub fn finding(&self) -> Option<&str> {
        self.origin.finding()
    }

    pub fn is_delete(&self) -> bool {
        matches!(self.change, Change::Delete)
    }
}

impl TryFrom<ActionFile> for Action {
    type Error = ActionReadError;

    fn try_from(file: ActionFile) -> Result<Self, ActionReadError> {
        let ActionFile {
            id,
            finding,
            origin,
            domain,
            cluster,
            verb,
            target,
            preconditions,
            rests_on,
            selected,
            reason,
            ownership,
            tier,
            diff,
            change,
            undo,
            depends_on,
            blocked_by,
            group,
        } = file;
        let read = || {
            let origin = origin.ok_or(ActionFault::NoOrigin)?;
            if origin.finding().unwrap_or_default() != finding {
                return Err(ActionFault::OtherFinding { finding });
            }
            let change = Change::read(verb, change)?;
            match change.fits(target.cloud.is_some()) {
                true => Ok((origin, change)),
                false => Err(ActionFault::Target { verb }),
            }
        };
        match read() {
            Ok((origin, change)) => Ok(Self {
                id,
                origin,
                domain,
                cluster,
                change,
                target,
                preconditions,
                rests_on,
                selected,
                reason,
                ownership,
                tier,
                diff,
                undo,
                depends_on,
                blocked_by,
                group,
            }),
            Err(fault) => Err(ActionReadError { action: id, fault }),
        }
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Every field matters here: one that is forgotten would not be covered by the id.
        let Self {
            id,
            origin,
            domain,
            cluster,
            change,
            target,
            preconditions,
            rests_on,
            selected,
            reason,
            ownership,
            tier,
            diff,
            undo,
            depends_on,
            blocked_by,
            group,
        } = self;
        ActionOut {
            id,
            finding: origin.finding().unwrap_or_default(),
            domain,
            cluster,
            verb: change.verb(),
            target,
            preconditions,
            origin,
            rests_on,
            selected: *selected,
            reason: *reason,
            ownership,
            tier: *tier,
            diff,
            change,
            undo: *undo,
            depends_on,
            blocked_by,
            group,
        }
        .serialize(serializer)
    }
}
