//! The way of CAPT's kubeconfigs, stage by stage: control plane, apply, Workspace, outputs, copy.
//!
//! Invariants: the first stage that is not done is named only when every stage before it is known to be done. A kind that
//! is not served or not readable ends the search. `status.secretsReady` proves nothing and is not read.

use jiff::Timestamp;

use super::freshness::{Standing, assess};
use super::judge::pair_of;
use super::messages::span_message;
use super::names::{APPLY, CAPT_PLANE, CLUSTER, SECRET, WORKSPACE, apply_name};
use super::ruling::Ruling;
use super::source::{Source, SourceFault};
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::evidence::versioned_line;
use crate::kinds::{Complaint, Listing};
use trueup_core::engine::Evidence;
use trueup_core::world::{Fact, Key, ObjectName};

/// A stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    ControlPlane,
    Apply,
    Workspace,
    Outputs,
    Copy,
}

impl Stage {
    pub fn code(self) -> Code {
        match self {
            Self::ControlPlane => Code::StageControlPlane,
            Self::Apply => Code::StageApply,
            Self::Workspace => Code::StageWorkspace,
            Self::Outputs => Code::StageOutputs,
            Self::Copy => Code::StageCopy,
        }
    }

    /// What has to happen for it to be done.
    pub fn message(self) -> &'static str {
        match self {
            Self::ControlPlane => "the control plane controller has not requested the kubeconfig yet",
            Self::Apply => "the WorkspaceTemplateApply is not applied",
            Self::Workspace => "the Terraform Workspace is not ready",
            Self::Outputs => "the Workspace has not written a valid kubeconfig",
            Self::Copy => "the control plane controller has not copied the kubeconfig",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::ControlPlane => "control plane",
            Self::Apply => "apply",
            Self::Workspace => "workspace",
            Self::Outputs => "outputs",
            Self::Copy => "copy",
        }
    }
}

/// The stages of one kubeconfig.
#[derive(Debug, Default)]
pub struct Stages {
    steps: Vec<Progress>,
    /// Whether CAPT has begun to make the kubeconfig.
    pub has_apply: bool,
}

/// How far one stage is.
#[derive(Debug)]
struct Progress {
    stage: Stage,
    standing: StageState,
    object: String,
    created: Option<Timestamp>,
    /// What conditions say, the first of them foremost.
    complaints: Vec<Box<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StageState {
    Done,
    NotDone,
    NotKnown,
}

impl StageState {
    fn of(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::NotDone }
    }
}

impl Stages {
    /// The first stage that is not done, where all before it are.
    pub fn stuck(&self) -> Option<Stage> {
        let first = self.steps.iter().find(|step| step.standing != StageState::Done)?;
        (first.standing == StageState::NotDone).then_some(first.stage)
    }

    /// One line per stage, with age and condition.
    pub fn evidence(&self, now: Timestamp) -> Vec<Evidence> {
        let line = |step: &Progress| {
            let state = match step.standing {
                StageState::Done => "done",
                StageState::NotDone => "not done",
                StageState::NotKnown => "not known",
            };
            let age = step.created.map(|at| format!(", {} old", span_message(now.duration_since(at))));
            let conditions = match (step.standing, step.complaints.is_empty()) {
                (StageState::Done | StageState::NotKnown, true) => String::new(),
                (StageState::NotDone, true) => "; no condition says why".to_owned(),
                (_, false) => format!("; {}", step.complaints.join("; ")),
            };
            let message = format!("stage {}: {state}{}{conditions}", step.stage.label(), age.unwrap_or_default());
            versioned_line(message, step.object.clone(), "status", String::new())
        };
        self.steps.iter().map(line).collect()
    }
}

