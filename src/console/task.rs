//! What the console asks of those behind it, and what they answer.
//!
//! Invariants:
//! - a task is data; nothing here does anything;
//! - an answer to a question carries the number it was asked under, so that a late one can be told from the latest;
//! - no secret byte is in an answer: objects arrive masked.
//!
//! Elsewhere: doing it ([`ConsoleServices`] is implemented by whoever opens the console).

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::model::Remembered;
use super::run::Login;
use super::settings::{ModelSettings, SettingsReload};
use trueup_checks::{CheckDescription, Panel};
use trueup_core::engine::executor::{ActionResult, Report};
use trueup_core::engine::journal::Entry;
use trueup_core::engine::{AcceptRule, ApprovedPlan, CheckName, Explanation, ObjectRef, Plan, SubjectId};
use trueup_core::world::ClusterName;

/// The number of a question. A later question of the same sort makes earlier ones void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RequestId(pub u64);

/// Something the console wants done.
#[derive(Debug)]
pub enum Task {
    /// Look closer at a subject.
    Explain {
        ask: RequestId,
        subject: SubjectId,
    },
    Plan {
        ask: RequestId,
        wanted: PlanTarget,
    },
    /// Plan the inverse of what was applied; of one action of it, when one is named.
    Undo {
        ask: RequestId,
        plan: String,
        action: Option<String>,
    },
    /// Let the servers try it without doing it.
    DryRun {
        plan: Box<Plan>,
        actions: Vec<String>,
    },
    Apply(Box<ApprovedPlan>),
    /// Stop what is being applied, at the next action.
    Stop,
    ReadHistory {
        asked: u64,
    },
    /// Read an object, masked, and what happened to it.
    ReadObject {
        ask: RequestId,
        cluster: ClusterName,
        target: ObjectRef,
    },
    /// Answer one of a check's forms.
    Answer {
        ask: RequestId,
        form: &'static str,
        typed: String,
        subject: SubjectId,
    },
    /// Somebody looks at this cluster.
    Need(ClusterName),
    Reconnect(ClusterName),
    /// Try what a subject is about, once: a kubeconfig, a discovery document.
    Probe(SubjectId),
    /// Read everything again.
    LookAgain,
    Save {
        file: SavedFile,
        text: String,
    },
    /// From now on a finding counts as match, until a day.
    Accept {
        subject: SubjectId,
        reason: String,
        until: String,
    },
    ReadLog,
    /// Keep this for the next time.
    Remember(Box<Remembered>),
}

/// What a plan is wanted for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanTarget {
    Everything,
    Check(CheckName),
    Subjects(BTreeSet<SubjectId>),
}

/// A file the console leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedFile {
    /// What `trueup apply` takes.
    Plan {
        id: String,
    },
    ScreenText,
    ScreenSvg,
    ViewMarkdown,
    ViewCsv,
}

/// An answer, or something that happened behind the console.
#[derive(Debug)]
pub enum TaskReply {
    Started(Box<Start>),
    /// What the user set about the console, and what it remembers.
    Furnished(Box<ModelSettings>),
    /// The files of keys or themes changed.
    Redecorated(Box<SettingsReload>),
    /// There is nothing to look at: one sentence, and what to do.
    NotStarted {
        says: String,
    },
    Explained {
        ask: RequestId,
        closer: Option<Box<SubjectDetail>>,
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
        /// Which of the reads it is.
        asked: u64,
        entries: Result<Vec<Entry>, String>,
    },
    Object {
        ask: RequestId,
        object: Result<Box<ObjectSheet>, String>,
    },
    Answered {
        ask: RequestId,
        lines: Vec<String>,
    },
    Saved {
        file: SavedFile,
        path: Result<String, String>,
    },
    Accepted {
        says: Result<String, String>,
    },
    /// All that is accepted now.
    Acceptances {
        rules: Vec<AcceptRule>,
    },
    Log {
        lines: Vec<String>,
    },
    /// Something a person should know and need not answer.
    Notice {
        says: String,
    },
    /// A part behind the console broke and was started again.
    Broke {
        what: String,
    },
}

/// What is known when there is something to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub checks: Vec<(CheckName, CheckDescription)>,
    /// Why nothing may be written, when that is so.
    pub read_only: Option<String>,
    /// Whether this is the demo.
    pub fleet: String,
    pub user: String,
}

/// A subject looked at closely.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectDetail {
    pub subject: SubjectId,
    pub explanation: Explanation,
    pub panels: Vec<Panel>,
}

/// A plan, with what is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub plan: Plan,
    /// One sentence each.
    pub left_out: Vec<String>,
}

/// What a server said when it was asked to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    Fine,
    Refused(String),
    /// Nobody could be asked.
    Unknown(String),
}

/// How far an action has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    Intended,
    Sent,
    Answered,
    /// It takes its time: for how long so far, and why.
    Waiting {
        so_far: Duration,
        why: String,
    },
    Ended(ActionResult),
}

/// An object as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSheet {
    pub title: String,
    /// YAML, secrets as lengths.
    pub yaml: Vec<String>,
    /// What happened to it, newest last.
    pub events: Result<Vec<String>, String>,
}

/// Whoever does what the console asks for. Answers go through the teller the console was opened with.
pub trait ConsoleServices: Send {
    fn perform(&mut self, task: Task);

    /// How a person logs in to a cluster.
    fn login(&mut self, cluster: &ClusterName) -> Login;

    /// Takes what the program of [`Login::Program`] printed on stdout: the credential, perhaps.
    fn logged_in(&mut self, cluster: &ClusterName, printed: Zeroizing<Vec<u8>>);
}
