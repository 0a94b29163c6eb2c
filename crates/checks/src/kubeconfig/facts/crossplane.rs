//! The objects between a control plane and its kubeconfig: CAPT's WorkspaceTemplateApply and Terraform's Workspace.
//!
//! Invariants: of their conditions, only those that speak about a stage are kept, and only while they are bad.

use jiff::Timestamp;
use serde::Deserialize;

use crate::kinds::{Complaint, Condition, created};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// A WorkspaceTemplateApply.
#[derive(Debug, PartialEq, Eq)]
pub struct Apply {
    pub created: Option<Timestamp>,
    pub is_applied: bool,
    /// The Workspace it made; empty until there is one.
    pub workspace: Box<str>,
    pub complaints: Box<[Complaint]>,
}

/// A Workspace.
#[derive(Debug, PartialEq, Eq)]
pub struct Workspace {
    pub created: Option<Timestamp>,
    /// Whether both Ready and Synced are True.
    pub is_ready: bool,
    pub complaints: Box<[Complaint]>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    applied: Option<bool>,
    workspace_name: Option<String>,
    conditions: Option<Vec<Condition>>,
}

const SPEAKING: [&str; 2] = ["Ready", "Synced"];

/// The conditions that say why: these unless they are True, and those if they are.
pub(super) fn complaints(conditions: &[Condition], wanted: &[&str], unwanted: &[&str]) -> Box<[Complaint]> {
    let is_bad = |one: &&Condition| match one.status() {
        "True" => unwanted.contains(&one.name()),
        _ => wanted.contains(&one.name()),
    };
    conditions.iter().filter(is_bad).map(Condition::complaint).collect()
}

impl Fact for Apply {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<Status> = raw.field("status")?;
        Ok(Self {
            created: created(raw),
            is_applied: status.applied == Some(true),
            workspace: status.workspace_name.unwrap_or_default().into(),
            complaints: complaints(&status.conditions.unwrap_or_default(), &SPEAKING, &[]),
        })
    }
}

impl Fact for Workspace {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<Status> = raw.field("status")?;
        let conditions = status.conditions.unwrap_or_default();
        let is_true = |name: &&str| conditions.iter().any(|one| one.name() == *name && one.status() == "True");
        Ok(Self {
            created: created(raw),
            is_ready: SPEAKING.iter().all(is_true),
            complaints: complaints(&conditions, &SPEAKING, &[]),
        })
    }
}