/// Finds how far each stage is.
pub fn find(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Stages {
    let context = &subject.context;
    if context.source_of(&subject.cluster_key, &subject.owners).is_none() {
        let object = format!("{} {} {}", context.cluster.name, CLUSTER.kind, subject.cluster_key);
        let created = subject.owners.cluster.seen.and_then(|cluster| cluster.created);
        return Stages {
            steps: vec![Progress::of(Stage::ControlPlane, StageState::NotDone, object, created, &[])],
            has_apply: false,
        };
    }
    let apply_key = Key { name: ObjectName::new(apply_name(subject.cluster())), ..subject.cluster_key.clone() };
    let apply = look_up(&context.applies, &apply_key);
    let workspace_key =
        apply.seen.map(|apply| Key { namespace: None, name: ObjectName::new(apply.workspace.as_ref()) });
    let workspace = workspace_key.as_ref().map(|key| look_up(&context.workspaces, key));
    let named = |kind: &str, key: &Key| format!("{} {kind} {key}", context.cluster.name);
    let plane = subject.owners.plane.seen;
    let complaints = plane.map_or(&[][..], |plane| &plane.complaints);
    let begun = apply.standing(|_| true);
    let control = Progress::of(
        Stage::ControlPlane,
        begun,
        named(CAPT_PLANE.kind, &subject.owners.plane_key),
        plane.and_then(|plane| plane.created),
        complaints,
    );
    let applied = Progress::of(
        Stage::Apply,
        apply.standing(|apply| apply.is_applied),
        named(APPLY.kind, &apply_key),
        apply.seen.and_then(|apply| apply.created),
        apply.seen.map_or(&[][..], |apply| &apply.complaints),
    );
    let ready = workspace.as_ref().map_or(begun, |workspace| workspace.standing(|workspace| workspace.is_ready));
    let seen = workspace.as_ref().and_then(|workspace| workspace.seen);
    let provisioned = Progress::of(
        Stage::Workspace,
        ready,
        workspace_key.map_or_else(|| WORKSPACE.kind.to_owned(), |key| named(WORKSPACE.kind, &key)),
        seen.and_then(|workspace| workspace.created),
        seen.map_or(&[][..], |workspace| &workspace.complaints),
    );
    let steps = vec![control, applied, provisioned, outputs(subject, ruling, now), copied(subject, ruling)];
    Stages { steps, has_apply: apply.seen.is_some() }
}

/// An object of a kind that may not be readable.
struct LookedUp<'a, F> {
    seen: Option<&'a F>,
    is_known: bool,
}

impl<F> LookedUp<'_, F> {
    fn standing(&self, is_done: impl Fn(&F) -> bool) -> StageState {
        if self.is_known { StageState::of(self.seen.is_some_and(is_done)) } else { StageState::NotKnown }
    }
}

fn look_up<'a, F: Fact>(listing: &Listing<'a, F>, key: &Key) -> LookedUp<'a, F> {
    let sight = listing.get(key);
    LookedUp { is_known: listing.is_served() && (sight.seen.is_some() || sight.gap.is_none()), seen: sight.seen }
}

fn outputs(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Progress {
    let is_expired = || {
        let pair = ruling.source.seen().and_then(|(_, holder)| pair_of(Sort::Hosted, holder));
        pair.is_some_and(|pair| assess(&pair.credential, now).standing == Standing::Expired)
    };
    let standing = match &ruling.source {
        Source::None | Source::NotKnown(_) => StageState::NotKnown,
        Source::Missing { .. } | Source::Invalid { fault: SourceFault::Key, .. } => StageState::NotDone,
        Source::Invalid { .. } | Source::Another { .. } | Source::Stale { .. } | Source::Good { .. } => {
            StageState::of(!is_expired())
        }
    };
    let source = subject.context.source_of(&subject.cluster_key, &subject.owners);
    let object =
        source.map_or_else(String::new, |key| format!("{} {} {key}", subject.context.cluster.name, SECRET.kind));
    let created = ruling.source.seen().and_then(|(_, holder)| holder.meta.created());
    Progress::of(Stage::Outputs, standing, object, created, &[])
}

fn copied(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Progress {
    let standing = match &ruling.source {
        Source::Good { .. } => StageState::of(ruling.target.is_some() && !ruling.has(Verdict::BehindSource)),
        Source::None
        | Source::NotKnown(_)
        | Source::Missing { .. }
        | Source::Invalid { .. }
        | Source::Another { .. }
        | Source::Stale { .. } => StageState::NotKnown,
    };
    let object = format!("{} {} {}", subject.context.cluster.name, SECRET.kind, subject.key);
    let created = ruling.target.and_then(|target| target.meta.created());
    Progress::of(Stage::Copy, standing, object, created, &[])
}

impl Progress {
    fn of(
        stage: Stage,
        standing: StageState,
        object: String,
        created: Option<Timestamp>,
        complaints: &[Complaint],
    ) -> Self {
        let complaints = complaints.iter().map(|complaint| complaint.message.clone()).collect();
        Self { stage, standing, object, created, complaints }
    }
}
