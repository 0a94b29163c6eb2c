//! Tasks of the console and their replies.
//!
//! Invariants:
//! - a task is data; nothing here does IO;
//! - a reply carries the id of its request, so that late replies can be dropped;
//! - no reply contains secret bytes: objects are masked ([`trueup_core::redact`]).
//!
//! Elsewhere: executing tasks ([`ConsoleServices`] is implemented by `cli`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use zeroize::Zeroizing;

use super::model::Remembered;
use super::run::Login;
use super::settings::{ModelSettings, SettingsReload};
use trueup_checks::{CheckDescription, FleetTable, Panel, Relations};
use trueup_core::engine::executor::{ActionResult, Report};
use trueup_core::engine::journal::Entry;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{AcceptRule, Answers, CheckName, Chosen, Explanation, ObjectRef, Plan, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::PluginQuestion;

/// Id of a request. A later request of the same kind replaces earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, serde::Serialize, serde::Deserialize)]
pub struct RequestId(pub u64);

/// An operation requested by the console.
#[derive(Debug)]
pub enum Task {
    /// Explain a subject.
    Explain {
        ask: RequestId,
        subject: SubjectId,
    },
    Plan {
        ask: RequestId,
        wanted: PlanTarget,
    },
    /// Plan the undo of an applied plan; of one action, when named.
    Undo {
        ask: RequestId,
        plan: String,
        action: Option<String>,
    },
    /// Run a server-side dry run.
    DryRun {
        plan: Box<Plan>,
        actions: Vec<String>,
    },
    /// Apply what was approved, as far as it is still right.
    Apply(Box<TypedApproval>),
    /// Stop the apply at the next action.
    Stop,
    ReadHistory {
        asked: u64,
    },
    /// Read an object, masked, and its events.
    ReadObject {
        ask: RequestId,
        cluster: ClusterName,
        target: ObjectRef,
        /// Whether values that look like a credential are read, too.
        values: CredentialValues,
    },
    /// How the object of a subject depends on others.
    ReadReferences {
        ask: RequestId,
        subject: SubjectId,
    },
    /// The log of the operator that explains a subject.
    ReadOperatorLog {
        ask: RequestId,
        subject: SubjectId,
    },
    /// Run a check's query.
    Answer {
        ask: RequestId,
        form: &'static str,
        typed: String,
        subject: SubjectId,
    },
    /// A check's table of the fleet, with what was typed where it was asked about something.
    FleetTable {
        ask: RequestId,
        check: CheckName,
        typed: Option<String>,
    },
    /// Keep this cluster connected: its data is on the screen.
    Need(ClusterName),
    Reconnect(ClusterName),
    /// Find out whether the user has to be asked about the credential plugin of this cluster.
    AskPlugin(ClusterName),
    /// Test a subject once: a kubeconfig, a discovery document.
    Probe(SubjectId),
    /// List everything again.
    Resync,
    Save {
        file: SavedFile,
        text: Printable,
    },
    /// Write the incident bundle.
    WriteBundle(Box<BundleRequest>),
    /// Accept a finding until a day.
    Accept {
        subject: SubjectId,
        reason: String,
        until: String,
    },
    ReadLog,
    /// Store these settings.
    Remember(Box<Remembered>),
}

/// A plan with what the user typed to approve it.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedApproval {
    pub plan: Plan,
    pub chosen: Chosen,
    pub answers: Answers,
}

/// What to plan for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanTarget {
    Everything,
    Check(CheckName),
    Subjects(BTreeSet<SubjectId>),
}

/// A file written by the console.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SavedFile {
    /// A plan for `trueup apply`.
    Plan {
        id: String,
    },
    ScreenText,
    ScreenSvg,
    ViewMarkdown,
    ViewCsv,
    /// An incident bundle.
    Bundle,
}

/// What an incident bundle is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleRequest {
    pub at: Timestamp,
    /// The zone of the time in its name.
    pub zone: TimeZone,
    /// What the console knows: paths in the archive, and text.
    pub files: Vec<(String, Printable)>,
    /// Findings to explain, worst first.
    pub findings: Vec<SubjectId>,
    /// Objects to read, masked.
    pub objects: Vec<(ClusterName, ObjectRef)>,
}

/// A reply, or an event of the services.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum TaskReply {
    Started(Box<Start>),
    /// User settings and restored state.
    Settings(Box<ModelSettings>),
    /// Key or theme files changed.
    SettingsReloaded(Box<SettingsReload>),
    /// There is nothing to show: one sentence, and what to do.
    NotStarted {
        message: String,
    },
    Explained {
        ask: RequestId,
        detail: Option<Box<SubjectDetail>>,
    },
    Planned {
        ask: RequestId,
        plan: Result<Box<Planned>, String>,
    },
    DryRun {
        plan: String,
        action: String,
        tried: Tried,
    },
    Progress {
        action: String,
        at: Timestamp,
        stage: Stage,
    },
    Applied {
        report: Result<Box<Report>, String>,
    },
    History {
        /// Id of the read.
        asked: u64,
        entries: Result<Vec<Entry>, String>,
    },
    Object {
        ask: RequestId,
        object: Result<Box<ObjectSheet>, String>,
    },
    References {
        ask: RequestId,
        sheet: Result<Box<ReferenceSheet>, String>,
    },
    OperatorLog {
        ask: RequestId,
        log: Result<Box<OperatorLog>, String>,
    },
    Answered {
        ask: RequestId,
        lines: Vec<String>,
    },
    /// Nothing where the check has none.
    FleetTable {
        ask: RequestId,
        table: Option<FleetTable>,
    },
    Saved {
        file: SavedFile,
        path: Result<String, String>,
    },
    Accepted {
        message: Result<String, String>,
    },
    /// All current acceptances.
    Acceptances {
        rules: Vec<AcceptRule>,
    },
    Log {
        lines: Vec<String>,
    },
    /// A credential plugin may run only when the user agrees.
    PluginQuestion {
        cluster: ClusterName,
        question: PluginQuestion,
    },
    /// A message that needs no answer.
    Notice {
        message: String,
    },
    /// A service failed and was restarted.
    ServiceRestarted {
        what: String,
    },
}

/// Why writes are not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ReadOnly {
    /// `--read-only`
    Flag,
    /// `read_only = true`
    Config,
    /// Recorded clusters cannot be changed.
    Recording { taken_at: Option<Timestamp> },
    /// This is the replay of a session that ended so many seconds before it was opened.
    Replay { age_seconds: i64 },
    /// The user switched writes off in the console.
    SwitchedOff,
}

impl ReadOnly {
    pub fn message(self) -> String {
        match self {
            Self::Flag => "started with --read-only".to_owned(),
            Self::Config => "read_only is set in the config".to_owned(),
            Self::Recording { .. } => "recorded clusters cannot be changed; save the plan for trueup apply".to_owned(),
            Self::Replay { age_seconds } => {
                let age = match age_seconds {
                    seconds @ ..120 => format!("{}s", seconds.max(0)),
                    seconds @ ..7_200 => format!("{}m", seconds / 60),
                    seconds @ ..172_800 => format!("{}h", seconds / 3_600),
                    seconds => format!("{}d", seconds / 86_400),
                };
                format!("from a session recording, {age} old")
            }
            Self::SwitchedOff => "writes are switched off".to_owned(),
        }
    }
}

/// Facts known at start.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Start {
    pub checks: Vec<(CheckName, CheckDescription)>,
    /// Why writes are not allowed, if so.
    pub read_only: Option<ReadOnly>,
    /// Whether this is the demo.
    pub fleet: String,
    pub user: String,
    /// Whether the tour of the demo is offered.
    pub offers_tour: bool,
}

/// Detail of a subject.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SubjectDetail {
    pub subject: SubjectId,
    pub explanation: Explanation,
    pub panels: Vec<Panel>,
}

/// A plan, with what it does not contain.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Planned {
    pub plan: Plan,
    /// One sentence each.
    pub left_out: Vec<String>,
    /// What is known of the objects of actions, by action.
    #[serde(default)]
    pub objects: BTreeMap<String, PlannedObject>,
}

/// What the check knows of the object of an action.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct PlannedObject {
    /// When it was created, where that is known.
    pub created: Option<Timestamp>,
    /// What refers to it.
    pub relations: Relations,
}

/// Result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Tried {
    Fine,
    Refused(String),
    /// The server could not be asked.
    Unknown(String),
}

/// Progress of an action.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Stage {
    Intended,
    Sent,
    Answered,
    /// Waiting: for how long so far, and why.
    Waiting {
        so_far: Duration,
        why: String,
    },
    Ended(ActionResult),
}

/// A masked object.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ObjectSheet {
    pub title: String,
    /// YAML, secrets as lengths.
    pub yaml: Vec<String>,
    /// How many values look like a credential. They are masked unless the request asked for them.
    pub credentials: usize,
    /// Its events, newest last.
    pub events: Result<Vec<String>, String>,
}

/// References of a subject's object.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReferenceSheet {
    pub relations: Relations,
    /// What its metadata says; nothing for a subject that is no object of a cluster.
    pub metadata: Option<Result<ObjectMetadata, String>>,
}

/// Who owns, manages and keeps an object.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct ObjectMetadata {
    /// `Kind name`
    pub owners: Vec<String>,
    pub finalizers: Vec<String>,
    pub managers: Vec<FieldManager>,
}

/// A field manager of an object.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FieldManager {
    pub name: String,
    pub at: Option<Timestamp>,
}

/// The last lines of an operator's log, without credentials.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OperatorLog {
    /// `mgmt Pod openshift-authentication-operator/authentication-operator-7c9d`
    pub title: String,
    pub lines: Vec<String>,
}

/// Executes tasks. Replies are sent through the console's [`super::ReplySender`].
pub trait ConsoleServices: Send {
    fn perform(&mut self, task: Task);

    /// How a user logs in to a cluster.
    fn login(&mut self, cluster: &ClusterName) -> Login;

    /// Remembers that the credential plugin of a cluster may run.
    fn approve_plugin(&mut self, cluster: &ClusterName);

    /// Receives the stdout of [`Login::Program`], which may contain the credential.
    fn logged_in(&mut self, cluster: &ClusterName, printed: Zeroizing<Vec<u8>>);
}
